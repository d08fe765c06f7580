// One statement in a workspace, answered at once (spec storage 2.9.2). A statement that fails is an answer too, not an error.

import type { SqlValue } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'
import type { Workspace } from './workspaces.store.ts'

export type QueryWorkspace = ReturnType<typeof createWorkspaceQuery>

/** More than a person reads; large results are tables, which can be loaded. */
const MAX_ROWS = 10_000

export function createWorkspaceQuery(sessions: Pick<WorkspaceSessions, 'use'>) {
  return (scope: Scope, workspace: Workspace, sql: string) =>
    sessions
      .use(scope, workspace, async ({ session, signal }) => {
        const { columns, batches } = await session.query(sql, { signal, limit: MAX_ROWS })
        const rows = (await Array.fromAsync(batches)).flat().map((row) => row.map(jsonValue))
        return columns.length === 0
          ? { status: 'ok' as const }
          : { status: 'ok' as const, data: { columns: columns.map(({ name }) => name), rows } }
      })
      .catch((error: unknown) => {
        if (error instanceof PlatformError && (error.kind === 'invalid' || error.kind === 'unprocessable'))
          return { status: 'error' as const, message: error.message }
        throw error
      })
}

/** JSON has no integers beyond 2^53 that every client reads: those are texts. */
const jsonValue = (value: SqlValue): string | number | boolean | null => {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}
