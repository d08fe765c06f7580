// Firing due schedules. What is read is read first; then one short transaction claims the schedule and writes the job, the execution and the
// next run together, so that a due minute is acted on whole or not at all, and at most once on any number of nodes.
//
// On time (within a minute of its due minute) a schedule starts a job. Later than that the stack was down, or the clock was set forward:
// then the newest missed minute inside the grace window runs, once, and what else was missed is recorded as skipped.
// A schedule whose configuration, target or token is gone stops, with the reason on its record and an event.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { NewChange, RecordChange } from '../../../model/change.ts'
import type { RecordEvent } from '../../../model/event.ts'
import type { NotificationPort, ScheduleMissed } from '../../../model/notification-port.ts'
import { nextRun, type Plan } from './planned-runs.ts'
import { configurationDeleted, planOf, type Target, targetDeleted } from './schedule-configuration.ts'
import type { Execution, ScheduleRecord } from './scheduler.store.ts'
import { LISTED_EXECUTIONS, type Scheduler, scheduleEvent } from './scheduler.ts'

/** A job that was found possible; `insert` queues it in the transaction of the firing. */
export interface PreparedRun {
  insert(trx: Trx): Promise<{ readonly id: string }>
}

export interface FiringDeps {
  readonly scheduler: Scheduler
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly recordChange: RecordChange
  readonly notifications: Pick<NotificationPort, 'scheduleMissed'>
  readonly schedulerComponentId: string
  readonly configurationExists: (projectId: number, componentId: string, configurationId: string) => Promise<boolean>
  /** Undefined when the token is gone, expired or disabled. */
  readonly actorOfToken: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  readonly queue: {
    /** Refuses with a PlatformError what cannot run: a disabled configuration, rows that are gone; `storage.configuration.notFound` stops the schedule. */
    prepare(actor: Actor, target: Target): Promise<PreparedRun>
    hasUnfinished(projectId: number, target: Target): Promise<boolean>
    /** Jobs were queued and committed. */
    wake(): void
  }
  readonly onError: (error: unknown, scheduleId: number) => void
}

interface Written extends Omit<Execution, 'scheduleId' | 'executedAt' | 'jobId' | 'reason'> {
  readonly reason: string
  /** As the schedule requires: no notification. */
  readonly byPolicy?: true
}

/** What a due schedule leads to, decided before the transaction. */
type Decision =
  | { readonly kind: 'stop'; readonly reason: string }
  | {
      readonly kind: 'go'
      readonly run: { readonly dueAt: Date; readonly job: PreparedRun } | undefined
      readonly notes: readonly Written[]
      readonly next: Date | undefined
    }

const ON_TIME_MS = 60_000
const BATCH = 100
const MAX_COUNTED = 1000
/** A schedule of every minute makes half a million executions a year; older ones that are no longer listed are deleted. */
const EXECUTIONS_KEPT_MS = 31 * 86_400_000

export function createFiring(deps: FiringDeps) {
  const { scheduler, inTransaction } = deps
  const { store } = scheduler

  /** Fires everything that is due at `now`; answers how many schedules it acted on. */
  async function fireDue(now: Date): Promise<number> {
    let acted = 0
    for (;;) {
      const due = await store.listDue(now, BATCH)
      if (due.length === 0) return acted
      const decided: [ScheduleRecord, Decision][] = []
      for (const record of due) decided.push([record, await decide(record, now)])
      const count = await actOnAll(decided, now)
      if (count === 0) return acted // another node has what is left
      acted += count
    }
  }

  /** Many schedules share one commit. When one of them fails it, each gets a transaction of its own. */
  async function actOnAll(decided: readonly [ScheduleRecord, Decision][], now: Date): Promise<number> {
    try {
      const count = await inTransaction((trx) => actOn(trx, decided, now))
      deps.queue.wake()
      return count
    } catch (error) {
      const [only, ...others] = decided
      if (!only) return 0
      if (others.length > 0) {
        let count = 0
        for (const one of decided) count += await actOnAll([one], now)
        return count
      }
      deps.onError(error, only[0].id)
      return inTransaction((trx) => actOn(trx, [[only[0], ourFault(only[0], now)]], now))
    }
  }

  async function actOn(trx: Trx, decided: readonly [ScheduleRecord, Decision][], now: Date): Promise<number> {
    let count = 0
    for (const [record, decision] of decided) {
      if (!(await store.claim(trx, record))) continue
      count++
      if (decision.kind === 'stop') {
        await stop(trx, record, decision.reason)
        await deps.notifications.scheduleMissed(trx, missed(record, record.nextRunAt ?? now, decision.reason))
        continue
      }
      const common = { scheduleId: record.id, executedAt: now }
      for (const { byPolicy, ...note } of decision.notes) {
        await store.addNote(trx, record.projectId, { ...common, ...note, jobId: undefined })
        if (!byPolicy) await deps.notifications.scheduleMissed(trx, missed(record, note.dueAt, note.reason))
      }
      if (decision.run) {
        const { id } = await decision.run.job.insert(trx)
        await store.addRun(trx, record.projectId, {
          ...common,
          dueAt: decision.run.dueAt,
          status: 'started',
          jobId: id,
          reason: undefined,
        })
        await store.forgetExecutions(trx, record.id, new Date(now.getTime() - EXECUTIONS_KEPT_MS), LISTED_EXECUTIONS)
      }
      await store.setNextRun(trx, record.id, decision.next)
      await deps.recordChange(trx, [firedChange(record)])
    }
    return count
  }

  async function decide(record: ScheduleRecord, now: Date): Promise<Decision> {
    try {
      return await decideFor(record, now)
    } catch (error) {
      deps.onError(error, record.id)
      return ourFault(record, now)
    }
  }

  async function decideFor(record: ScheduleRecord, now: Date): Promise<Decision> {
    const { projectId, target } = record
    const actor = await deps.actorOfToken(projectId, record.tokenId)
    if (!actor)
      return {
        kind: 'stop',
        reason: `Its token ${record.tokenId} is no longer valid. Refresh it, then activate the schedule again.`,
      }
    if (!(await deps.configurationExists(projectId, deps.schedulerComponentId, record.configurationId)))
      return { kind: 'stop', reason: configurationDeleted(record.configurationId) }

    const plan = planFor(record, now)
    const { dueAt, notes } = dueRun(record, plan, now)
    const base = { kind: 'go', next: nextAfter(plan, record, now) } as const
    if (!dueAt) return { ...base, run: undefined, notes }
    if (record.policy.overlap === 'skip' && (await deps.queue.hasUnfinished(projectId, target))) {
      const reason = 'The run before it has not ended (policy overlap: skip).'
      return { ...base, run: undefined, notes: [...notes, { dueAt, status: 'skipped', reason, byPolicy: true }] }
    }
    try {
      return { ...base, run: { dueAt, job: await deps.queue.prepare(actor, target) }, notes }
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'bug' || error.kind === 'transient') throw error
      if (error.code === 'storage.configuration.notFound')
        return {
          kind: 'stop',
          reason: targetDeleted(target),
        }
      return { ...base, run: undefined, notes: [...notes, { dueAt, status: 'failed', reason: error.message }] }
    }
  }

  /** The due minute that runs now, if any, and what is recorded of the others. */
  function dueRun(record: ScheduleRecord, plan: Plan, now: Date): { dueAt: Date | undefined; notes: Written[] } {
    const first = record.nextRunAt ?? now
    if (now.getTime() - first.getTime() < ON_TIME_MS) return { dueAt: first, notes: [] }
    const from = Math.max(first.getTime(), now.getTime() - record.policy.graceMinutes * 60_000)
    const run = record.policy.missed === 'catch-up' ? lastRunBetween(plan, from, now.getTime()) : undefined
    const missed = countRuns(plan, first.getTime(), run ?? now.getTime() + 1)
    const dueAt = run === undefined ? undefined : new Date(run)
    if (missed === 0) return { dueAt, notes: [] }
    const reason = `${counted(missed)} run${missed === 1 ? '' : 's'} from ${first.toISOString()} on passed while the stack was not running.`
    return { dueAt, notes: [{ dueAt: first, status: 'skipped', reason }] }
  }

  /** Our own fault must not make a schedule fire in a loop: the due minute is recorded as failed and the next one is planned. */
  function ourFault(record: ScheduleRecord, now: Date): Decision {
    const plan = planFor(record, now)
    const dueAt = record.nextRunAt ?? now
    const count = countRuns(plan, dueAt.getTime(), now.getTime() + 1)
    const what = count > 1 ? `${counted(count)} runs from ${dueAt.toISOString()} on` : 'The run'
    const reason = `${what} could not be started by our fault; the log has the details.`
    return { kind: 'go', run: undefined, notes: [{ dueAt, status: 'failed', reason }], next: nextAfter(plan, record, now) }
  }

  const planFor = (record: ScheduleRecord, now: Date): Plan =>
    planOf(record.schedule, record.policy.dst, scheduler.zoneOf, now.getTime())

  /** After now, and after what is acted on now. */
  function nextAfter(plan: Plan, record: ScheduleRecord, now: Date): Date | undefined {
    const next = nextRun(plan, Math.max(now.getTime(), record.nextRunAt?.getTime() ?? 0))
    return next && new Date(next.at)
  }

  async function stop(trx: Trx, record: ScheduleRecord, reason: string): Promise<void> {
    await store.setNextRun(trx, record.id, undefined, reason)
    const source = { projectId: record.projectId, tokenId: record.tokenId, tokenDescription: '[_internal] Scheduler' }
    await deps.recordEvent(trx, source, scheduleEvent(record, 'scheduler.scheduleStopped', { reason }))
  }

  return { fireDue }
}

/** A job was started, or the run was left out: its users see which. */
const firedChange = ({ id, projectId, tokenId }: ScheduleRecord): NewChange => ({
  projectId,
  kind: 'schedule',
  objectId: String(id),
  state: 'fired',
  version: null,
  branchId: null,
  componentId: null,
  tokenId,
})

const missed = (record: ScheduleRecord, dueAt: Date, reason: string): ScheduleMissed => ({
  projectId: record.projectId,
  scheduleId: record.id,
  configurationId: record.configurationId,
  target: record.target,
  dueAt,
  reason,
})

/** The newest run with `from <= at <= to`. */
function lastRunBetween(plan: Plan, from: number, to: number): number | undefined {
  let last: number | undefined
  for (let run = nextRun(plan, from - 1); run && run.at <= to; run = nextRun(plan, run.at)) last = run.at
  return last
}

const counted = (count: number): string => (count >= MAX_COUNTED ? `more than ${MAX_COUNTED}` : String(count))

/** How many runs lie in `from <= at < before`, counted up to a limit. */
function countRuns(plan: Plan, from: number, before: number): number {
  let count = 0
  for (let run = nextRun(plan, from - 1); run && run.at < before && count < MAX_COUNTED; run = nextRun(plan, run.at)) count++
  return count
}
