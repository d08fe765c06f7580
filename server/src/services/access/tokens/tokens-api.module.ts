import { deleteRowsOfProject } from '../../../engines/metadata-db/project-rows.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { WorkerSettings } from '../../../model/worker-settings.ts'
import type { EventsApiModule } from '../../stack/events/events-api.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { UsageModule } from '../../storage/usage/usage.module.ts'
import type { PeopleModule } from '../people/people.module.ts'
import { createLastUseLoop } from './last-use.loop.ts'
import { createProjectsLoop } from './projects.loop.ts'
import { projectsRoutes } from './projects.routes.ts'
import type { TokensModule } from './tokens.module.ts'
import { tokensRoutes } from './tokens.routes.ts'

export interface TokensApiDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly people: PeopleModule
  readonly usage: UsageModule
  readonly tables: TablesModule
  readonly eventsApi: EventsApiModule
  readonly worker: WorkerSettings
  readonly region: string
}

export function createTokensApiModule(deps: TokensApiDeps) {
  const { core, tokens, people, usage, tables, eventsApi, worker, region } = deps
  const { log, publish } = core
  const projectsLoop = createProjectsLoop({
    projects: tokens.projects,
    removeBytes: (projectId) => publish('project.removed', projectId),
    removeRows: deleteRowsOfProject,
    onPurged: (projectId) => log.info({ projectId }, 'the grace time of a deleted project is over: everything of it is gone'),
    onError: (err) => log.error({ err }, 'a deleted project could not be removed; it is tried again'),
  })
  const lastUseLoop = createLastUseLoop({
    lastUse: tokens.lastUse,
    onError: (err) => log.warn({ err }, 'the last use of tokens could not be written; the next look tries again'),
  })
  return defineModule({
    name: 'tokens-api',
    routes: [
      tokensRoutes({
        tokens,
        region,
        limits: {
          get 'components.jobsParallelism'() {
            return worker.jobs
          },
        },
        limitsOf: usage.limitsOf,
        usageOf: tables.usageOfProject,
        eventsOfToken: (req, tokenId, query) => eventsApi.list(req.actor, query, { branch: req.branch, tokenId }, req.baseUrl),
      }),
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
    ],
    background: [
      { role: 'worker', start: projectsLoop.start, stop: projectsLoop.stop },
      { role: 'api', start: lastUseLoop.start, stop: lastUseLoop.stop },
    ],
    projectsLoop,
    lastUseLoop,
  })
}
