// How fresh tables are, for the views of tables. Lineage itself, which reads tables and configurations, is in lineage.module.ts.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Core } from '../../../model/core.ts'
import type { TableUse } from '../../../model/lineage.ts'
import { defineModule } from '../../../model/module.ts'
import { createFreshnessReader, createLoadListener } from './freshness.ts'
import { createLineageStore } from './lineage.store.ts'

export type FreshnessModule = ReturnType<typeof createFreshnessModule>

export function createFreshnessModule({ core: { db, clock, subscribe } }: { readonly core: Core }) {
  const store = createLineageStore(db)
  subscribe('event.recorded', createLoadListener({ store, clock }))
  return defineModule({
    name: 'freshness',
    freshnessAt: createFreshnessReader(store, () => clock.now()),
    /** What a run read and wrote. */
    recordUse: (trx: Trx, use: TableUse) => store.recordUse(trx, use, clock.now().getTime()),
  })
}
