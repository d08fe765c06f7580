import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { JobRecordsModule } from '../../jobs/queue/job-records.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import type { FreshnessModule } from './freshness.module.ts'
import { tellLate } from './freshness.ts'
import { createLateTablesLoop } from './late-tables.loop.ts'
import { lineageRoutes } from './lineage.routes.ts'
import { createLineageStore } from './lineage.store.ts'
import { createLineage } from './lineage.ts'

export interface LineageModuleDeps {
  readonly core: Core
  readonly freshness: FreshnessModule
  readonly components: ComponentsModule
  readonly configurations: ConfigurationsModule
  readonly tables: TablesModule
  readonly jobRecords: JobRecordsModule
}

export type LineageModule = ReturnType<typeof createLineageModule>

export function createLineageModule({ core, freshness, components, configurations, tables, jobRecords }: LineageModuleDeps) {
  const { db, inTransaction, clock, log, recordEvent } = core
  const store = createLineageStore(db)
  const lineage = createLineage({
    store,
    now: () => clock.now(),
    freshnessAt: freshness.freshnessAt,
    canonicalId: components.canonicalId,
    getTable: tables.get,
    placeOf: tables.placeOf,
    aliases: tables.listAliases,
    links: configurations.links,
    names: configurations.namesOfBranch,
    componentIds: configurations.listComponentIds,
    newestJob: jobRecords.newestEnded,
    deliveriesOf: jobRecords.deliveriesOf,
    isWriter: (id) => components.findRunnable(id)?.type === 'writer',
  })
  const reportLate = (now = clock.now()) => tellLate({ store, clock, recordEvent, inTransaction }, now)
  const loop = createLateTablesLoop({
    tellLate: () => reportLate(),
    onError: (err) => log.error({ err }, 'late tables could not be looked for; it is tried again'),
  })
  return defineModule({
    name: 'lineage',
    routes: [lineageRoutes(lineage)],
    background: [{ role: 'worker', start: loop.start, stop: loop.stop }],
    usedBy: lineage.usedBy,
    /** Records an event for each table that is late by then; returns how many. */
    reportLate,
    /** What runs of a branch read and wrote. */
    usesOf: store.listUses,
  })
}
