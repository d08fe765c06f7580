// One statement in a workspace, answered at once (spec storage 2.9.2). A statement that fails is an answer too, not an error.

import type { SqlValue } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import { hasPassword } from './workspace-credentials.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'
import { SNOWFLAKE } from './workspace-view.ts'
import type { Workspace } from './workspaces.store.ts'

export type QueryWorkspace = ReturnType<typeof createWorkspaceQuery>

/** More than a person reads; large results are tables, which can be loaded. */
const MAX_ROWS = 10_000

export function createWorkspaceQuery(
  sessions: Pick<WorkspaceSessions, 'use'>,
  backendName: (projectId: number) => Promise<string>,
) {
  return async (scope: Scope, workspace: Workspace, sql: string) => {
    if ((await backendName(workspace.projectId)) === SNOWFLAKE && hasPassword(workspace))
      throw new PlatformError('storage.executeQuery.notSupportedLoginType', { id: workspace.id })
    return sessions
      .use(scope, workspace, async ({ session, signal }) => {
        const { columns, batches, end } = await session.query(sql, { signal, limit: MAX_ROWS })
        const rows = (await Array.fromAsync(batches)).flat()
        const { changedRows } = await end
        if (changedRows !== null) return { status: 'ok' as const, message: `${changedRows} rows affected.` }
        if (columns.length === 0) return { status: 'ok' as const, message: 'Statement executed successfully.' }
        const names = columns.map(({ name }) => name)
        return {
          status: 'ok' as const,
          data: {
            columns: rows.length === 0 ? [] : names,
            rows: rows.map((row) => Object.fromEntries(names.map((name, i) => [name, textOf(row[i])]))),
          },
        }
      })
      .catch((error: unknown) => {
        if (error instanceof PlatformError && (error.kind === 'invalid' || error.kind === 'unprocessable'))
          return { status: 'error' as const, message: error.message }
        throw error
      })
  }
}

/** Every value is a text, as clients of this route read it (corrections-2, W6). */
const textOf = (value: SqlValue | undefined): string | null => (value === null || value === undefined ? null : String(value))
