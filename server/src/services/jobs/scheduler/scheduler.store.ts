// Activated schedules and their executions in the metadata database.

import type { Generated, Selectable } from 'kysely'
import { claimRows, type Db, lockRows, ofWorkingProject, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { contains } from '../../../engines/metadata-db/like.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Policy, Schedule, ScheduleConfiguration, Target } from './schedule-configuration.ts'

interface Tables {
  schedule: {
    id: Generated<number>
    project_id: number
    token_id: number
    configuration_id: string
    configuration_version: number
    schedule: string
    target: string
    target_component_id: string
    target_configuration_id: string
    policy: string
    next_run_at: number | null
    stopped_reason: string | null
    created_at: number
  }
  schedule_execution: {
    id: Generated<number>
    project_id: number
    schedule_id: number
    due_at: number
    executed_at: number
    status: string
    job_id: string | null
    reason: string | null
  }
}

export interface ScheduleRecord extends ScheduleConfiguration {
  readonly id: number
  readonly projectId: number
  readonly tokenId: number
  readonly configurationId: string
  readonly configurationVersion: number
  readonly nextRunAt: Date | undefined
  readonly stoppedReason: string | undefined
}

export type NewSchedule = Omit<ScheduleRecord, 'id'> & { readonly createdAt: Date }

export type ExecutionStatus = 'started' | 'skipped' | 'failed'

export interface Execution {
  readonly scheduleId: number
  readonly dueAt: Date
  readonly executedAt: Date
  readonly status: ExecutionStatus
  readonly jobId: string | undefined
  readonly reason: string | undefined
}

export interface ScheduleFilter {
  /** Of the target. */
  readonly configurationId?: string
  /** Of targets. */
  readonly configurationIds?: readonly string[]
  /** Only schedules that will run, the soonest first. */
  readonly sort?: 'next'
  readonly limit?: number
  readonly offset?: number
}

export function createSchedulerStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    find: async (projectId: number, id: number): Promise<ScheduleRecord | undefined> =>
      recordOf(
        await db.selectFrom('schedule').selectAll().where('project_id', '=', projectId).where('id', '=', id).executeTakeFirst(),
      ),

    /** Locks the record until the transaction ends: a concurrent firing waits, or skips it. */
    lockByConfiguration: async (trx: Trx, projectId: number, configurationId: string): Promise<ScheduleRecord | undefined> =>
      recordOf(
        await withTables<Tables>(trx)
          .selectFrom('schedule')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('configuration_id', '=', configurationId)
          .$call(lockRows(trx))
          .executeTakeFirst(),
      ),

    findByConfiguration: async (projectId: number, configurationId: string): Promise<ScheduleRecord | undefined> =>
      recordOf(
        await db
          .selectFrom('schedule')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('configuration_id', '=', configurationId)
          .executeTakeFirst(),
      ),

    /** Of any component if `componentIds` is undefined. */
    list: async (
      projectId: number,
      { configurationId, configurationIds, sort, limit, offset = 0 }: ScheduleFilter,
      componentIds?: readonly string[],
    ): Promise<ScheduleRecord[]> => {
      let query = db.selectFrom('schedule').selectAll().where('project_id', '=', projectId)
      if (configurationId !== undefined) query = query.where('target_configuration_id', '=', configurationId)
      if (configurationIds) query = query.where('target_configuration_id', 'in', configurationIds)
      if (componentIds) query = query.where('target_component_id', 'in', componentIds)
      if (sort) query = query.where('next_run_at', 'is not', null).orderBy('next_run_at')
      if (limit !== undefined) query = query.limit(limit).offset(offset)
      return (await query.orderBy('id').execute()).map(toRecord)
    },

    /** How many schedules run each component, as their targets name it, and how many of them stopped by themselves. */
    countByComponent: async (projectId: number) =>
      (
        await db
          .selectFrom('schedule')
          .where('project_id', '=', projectId)
          .groupBy('target_component_id')
          .select((e) => ['target_component_id', e.fn.countAll().as('schedules'), e.fn.count('stopped_reason').as('stopped')])
          .execute()
      ).map((row) => ({
        componentId: row.target_component_id,
        schedules: Number(row.schedules),
        stopped: Number(row.stopped),
      })),

    insert: async (trx: Trx, schedule: NewSchedule): Promise<ScheduleRecord> =>
      toRecord(
        await withTables<Tables>(trx)
          .insertInto('schedule')
          .values({
            ...columnsOf(schedule),
            project_id: schedule.projectId,
            token_id: schedule.tokenId,
            created_at: schedule.createdAt.getTime(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),

    replace: async (trx: Trx, id: number, schedule: Omit<NewSchedule, 'createdAt'>): Promise<ScheduleRecord> =>
      toRecord(
        await withTables<Tables>(trx)
          .updateTable('schedule')
          .set({ ...columnsOf(schedule), token_id: schedule.tokenId })
          .where('project_id', '=', schedule.projectId)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),

    /** Nothing but the token: what the schedule did since it was read stays done. */
    setToken: async (trx: Trx, projectId: number, id: number, tokenId: number): Promise<ScheduleRecord | undefined> =>
      recordOf(
        await withTables<Tables>(trx)
          .updateTable('schedule')
          .set({ token_id: tokenId })
          .where('project_id', '=', projectId)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst(),
      ),

    remove: async (trx: Trx, projectId: number, id: number): Promise<boolean> => {
      const result = await withTables<Tables>(trx)
        .deleteFrom('schedule')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },

    /** Due schedules of all projects, the longest waiting first. */
    listDue: async (now: Date, limit: number): Promise<ScheduleRecord[]> =>
      (
        await db
          .selectFrom('schedule')
          .selectAll()
          .where('next_run_at', '<=', now.getTime())
          .where(ofWorkingProject('schedule'))
          .orderBy('next_run_at')
          .orderBy('id')
          .limit(limit)
          .execute()
      ).map(toRecord),

    /** Schedules whose configuration, or that of their target, contains the text in its id. */
    listContaining: async (projectId: number, text: string, limit: number) =>
      (
        await db
          .selectFrom('schedule')
          .select(['id', 'configuration_id', 'target_component_id', 'target_configuration_id', 'schedule'])
          .where('project_id', '=', projectId)
          .where((e) =>
            e.or([
              contains(database, e.ref('configuration_id'), text),
              contains(database, e.ref('target_configuration_id'), text),
              contains(database, e.ref('schedule'), text),
            ]),
          )
          .orderBy('id')
          .limit(limit)
          .execute()
      ).map((row) => ({
        kind: 'schedule' as const,
        id: String(row.id),
        name: readStored<{ readonly cronTab: string }>(row.schedule).cronTab,
        configurationId: row.configuration_id,
        componentId: row.target_component_id,
      })),

    /** Of all projects: schedules that stopped by themselves. */
    listStopped: async (limit: number) =>
      (
        await db
          .selectFrom('schedule')
          .select(['id', 'project_id', 'configuration_id', 'stopped_reason'])
          .where('stopped_reason', 'is not', null)
          .orderBy('id')
          .limit(limit)
          .execute()
      ).map((row) => ({
        id: row.id,
        projectId: row.project_id,
        configurationId: row.configuration_id,
        reason: row.stopped_reason ?? '',
      })),

    /** When the schedule was due that has been waiting the longest, of all projects; undefined when none is late. */
    oldestDue: async (now: Date): Promise<Date | undefined> => {
      const row = await db
        .selectFrom('schedule')
        .select((e) => e.fn.min('next_run_at').as('due'))
        .where('next_run_at', '<=', now.getTime())
        .where(ofWorkingProject('schedule'))
        .executeTakeFirst()
      return row?.due == null ? undefined : new Date(row.due)
    },

    /** Takes a due schedule for this transaction; false when another node has it, or it was changed since it was read. */
    claim: async (trx: Trx, { id, nextRunAt, configurationVersion, tokenId }: ScheduleRecord): Promise<boolean> =>
      (await withTables<Tables>(trx)
        .selectFrom('schedule')
        .select('id')
        .where('id', '=', id)
        .where('next_run_at', '=', nextRunAt?.getTime() ?? 0)
        .where('configuration_version', '=', configurationVersion)
        .where('token_id', '=', tokenId)
        .$call(claimRows(trx))
        .executeTakeFirst()) !== undefined,

    setNextRun: async (trx: Trx, id: number, nextRunAt: Date | undefined, stoppedReason?: string): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('schedule')
        .set({ next_run_at: nextRunAt?.getTime() ?? null, stopped_reason: stoppedReason ?? null })
        .where('id', '=', id)
        .execute()
    },

    /** Fails when the due minute was acted on before, and takes the job of this transaction with it. */
    addRun: async (trx: Trx, projectId: number, execution: Execution): Promise<void> => {
      await withTables<Tables>(trx).insertInto('schedule_execution').values(executionRow(projectId, execution)).execute()
    },

    /** Deletes executions that were due before `since`, except the newest ones of the schedule. */
    forgetExecutions: async (trx: Trx, scheduleId: number, since: Date, kept: number): Promise<void> => {
      const tables = withTables<Tables>(trx)
      const oldestKept = tables
        .selectFrom('schedule_execution')
        .select('due_at')
        .where('schedule_id', '=', scheduleId)
        .orderBy('due_at', 'desc')
        .offset(kept - 1)
        .limit(1)
      await tables
        .deleteFrom('schedule_execution')
        .where('schedule_id', '=', scheduleId)
        .where('due_at', '<', since.getTime())
        .where('due_at', '<', oldestKept)
        .execute()
    },

    /** A due minute without a run. An existing record of it stays. */
    addNote: async (trx: Trx, projectId: number, execution: Execution): Promise<void> => {
      await withTables<Tables>(trx)
        .insertInto('schedule_execution')
        .values(executionRow(projectId, execution))
        .onConflict((conflict) => conflict.columns(['schedule_id', 'due_at']).doNothing())
        .execute()
    },

    /** When the last due minute was acted on: an activation must not plan it again. */
    lastDue: async (trx: Trx, id: number): Promise<Date | undefined> => {
      const row = await withTables<Tables>(trx)
        .selectFrom('schedule_execution')
        .select('due_at')
        .where('schedule_id', '=', id)
        .orderBy('due_at', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row && new Date(row.due_at)
    },

    /** The newest executions of each schedule, newest first. */
    executions: async (projectId: number, scheduleIds: readonly number[], max: number): Promise<Map<number, Execution[]>> => {
      const found = new Map<number, Execution[]>()
      for (const id of scheduleIds) {
        const rows = await db
          .selectFrom('schedule_execution')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('schedule_id', '=', id)
          .orderBy('due_at', 'desc')
          .limit(max)
          .execute()
        found.set(id, rows.map(toExecution))
      }
      return found
    },
  }
}

const columnsOf = (schedule: Omit<NewSchedule, 'createdAt'>) => ({
  configuration_id: schedule.configurationId,
  configuration_version: schedule.configurationVersion,
  schedule: JSON.stringify(schedule.schedule),
  target: JSON.stringify(schedule.target),
  target_component_id: schedule.target.componentId,
  target_configuration_id: schedule.target.configurationId,
  policy: JSON.stringify(schedule.policy),
  next_run_at: schedule.nextRunAt?.getTime() ?? null,
  stopped_reason: schedule.stoppedReason ?? null,
})

const executionRow = (projectId: number, execution: Execution) => ({
  project_id: projectId,
  schedule_id: execution.scheduleId,
  due_at: execution.dueAt.getTime(),
  executed_at: execution.executedAt.getTime(),
  status: execution.status,
  job_id: execution.jobId ?? null,
  reason: execution.reason ?? null,
})

const recordOf = (row: Selectable<Tables['schedule']> | undefined): ScheduleRecord | undefined => row && toRecord(row)

const toRecord = (row: Selectable<Tables['schedule']>): ScheduleRecord => ({
  id: row.id,
  projectId: row.project_id,
  tokenId: row.token_id,
  configurationId: row.configuration_id,
  configurationVersion: row.configuration_version,
  schedule: readStored<Schedule>(row.schedule),
  target: readStored<Target>(row.target),
  policy: readStored<Policy>(row.policy),
  nextRunAt: row.next_run_at === null ? undefined : new Date(row.next_run_at),
  stoppedReason: row.stopped_reason ?? undefined,
})

const toExecution = (row: Selectable<Tables['schedule_execution']>): Execution => ({
  scheduleId: row.schedule_id,
  dueAt: new Date(row.due_at),
  executedAt: new Date(row.executed_at),
  status: row.status as ExecutionStatus, // written by executionRow
  jobId: row.job_id ?? undefined,
  reason: row.reason ?? undefined,
})
