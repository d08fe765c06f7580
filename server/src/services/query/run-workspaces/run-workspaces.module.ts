import { defineModule } from '../../../model/module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { SqlModule } from '../sql/sql.module.ts'
import type { SqlPortModule } from '../sql-port/sql-port.module.ts'
import type { WorkspacesModule } from '../workspaces/workspaces.module.ts'
import { createRunWorkspaces } from './run-workspaces.ts'

export interface RunWorkspacesModuleDeps {
  readonly sql: SqlModule
  readonly tables: TablesModule
  readonly workspaces: WorkspacesModule
  readonly sqlPort: SqlPortModule
}

export type RunWorkspacesModule = ReturnType<typeof createRunWorkspacesModule>

export const createRunWorkspacesModule = ({ sql, tables, workspaces, sqlPort }: RunWorkspacesModuleDeps) =>
  defineModule({
    name: 'run-workspaces',
    runWorkspaces: createRunWorkspaces({
      find: workspaces.ofConfiguration,
      mayUse: workspaces.mayUse,
      create: async (scope, of) => (await workspaces.create(scope, {}, of)).workspace,
      remove: workspaces.remove,
      use: workspaces.sessions.use,
      connect: sqlPort.openForRun,
      listTables: tables.sqlTables.list,
      traceRelations: sql.traceRelations,
    }),
  })
