// The query service (spec platform 6.9): statements in a workspace as a job whose results are read page by page. The job is a storage job,
// so it survives a restart of the stack or fails in words; its results are files that live for a day.
// A statement that fails is a result, not a failed storage job: clients read which one it was.

import type { ResultFiles } from '../../../engines/sql/database-files.ts'
import type { SqlColumn } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'
import type { JobHandler, NewStorageJob, Requester, StorageJob } from '../../../model/storage-job.ts'
import type { WorkspaceSession, WorkspaceSessions } from './workspace-sessions.ts'
import type { Workspace } from './workspaces.store.ts'
import type { Workspaces } from './workspaces.ts'

export interface QueryJobsDeps {
  readonly workspaces: Pick<Workspaces, 'find'>
  readonly sessions: Pick<WorkspaceSessions, 'use'>
  readonly results: Pick<ResultFiles, 'save' | 'read'>
  readonly jobs: {
    create(requester: Requester, job: NewStorageJob): Promise<StorageJob>
    get(projectId: number, id: number): Promise<StorageJob>
  }
}

export type QueryStatus = 'created' | 'processing' | 'completed' | 'failed' | 'canceled'

export interface StatementResult {
  readonly id: string
  readonly status: QueryStatus
  readonly query: string
  readonly error: string | null
  readonly numberOfRows: number | null
  readonly rowsAffected: number | null
  readonly columns: readonly SqlColumn[]
}

interface QueryInput {
  readonly workspaceId: number
  readonly statements: readonly string[]
  readonly isTransactional: boolean
  readonly scope: Scope
}

/** As the storage job keeps it. */
interface QueryOutcome {
  readonly status: QueryStatus
  readonly statements: readonly StatementResult[]
}

/** Of one statement; more are a table, which can be loaded. */
const MAX_ROWS = 1_000_000

export type QueryJobs = ReturnType<typeof createQueryJobs>

export function createQueryJobs({ workspaces, sessions, results, jobs }: QueryJobsDeps) {
  /** Cancelled before or while they run, on this node. */
  const cancelled = new Map<number, AbortController>()
  const cancelOf = (id: number): AbortController => {
    const known = cancelled.get(id) ?? new AbortController()
    cancelled.set(id, known)
    return known
  }

  async function submit(
    requester: Omit<Requester, 'actor'> & Scope,
    workspace: Workspace,
    statements: readonly string[],
    isTransactional: boolean,
  ): Promise<string> {
    const scope = { actor: requester.actor, branch: requester.branch }
    const input: QueryInput = { workspaceId: workspace.id, statements, isTransactional, scope }
    const job = await jobs.create(requester, {
      operationName: 'workspaceQuery',
      operationParams: { workspaceId: workspace.id, statements: statements.length, transactional: isTransactional },
      input,
      branchId: workspace.branchId,
      lockKeys: [`workspace:${workspace.id}`],
    })
    return String(job.id)
  }

  const run: JobHandler = async ({ job, signal }) => {
    const { workspaceId, statements, isTransactional, scope } = job.input as QueryInput // written by `submit`
    const stop = cancelOf(job.id)
    try {
      const workspace = await workspaces.find(job.projectId, workspaceId)
      const outcome = stop.signal.aborted
        ? outcomeOf(statements, [], 'canceled', job.id)
        : await sessions.use(scope, workspace, (open) => runAll(open, job.id, statements, isTransactional), {
            signal: AbortSignal.any([signal, stop.signal]),
          })
      return { results: outcome }
    } catch (error) {
      if (!stop.signal.aborted) throw error
      return { results: outcomeOf(statements, [], 'canceled', job.id) }
    } finally {
      cancelled.delete(job.id)
    }
  }

  async function runAll(
    { session, signal, explain }: WorkspaceSession,
    jobId: number,
    statements: readonly string[],
    isTransactional: boolean,
  ): Promise<QueryOutcome> {
    const done: StatementResult[] = []
    if (isTransactional) await session.execute('BEGIN')
    for (const [i, query] of statements.entries()) {
      const id = idOf(jobId, i)
      const result = await runOne({ session, signal }, id, query).catch((error: unknown) => failed(id, query, explain(error)))
      done.push(result)
      if (result.status === 'completed') continue
      if (isTransactional) await session.execute('ROLLBACK').catch(() => {}) // a session that died has rolled back
      return outcomeOf(statements, done, result.status, jobId)
    }
    if (isTransactional) await session.execute('COMMIT')
    return outcomeOf(statements, done, 'completed', jobId)
  }

  async function runOne(
    { session, signal }: Pick<WorkspaceSession, 'session' | 'signal'>,
    id: string,
    query: string,
  ): Promise<StatementResult> {
    const { columns, bytes, end } = await session.copy(query, 'json', { signal, limit: MAX_ROWS })
    await results.save(id, bytes)
    const { rows, changedRows } = await end
    return { id, status: 'completed', query, error: null, numberOfRows: rows, rowsAffected: changedRows, columns }
  }

  /** Visible to callers that may use its workspace; not found for others. */
  async function get(actor: Actor, id: string): Promise<{ readonly job: StorageJob; readonly outcome: QueryOutcome }> {
    const job = /^\d{1,15}$/.test(id) ? await jobs.get(actor.projectId, Number(id)).catch(missing(id)) : undefined
    if (job?.operationName !== 'workspaceQuery') throw notFound(id)
    const { statements } = job.input as QueryInput // written by `submit`
    if (!actor.isMasterToken && !actor.canManageBuckets && job.source.tokenId !== actor.tokenId) throw notFound(id)
    if (job.status === 'success') return { job, outcome: job.results as QueryOutcome } // of `run`
    if (job.status === 'error')
      return { job, outcome: outcomeOf(statements, [failed(idOf(job.id, 0), statements[0] ?? '', job.error)], 'failed', job.id) }
    return { job, outcome: outcomeOf(statements, [], job.status === 'waiting' ? 'created' : 'processing', job.id) }
  }

  /** Rows of one statement, from `offset` on. */
  async function page(actor: Actor, jobId: string, statementId: string, offset: number, count: number) {
    const { outcome } = await get(actor, jobId)
    const statement = outcome.statements.find(({ id }) => id === statementId)
    if (!statement) throw notFound(`${jobId}/${statementId}`)
    const { status, columns, numberOfRows, rowsAffected, error } = statement
    const lines = numberOfRows === null ? [] : await results.read(statementId, offset, count)
    if (!lines) throw new PlatformError('query.resultsGone', { id: statementId.slice(0, 60) })
    return { status, columns, numberOfRows, rowsAffected, message: error, lines }
  }

  async function cancel(actor: Actor, id: string): Promise<void> {
    const { job } = await get(actor, id)
    if (job.status === 'waiting' || job.status === 'processing') cancelOf(job.id).abort()
  }

  return { submit, run, get, page, cancel }
}

const idOf = (jobId: number, index: number): string => `${jobId}-${index + 1}`

/** Statements that did not run have the status of their job, or are cancelled with it. */
function outcomeOf(
  queries: readonly string[],
  done: readonly StatementResult[],
  status: QueryStatus,
  jobId: number,
): QueryOutcome {
  const rest = queries.slice(done.length).map((query, i) => ({
    id: idOf(jobId, done.length + i),
    status: status === 'failed' ? ('canceled' as const) : status,
    query,
    error: null,
    numberOfRows: null,
    rowsAffected: null,
    columns: [],
  }))
  return { status, statements: [...done, ...rest] }
}

function failed(id: string, query: string, error: unknown): StatementResult {
  const isCancelled = error instanceof PlatformError && error.code === 'sql.cancelled'
  const text = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : 'The statement failed.'
  const status = isCancelled ? ('canceled' as const) : ('failed' as const)
  return { id, status, query, error: text, numberOfRows: null, rowsAffected: null, columns: [] }
}

const missing = (id: string) => (error: unknown) => {
  throw error instanceof PlatformError && error.kind === 'not-found' ? notFound(id) : error
}
const notFound = (id: string) => new PlatformError('query.notFound', { id: id.slice(0, 60) })
