// The wiring of lineage and freshness.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Clock } from '../kit/clock.ts'
import type { Scope } from '../model/scope.ts'
import { listLinks } from '../services/configurations/links.ts'
import { tellLate } from '../services/lineage/freshness.ts'
import { createLateTablesLoop } from '../services/lineage/late-tables.loop.ts'
import { lineageRoutes } from '../services/lineage/lineage.routes.ts'
import { createLineageStore } from '../services/lineage/lineage.store.ts'
import { createLineage } from '../services/lineage/lineage.ts'
import { createJobSearchStore } from '../services/queue/job-search.store.ts'
import type { Core } from './core.ts'

export interface LineageModulesDeps extends Pick<Core, 'metadata' | 'events'> {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly canonicalId: (componentId: string) => string
  readonly getTable: (scope: Scope, tableId: string) => Promise<unknown>
}

export function createLineageModules({ metadata, events, clock, log, canonicalId, getTable }: LineageModulesDeps) {
  const { db, inTransaction } = metadata
  const store = createLineageStore(db)
  const lineage = createLineage({
    store,
    now: () => clock.now(),
    canonicalId,
    links: (projectId, branchId) => listLinks(db, projectId, branchId),
    getTable,
    newestJob: createJobSearchStore(db).newestEnded,
  })
  const tell = (now = clock.now()) => tellLate({ store, clock, recordEvent: events.record, inTransaction }, now)
  return {
    tellLate: tell,
    loop: createLateTablesLoop({
      tellLate: () => tell(),
      onError: (err) => log.error({ err }, 'late tables could not be looked for; it is tried again'),
    }),
    registerRoutes(app: FastifyInstance): void {
      app.register(lineageRoutes(lineage))
    },
  }
}
