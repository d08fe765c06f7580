import type { Core } from '../../../model/core.ts'
import { defineModule, encapsulated } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import { icebergRoutes } from './iceberg.routes.ts'
import { createIcebergStore } from './iceberg.store.ts'
import { createIceberg } from './iceberg.ts'
import { createRunCatalogue, withRunNamespace } from './run-namespace.ts'
import { createRunTablesStore } from './run-tables.store.ts'
import { createWrites } from './writes.ts'

export interface IcebergModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly tokens: TokensModule
  readonly branches: BranchesModule
  readonly tables: TablesModule
}

export type IcebergModule = ReturnType<typeof createIcebergModule>

export function createIcebergModule({ core, objects, tokens, branches, tables }: IcebergModuleDeps) {
  const { db, inTransaction, clock, subscribe } = core
  const store = createIcebergStore(db)
  const iceberg = createIceberg({
    tables: tables.open,
    store,
    objects: objects.store,
    access: objects.access,
    inTransaction,
    findBranch: branches.findByName,
    authenticate: async (token) => tokens.authenticate(token),
  })
  const runs = createRunCatalogue({
    store: createRunTablesStore(db),
    objects: objects.store,
    catalogue: iceberg,
    inTransaction,
    clock,
  })
  const writes = createWrites({ tables: tables.open, store, objects: objects.store, catalogue: iceberg })

  subscribe('tables.sweeping', async () => {
    await iceberg.removeUnused()
    await runs.removeOld()
  })
  subscribe('tables.keysInUseListed', iceberg.everyKey)

  return defineModule({
    name: 'iceberg',
    routes: [encapsulated(icebergRoutes(withRunNamespace(iceberg, writes, runs)))],
    /** Tables of the catalogue that live as long as a run. */
    runNamespace: runs.ofRun,
  })
}
