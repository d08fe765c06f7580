// People and projects: their routes, and the end of projects whose grace time is over.

import type { FastifyInstance } from 'fastify'
import { createMailer } from '../engines/mail/mailer.ts'
import { deleteRowsOfProject } from '../engines/metadata-db/project-rows.ts'
import { createOidcClient, type OidcSettings } from '../engines/oidc/oidc.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Files } from '../services/files/files.ts'
import { accountRoutes } from '../services/people/account.routes.ts'
import { createInvitationMail } from '../services/people/invitation-mail.ts'
import { oidcRoutes } from '../services/people/oidc.routes.ts'
import type { OidcPolicy } from '../services/people/oidc-sign-in.ts'
import { projectPeopleRoutes } from '../services/people/project-people.routes.ts'
import { signInRoutes } from '../services/people/sign-in.routes.ts'
import { usersRoutes } from '../services/people/users.routes.ts'
import { createLastUseLoop } from '../services/tokens/last-use.loop.ts'
import { createProjectsLoop } from '../services/tokens/projects.loop.ts'
import { projectsRoutes } from '../services/tokens/projects.routes.ts'
import type { Core } from './core.ts'

export type OidcOptions = OidcSettings & OidcPolicy

export interface PeopleModulesDeps {
  readonly core: Core
  readonly clock: Clock
  readonly log: Log
  readonly files: Files
  /** Left out: nobody signs in by a provider. */
  readonly oidc: OidcOptions | undefined
  /** Left out: invitations are handed over by hand. */
  readonly smtpUrl: string | undefined
  /** What a link that is handed on begins with, for a request to this address. */
  readonly linkBase: (asked: string) => string
  /** What a project logged to MLflow servers of the stack. */
  readonly removeTracking: (projectId: number) => Promise<void>
}

export function createPeopleModules({ core, clock, log, files, oidc, smtpUrl, linkBase, removeTracking }: PeopleModulesDeps) {
  const { people, tokens } = core
  const mailers = [smtpUrl].flatMap((url) => (url === undefined ? [] : [createMailer(url)]))
  const clients = [oidc].flatMap((settings) => (settings === undefined ? [] : [createOidcClient(settings, clock)]))
  return {
    loop: createProjectsLoop({
      projects: tokens.projects,
      removeBytes: async (projectId) => {
        await removeTracking(projectId)
        await files.removeBytesOfProject(projectId)
      },
      removeRows: deleteRowsOfProject,
      onPurged: (projectId) => log.info({ projectId }, 'the grace time of a deleted project is over: everything of it is gone'),
      onError: (err) => log.error({ err }, 'a deleted project could not be removed; it is tried again'),
    }),
    lastUseLoop: createLastUseLoop({
      lastUse: tokens.lastUse,
      onError: (err) => log.warn({ err }, 'the last use of tokens could not be written; the next look tries again'),
    }),
    registerRoutes(app: FastifyInstance): void {
      addRoutes(
        app,
        signInRoutes({ people, projectName: async (id) => (await tokens.findProject(id))?.name, issuer: oidc?.issuer }),
      )
      for (const client of clients) addRoutes(app, oidcRoutes({ client, signIn: people.signInByIdentity }))
      addRoutes(app, accountRoutes(people))
      addRoutes(
        app,
        projectPeopleRoutes(
          people,
          createInvitationMail({
            send: mailers[0]?.send,
            projectName: async (id) => (await tokens.findProject(id))?.name ?? '',
            onError: (err) => log.warn({ err }, 'an invitation could not be sent by mail; its link is in the answer'),
          }),
          linkBase,
        ),
      )
      addRoutes(app, usersRoutes(people))
      addRoutes(
        app,
        projectsRoutes({
          tokens,
          people: {
            member: people.inProject.memberFor,
            admin: people.inProject.adminIn,
            actor: people.finder.actorOf,
            asStackAdmin: people.asStackAdmin,
            projectsOf: people.projectsOf,
          },
        }),
      )
    },
  }
}
