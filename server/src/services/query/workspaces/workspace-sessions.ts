// Sessions of workspaces: one at a time for each, since DuckDB gives a database file to one process. A statement that would let the file
// grow beyond its quota is stopped.

import { CONNECTION_SCHEMAS } from '../../../engines/sql/connection-schemas.ts'
import type { DatabaseFiles } from '../../../engines/sql/database-files.ts'
import type { SqlEngine, SqlSession, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
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
  /** Schemas of connections that have ended, by workspace. */
  const ended = new Map<number, Set<string>>()
  /** Workspaces that this process has opened. Before that, connections with temporary tables in them ended with another process. */
  const opened = new Set<number>()

  /** Runs `work` after the current user of the workspace. */
  async function inTurn<T>(id: number, work: () => Promise<T>): Promise<T> {
    const before = last.get(id)
    const turn = Promise.withResolvers<void>()
    last.set(id, turn.promise)
    try {
      await before
      return await work()
    } finally {
      turn.resolve()
      if (last.get(id) === turn.promise) last.delete(id)
    }
  }

  /** Runs `work` in a session of the workspace, after its current user. */
  const use = <T>(
    scope: Scope,
    workspace: Workspace,
    work: (open: WorkspaceSession) => Promise<T>,
    options: SessionUse = {},
  ): Promise<T> => inTurn(workspace.id, () => inSession(scope, workspace, work, options))

  /** What cannot be dropped now is dropped by the next session. */
  async function dropEnded(session: SqlSession, id: number): Promise<void> {
    const names = opened.has(id) ? [...(ended.get(id) ?? [])] : await connectionSchemas(session)
    for (const name of names) {
      await session.execute(`DROP SCHEMA IF EXISTS ${doubleQuoted(name)} CASCADE`)
      ended.get(id)?.delete(name)
    }
    opened.add(id)
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
      await dropEnded(session, workspace.id).catch(() => {})
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
    removeFiles: (id: number): Promise<void> =>
      inTurn(id, async () => {
        await files.remove(id)
        ended.delete(id)
        opened.delete(id)
      }),
    /** Drops the schema of a connection that has ended. */
    dropSchema: async (scope: Scope, workspace: Workspace, name: string): Promise<void> => {
      const names = ended.get(workspace.id) ?? new Set()
      ended.set(workspace.id, names.add(name))
      await inTurn(workspace.id, async () => {
        const isThere = names.size > 0 && (await files.sizeMb(workspace.id)) > 0
        if (isThere) await inSession(scope, workspace, async () => {}, {})
      })
    },
  }
}

async function connectionSchemas(session: SqlSession): Promise<string[]> {
  const { batches } = await session.query(CONNECTION_SCHEMAS)
  return (await Array.fromAsync(batches)).flat().map(([name]) => String(name))
}

const isCancelled = (error: unknown): boolean => error instanceof PlatformError && error.code === 'sql.cancelled'
