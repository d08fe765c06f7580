import { PlatformError } from '../../../kit/errors.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { SqlModule } from '../../query/sql/sql.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import { createTableHistoryLoop } from './table-history.loop.ts'
import { tableHistoryRoutes } from './table-history.routes.ts'
import { createTableHistories } from './table-history.ts'

export interface TableHistoryModuleDeps {
  readonly core: Core
  readonly branches: BranchesModule
  readonly tables: TablesModule
  readonly sql: SqlModule
  readonly baseUrl: () => string
}

export function createTableHistoryModule({ core, branches, tables, sql, baseUrl }: TableHistoryModuleDeps) {
  const { db, inTransaction, clock, log, recordEvent, subscribe } = core
  const histories = createTableHistories({
    ...{ db, inTransaction, clock, recordEvent, baseUrl },
    engine: sql.engine,
    scratchDir: sql.scratchDir,
    getTable: tables.get,
    listStates: tables.parts.store.listStates,
    readState: tables.parts.store.findStateOf,
    hasSameRows: tables.parts.store.isTidied,
    ofState: tables.sqlTables.ofState,
    tables: tables.runTables,
    isDefaultBranch: async (projectId, branchId) => (await branches.defaultId(projectId)) === branchId,
  })
  const { store } = histories
  const loop = createTableHistoryLoop({
    histories,
    now: () => clock.now().getTime(),
    onError: (err, tableId) => log.warn({ err, tableId }, 'the history of a table could not be maintained; it is tried again'),
  })
  subscribe('event.recorded', async (trx, { projectId }, { event, objectId, branchId, params }) => {
    if (objectId === undefined) return
    const isSwap = event === 'storage.tableUpdated' && params?.swappedWith !== undefined
    const isRename = event === 'storage.tableColumnsUpdated' && params?.renamedTo !== undefined
    if (!isSwap && !isRename && event !== 'storage.tableDeleted') return
    const branch = branchId ?? (await branches.defaultId(projectId))
    if (!isSwap && !isRename) return void (await store.remove(trx, projectId, branch, objectId))
    if (!(await store.isKept(trx, projectId, branch, objectId))) return
    // The versions of a log are of one table's rows: with other rows under the same name it would continue with wrong ones.
    if (isSwap) throw new PlatformError('storage.history.swap', { table: objectId })
    throw new PlatformError('storage.history.rename', { table: objectId, column: String(params?.column) })
  })
  subscribe('branch.deleted', (trx, { projectId, id }) => store.removeOfBranch(trx, projectId, id))
  return defineModule({
    name: 'table-history',
    routes: [tableHistoryRoutes(histories)],
    background: [{ role: 'worker', start: loop.start, stop: loop.stop }],
  })
}
