// SQL over tables: the engine and the modules that open its sessions.

import type { FastifyInstance } from 'fastify'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { createSqlEngine } from '../engines/sql/engine.ts'
import type { SqlEngineSettings } from '../engines/sql/sql-engine.ts'
import { createQueries } from '../services/sql/queries.ts'
import { queryRoutes } from '../services/sql/query.routes.ts'
import type { TableModules } from './tables.ts'

export interface SqlModulesDeps {
  readonly objects: ObjectStore
  /** On the disk of the objects, so that files are linked instead of copied. */
  readonly scratchDir: string
  readonly tables: TableModules
  readonly settings?: SqlEngineSettings | undefined
}

export type SqlModules = Awaited<ReturnType<typeof createSqlModules>>

export async function createSqlModules({ objects, scratchDir, tables, settings = {} }: SqlModulesDeps) {
  const engine = await createSqlEngine({ openLocal: objects.openLocal, scratchDir, settings })
  const queries = createQueries({ engine, findTable: tables.sqlTables.find })

  return {
    engine,
    registerRoutes(app: FastifyInstance): void {
      app.register(queryRoutes(queries))
    },
    close: engine.close,
  }
}
