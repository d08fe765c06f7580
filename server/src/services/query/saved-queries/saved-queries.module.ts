import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { SqlModule } from '../sql/sql.module.ts'
import { savedQueriesRoutes } from './saved-queries.routes.ts'
import { createSavedQueries } from './saved-queries.ts'

export interface SavedQueriesModuleDeps {
  readonly core: Core
  readonly tables: TablesModule
  readonly sql: SqlModule
}

export function createSavedQueriesModule({ core, tables, sql }: SavedQueriesModuleDeps) {
  const { db, inTransaction, clock, recordEvent } = core
  const findTable = tables.sqlTables.find
  const queries = createSavedQueries({ db, inTransaction, clock, recordEvent, findTable, run: sql.queries.run })
  return defineModule({ name: 'saved-queries', routes: [savedQueriesRoutes(queries)] })
}
