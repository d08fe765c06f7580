// HTTP for the people of a project, in the shape of the public management API (spec platform 8.3).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom, projectFrom } from '../../../http/ids.ts'
import { numberedId } from '../../../http/parameters.ts'
import type { MinimumRole } from '../../../http/roles.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { createInvitationMail } from './invitation-mail.ts'
import type { People } from './people.ts'
import { InvitationView, invitationView, MemberView, memberView, RoleSchema } from './person-views.ts'
import { linkUrl } from './sign-in-links.ts'

const Project = numberedId('project')
const InProject = Type.Object({ projectId: Project })
const OfUser = Type.Object({ projectId: Project, userId: numberedId('user') })
const Email = Type.String({ maxLength: 300, description: 'E-mail of the user.' })
const Nothing = Type.Null()

const userFrom = (text: string): number => idFrom(text, () => new PlatformError('notFound', { what: `Person ${text}` }))

export function projectPeopleRoutes(
  { inProject }: People,
  mailInvitation: ReturnType<typeof createInvitationMail>,
  /** What a link begins with, for a request to this address. */
  linkBase: (asked: string) => string,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = (operation: string, summary: string, role: MinimumRole) =>
      ({ operation, summary, needs: 'person', role, validationCode: 'validation.failed' }) as const

    app.get(
      '/manage/projects/:projectId/users',
      {
        config: config('projectUsers.list', 'List users of a project', 'viewer'),
        schema: { params: InProject, response: { 200: Type.Array(MemberView) } },
      },
      async ({ person, params }) => (await inProject.list(person, projectFrom(params.projectId))).map(memberView),
    )

    app.post(
      '/manage/projects/:projectId/users',
      {
        config: config('projectUsers.add', 'Add a user who has an account on this stack', 'admin'),
        schema: {
          params: InProject,
          body: Type.Object({ email: Email, role: Type.Optional(RoleSchema) }),
          response: { 201: MemberView },
        },
      },
      async ({ person, params, body: { email, role = 'viewer' }, origin }, reply) => {
        const member = await inProject.add(person, projectFrom(params.projectId), { email, role }, origin)
        return reply.code(201).send(memberView(member))
      },
    )

    app.patch(
      '/manage/projects/:projectId/users/:userId',
      {
        config: config('projectUsers.update', 'Change the role of a user; takes effect immediately', 'admin'),
        schema: { params: OfUser, body: Type.Object({ role: RoleSchema }), response: { 200: MemberView } },
      },
      async ({ person, params: { projectId, userId }, body, origin }) =>
        memberView(await inProject.changeRole(person, projectFrom(projectId), userFrom(userId), body.role, origin)),
    )

    app.delete(
      '/manage/projects/:projectId/users/:userId',
      {
        config: config(
          'projectUsers.remove',
          'Remove a user from a project, or leave it; revokes their access immediately',
          'viewer',
        ),
        schema: { params: OfUser, response: { 204: Nothing } },
      },
      async ({ person, params: { projectId, userId }, origin }, reply) => {
        await inProject.remove(person, projectFrom(projectId), userFrom(userId), origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/manage/projects/:projectId/invitations',
      {
        config: config('projectInvitations.list', 'List unused invitations', 'admin'),
        schema: { params: InProject, response: { 200: Type.Array(InvitationView) } },
      },
      async ({ person, params }) => (await inProject.listInvitations(person, projectFrom(params.projectId))).map(invitationView),
    )

    app.post(
      '/manage/projects/:projectId/invitations',
      {
        config: config('projectInvitations.create', 'Invite a user: create a link that works once', 'admin'),
        schema: {
          params: InProject,
          body: Type.Object({
            email: Email,
            role: Type.Optional(RoleSchema),
            expirationSeconds: Type.Optional(
              Type.Integer({
                minimum: 60,
                maximum: 90 * 86_400,
                description: 'Validity of the link in seconds; 7 days by default.',
              }),
            ),
          }),
          response: { 201: InvitationView },
        },
      },
      async ({ person, params, body: { role = 'viewer', ...body }, origin, baseUrl }, reply) => {
        const { link, value } = await inProject.invite(person, projectFrom(params.projectId), { ...body, role }, origin)
        const url = linkUrl(linkBase(baseUrl), value)
        return reply.code(201).send({ ...invitationView(link), link: url, isMailed: await mailInvitation(link, url) })
      },
    )

    app.delete(
      '/manage/projects/:projectId/invitations/:invitationId',
      {
        config: config('projectInvitations.delete', 'Revoke an invitation', 'admin'),
        schema: {
          params: Type.Object({ projectId: Project, invitationId: numberedId('invitation') }),
          response: { 204: Nothing },
        },
      },
      async ({ person, params: { projectId, invitationId }, origin }, reply) => {
        const id = idFrom(invitationId, () => new PlatformError('notFound', { what: `Invitation ${invitationId}` }))
        await inProject.takeBack(person, projectFrom(projectId), id, origin)
        return reply.code(204).send(null)
      },
    )
  }
}
