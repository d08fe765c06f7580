// A table of a workspace on its way out: as the source of a load it is one CSV file with a header on this machine, for as long as the load
// takes; values of one of its columns choose rows of a table; as an export it becomes a file of the project.

import { randomUUID } from 'node:crypto'
import { removeFile, saveText } from '../../../engines/sql/database-files.ts'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Origin } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { identifier } from '../../../model/sql-columns.ts'
import type { JobHandler } from '../../../model/storage-job.ts'
import { objectsIn } from './workspace-objects.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'
import type { Workspaces } from './workspaces.ts'

export interface UnloadedTable {
  readonly path: string
  readonly sizeBytes: number
  readonly name: string
  remove(): Promise<void>
}

export function createWorkspaceUnload(
  workspaces: Pick<Workspaces, 'find'>,
  sessions: Pick<WorkspaceSessions, 'use'>,
  scratchDir: string,
) {
  return async (scope: Scope, workspaceId: number, table: string, signal: AbortSignal): Promise<UnloadedTable> => {
    const workspace = await workspaces.find(scope.actor.projectId, workspaceId)
    const path = `${scratchDir}/workspace-${randomUUID()}.csv`
    return sessions.use(
      scope,
      workspace,
      async ({ session, signal: either }) => {
        await checkTable(session, workspaceId, table)
        const { columns, bytes, cancel } = await session.copy(`FROM ${identifier(table)}`, 'csv', { signal: either })
        const reserved = columns.map(({ name }) => name).filter((name) => name.startsWith('_'))
        if (reserved.length > 0) {
          await cancel()
          throw reservedColumns(table, reserved)
        }
        const { sizeBytes } = await saveText(path, bytes)
        return { path, sizeBytes, name: `${table} of workspace ${workspaceId}`, remove: () => removeFile(path) }
      },
      { signal },
    )
  }
}

const reservedColumns = (table: string, names: readonly string[]) =>
  new PlatformError(
    'storage.invalidColumns',
    {},
    {
      text: `The table "${table.slice(0, 100)}" of the workspace has columns that begin with an underscore: ${names.join(', ').slice(0, 500)}. Rename them before the load.`,
    },
  )

async function checkTable(session: SqlSession, workspaceId: number, table: string): Promise<void> {
  if (!(await objectsIn(session)).some(({ name }) => name === table))
    throw new PlatformError('storage.tableNotFound', { workspace: workspaceId, table: table.slice(0, 100) })
}

/** More values than this belong into a load. */
const MAX_VALUES = 100_000

/** Different values of a column, as texts; null is none. */
export function createColumnValues(workspaces: Pick<Workspaces, 'find'>, sessions: Pick<WorkspaceSessions, 'use'>) {
  return async (
    scope: Scope,
    { workspaceId, table, column }: { readonly workspaceId: number; readonly table: string; readonly column: string },
    signal: AbortSignal,
  ): Promise<string[]> => {
    const workspace = await workspaces.find(scope.actor.projectId, workspaceId)
    return sessions.use(
      scope,
      workspace,
      async ({ session, signal: either }) => {
        await checkTable(session, workspaceId, table)
        const name = identifier(column)
        const sql = `SELECT DISTINCT ${name}::VARCHAR FROM ${identifier(table)} WHERE ${name} IS NOT NULL`
        const { batches } = await session.query(sql, { signal: either, limit: MAX_VALUES + 1 })
        const values = (await Array.fromAsync(batches)).flat().map(([value]) => String(value))
        if (values.length > MAX_VALUES) throw new PlatformError('workspace.tooManyValues', { table, column, limit: MAX_VALUES })
        return values
      },
      { signal },
    )
  }
}

export interface TableExportInput {
  readonly workspaceId: number
  readonly tableName: string
  readonly fileName: string
  readonly fileType: 'csv' | 'parquet'
  readonly gzip: boolean
  readonly scope: Scope
}

/** Writes the result of a query as a file of the project. */
export type SaveResult = (
  session: SqlSession,
  sql: string,
  file: Pick<TableExportInput, 'fileName' | 'fileType' | 'gzip'>,
  run: { readonly scope: Scope; readonly origin: Origin; readonly signal: AbortSignal },
) => Promise<{ readonly file: { readonly id: number } }>

export function createTableExport(
  workspaces: Pick<Workspaces, 'find'>,
  sessions: Pick<WorkspaceSessions, 'use'>,
  saveResult: SaveResult,
): JobHandler {
  return async ({ job, signal }) => {
    const { workspaceId, tableName, scope, ...file } = job.input as TableExportInput // written by the routes of this module
    const workspace = await workspaces.find(job.projectId, workspaceId)
    const results = await sessions.use(
      scope,
      workspace,
      async ({ session, signal: either }) => {
        await checkTable(session, workspaceId, tableName)
        const run = { scope, origin: job.origin, signal: either }
        return saveResult(session, `FROM ${identifier(tableName)}`, file, run)
      },
      { signal },
    )
    return { results }
  }
}
