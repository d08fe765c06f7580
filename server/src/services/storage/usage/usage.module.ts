import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import { limitsRoutes } from './limits.routes.ts'
import { createUsageLoop } from './usage.loop.ts'
import { usageRoutes } from './usage.routes.ts'
import { createUsage, type UsageDeps } from './usage.ts'

export interface UsageModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly people: PeopleModule
  /** Of the queue, which is created later. */
  readonly findJob: UsageDeps['findJob']
}

export type UsageModule = ReturnType<typeof createUsageModule>

export function createUsageModule({ core, tokens, people, findJob }: UsageModuleDeps) {
  const { db, inTransaction, clock, log, recordEvent, publish, subscribe } = core
  const usage = createUsage({
    db,
    inTransaction,
    clock,
    recordEvent,
    storedBy: async (projectId, at) => {
      const parts = await publish('project.measured', projectId, at)
      return {
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
        files: parts.reduce((sum, { files }) => sum + files, 0),
      }
    },
    findJob,
    listProjectIds: async () => (await tokens.listProjects()).map(({ id }) => id),
  })
  const loop = createUsageLoop({
    measureStorage: usage.measureStorage,
    storeQueries: usage.storeQueries,
    onError: (err) => log.error({ err }, 'the usage of the projects could not be stored; it is tried again'),
  })
  subscribe('job.ended', usage.jobEnded)
  return defineModule({
    name: 'usage',
    routes: [usageRoutes({ usage, now: () => clock.now() }), limitsRoutes({ usage, asStackAdmin: people.asStackAdmin })],
    background: [loop.queries, { role: 'worker', ...loop.storage }],
    ...usage,
  })
}
