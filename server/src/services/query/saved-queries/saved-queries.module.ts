import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { SqlModule } from '../sql/sql.module.ts'
import { savedQueriesRoutes } from './saved-queries.routes.ts'
import { createSavedQueries } from './saved-queries.ts'

export interface SavedQueriesModuleDeps {
  readonly core: Core
  readonly sql: SqlModule
}

export function createSavedQueriesModule({ core, sql }: SavedQueriesModuleDeps) {
  const { db, inTransaction, clock, recordEvent } = core
  const queries = createSavedQueries({ db, inTransaction, clock, recordEvent, ...sql.queries })
  return defineModule({ name: 'saved-queries', routes: [savedQueriesRoutes(queries)], queries })
}

export type SavedQueriesModule = ReturnType<typeof createSavedQueriesModule>
