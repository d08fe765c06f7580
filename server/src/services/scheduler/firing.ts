// Firing due schedules. For one schedule everything that happens for a due minute is one transaction: the job, the execution, the next run.
//
// On time (within a minute of its due minute) a schedule starts a job. Later than that the stack was down, or the clock was set forward:
// then the newest missed minute inside the grace window runs, once, and what else was missed is recorded as skipped.
// A schedule whose configuration, target or token is gone stops, with the reason on its record and an event.

import type { Trx } from '../../engines/metadata-db/dialects.ts'
import type { Actor } from '../../kit/actor.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { RecordEvent } from '../../kit/event.ts'
import { nextRun, type Plan } from './planned-runs.ts'
import { planOf, type Target } from './schedule-configuration.ts'
import type { ExecutionStatus, ScheduleRecord } from './scheduler.store.ts'
import { eventOf, type Scheduler, type StoredConfiguration } from './scheduler.ts'

export interface FiringDeps {
  readonly scheduler: Scheduler
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly schedulerComponentId: string
  readonly findConfiguration: (
    projectId: number,
    componentId: string,
    configurationId: string,
  ) => Promise<StoredConfiguration | undefined>
  /** Undefined when the token is gone, expired or disabled. */
  readonly actorOfToken: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  readonly queue: {
    createJob(trx: Trx, actor: Actor, target: Target): Promise<{ readonly id: string }>
    hasUnfinished(projectId: number, target: Target): Promise<boolean>
  }
  readonly onError: (error: unknown, scheduleId: number) => void
}

const ON_TIME_MS = 60_000
const BATCH = 100
const MOST_COUNTED = 1000

/** Fires everything that is due at `now`; answers how many schedules it acted on. */
export function createFiring(deps: FiringDeps) {
  const { scheduler, inTransaction } = deps
  const { store } = scheduler

  async function fireDue(now: Date): Promise<number> {
    let acted = 0
    while (await store.hasDue(now)) {
      const count = await fireBatch(now)
      if (count === 0) break // another node holds what is left
      acted += count
    }
    return acted
  }

  /** Many schedules share one commit. When one of them fails the batch, each gets a transaction of its own. */
  async function fireBatch(now: Date): Promise<number> {
    try {
      return await inTransaction(async (trx) => {
        const due = await store.claimDue(trx, now, BATCH)
        for (const record of due) await fire(trx, record, now)
        return due.length
      })
    } catch {
      return fireOneByOne(now)
    }
  }

  async function fireOneByOne(now: Date): Promise<number> {
    let acted = 0
    for (; acted < BATCH; acted++) {
      let current: ScheduleRecord | undefined
      try {
        const found = await inTransaction(async (trx) => {
          ;[current] = await store.claimDue(trx, now, 1)
          if (current) await fire(trx, current, now)
          return current !== undefined
        })
        if (!found) break
      } catch (error) {
        if (!current) throw error
        const failed = current
        deps.onError(error, failed.id)
        await inTransaction((trx) => skipAfterFailure(trx, failed, now))
      }
    }
    return acted
  }

  async function fire(trx: Trx, record: ScheduleRecord, now: Date): Promise<void> {
    const dueAt = record.nextRunAt
    if (!dueAt) return
    const obstacle = await obstacleOf(record)
    if (obstacle !== undefined) return stop(trx, record, obstacle)
    const plan = planOf(record.schedule, record.policy.dst, scheduler.zoneOf, now.getTime())
    const run = now.getTime() - dueAt.getTime() < ON_TIME_MS ? dueAt : await catchUp(trx, record, plan, now)
    if (run) await start(trx, record, run, now)
    // Only when start() did not stop the schedule; the next run lies after now and after what was just run.
    const next = nextRun(plan, Math.max(now.getTime(), dueAt.getTime()))
    await store.setNextRun(trx, record.id, next && new Date(next.at))
  }

  /** Records what was missed; answers the due minute that still runs, if any. */
  async function catchUp(trx: Trx, record: ScheduleRecord, plan: Plan, now: Date): Promise<Date | undefined> {
    const first = record.nextRunAt!.getTime()
    const graceMs = record.policy.graceMinutes * 60_000
    const from = Math.max(first, now.getTime() - graceMs)
    const run = record.policy.missed === 'catch-up' ? lastRunBetween(plan, from, now.getTime()) : undefined
    const missed = countRuns(plan, first, run ?? now.getTime() + 1)
    if (missed > 0) {
      const count = missed >= MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(missed)
      const reason = `${count} run${missed === 1 ? '' : 's'} from ${new Date(first).toISOString()} on passed while the stack was not running.`
      await note(trx, record, new Date(first), now, 'skipped', undefined, reason)
    }
    return run === undefined ? undefined : new Date(run)
  }

  async function start(trx: Trx, record: ScheduleRecord, dueAt: Date, now: Date): Promise<void> {
    if (record.policy.overlap === 'skip' && (await deps.queue.hasUnfinished(record.projectId, record.target)))
      return note(trx, record, dueAt, now, 'skipped', undefined, 'The run before it has not ended (policy overlap: skip).')
    const actor = await deps.actorOfToken(record.projectId, record.tokenId)
    if (!actor) return
    try {
      const job = await deps.queue.createJob(trx, actor, record.target)
      await note(trx, record, dueAt, now, 'started', job.id, undefined)
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'bug' || error.kind === 'transient') throw error
      await note(trx, record, dueAt, now, 'failed', undefined, error.message)
    }
  }

  const note = (
    trx: Trx,
    record: ScheduleRecord,
    dueAt: Date,
    executedAt: Date,
    status: ExecutionStatus,
    jobId: string | undefined,
    reason: string | undefined,
  ) => store.addExecution(trx, record.projectId, { scheduleId: record.id, dueAt, executedAt, status, jobId, reason })

  /** Why the schedule can never run again as it is. */
  async function obstacleOf(record: ScheduleRecord): Promise<string | undefined> {
    const { projectId, target } = record
    if (!(await deps.findConfiguration(projectId, deps.schedulerComponentId, record.configurationId)))
      return `Its configuration ${record.configurationId} was deleted.`
    if (!(await deps.findConfiguration(projectId, target.componentId, target.configurationId)))
      return `Its target, configuration ${target.configurationId} of ${target.componentId}, was deleted.`
    if (!(await deps.actorOfToken(projectId, record.tokenId)))
      return `Its token ${record.tokenId} is no longer valid. Refresh it, then activate the schedule again.`
    return undefined
  }

  async function stop(trx: Trx, record: ScheduleRecord, reason: string): Promise<void> {
    await store.setNextRun(trx, record.id, undefined, reason)
    const source = { projectId: record.projectId, tokenId: record.tokenId, tokenDescription: '[_internal] Scheduler' }
    await deps.recordEvent(trx, source, {
      ...eventOf('scheduler.scheduleStopped', `Schedule ${record.id} stopped: ${reason}`, record),
      type: 'warn',
    })
  }

  /** Our own fault must not make a schedule fire in a loop: the due minute is recorded as failed and the next one is planned. */
  async function skipAfterFailure(trx: Trx, record: ScheduleRecord, now: Date): Promise<void> {
    const plan = planOf(record.schedule, record.policy.dst, scheduler.zoneOf, now.getTime())
    await note(
      trx,
      record,
      record.nextRunAt!,
      now,
      'failed',
      undefined,
      'The run could not be started by our fault; the log has the details.',
    )
    const next = nextRun(plan, now.getTime())
    await store.setNextRun(trx, record.id, next && new Date(next.at))
  }

  return { fireDue }
}

/** The newest run with `from <= at <= to`. */
function lastRunBetween(plan: Plan, from: number, to: number): number | undefined {
  let last: number | undefined
  for (let run = nextRun(plan, from - 1); run && run.at <= to; run = nextRun(plan, run.at)) last = run.at
  return last
}

/** How many runs lie in `from <= at < before`, counted up to a limit. */
function countRuns(plan: Plan, from: number, before: number): number {
  let count = 0
  for (let run = nextRun(plan, from - 1); run && run.at < before && count < MOST_COUNTED; run = nextRun(plan, run.at)) count++
  return count
}
