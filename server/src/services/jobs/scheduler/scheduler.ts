// Rules for schedules: activating, listing, removing, looking ahead. Firing is firing.ts.
//  1. A configuration alone never fires; activation with a master token makes a record that does.
//  2. Activating again reloads the current version, or the requested one, into the same record; a disabled state keeps the record without a
//     next run.
//  3. Runs use a token of the schedule's own, which ends with the schedule.

import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import { type Clock, formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, canUseComponent, mayChangeEverything, seesWholeProject } from '../../../model/actor.ts'
import { type ContentProblem, pointerOf } from '../../../model/content-problem.ts'
import { eventOf, type NewEvent, NO_ORIGIN, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import { nextRun, type PlannedRun, upcomingRuns } from './planned-runs.ts'
import {
  configurationDeleted,
  DEFAULT_POLICY,
  invalid,
  type Policy,
  planOf,
  readScheduleConfiguration,
  type Target,
  targetDeleted,
} from './schedule-configuration.ts'
import { createSchedulerStore, type Execution, type ScheduleFilter, type ScheduleRecord } from './scheduler.store.ts'
import { createZones } from './zone.ts'

/** A stored configuration, as far as the scheduler looks into it. Deleted ones are not found. */
export interface StoredConfiguration {
  readonly version: number
  readonly isDisabled: boolean
  readonly configuration: unknown
  readonly rowIds: readonly string[]
}

export interface SchedulerDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** The one name of a component that may be called by others as well. */
  readonly canonicalComponentId: (id: string) => string
  /** The id under which scheduler configurations are stored. */
  readonly schedulerComponentId: string
  readonly findConfiguration: (
    projectId: number,
    componentId: string,
    configurationId: string,
  ) => Promise<StoredConfiguration | undefined>
  /** Whether there is such a configuration that is not deleted, in the default branch. */
  readonly configurationExists: (projectId: number, componentId: string, configurationId: string) => Promise<boolean>
  /** A scheduler configuration as it was at a version; undefined when it has no such version. */
  readonly findVersion: (
    projectId: number,
    configurationId: string,
    version: number,
  ) => Promise<Omit<StoredConfiguration, 'rowIds'> | undefined>
  readonly tokens: {
    /** A long-lived token for the runs of a schedule; answers its id. */
    issue(trx: Trx, creator: Actor, description: string): Promise<number>
    refresh(trx: Trx, projectId: number, tokenId: number): Promise<boolean>
    revoke(trx: Trx, projectId: number, tokenId: number): Promise<void>
  }
}

export interface ScheduleWithExecutions {
  readonly record: ScheduleRecord
  readonly executions: readonly Execution[]
}

const RUNS_OF_EACH = 5
const TOKEN_DESCRIPTION = '[_internal] Scheduler'
const MAX_SEARCHED = 1000
export const LISTED_EXECUTIONS = 20
export const MAX_UPCOMING = 1000

export type Scheduler = ReturnType<typeof createScheduler>

export function createScheduler(deps: SchedulerDeps) {
  const {
    db,
    inTransaction,
    clock,
    recordEvent,
    findConfiguration,
    configurationExists,
    findVersion,
    tokens,
    schedulerComponentId,
    canonicalComponentId,
  } = deps
  const store = createSchedulerStore(db)
  const zoneOf = createZones()

  /** `version` as the client wrote it; without one the current version is activated. */
  async function activate(
    actor: Actor,
    { configurationId, version }: { readonly configurationId: string; readonly version?: string },
    origin: Origin,
  ): Promise<ScheduleWithExecutions> {
    needMaster(actor)
    const stored = await findStored(actor.projectId, configurationId, version)
    const configuration = readScheduleConfiguration(stored.configuration)
    const plan = planOf(configuration.schedule, configuration.policy.dst, zoneOf, clock.now().getTime())
    if (configuration.schedule.state === 'enabled') await checkTarget(actor.projectId, configuration.target)
    const isActive = configuration.schedule.state === 'enabled' && !stored.isDisabled
    const stoppedReason = stored.isDisabled
      ? 'Its configuration is disabled. Enable it, then activate the schedule again.'
      : undefined

    const save = async (trx: Trx) => {
      const before = await store.lockByConfiguration(trx, actor.projectId, configurationId)
      // A due minute that was acted on stays done, also when the clock was set back since.
      const done = before ? await store.lastDue(trx, before.id) : undefined
      const planned = isActive ? nextRun(plan, Math.max(clock.now().getTime(), done?.getTime() ?? 0)) : undefined
      const schedule = {
        ...configuration,
        projectId: actor.projectId,
        tokenId: before?.tokenId ?? (await tokens.issue(trx, actor, TOKEN_DESCRIPTION)),
        configurationId,
        configurationVersion: stored.version,
        nextRunAt: planned && new Date(planned.at),
        stoppedReason,
      }
      const saved = before
        ? await store.replace(trx, before.id, schedule)
        : await store.insert(trx, { ...schedule, createdAt: clock.now() })
      await recordEvent(
        trx,
        actor,
        scheduleEvent(saved, 'scheduler.scheduleActivated', { cronTab: saved.schedule.cronTab }),
        origin,
      )
      return saved
    }
    // Two first activations at once: the second to insert is refused, and finds the record of the first.
    const record = await inTransaction(save).catch((error) => {
      if (isUniqueViolation(error)) return inTransaction(save)
      throw error
    })
    return withExecutions(record)
  }

  /** Activates schedules that were accepted. One that is not active stays so when it is only changed. What activation refuses is left out. */
  async function follow(
    actor: Actor,
    schedules: readonly { readonly configurationId: string; readonly isNew: boolean }[],
  ): Promise<void> {
    for (const { configurationId, isNew } of schedules) {
      if (!isNew && !(await store.findByConfiguration(actor.projectId, configurationId))) continue
      try {
        await activate(actor, { configurationId }, NO_ORIGIN)
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error
      }
    }
  }

  async function findStored(projectId: number, configurationId: string, version: string | undefined) {
    const current = await findConfiguration(projectId, schedulerComponentId, configurationId)
    if (!current) throw new PlatformError('scheduler.configurationNotFound', { id: configurationId.slice(0, 100) })
    if (version === undefined || version === String(current.version)) return current
    if (!/^[1-9][0-9]{0,8}$/.test(version))
      throw invalid('configurationVersionId', `"${version.slice(0, 40)}" is not a version: send a whole number from 1 on.`)
    const chosen = await findVersion(projectId, configurationId, Number(version))
    if (!chosen) throw new PlatformError('scheduler.versionNotFound', { id: configurationId.slice(0, 100), version })
    return chosen
  }

  async function checkTarget(projectId: number, target: Target): Promise<void> {
    const found = await findConfiguration(projectId, target.componentId, target.configurationId)
    if (!found)
      throw invalid(
        'target.configurationId',
        `Configuration "${target.configurationId}" of component "${target.componentId}" does not exist.`,
      )
    const rowIds = new Set(found.rowIds)
    const missing = target.configurationRowIds.filter((id) => !rowIds.has(id))
    if (missing.length > 0)
      throw invalid(
        'target.configurationRowIds',
        `The target has no row ${missing.slice(0, 5).join(', ')}. Remove it from the list.`,
      )
  }

  /** The first thing that activation would refuse of a configuration that is not activated, or not even saved. */
  async function contentProblems(projectId: number, content: unknown): Promise<readonly ContentProblem[]> {
    try {
      const { schedule, policy, target } = readScheduleConfiguration(content)
      planOf(schedule, policy.dst, zoneOf, clock.now().getTime())
      await checkTarget(projectId, target)
      return []
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      const { field, reason } = error.details
      return [{ level: 'error', pointer: pointerOf(String(field)), message: String(reason), rule: 'schedule' }]
    }
  }

  async function get(actor: Actor, id: number): Promise<ScheduleWithExecutions> {
    return withExecutions(await getRecord(actor, id))
  }

  async function getRecord(actor: Actor, id: number): Promise<ScheduleRecord> {
    const record = await store.find(actor.projectId, id)
    if (!record) throw new PlatformError('scheduler.notFound', { id })
    if (!maySee(actor, record.target)) throw new PlatformError('accessDenied')
    return record
  }

  /** A schedule belongs to what it runs. */
  const maySee = (actor: Actor, { componentId }: Pick<Target, 'componentId'>): boolean =>
    canUseComponent(actor, componentId, canonicalComponentId)

  /** For the search. */
  async function find({ actor }: { readonly actor: Actor }, text: string, limit: number) {
    const found = await store.listContaining(actor.projectId, text, seesWholeProject(actor) ? limit : MAX_SEARCHED)
    return found
      .filter((one) => maySee(actor, one))
      .slice(0, limit)
      .map(({ componentId: _, ...one }) => one)
  }

  async function list(
    actor: Actor,
    filter: ScheduleFilter & { readonly componentId?: string },
  ): Promise<ScheduleWithExecutions[]> {
    const { componentId, ...rest } = filter
    const componentIds = await targetsOf(actor, componentId)
    if (componentIds?.length === 0 || filter.configurationIds?.length === 0) return []
    const records = await store.list(actor.projectId, rest, componentIds)
    const executions = await store.executions(
      actor.projectId,
      records.map((record) => record.id),
      LISTED_EXECUTIONS,
    )
    return Promise.all(
      records.map(async (record) => ({ record: await asOfNow(record), executions: executions.get(record.id) ?? [] })),
    )
  }

  /** The components of targets that are meant, as they are written: maybe by an older name. Undefined: all. */
  async function targetsOf(actor: Actor, componentId: string | undefined): Promise<readonly string[] | undefined> {
    if (componentId === undefined && seesWholeProject(actor)) return undefined
    return (await store.countByComponent(actor.projectId))
      .filter(
        (one) =>
          maySee(actor, one) &&
          (componentId === undefined || canonicalComponentId(one.componentId) === canonicalComponentId(componentId)),
      )
      .map((one) => one.componentId)
  }

  async function totals(actor: Actor): Promise<{ readonly schedules: number; readonly stopped: number }> {
    const seen = (await store.countByComponent(actor.projectId)).filter((one) => maySee(actor, one))
    const sum = (count: (one: (typeof seen)[number]) => number) => seen.reduce((total, one) => total + count(one), 0)
    return { schedules: sum((one) => one.schedules), stopped: sum((one) => one.stopped) }
  }

  /** A schedule whose configuration or target was deleted is shown as stopped at once; its record follows when it is due. */
  async function asOfNow(record: ScheduleRecord): Promise<ScheduleRecord> {
    const { projectId, configurationId, target, nextRunAt } = record
    if (nextRunAt === undefined) return record
    if (!(await configurationExists(projectId, schedulerComponentId, configurationId)))
      return { ...record, nextRunAt: undefined, stoppedReason: configurationDeleted(configurationId) }
    if (!(await configurationExists(projectId, target.componentId, target.configurationId)))
      return { ...record, nextRunAt: undefined, stoppedReason: targetDeleted(target) }
    return record
  }

  async function remove(actor: Actor, id: number, origin: Origin): Promise<void> {
    needMaster(actor)
    await end(actor, await getRecord(actor, id), origin)
  }

  async function removeByConfiguration(actor: Actor, configurationId: string, origin: Origin): Promise<void> {
    needMaster(actor)
    const record = await store.findByConfiguration(actor.projectId, configurationId)
    if (!record) throw new PlatformError('scheduler.notRegistered', { id: configurationId.slice(0, 100) })
    await end(actor, record, origin)
  }

  const end = (actor: Actor, record: ScheduleRecord, origin: Origin): Promise<void> =>
    inTransaction(async (trx) => {
      if (!(await store.remove(trx, actor.projectId, record.id))) throw new PlatformError('scheduler.notFound', { id: record.id })
      await tokens.revoke(trx, actor.projectId, record.tokenId)
      await recordEvent(trx, actor, scheduleEvent(record, 'scheduler.scheduleDeleted', {}), origin)
    })

  /** A new value for the schedule's token; a deleted token is issued again. */
  async function refreshToken(actor: Actor, id: number, origin: Origin): Promise<ScheduleWithExecutions> {
    needMaster(actor)
    const record = await getRecord(actor, id)
    const refreshed = await inTransaction(async (trx) => {
      const kept = await tokens.refresh(trx, actor.projectId, record.tokenId)
      const tokenId = kept ? record.tokenId : await tokens.issue(trx, actor, TOKEN_DESCRIPTION)
      const saved = await store.setToken(trx, actor.projectId, record.id, tokenId)
      if (!saved) throw new PlatformError('scheduler.notFound', { id: record.id })
      await recordEvent(trx, actor, scheduleEvent(saved, 'scheduler.tokenRefreshed', {}), origin)
      return saved
    })
    return withExecutions(refreshed)
  }

  async function next(actor: Actor, id: number, count: number): Promise<PlannedRun[]> {
    const { schedule, policy, nextRunAt } = await asOfNow(await getRecord(actor, id))
    if (nextRunAt === undefined) return []
    const now = clock.now().getTime()
    return upcomingRuns(planOf(schedule, policy.dst, zoneOf, now), Math.min(now, nextRunAt.getTime() - 1), count)
  }

  /** Of every schedule that runs a configuration, soonest first. */
  async function nextRunsOf(actor: Actor, componentId: string, configurationId: string) {
    const schedules = await list(actor, { componentId, configurationId })
    const runs = await Promise.all(schedules.map(({ record }) => next(actor, record.id, RUNS_OF_EACH)))
    return runs
      .flat()
      .sort((a, b) => a.at - b.at)
      .map(({ at }) => ({ configurationId, executionTime: formatTimestamp(new Date(at)) }))
  }

  /** The same for a form: what would an expression do? */
  function preview(cronTab: string, timezone: string, dst: Policy['dst'] = DEFAULT_POLICY.dst, count = 10): PlannedRun[] {
    const now = clock.now().getTime()
    return upcomingRuns(planOf({ cronTab, timezone }, dst, zoneOf, now), now, count)
  }

  const withExecutions = async (record: ScheduleRecord): Promise<ScheduleWithExecutions> => ({
    record: await asOfNow(record),
    executions: (await store.executions(record.projectId, [record.id], LISTED_EXECUTIONS)).get(record.id) ?? [],
  })

  /** How late the schedule is that has been due the longest; for monitoring. */
  async function lagMs(): Promise<number> {
    const now = clock.now()
    const oldest = await store.oldestDue(now)
    return oldest ? now.getTime() - oldest.getTime() : 0
  }

  return {
    activate,
    follow,
    contentProblems,
    get,
    list,
    totals,
    remove,
    removeByConfiguration,
    refreshToken,
    next,
    nextRunsOf,
    find,
    preview,
    lagMs,
    store,
    zoneOf,
  }
}

function needMaster(actor: Actor): void {
  if (!mayChangeEverything(actor)) throw new PlatformError('scheduler.masterTokenNeeded')
}

export const scheduleEvent = <N extends EventName>(record: ScheduleRecord, name: N, params: EventParams<N>): NewEvent =>
  eventOf(name, params, { component: 'scheduler', configurationId: record.configurationId, objectId: String(record.id) })
