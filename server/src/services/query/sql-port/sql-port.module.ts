import { join } from 'node:path'
import { createDatabaseFiles } from '../../../engines/sql/database-files.ts'
import type { RequestLimits } from '../../../http/request-limits.ts'
import type { TlsPair } from '../../../http/tls.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { SqlModule } from '../sql/sql.module.ts'
import type { WorkspacesModule } from '../workspaces/workspaces.module.ts'
import { connectionRoutes } from './connection.routes.ts'
import { createSqlPort } from './sql-port.ts'
import { createTemporaryStore } from './temporary-tables.ts'

export interface SqlPortModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly branches: BranchesModule
  readonly tables: TablesModule
  readonly sql: SqlModule
  readonly workspaces: WorkspacesModule
  /** Those of the API: wrong passwords count as wrong tokens. */
  readonly limits: RequestLimits
  readonly tls: TlsPair | undefined
}

const LOGIN_BY_TOKEN = { type: 'LEGACY_SERVICE', hasPassword: true, keys: [undefined, undefined] } as const

export type SqlPortModule = ReturnType<typeof createSqlPortModule>

export function createSqlPortModule({ core, tokens, branches, tables, sql, workspaces, limits, tls }: SqlPortModuleDeps) {
  const port = createSqlPort({
    engine: sql.engine,
    temporaryStore: createTemporaryStore({
      files: createDatabaseFiles(join(sql.scratchDir, 'temporary-tables')),
      maxMb: sql.temporaryMb,
      connectionMb: sql.temporaryMb / 4,
    }),
    tls,
    limits,
    authenticate: tokens.authenticateDirect,
    findActor: tokens.findActor,
    findBranch: branches.findByName,
    findWorkspace: workspaces.findById,
    isPassword: workspaces.isPassword,
    now: () => core.clock.now(),
    mayUse: workspaces.mayUse,
    findTable: tables.sqlTables.find,
    listTables: tables.sqlTables.list,
    useWorkspace: (scope, workspace, work, signal) => workspaces.sessions.use(scope, workspace, work, { signal }),
    dropSchema: workspaces.sessions.dropSchema,
    describeUser: async (workspace) => ({
      ...(workspace ? await workspaces.describeLogin(workspace) : LOGIN_BY_TOKEN),
      timeoutSeconds: workspace?.statementTimeoutSeconds ?? sql.timeoutMs / 1000,
    }),
    onSession: sql.onSession,
    onBug: (err) => core.log.error({ err }, 'a statement of the PostgreSQL port failed by our fault'),
  })
  return defineModule({
    name: 'sql-port',
    routes: [connectionRoutes({ number: port.number, isEncrypted: tls !== undefined })],
    background: [{ stop: port.close }],
    ...port,
  })
}
