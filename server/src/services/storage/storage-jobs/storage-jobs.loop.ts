// Claims storage jobs and runs them. What must stay true:
//  (1) a job runs in one place at a time; a second attempt starts only after the first one's lease ended, and outdates it;
//  (2) a job whose worker or table worker crashed runs once more; then it fails with that reason;
//  (3) a job that cannot reach the object store waits for it, for a while, and then fails with that reason;
//  (4) a job that was created while the loop was idle starts at once: polling is only for jobs of other nodes.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { isDatabaseAway, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import { isStoreAway } from '../../../engines/object-store/wait-for-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { diskFullError } from '../../../kit/disk-full.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { retry } from '../../../kit/retry.ts'
import { undone } from '../../../model/dry-run.ts'
import {
  type JobError,
  type JobHandler,
  type JobOutcome,
  type NewStorageJob,
  NO_METRICS,
  type Requester,
  type StorageJob,
} from '../../../model/storage-job.ts'
import type { StorageJobRow } from './storage-jobs.store.ts'
import { type StorageJobs, toJob } from './storage-jobs.ts'

export interface StorageJobsLoopDeps {
  readonly jobs: StorageJobs
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  /** True when this process is the only one there can be (SQLite): what others left running is adopted at start. */
  readonly onlyNode: boolean
  /** The name under which this process renews its lease. */
  readonly worker?: string
  readonly settings?: {
    /** Loads and exports at once. */
    readonly heavySlots?: number
    /** Jobs that only touch metadata; they never wait behind a load. */
    readonly lightSlots?: number
    readonly leaseMs?: number
    readonly pollMs?: number
    /** How long a job waits for an object store that is away. */
    readonly storeWaitMs?: number
    /** At first; it grows. */
    readonly storePauseMs?: number
  }
}

/** Heavy jobs move data, light ones change records. */
export type Lane = 'heavy' | 'light'

interface Running {
  readonly attempt: number
  readonly lane: Lane
  readonly abort: AbortController
  readonly done: Promise<void>
}

/** How often a job may lose its worker before it fails. */
const LOSSES_ALLOWED = 1

export type StorageJobsLoop = ReturnType<typeof createStorageJobsLoop>

export function createStorageJobsLoop({
  jobs,
  inTransaction,
  clock,
  log,
  onlyNode,
  worker = randomUUID(),
  settings = {},
}: StorageJobsLoopDeps) {
  const { heavySlots = 4, lightSlots = 4, leaseMs = 20_000, pollMs = 1_000, storeWaitMs = 0, storePauseMs = 500 } = settings
  const { store, rowOf, onCreated, finished } = jobs.internal
  const handlers = new Map<string, { readonly run: JobHandler; readonly lane: Lane }>()
  const inline = new Map<number, JobHandler>()
  const running = new Map<number, Running>()
  let timer: NodeJS.Timeout | undefined
  let started = false
  let lastBeat = 0
  let filling: Promise<void> | undefined
  let lookAgain = false

  /** The platform registers what the modules list as `jobHandlers` and `lightJobHandlers`. */
  function registerHandler(operationName: string, run: JobHandler, lane: Lane = 'heavy'): void {
    if (handlers.has(operationName)) throw new Error(`Two handlers for ${operationName}.`)
    handlers.set(operationName, { run, lane })
  }

  /**
   * A job whose work is held by this process only (a file of a component's data folder): it queues for its locks like any other, runs
   * here, and fails if this process ends. Resolves with the finished job.
   */
  async function runInline(requester: Requester, job: NewStorageJob, run: JobHandler): Promise<StorageJob> {
    if (!handlers.has(job.operationName)) throw new Error(`No handler for ${job.operationName}.`)
    const row = await inTransaction((trx) =>
      store.insert(trx, { ...rowOf(requester, job), inline: { worker, leaseUntil: leaseEnd() } }),
    )
    inline.set(row.id, run)
    const end = jobs.waitFor(row.project_id, row.id)
    wake()
    return end.finally(() => inline.delete(row.id))
  }

  /** What a job would do: its handler runs, and what it writes is undone; `look` sees it before that. It waits for no lock and leaves no record. */
  async function rehearse<T>(
    requester: Requester,
    job: NewStorageJob,
    signal: AbortSignal,
    look: (trx: Trx) => Promise<T>,
  ): Promise<{ readonly results: unknown; readonly seen: T }> {
    const handler = handlers.get(job.operationName)
    if (!handler) throw new Error(`No handler for ${job.operationName}.`)
    let seen: { readonly results: unknown; readonly seen: T } | undefined
    const publish = async (work: (trx: Trx) => Promise<JobOutcome | undefined>): Promise<void> => {
      seen = await undone(inTransaction)(async (trx) => {
        const outcome = await work(trx)
        return { results: outcome?.results ?? null, seen: await look(trx) }
      })
    }
    const outcome = await handler.run({ job: unsaved(requester, job), signal, publish })
    if (!seen) await publish(async () => outcome ?? undefined)
    return seen!
  }

  const unsaved = ({ actor, origin, baseUrl }: Requester, job: NewStorageJob): StorageJob => ({
    id: 0,
    projectId: actor.projectId,
    branchId: job.branchId ?? null,
    status: 'processing',
    operationName: job.operationName,
    operationParams: job.operationParams ?? {},
    input: JSON.parse(JSON.stringify(job.input ?? null)), // as the record would hold it
    tableId: job.tableId ?? null,
    results: null,
    error: undefined,
    metrics: NO_METRICS,
    source: { projectId: actor.projectId, tokenId: actor.tokenId, tokenDescription: actor.tokenDescription },
    origin,
    baseUrl,
    createdAt: clock.now(),
    startedAt: clock.now(),
    endedAt: undefined,
    attempt: 0,
  })

  /** The end of a job is written again until the database has taken it: its lease is kept meanwhile, and what is written looks whose it is. */
  const untilWritten = <T>(work: (trx: Trx) => Promise<T>, signal: AbortSignal): Promise<T> =>
    retry(() => inTransaction(work), {
      attempts: Number.POSITIVE_INFINITY,
      firstPauseMs: 100,
      longestPauseMs: 2_000,
      isWorthRetrying: isDatabaseAway,
      signal,
    })

  const leaseEnd = () => clock.now().getTime() + leaseMs

  async function start(): Promise<void> {
    if (onlyNode) await inTransaction((trx) => store.expireOthers(trx, worker))
    started = true
    onCreated.add(wake)
    timer = setInterval(() => void tick().catch((err: unknown) => log.error({ err }, 'the loop of storage jobs failed')), pollMs)
    await tick()
  }

  /** Lets running jobs finish for a while; those that do not are given back for the next start. */
  async function stop({ patienceMs = 10_000 } = {}): Promise<void> {
    started = false
    onCreated.delete(wake)
    clearInterval(timer)
    await filling
    if (await allEnd(patienceMs)) return
    for (const run of running.values()) run.abort.abort()
    if (!(await allEnd(patienceMs)))
      log.warn({ jobs: [...running.keys()] }, 'storage jobs were left behind; the next start takes them over')
  }

  async function allEnd(patienceMs: number): Promise<boolean> {
    let timeout: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timeout = setTimeout(() => resolve(false), patienceMs)
    })
    const everyone = Promise.allSettled([...running.values()].map((run) => run.done)).then(() => true)
    return Promise.race([everyone, late]).finally(() => clearTimeout(timeout))
  }

  /** Prolongs leases, adopts lost jobs, claims what waits. */
  async function tick(): Promise<void> {
    const now = clock.now().getTime()
    if (now - lastBeat >= leaseMs / 4 || now < lastBeat) {
      lastBeat = now
      await beat()
    }
    await fill()
  }

  async function beat(): Promise<void> {
    if (running.size === 0 && inline.size === 0) return
    const known = [...running] // a job that is claimed meanwhile has its lease
    const ids = known.map(([id]) => id)
    const held = await inTransaction((trx) => store.heartbeat(trx, worker, ids, leaseEnd()))
    for (const [id, { abort }] of known) if (!held.has(id)) abort.abort()
  }

  function wake(): void {
    if (started) void fill().catch((err: unknown) => log.error({ err }, 'claiming storage jobs failed'))
  }

  /** One at a time; a wake-up during a fill makes it look once more. */
  function fill(): Promise<void> {
    lookAgain = true
    filling ??= (async () => {
      try {
        while (lookAgain && started) {
          lookAgain = false
          while (started && (await claimOne())) {}
        }
      } finally {
        filling = undefined
      }
    })()
    return filling
  }

  async function claimOne(): Promise<boolean> {
    const free = (lane: Lane) =>
      [...running.values()].filter((run) => run.lane === lane).length < (lane === 'heavy' ? heavySlots : lightSlots)
    const open = { heavy: free('heavy'), light: free('light') }
    const operations = [...handlers].filter(([, { lane }]) => open[lane]).map(([name]) => name)
    if (operations.length === 0) return false
    const request = { worker, running: [...running.keys()], operations, now: clock.now().getTime(), leaseUntil: leaseEnd() }
    try {
      const row = await inTransaction(async (trx) => (await store.takeOver(trx, request)) ?? (await store.claim(trx, request)))
      if (!row) return false
      launch(row)
      return true
    } catch (error) {
      // The index that allows one holder per lock key.
      if (!isUniqueViolation(error)) throw error
      return false // another node was quicker; the next look finds what is left
    }
  }

  function launch(row: StorageJobRow): void {
    const lane = handlers.get(row.operation_name)?.lane ?? 'heavy'
    const abort = new AbortController()
    const done = run(row, abort).finally(() => {
      running.delete(row.id)
      wake()
    })
    running.set(row.id, { attempt: row.attempt, lane, abort, done })
  }

  /** `storeAwaySince`: of a job that could not reach the object store before. */
  async function run(row: StorageJobRow, abort: AbortController, storeAwaySince?: number): Promise<void> {
    const job = toJob(row)
    try {
      if (row.losses > LOSSES_ALLOWED || (row.is_inline === 1 && !inline.has(row.id)))
        throw new PlatformError('storage.jobs.workerLost')
      await perform(job, row, abort.signal)
    } catch (error) {
      await afterFailure(job, row, error, abort, storeAwaySince).catch((err: unknown) =>
        // The lease ends and another node adopts the job: nothing is lost.
        log.error({ err, jobId: job.id }, 'the end of a storage job could not be saved'),
      )
    }
  }

  async function perform(job: StorageJob, row: StorageJobRow, signal: AbortSignal): Promise<void> {
    const handler = row.is_inline === 1 ? inline.get(job.id) : handlers.get(job.operationName)?.run
    if (!handler) throw new PlatformError('storage.jobs.workerLost')
    let published = false
    const publish = async (work: (trx: Trx) => Promise<JobOutcome | undefined>): Promise<void> => {
      if (published) throw new Error(`Job ${job.id} published twice.`)
      const ended = await inTransaction(async (trx) => {
        const outcome = await work(trx)
        return end(trx, job, { status: 'success', ...outcome })
      })
      published = true
      finished(ended)
    }
    const outcome = await handler({ job, signal, publish })
    if (!published) await publish(async () => outcome ?? undefined)
  }

  async function end(
    trx: Trx,
    job: StorageJob,
    outcome: JobOutcome & { readonly status: 'success' | 'error'; readonly error?: JobError },
  ): Promise<StorageJob> {
    const { status, results = null, error, metrics, tableId } = outcome
    const endedAt = clock.now()
    const allMetrics = { ...NO_METRICS, ...metrics }
    const saved = await store.end(trx, job.id, job.attempt, {
      status,
      results: results === null ? null : JSON.stringify(results),
      error: error ? JSON.stringify(error) : null,
      metrics: JSON.stringify(allMetrics),
      endedAt: endedAt.getTime(),
      ...defined({ tableId }),
    })
    if (!saved) throw new PlatformError('storage.jobs.lost', { id: job.id })
    return { ...job, status, results, error, metrics: allMetrics, endedAt, ...defined({ tableId }) }
  }

  /** Released when this node stops; if the lease is lost, the new owner ends the job. */
  async function leave({ id, attempt }: StorageJob): Promise<void> {
    if (!started) await inTransaction((trx) => store.release(trx, id, attempt))
  }

  async function afterFailure(
    job: StorageJob,
    row: StorageJobRow,
    error: unknown,
    abort: AbortController,
    storeAwaySince = performance.now(),
  ): Promise<void> {
    if (error instanceof PlatformError && error.code === 'storage.jobs.lost') {
      log.warn({ jobId: job.id, attempt: job.attempt }, 'another worker took over a storage job; nothing was published')
      return
    }
    if (abort.signal.aborted) return leave(job)
    const awayMs = performance.now() - storeAwaySince
    const isAway = isStoreAway(error)
    if (isAway ? awayMs < storeWaitMs : isWorthARetry(error) && row.losses < LOSSES_ALLOWED) {
      log.warn({ err: error, jobId: job.id }, 'a storage job failed in passing and is tried again')
      if (isAway) await pause(Math.min(10 * storePauseMs, storePauseMs + awayMs / 4), abort.signal)
      if (abort.signal.aborted) return leave(job)
      const loss = isAway ? 0 : 1
      const order = { id: job.id, attempt: job.attempt, loss, leaseUntil: leaseEnd() } as const
      const again = await untilWritten((trx) => store.tryAgain(trx, order), abort.signal)
      if (again) {
        const lane = running.get(job.id)?.lane ?? 'heavy'
        running.set(job.id, { attempt: again.attempt, lane, abort, done: running.get(job.id)?.done ?? Promise.resolve() })
        await run(again, abort, isAway ? storeAwaySince : undefined)
      }
      return
    }
    const failure = jobErrorOf(error)
    if (isOurFault(error))
      log.error({ err: error, jobId: job.id, exceptionId: failure.exceptionId }, 'a storage job failed by our fault')
    const results = failure.contextParams ?? null
    finished(await untilWritten((trx) => end(trx, job, { status: 'error', error: failure, results }), abort.signal))
  }

  return { registerHandler, runInline, rehearse, start, stop, tick, wake, worker, running: () => running.size }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {}) // the aborting side reports it

const isWorthARetry = (error: unknown) => (error instanceof PlatformError && error.kind === 'transient') || isDatabaseAway(error)
const isOurFault = (error: unknown) => !(error instanceof PlatformError) || error.kind === 'bug'

/** The error in the record. The reason of an internal error stays in the log; the exception id finds it there. */
function jobErrorOf(error: unknown): JobError {
  const exceptionId = `millrace-${randomUUID().replaceAll('-', '')}`
  const named = diskFullError(error) ?? (error instanceof PlatformError ? error : new PlatformError('internalError'))
  return { code: named.code, message: named.message, exceptionId, ...(named.params && { contextParams: named.params }) }
}
