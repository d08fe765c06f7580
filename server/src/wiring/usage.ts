// The wiring of usage: one part of platform.ts, in a file of its own for its length.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import { type LimitsRoutesDeps, limitsRoutes } from '../services/usage/limits.routes.ts'
import { createUsageLoop } from '../services/usage/usage.loop.ts'
import { usageRoutes } from '../services/usage/usage.routes.ts'
import { createUsage, type UsageDeps } from '../services/usage/usage.ts'
import type { Core } from './core.ts'

export interface UsageModulesDeps extends Core {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly tablesOf: UsageDeps['tablesOf']
  readonly filesOf: UsageDeps['filesOf']
  readonly findJob: UsageDeps['findJob']
  readonly asStackAdmin: LimitsRoutesDeps['asStackAdmin']
}

export function createUsageModules({
  metadata,
  events,
  tokens,
  clock,
  log,
  tablesOf,
  filesOf,
  findJob,
  asStackAdmin,
}: UsageModulesDeps) {
  const usage = createUsage({
    db: metadata.db,
    inTransaction: metadata.inTransaction,
    clock,
    recordEvent: events.record,
    tablesOf,
    filesOf,
    findJob: async (projectId, id, at) => findJob(projectId, id, at),
    listProjectIds: async () => (await tokens.listProjects()).map(({ id }) => id),
  })
  return {
    usage,
    /** Queries do not wait until they are counted. */
    onSession: (projectId: number, runId: string | null, ms: number): void =>
      void usage
        .queryEnded(projectId, runId, ms)
        .catch((err) => log.error({ err, projectId }, 'the time of a query could not be counted')),
    loop: createUsageLoop({
      measureStorage: usage.measureStorage,
      onError: (err) => log.error({ err }, 'the storage of the projects could not be measured; it is tried again'),
    }),
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, usageRoutes({ usage, now: () => clock.now() }))
      addRoutes(app, limitsRoutes({ usage, asStackAdmin }))
    },
  }
}
