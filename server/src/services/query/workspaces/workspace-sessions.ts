// Sessions of workspaces: one at a time for each, since DuckDB gives a database file to one process. A statement that would let the file
// grow beyond its quota is stopped.

import type { DatabaseFiles } from '../../../engines/sql/database-files.ts'
import type { SqlEngine, SqlSession, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readerOf, type Scope } from '../../../model/scope.ts'
import type { Workspace } from './workspaces.store.ts'
import { SIZES } from './workspaces.ts'

export type FindTable = (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>

export interface SessionUse {
  readonly signal?: AbortSignal | undefined
  /** Other tables than those of the project, for loads. */
  readonly findTable?: FindTable
}

export interface WorkspaceSessionsDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly files: DatabaseFiles
  readonly quotaMb: number
  readonly memoryMb: number
  readonly findTable: FindTable
  readonly used: (workspace: Workspace) => Promise<void>
  /** A session of the project has ended. */
  readonly onSession: (projectId: number, ms: number) => void
}

const WATCH_MS = 250

export type WorkspaceSessions = ReturnType<typeof createWorkspaceSessions>

export interface WorkspaceSession {
  readonly session: SqlSession
  /** Aborted when the quota is used up, or with the given signal. */
  readonly signal: AbortSignal
  /** Aborted when the quota is used up: for work that outlives the given signal, as the statements of a transaction. */
  readonly stop: AbortSignal
  /** The reason behind a statement that was stopped. */
  readonly explain: (error: unknown) => unknown
}

export function createWorkspaceSessions(deps: WorkspaceSessionsDeps) {
  const { engine, files, quotaMb, memoryMb } = deps
  const last = new Map<number, Promise<unknown>>()

  /** Runs `work` in a session of the workspace, after its current user. */
  async function use<T>(
    scope: Scope,
    workspace: Workspace,
    work: (open: WorkspaceSession) => Promise<T>,
    options: SessionUse = {},
  ): Promise<T> {
    const before = last.get(workspace.id)
    const turn = Promise.withResolvers<void>()
    last.set(workspace.id, turn.promise)
    try {
      await before
      return await inSession(scope, workspace, work, options)
    } finally {
      turn.resolve()
      if (last.get(workspace.id) === turn.promise) last.delete(workspace.id)
    }
  }

  const tablesOf =
    (scope: Scope, { readOnlyStorageAccess }: Workspace) =>
    async (schema: string, name: string) =>
      readOnlyStorageAccess ? deps.findTable(scope, schema, name) : undefined

  async function inSession<T>(
    scope: Scope,
    workspace: Workspace,
    work: (open: WorkspaceSession) => Promise<T>,
    { signal, findTable }: SessionUse,
  ): Promise<T> {
    await deps.used(workspace)
    const full = new AbortController()
    const either = signal ? AbortSignal.any([signal, full.signal]) : full.signal
    const session = await engine.open({
      mode: 'write',
      database: await files.open(workspace.id),
      findTable: findTable ? (schema, name) => findTable(scope, schema, name) : tablesOf(scope, workspace),
      limits: {
        memoryMb: Math.max(384, Math.floor(memoryMb * (SIZES[workspace.backendSize ?? 'large'] ?? 1))),
        timeoutMs: workspace.statementTimeoutSeconds * 1000,
      },
      // Its DuckDB rests between the statements of one user. A load has tables of its own, and leaves nothing.
      ...(!findTable && { reader: readerOf(scope) }),
      owner: scope.actor,
      signal: either,
      onClosed: (ms) => deps.onSession(scope.actor.projectId, ms),
    })
    const watch = setInterval(() => void files.sizeMb(workspace.id).then((mb) => mb > quotaMb && full.abort()), WATCH_MS)
    const refused = () => new PlatformError('workspace.full', { id: workspace.id, limit: quotaMb })
    const explain = (error: unknown) => (full.signal.aborted && isCancelled(error) ? refused() : error)
    try {
      return await work({ session, signal: either, stop: full.signal, explain })
    } catch (error) {
      throw full.signal.aborted ? refused() : error
    } finally {
      clearInterval(watch)
      await session.close()
    }
  }

  return {
    use,
    /** After the current user of the session. */
    removeFiles: async (id: number): Promise<void> => {
      await last.get(id)
      await files.remove(id)
    },
  }
}

const isCancelled = (error: unknown): boolean => error instanceof PlatformError && error.code === 'sql.cancelled'
