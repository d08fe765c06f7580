// The wiring of lineage and freshness.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import { listConfigurationNames } from '../services/configurations/configurations.store.ts'
import { listLinks } from '../services/configurations/links.ts'
import { tellLate } from '../services/lineage/freshness.ts'
import { createLateTablesLoop } from '../services/lineage/late-tables.loop.ts'
import { lineageRoutes } from '../services/lineage/lineage.routes.ts'
import { createLineageStore } from '../services/lineage/lineage.store.ts'
import { createLineage, type LineageDeps } from '../services/lineage/lineage.ts'
import { createJobSearchStore } from '../services/queue/job-search.store.ts'
import type { Core } from './core.ts'

export interface LineageModulesDeps
  extends Pick<Core, 'metadata' | 'events'>,
    Pick<LineageDeps, 'canonicalId' | 'getTable' | 'placeOf' | 'aliases'> {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
}

export function createLineageModules({ metadata, events, clock, log, ...deps }: LineageModulesDeps) {
  const { db, inTransaction } = metadata
  const store = createLineageStore(db)
  const lineage = createLineage({
    store,
    ...deps,
    now: () => clock.now(),
    links: (projectId, branchId) => listLinks(db, projectId, branchId),
    names: (projectId, branchId) => listConfigurationNames(db, projectId, branchId),
    newestJob: createJobSearchStore(db).newestEnded,
  })
  const tell = (now = clock.now()) => tellLate({ store, clock, recordEvent: events.record, inTransaction }, now)
  return {
    freshnessAt: lineage.freshnessAt,
    tellLate: tell,
    loop: createLateTablesLoop({
      tellLate: () => tell(),
      onError: (err) => log.error({ err }, 'late tables could not be looked for; it is tried again'),
    }),
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, lineageRoutes(lineage))
    },
  }
}
