// The worker: claims jobs, runs them, keeps them alive, and picks up after workers that are gone.
//  (1) A job runs under a lease that is renewed while it runs; the worker that finds it expired, and its owner silent, decides its fate, once.
//  (2) Every write of a run carries the attempt it was claimed with; a worker that comes back late writes nothing.
//  (3) A lost job goes back to the queue when no component had begun, is a success when all its results were published, and is an
//      error otherwise: a component is run twice by us only when its description allows it and nothing of the job was published.

import { randomUUID } from 'node:crypto'
import { isDatabaseAway, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { retry } from '../../../kit/retry.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { RecordEvent } from '../../../model/event.ts'
import { type JobCause, jobCause } from '../../../model/job-cause.ts'
import type { JobProgress, RecordState, StateOfRun } from '../../../model/job-progress.ts'
import { createProgressWriter } from './job-progress.ts'
import { moveJob, REPEATED, waitingForJob } from './job-states.ts'
import type { JobRow } from './queue.schema.ts'
import {
  type Hold,
  hasPublishedNothing,
  isLeaseOver,
  type JobEnd,
  type LeftOut,
  PUBLISHED,
  type QueueStore,
} from './queue.store.ts'
import type { Queue } from './queue.ts'
import { queuedJob } from './queued-job.ts'
import { usualDuration } from './usual-duration.ts'

/** How a run ended; the loop turns it into a status. */
export interface JobOutcome {
  readonly end: 'succeeded' | 'warned' | 'failed' | 'killed'
  readonly result: Readonly<Record<string, unknown>>
  readonly usage: readonly unknown[]
  readonly metrics: Readonly<Record<string, unknown>> | readonly []
  readonly error: string | null
  readonly cause: JobCause | null
  /** Of a row that failed. */
  readonly unsavedState: StateOfRun | null
}

/** Why a run must end: a client requested it, another worker has the job, or this node stops. */
export type AbortReason = 'killed' | 'lost' | 'stopped'

/** What a run may do with its job. */
export interface JobHandle {
  readonly job: JobRow
  /** Its reason is an AbortReason. */
  readonly signal: AbortSignal
  /** To be called before the first component starts; throws when the job is no longer ours. */
  begin(configVersion: number | null): Promise<void>
  /** Throws, inside a transaction that publishes, when the job is no longer ours. */
  hold(trx: Trx): Promise<void>
  /** In the transaction that publishes the last of the job's results: a job that is lost from here on has succeeded all the same. */
  markPublished(trx: Trx, done: Pick<JobOutcome, 'result' | 'metrics'>): Promise<void>
  /** A transaction that commits only while the job is still ours. */
  publish<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /** As `hold`, for rows that are stored together with the state that a repeated run continues from. */
  holdBatch(trx: Trx): Promise<void>
  tell(progress: JobProgress): void
}

export interface QueueLoopDeps {
  readonly store: QueueStore
  readonly queue: () => Queue
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly runJob: (handle: JobHandle) => Promise<JobOutcome>
  readonly recordState: RecordState
  /** Rows a container has to run, in order. */
  readonly rowsOf: (job: JobRow) => Promise<readonly string[]>
  /** Reads a flow that was claimed; what it answers begins its run. */
  readonly openFlow: (job: JobRow) => Promise<(trx: Trx) => Promise<void>>
  /** A job has changed, and what it is part of perhaps with it. */
  readonly onMoved: (job: Pick<JobRow, 'id' | 'parent_job_id'>) => void
  readonly slots: () => number
  readonly projectLimit: () => number
  /** Of projects that may run another number of jobs at once. */
  readonly projectLimits?: (trx: Trx) => Promise<ReadonlyMap<number, number>>
  /** The labels of this node, which jobs can require. */
  readonly labels: ReadonlySet<string>
  /** Whether a worker that takes jobs now has all of these labels. */
  readonly hasWorkerWith: (trx: Trx, labels: readonly string[]) => Promise<boolean>
  /** Whether this node can run the component. */
  readonly hasComponent: (componentId: string) => boolean
  /** Whether this node has the component, if only from another node that does not share its folder. */
  readonly knowsComponent: (componentId: string) => boolean
  /** Those of the components that other workers have which are alive. */
  readonly findElsewhere: (trx: Trx, componentIds: readonly string[], now: number) => Promise<ReadonlySet<string>>
  /** Whether a run of the component that was lost may simply be run again. */
  readonly isRepeatable: (componentId: string) => boolean
  /** Most times a job is started. */
  readonly attempts: () => number
  readonly recordEvent: RecordEvent
  /** No other process can hold a job of this database: leases of an earlier process are void at once. */
  readonly isAlone: boolean
  /** The name under which this process renews its lease. */
  readonly worker?: string
  readonly log: { error(details: object, text: string): void; warn(details: object, text: string): void }
}

const LEASE_MS = 15_000
const BEAT_MS = 1_000
/** Lost jobs are looked for this often; a lease is much longer. */
const RECOVERY_MS = 1_000
const STARTABLE = 50
/** A job of a component that no node seems to have is left alone for so long: the node that has it may be about to report it. */
const STRANGE_MS = 5_000
const OTHERS_MS = 1_000
const EXPLAINED = 200
/** How often the progress of a job is stored. */
const PROGRESS_MS = 1_000
/** Of a database that is away: a restart takes a second, and its response shows whether this worker still has the job. */
const AWAY_PAUSES = {
  attempts: Number.POSITIVE_INFINITY,
  firstPauseMs: 100,
  longestPauseMs: 2_000,
  isWorthRetrying: isDatabaseAway,
}
const NO_FACTS = { usage: [], metrics: [], cause: null, unsavedState: null } as const

type Startable = Awaited<ReturnType<QueueStore['listStartable']>>[number]

interface Running {
  readonly hold: Hold
  readonly abort: AbortController
  readonly done: Promise<void>
}

/** Given back before anything had begun; to be run again; ended, mostly as an error. */
export type LostOutcome = 'returned' | 'repeated' | 'ended'

export type QueueLoop = ReturnType<typeof createQueueLoop>

export function createQueueLoop(deps: QueueLoopDeps) {
  const { store, inTransaction, clock } = deps
  const { worker = randomUUID() } = deps
  const running = new Map<number, Running>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let lookAgain = false
  let stopped = true
  let draining = false
  let lastRecovery = 0
  let lastLookAtOthers = 0
  const givenUp = new AbortController()
  /** What this worker has made of jobs whose leases had run out. */
  const lost: Record<LostOutcome, number> = { returned: 0, repeated: 0, ended: 0 }

  /**
   * What a run has come to is written again until the database has taken it: the job is ours, and its lease renewed, for as long as
   * this process has it. Whatever is written looks first whether that is still so, hence may be written twice.
   */
  const untilWritten = <T>(work: () => Promise<T>): Promise<T> => retry(work, { ...AWAY_PAUSES, signal: givenUp.signal })

  /** The same for results, which must not come twice: when the connection was lost with the commit, it is unknown whether they were stored. */
  function untilCommitted<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    let isWhole = false
    const once = () =>
      inTransaction(async (trx) => {
        const done = await work(trx)
        isWhole = true
        return done
      })
    const isWorthRetrying = (error: unknown) => !isWhole && isDatabaseAway(error)
    return retry(once, { ...AWAY_PAUSES, isWorthRetrying, signal: givenUp.signal })
  }

  /** Looks once: recovers what was lost, starts what can start, explains what waits. */
  async function tick(): Promise<void> {
    const now = clock.now().getTime()
    if (Math.abs(now - lastRecovery) >= RECOVERY_MS) {
      lastRecovery = now
      await recoverAbandoned()
    }
    while (running.size < deps.slots() && !stopped && !draining) {
      const jobs = await claim(deps.slots() - running.size)
      if (jobs.length === 0) break
      await noteUsualDurations(jobs)
      jobs.forEach(start)
    }
    if (await store.hasUnexplained(now)) await explainWaiting()
  }

  async function projectLimits(trx: Trx): Promise<(projectId: number) => number> {
    const own = await deps.projectLimits?.(trx)
    return (projectId) => own?.get(projectId) ?? deps.projectLimit()
  }

  /** As many jobs as there is room for, in one transaction: workers of all nodes take turns at claiming, so a turn is short and used. */
  const claim = (room: number): Promise<readonly JobRow[]> =>
    inTransaction(async (trx) => {
      const now = clock.now().getTime()
      await store.serialiseClaims(trx)
      const chosen = await chooseJobs(trx, room, now)
      const locks = await store.takeLocks(
        trx,
        chosen.flatMap(({ id, project_id, lock_key }) =>
          lock_key === null ? [] : [{ lockKey: lock_key, projectId: project_id, jobId: id }],
        ),
      )
      const free = chosen.filter(({ id, lock_key }) => lock_key === null || locks.has(id))
      return store.start(
        trx,
        free.map(({ id }) => id),
        worker,
        now,
        now + LEASE_MS,
      )
    })

  async function chooseJobs(trx: Trx, room: number, now: number): Promise<readonly Startable[]> {
    const { projects, parents } = await store.countRunning(trx)
    const limitOf = await projectLimits(trx)
    const held = new Set((await store.listLocks(trx)).map((lock) => lock.lock_key))
    const chosen = new Map<number, Startable>()
    const fullParents = new Set<number>()
    const elsewhere = new Set<string>()
    const labels = new Set<string>()
    const isFull = ({ type, project_id }: Startable): boolean =>
      type === 'standard' && (projects.get(project_id) ?? 0) >= limitOf(project_id)
    for (let found = -1; chosen.size < room && found !== fullParents.size + elsewhere.size + labels.size; ) {
      found = fullParents.size + elsewhere.size + labels.size
      const startable = await startableOfAll(trx, now, {
        fullProjects: [...projects].filter(([id, count]) => count >= limitOf(id)).map(([id]) => id),
        heldKeys: [...held],
        fullParents: [...fullParents],
        elsewhere: [...elsewhere],
        labels: [...labels],
      })
      for (const id of await componentsElsewhere(trx, startable, now)) elsewhere.add(id)
      for (const job of startable) if (!hasLabels(job)) labels.add(job.labels!) // only a job with labels can lack one
      for (const job of inFairOrder(startable, projects)) {
        if (chosen.size === room) break
        const siblings = job.parent_job_id === null ? 0 : (parents.get(job.parent_job_id) ?? 0)
        if (job.sibling_limit !== null && siblings >= job.sibling_limit) {
          fullParents.add(job.parent_job_id!) // only a child has such a limit
          continue
        }
        if (chosen.has(job.id) || isFull(job) || elsewhere.has(job.component_id) || isStrange(job, now) || !hasLabels(job))
          continue
        if (job.lock_key !== null && held.has(job.lock_key)) continue
        chosen.set(job.id, job)
        if (job.lock_key !== null) held.add(job.lock_key)
        if (job.type !== 'standard') continue
        projects.set(job.project_id, (projects.get(job.project_id) ?? 0) + 1)
        if (job.parent_job_id !== null) parents.set(job.parent_job_id, siblings + 1)
      }
      // The rows of a container that is full, or jobs of other nodes, may have been all that was looked at: once more, without them.
    }
    return [...chosen.values()]
  }

  /** For people who wait; a job starts without it, too. A job without a stored configuration has no earlier runs. */
  async function noteUsualDurations(jobs: readonly JobRow[]): Promise<void> {
    const ofConfigurations = jobs.filter((job) => job.configuration_id !== null)
    if (ofConfigurations.length === 0) return
    await inTransaction(async (trx) => {
      for (const job of ofConfigurations) await store.setUsual(trx, job.id, await usualDuration(trx, job))
    }).catch((error: unknown) => deps.log.warn({ err: error }, 'the usual durations of jobs could not be written'))
  }

  /**
   * The oldest jobs that could start. When one project has a queue so long that nothing else is in sight, the others are looked for
   * too, once a second: the first job of a project need not wait for all that another one has queued.
   */
  async function startableOfAll(trx: Trx, now: number, leftOut: LeftOut): Promise<readonly Startable[]> {
    const oldest = await store.listStartable(trx, now, leftOut, STARTABLE)
    const [first] = oldest
    if (!first || oldest.length < STARTABLE || oldest.some(({ project_id }) => project_id !== first.project_id)) return oldest
    if (Math.abs(now - lastLookAtOthers) < OTHERS_MS) return oldest
    lastLookAtOthers = now
    const others = { ...leftOut, fullProjects: [...leftOut.fullProjects, first.project_id] }
    return [...(await store.listStartable(trx, now, others, STARTABLE)), ...oldest]
  }

  const hasLabels = ({ labels }: Pick<Startable, 'labels'>): boolean => labelsOf(labels).every((label) => deps.labels.has(label))

  /** Components that only other nodes can run. A single node runs the job, which reports what is missing. */
  async function componentsElsewhere(trx: Trx, jobs: readonly Startable[], now: number): Promise<readonly string[]> {
    const lacking = [...new Set(jobs.map((job) => job.component_id))].filter((id) => !deps.hasComponent(id))
    if (deps.isAlone || lacking.length === 0) return []
    return [...lacking.filter(deps.knowsComponent), ...(await deps.findElsewhere(trx, lacking, now))]
  }

  const isStrange = (job: Startable, now: number): boolean =>
    !deps.isAlone && job.created_at > now - STRANGE_MS && !deps.hasComponent(job.component_id)

  const OPENERS: Readonly<Record<JobRow['type'], (job: JobRow, hold: Hold, signal: AbortSignal) => Promise<void>>> = {
    standard: run,
    container: openContainer,
    orchestrationContainer: openFlow,
    phaseContainer: run,
    retryContainer: run,
  }

  function start(job: JobRow): void {
    const abort = new AbortController()
    const hold: Hold = { jobId: job.id, worker, attempt: job.attempt }
    const done = OPENERS[job.type](job, hold, abort.signal)
      .catch((error: unknown) =>
        deps.log.error({ err: error, jobId: job.id }, 'a job could not be finished; its lease will expire'),
      )
      .finally(() => {
        running.delete(job.id)
        deps.onMoved(job)
        wake()
      })
    running.set(job.id, { hold, abort, done })
    deps.onMoved(job)
  }

  async function run(job: JobRow, held: Hold, signal: AbortSignal): Promise<void> {
    const hold = async (trx: Trx): Promise<void> => {
      // A job that is being killed publishes nothing more either.
      if (!(await store.markPublishing(trx, held))) throw new PlatformError('queue.leaseLost', { id: job.id })
    }
    const progress = createProgressWriter({
      write: (known) => inTransaction((trx) => store.setProgress(trx, held, known)),
      everyMs: PROGRESS_MS,
      onError: (error) => deps.log.warn({ err: error, jobId: job.id }, 'the progress of a job could not be written'),
    })
    const outcome = await deps
      .runJob({
        job,
        signal,
        begin: async (configVersion) => {
          if (!(await untilWritten(() => store.markBegun(held, configVersion))))
            throw new PlatformError('queue.leaseLost', { id: job.id })
        },
        hold,
        markPublished: (trx, { result, metrics }) =>
          store.markPublished(trx, job.id, { result: JSON.stringify(result), metrics: JSON.stringify(metrics) }),
        holdBatch: async (trx) => {
          const current = await store.findHeld(trx, held)
          if (current?.status !== 'processing') throw new PlatformError('queue.leaseLost', { id: job.id })
        },
        publish: (work) =>
          untilCommitted(async (trx) => {
            await hold(trx)
            return work(trx)
          }),
        tell: progress.tell,
      })
      .finally(progress.stop)
    await untilWritten(() =>
      inTransaction(async (trx) => {
        const current = await store.findHeld(trx, held)
        if (!current)
          return deps.log.warn({ jobId: job.id }, 'a job was finished by a worker that no longer held it; nothing was written')
        if (signal.reason === ('stopped' satisfies AbortReason) && outcome.end === 'failed' && mayRepeat(current))
          return repeat(trx, current, clock.now().getTime())
        // The answer of the transaction that published may have been lost: what it wrote decides.
        const final = outcome.end === 'failed' && current.has_begun === PUBLISHED ? outcomeOfLost(current) : outcome
        if (final.unsavedState) await deps.recordState(trx, final.unsavedState)
        await deps.queue().end(trx, current, endOf(current, final), clock.now().getTime())
      }),
    )
  }

  /** The container itself takes no slot: it is open until its last row has ended. */
  async function openContainer(job: JobRow, hold: Hold): Promise<void> {
    const rows = await deps.rowsOf(job).catch((error: unknown) => {
      // Its configuration went while it waited. Anything else is ours, and the job is tried again.
      if (error instanceof PlatformError && error.kind === 'invalid') return error
      throw error
    })
    await inTransaction(async (trx) => {
      const current = await store.findHeld(trx, hold)
      if (!current) return
      const now = clock.now().getTime()
      if (rows instanceof PlatformError)
        await deps.queue().end(trx, current, endOf(current, outcomeOfRefused(current, rows)), now)
      else await deps.queue().openContainer(trx, current, rows, now)
    })
  }

  /** A flow takes no slot either: from here on its plan decides. */
  async function openFlow(job: JobRow, hold: Hold): Promise<void> {
    const begin = await deps.openFlow(job).catch((error: unknown) => {
      if (error instanceof PlatformError && error.kind !== 'bug' && error.kind !== 'transient') return error
      throw error
    })
    await inTransaction(async (trx) => {
      const current = await store.findHeld(trx, hold)
      if (!current) return
      const now = clock.now().getTime()
      if (begin instanceof PlatformError)
        return deps.queue().end(trx, current, endOf(current, outcomeOfRefused(current, begin)), now)
      if (current.status === 'terminating') return deps.queue().end(trx, current, endOf(current, KILLED), now)
      await begin(trx)
      await store.leaveOpen(trx, current.id, now)
    })
  }

  async function recoverAbandoned(): Promise<void> {
    const now = clock.now().getTime()
    const { unfinished, returned } = await inTransaction(async (trx) => {
      const found = await store.listAbandoned(trx, now, { worker, running: [...running.keys()] })
      const unfinished: JobRow[] = []
      for (const job of found) {
        if (job.status === 'processing' && job.has_begun === 0) {
          await store.releaseLock(trx, job.id)
          await store.giveBack(trx, job.id, { status: moveJob(job.status, 'giveBack'), reason: null }, now)
        } else unfinished.push(job)
      }
      return { unfinished, returned: found.length - unfinished.length }
    })
    lost.returned += returned
    for (const job of unfinished) {
      const outcome = await settleLost(job)
      if (outcome) lost[outcome]++
    }
  }

  /** Nothing of it is in the project, and what it did outside may be done twice. */
  const mayRepeat = (job: JobRow): boolean =>
    job.type === 'standard' &&
    job.status === 'processing' &&
    hasPublishedNothing(job.has_begun) &&
    job.attempt < deps.attempts() &&
    deps.isRepeatable(job.component_id)

  async function repeat(trx: Trx, job: JobRow, now: number): Promise<void> {
    await store.releaseLock(trx, job.id)
    await store.giveBack(trx, job.id, { status: moveJob(job.status, 'repeat'), reason: REPEATED }, now)
    const { component_id: component, configuration_id: configurationId, branch_id: branchId } = job
    const event = `ext.${component}.${configurationId ?? ''}` as const
    await deps.recordEvent(
      trx,
      queuedJob(job).actor,
      { event, component, configurationId, branchId, type: 'warn', message: REPEATED, params: { attempt: job.attempt } },
      { runId: String(job.id), remoteAddress: null, userAgent: null },
    )
  }

  /** Undefined: it is not lost any more. */
  const settleLost = (job: JobRow): Promise<LostOutcome | undefined> =>
    inTransaction(async (trx) => {
      const now = clock.now().getTime()
      const current = await store.findForUpdate(trx, job.project_id, job.id)
      if (!current || current.attempt !== job.attempt || current.lease_until === null || !isLeaseOver(current.lease_until, now))
        return undefined
      if (mayRepeat(current)) {
        await repeat(trx, current, now)
        return 'repeated'
      }
      await deps.queue().end(trx, current, endOf(current, outcomeOfLost(current)), now)
      return 'ended'
    })

  /** Records why jobs could not start. */
  const explainWaiting = (): Promise<void> =>
    inTransaction(async (trx) => {
      const now = clock.now().getTime()
      const queued = await store.listUnexplained(trx, now, EXPLAINED)
      if (queued.length === 0) return
      const holders = new Map((await store.listLocks(trx)).map((lock) => [lock.lock_key, lock.job_id]))
      const { projects, parents } = await store.countRunning(trx)
      const limitOf = await projectLimits(trx)
      for (const job of queued) {
        const holder = job.lock_key === null ? undefined : holders.get(job.lock_key)
        const siblings = job.parent_job_id === null ? 0 : (parents.get(job.parent_job_id) ?? 0)
        const reason = !job.is_startable
          ? 'Waiting: the project is paused.'
          : holder !== undefined
            ? waitingForJob(holder)
            : job.sibling_limit !== null && siblings >= job.sibling_limit
              ? `Waiting for other jobs of job ${job.parent_job_id}: ${job.sibling_limit} run at once.`
              : (projects.get(job.project_id) ?? 0) >= limitOf(job.project_id)
                ? `Waiting: the project runs ${limitOf(job.project_id)} jobs at once.`
                : await reasonOfNodes(trx, job, now)
        if (reason !== undefined) await store.markWaiting(trx, job.id, reason, now)
      }
    })

  /** Undefined: the job waits only for a free worker, and that is no reason of the project's. */
  async function reasonOfNodes(
    trx: Trx,
    { component_id: id, labels }: Pick<JobRow, 'component_id' | 'labels'>,
    now: number,
  ): Promise<string | undefined> {
    const wanted = labelsOf(labels)
    if (wanted.length > 0 && !(await deps.hasWorkerWith(trx, wanted)))
      return `Waiting for a node with the labels ${wanted.join(', ')} (MILLRACE_NODE_LABELS): no worker that is alive has them.`
    const isNowhere = deps.knowsComponent(id) && !deps.hasComponent(id) && (await deps.findElsewhere(trx, [id], now)).size === 0
    return isNowhere
      ? `Waiting for a node that has the component "${id}" in its folder: no worker that is alive has it.`
      : undefined
  }

  async function beat(): Promise<void> {
    const own = [...running.values()]
    if (own.length === 0) return
    const leaseUntil = clock.now().getTime() + LEASE_MS
    const kept = await store.heartbeat(
      worker,
      own.map(({ hold }) => hold.jobId),
      leaseUntil,
    )
    const byId = new Map(kept.map((job) => [job.id, job]))
    for (const { hold, abort } of own) {
      const job = byId.get(hold.jobId)
      if (job?.attempt !== hold.attempt) abort.abort('lost' satisfies AbortReason)
      else if (job.status === 'terminating') abort.abort('killed' satisfies AbortReason)
    }
  }

  function wake(): void {
    lookAgain = true
    if (stopped || looking) return
    looking = lookUntilQuiet().finally(() => {
      looking = undefined
      if (lookAgain) wake()
    })
  }

  async function lookUntilQuiet(): Promise<void> {
    while (lookAgain && !stopped) {
      lookAgain = false
      await tick().catch((error: unknown) => deps.log.error({ err: error }, 'the queue could not be read; the next look follows'))
    }
  }

  /** One look of a worker at a time: after it, everything that the looks before it have claimed has been started. */
  async function lookOnce(): Promise<void> {
    while (looking) await looking
    const mine = tick()
    looking = mine
      .catch(() => {}) // reported to the caller
      .finally(() => {
        looking = undefined
        if (lookAgain) wake()
      })
    await mine
    await looking
  }

  return {
    worker,
    tick: lookOnce,
    /** Something changed: look soon. Killed jobs of this worker are stopped right away. */
    nudge(killed: readonly number[] = []): void {
      for (const id of killed) running.get(id)?.abort.abort('killed' satisfies AbortReason)
      wake()
    },
    async start(): Promise<void> {
      stopped = false
      if (deps.isAlone) await store.expireAllLeases()
      timer = setInterval(() => {
        beat().catch((error: unknown) => deps.log.error({ err: error }, 'the leases of running jobs could not be renewed'))
        wake()
      }, BEAT_MS).unref()
      wake()
    },
    /** Starts nothing more; resolves when nothing runs any more, or after `maxMs`. Leases are kept, kills are obeyed. */
    async drain(maxMs: number): Promise<void> {
      draining = true
      await looking
      await Promise.race([
        Promise.allSettled([...running.values()].map(({ done }) => done)),
        new Promise((resolve) => setTimeout(resolve, maxMs).unref()),
      ])
    },
    /** Starts nothing more and waits for what runs; after `graceMs` what still runs is left to its lease. */
    async stop(graceMs: number): Promise<void> {
      stopped = true
      clearInterval(timer)
      await looking
      const ends = Promise.allSettled([...running.values()].map(({ done }) => done))
      await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, graceMs).unref())])
      givenUp.abort()
      for (const { abort } of running.values()) abort.abort('stopped' satisfies AbortReason)
      await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
    },
    running: () => running.size,
    lost: (): Readonly<Record<LostOutcome, number>> => lost,
  }
}

/** The oldest first, but one of the project that runs the least jobs before every other; `running` is read again for each. */
function* inFairOrder(jobs: readonly Startable[], running: ReadonlyMap<number, number>): Generator<Startable> {
  const left = [...jobs]
  const runningIn = ({ project_id }: Startable): number => running.get(project_id) ?? 0
  while (left.length > 0) {
    let next = 0
    for (let i = 1; i < left.length; i++) if (runningIn(left[i]!) < runningIn(left[next]!)) next = i
    yield left.splice(next, 1)[0]!
  }
}

const labelsOf = (labels: string | null): string[] => labels?.split(',') ?? []

/** A job whose results were all in the project is done; any other has failed, with what its finished rows wrote. */
function outcomeOfLost(job: JobRow): JobOutcome {
  const known = readStored<Record<string, unknown>>(job.result) // a result is an object
  const metrics = readStored<JobOutcome['metrics']>(job.metrics)
  if (job.has_begun === PUBLISHED) return { ...NO_FACTS, end: 'succeeded', result: known, metrics, error: null }
  const message = 'The worker that ran this job was lost. What its finished rows had written is kept; run the job again.'
  const cause = jobCause('run.workerLost', 'internalError')
  const result = { ...known, message, error: { type: 'application', exceptionId: `job-${job.id}`, cause } }
  return { ...NO_FACTS, end: job.status === 'terminating' ? 'killed' : 'failed', result, metrics, error: message, cause }
}

const KILLED: JobOutcome = { ...NO_FACTS, end: 'killed', result: {}, error: null }

function outcomeOfRefused({ id }: JobRow, { code, message, facts }: PlatformError): JobOutcome {
  const cause = jobCause(facts.kind ?? 'configuration.invalid', code)
  const result = { message, error: { type: 'user', exceptionId: `job-${id}`, cause } }
  return { ...NO_FACTS, end: 'failed', result, error: message, cause }
}

/** A kill that arrived while the run was ending counts: the client has the answer that the job terminates. */
function endOf(job: JobRow, outcome: JobOutcome): JobEnd {
  const moves = { succeeded: 'succeed', warned: 'warn', failed: 'fail', killed: 'endKilled' } as const
  const written = { usage: JSON.stringify(outcome.usage), metrics: JSON.stringify(outcome.metrics) }
  if (job.status === 'terminating')
    return {
      ...written,
      status: moveJob('terminating', 'endKilled'),
      result: JSON.stringify({ ...outcome.result, message: 'The job was terminated.', error: undefined }),
      error: null,
    }
  const move = outcome.end === 'killed' ? 'fail' : moves[outcome.end]
  const { error, cause } = outcome
  return { ...written, status: moveJob(job.status, move), result: JSON.stringify(outcome.result), error, cause }
}
