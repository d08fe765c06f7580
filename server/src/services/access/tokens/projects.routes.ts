// HTTP for projects in the shape of the public management API (spec platform 8.4). A stack is one organization.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { projectFrom } from '../../../http/ids.ts'
import { numberedId, optionalText } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import type { MinimumRole } from '../../../http/roles.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { BACKEND } from '../../../model/backend.ts'
import type { EventSource } from '../../../model/event.ts'
import { featuresOf } from '../../../model/features.ts'
import type { Member } from '../../../model/members.ts'
import type { Person } from '../../../model/person.ts'
import { GRACE_DAYS } from './projects.ts'
import { requestFrom, TokenBody, TokenView, tokenViews } from './token-views.ts'
import type { Project } from './tokens.store.ts'
import type { Tokens } from './tokens.ts'

const ORGANIZATION = { id: 1, name: 'Millrace' } as const

const ProjectView = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    type: Type.String(),
    created: Timestamp,
    features: Type.Array(Type.String()),
    isDisabled: Type.Boolean({ description: 'True: paused; the project is read-only, and no jobs start.' }),
    disabled: Type.Optional(Type.Object({ reason: Type.String() })),
    isDeleted: Type.Boolean(),
    purgeTime: Type.Optional(Timestamp),
    organization: Type.Object({ id: Type.Integer(), name: Type.String() }),
  },
  { title: 'ManagedProject' },
)
const ProjectId = Type.Object({ projectId: numberedId('project') })
const OrganizationId = Type.Object({
  organizationId: Type.String({ description: 'Always 1: a stack is one organization.', examples: ['1'] }),
})
const Organization = Type.Object({ id: Type.Integer(), name: Type.String() })
const Name = Type.String({ minLength: 1, maxLength: 255, description: 'Of the project.' })
const Feature = Type.String({ minLength: 1, maxLength: 100, description: 'Name of the feature that clients check.' })

export interface ProjectRoutesDeps {
  readonly tokens: Tokens
  /** Each throws when the person may not; the first three answer what the person is in the project. */
  readonly people: {
    member(person: Person, projectId: number): Promise<Member>
    admin(person: Person, projectId: number): Promise<Member>
    actor(person: Person, projectId: number): Promise<Actor>
    /** As the source of events of the project. */
    asStackAdmin(person: Person, projectId: number): Promise<EventSource>
    projectsOf(person: Person): Promise<readonly { readonly id: number }[]>
  }
}

export function projectsRoutes({ tokens, people }: ProjectRoutesDeps): FastifyPluginAsyncTypebox {
  const { projects } = tokens
  const view = tokenViews(tokens)

  return async (app) => {
    const config = (operation: string, summary: string, role?: MinimumRole) =>
      ({
        operation: `projects.${operation}`,
        summary,
        needs: 'person',
        ...(role && { role }),
        validationCode: 'validation.failed',
      }) as const
    const { asStackAdmin } = people

    app.get(
      '/manage/organizations',
      {
        config: config('organizations', 'The organization of the stack'),
        schema: { response: { 200: Type.Array(Organization) } },
      },
      async () => [ORGANIZATION],
    )

    app.get(
      '/manage/organizations/:organizationId/projects',
      {
        config: config('list', 'The projects of the caller; all of them for a stack admin'),
        schema: { params: OrganizationId, response: { 200: Type.Array(ProjectView) } },
      },
      async ({ person, params }) => {
        checkOrganization(params.organizationId)
        const own = new Set((await people.projectsOf(person)).map(({ id }) => id))
        return (await projects.list()).filter(({ id }) => own.has(id)).map(projectView)
      },
    )

    app.post(
      '/manage/organizations/:organizationId/projects',
      {
        config: config('create', 'Create a project; its creator becomes its admin', 'stack admin'),
        schema: { params: OrganizationId, body: Type.Object({ name: Name }), response: { 201: ProjectView } },
      },
      async ({ person, params, body }, reply) => {
        checkOrganization(params.organizationId)
        const { project } = await tokens.createProject(body.name)
        await people.member(person, project.id)
        return reply.code(201).send(projectView(project))
      },
    )

    app.get(
      '/manage/projects/:projectId',
      { config: config('get', 'A project', 'viewer'), schema: { params: ProjectId, response: { 200: ProjectView } } },
      async ({ person, params }) => {
        const id = projectFrom(params.projectId)
        await people.member(person, id)
        return projectView(await projects.get(id))
      },
    )

    app.put(
      '/manage/projects/:projectId',
      {
        config: config('update', 'Rename a project', 'stack admin'),
        schema: { params: ProjectId, body: Type.Object({ name: Name }), response: { 200: ProjectView } },
      },
      async ({ person, params, body, origin }) => {
        const id = projectFrom(params.projectId)
        return projectView(await projects.rename(id, body.name, { source: await asStackAdmin(person, id), origin }))
      },
    )

    app.post(
      '/manage/projects/:projectId/disable',
      {
        config: config('pause', 'Pause a project: it becomes read-only, and no jobs start', 'stack admin'),
        schema: {
          params: ProjectId,
          body: Type.Object({ disableReason: optionalText('Reason, shown in the error of refused requests.') }),
          response: { 200: ProjectView },
        },
      },
      async ({ person, params, body, origin }) => {
        const id = projectFrom(params.projectId)
        return projectView(await projects.pause(id, body.disableReason ?? '', { source: await asStackAdmin(person, id), origin }))
      },
    )

    app.post(
      '/manage/projects/:projectId/enable',
      {
        config: config('resume', 'Resume a paused project', 'stack admin'),
        schema: { params: ProjectId, response: { 200: ProjectView } },
      },
      async ({ person, params, origin }) => {
        const id = projectFrom(params.projectId)
        return projectView(await projects.resume(id, { source: await asStackAdmin(person, id), origin }))
      },
    )

    app.delete(
      '/manage/projects/:projectId',
      {
        config: config('delete', 'Delete a project; it can be restored until its grace period ends', 'stack admin'),
        schema: {
          params: ProjectId,
          querystring: Type.Object({
            days: Type.Optional(
              Type.Integer({ minimum: 2, maximum: 90, description: `Grace period in days; ${GRACE_DAYS} by default.` }),
            ),
          }),
          response: { 204: Type.Null() },
        },
      },
      async ({ person, params, query, origin }, reply) => {
        const id = projectFrom(params.projectId)
        await projects.remove(id, query.days ?? GRACE_DAYS, { source: await asStackAdmin(person, id), origin })
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/manage/deleted-projects',
      {
        config: config('deleted', 'List deleted projects that can be restored', 'stack admin'),
        schema: { response: { 200: Type.Array(ProjectView) } },
      },
      async () => (await projects.listDeleted()).map(projectView),
    )

    app.delete(
      '/manage/deleted-projects/:projectId',
      {
        config: config('restore', 'Restore a deleted project', 'stack admin'),
        schema: { params: ProjectId, response: { 204: Type.Null() } },
      },
      async ({ params, origin }, reply) => {
        await projects.restore(projectFrom(params.projectId), { origin })
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/manage/projects/:projectId/features',
      {
        config: config('addFeature', 'Add a feature to a project, for clients that check it', 'stack admin'),
        schema: { params: ProjectId, body: Type.Object({ feature: Feature }), response: { 201: Type.Null() } },
      },
      async ({ person, params, body, origin }, reply) => {
        const id = projectFrom(params.projectId)
        await projects.setFeature(id, body.feature, true, { source: await asStackAdmin(person, id), origin })
        return reply.code(201).send(null)
      },
    )

    app.delete(
      '/manage/projects/:projectId/features/:feature',
      {
        config: config('removeFeature', 'Remove a feature from a project', 'stack admin'),
        schema: {
          params: Type.Object({ projectId: numberedId('project'), feature: Feature }),
          response: { 204: Type.Null() },
        },
      },
      async ({ person, params, origin }, reply) => {
        const id = projectFrom(params.projectId)
        await projects.setFeature(id, params.feature, false, { source: await asStackAdmin(person, id), origin })
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/manage/projects/:projectId/tokens',
      {
        config: config('createToken', 'Create a token of a project, for a script', 'admin'),
        schema: { params: ProjectId, body: TokenBody, response: { 201: TokenView } },
      },
      async ({ person, params, body, origin, baseUrl }, reply) => {
        const id = projectFrom(params.projectId)
        await people.admin(person, id)
        const { token, value } = await tokens.create(await people.actor(person, id), requestFrom(body), origin)
        return reply.code(201).send({ ...(await view(token, baseUrl)), token: value })
      },
    )
  }
}

const projectView = (project: Project) => ({
  id: project.id,
  name: project.name,
  type: 'production',
  created: formatTimestamp(project.createdAt),
  expires: null,
  features: featuresOf(project),
  defaultBackend: project.settings.backend ?? BACKEND,
  isDisabled: project.pausedReason !== undefined,
  ...(project.pausedReason !== undefined && { disabled: { reason: project.pausedReason } }),
  isDeleted: project.deleteAfter !== undefined,
  ...(project.deleteAfter && { purgeTime: formatTimestamp(project.deleteAfter) }),
  organization: { ...ORGANIZATION },
})

function checkOrganization(text: string): void {
  if (text !== String(ORGANIZATION.id)) throw new PlatformError('notFound', { what: `Organization ${text}` })
}
