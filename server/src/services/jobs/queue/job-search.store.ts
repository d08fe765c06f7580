// Queries over existing jobs: searches, groups, time spent, how many wait.

import { type SqlBool, sql } from 'kysely'
import { type DeliveryCounts, deliveryCounts } from '../../../../../contract/delivery.ts'
import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Workload } from '../../../model/workload.ts'
import type { EqualColumn, JobSearch } from './job-search.ts'
import { isFinished, JOB_STATUSES, type JobStatus, QUEUED, RUNNING } from './job-states.ts'
import { DAY_MS, type DailyRange } from './job-stats.ts'
import { columnsOf } from './job-view.ts'
import { type JobRow, tables } from './queue.schema.ts'

interface JobDelivery {
  readonly startedAt: number
  readonly counts: DeliveryCounts
}

/** Failures of one cause and one configuration. */
export interface FailuresOfConfiguration {
  readonly kind: string
  readonly subject: string | null
  readonly componentId: string
  readonly configurationId: string | null
  readonly branchId: number
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly lastJobId: number
}

/** Most configurations with causes that one answer is made of. */
const MAX_FAILING = 5_000

/** The clocks of nodes differ, and an end is seen when its transaction commits. */
const SETTLES_MS = 600_000

/** As an expression: SQLite would else walk the whole index of statuses, to have the groups in order. */
const STATUS = sql<string>`status || ''`

const added = (counts: ReadonlyMap<string, number>, more: readonly { readonly status: string; readonly count: number }[]) =>
  new Map([...counts, ...more.map(({ status, count }) => [status, (counts.get(status) ?? 0) + Number(count)] as const)])

const DURATION = sql<number>`(ended_at - started_at)`
const sortOf = ({ sortBy }: JobSearch) => (sortBy === 'duration' ? DURATION : sql<number>`${sql.ref(sortBy)}`)

/** The list of rows is a JSON text; an id in it is found as it is written there, whatever it means in a pattern of LIKE. */
const namesRow = (rowId: string) => sql<SqlBool>`replace(row_ids, ${JSON.stringify(rowId)}, '') <> row_ids`

/** No component has it: a list in SQL needs an item. */
const NO_COMPONENT = ''

export function createJobSearchStore(database: Db) {
  const db = tables(database)
  /** Jobs that ended up to some minutes ago, counted once: there may be millions. */
  let settled: { readonly until: number; readonly counts: ReadonlyMap<string, number> } = { until: 0, counts: new Map() }

  async function countEnded(now: number): Promise<ReadonlyMap<string, number>> {
    const line = now - SETTLES_MS
    if (line > settled.until) settled = { until: line, counts: added(settled.counts, await endedBetween(settled.until, line)) }
    return added(settled.counts, await endedBetween(settled.until, undefined))
  }

  const endedBetween = (after: number, until: number | undefined) =>
    db
      .selectFrom('queue_job')
      .select([STATUS.as('status'), sql<number>`count(*)`.as('count')])
      .where('ended_at', '>', after)
      .$if(until !== undefined, (query) => query.where('ended_at', '<=', until!)) // just compared
      .groupBy(STATUS)
      .execute()

  /** Jobs of the project that a search means, neither sorted nor limited. */
  function matching(projectId: number, search: JobSearch) {
    let query = db.selectFrom('queue_job').where('project_id', '=', projectId)
    for (const { column, values } of search.equal) query = query.where(column, 'in', values as never) // text or number, as the column
    for (const { column, operator, value } of search.ranges) query = query.where(column, operator, value)
    if (search.durationMsFrom !== undefined) query = query.where(DURATION, '>=', search.durationMsFrom)
    if (search.durationMsTo !== undefined) query = query.where(DURATION, '<=', search.durationMsTo)
    if (search.rowIds.length > 0) query = query.where((e) => e.or(search.rowIds.map(namesRow)))
    const { visible } = search
    if (visible)
      query = query.where((e) =>
        e.or([e('token_id', '=', visible.tokenId), e('component_id', 'in', [...visible.componentIds, NO_COMPONENT])]),
      )
    return query
  }

  return {
    /** With `fields`, of each job only the columns that they are made of. */
    search: (projectId: number, search: JobSearch): Promise<JobRow[]> =>
      matching(projectId, search)
        .$if(search.fields === undefined, (query) => query.selectAll())
        .$if(search.fields !== undefined, (query) => query.select([...columnsOf(search.fields ?? [])]))
        // Ids are never null, and only the plain order is that of the index.
        .$if(search.sortBy !== 'id', (query) => query.orderBy(sortOf(search), (order) => order[search.sortOrder]().nullsLast()))
        .orderBy('id', search.sortOrder)
        .limit(search.limit)
        .offset(search.offset)
        .execute() as Promise<JobRow[]>, // the requested part of it

    countByStatus: async (projectId: number, search: JobSearch): Promise<ReadonlyMap<string, number>> => {
      const rows = await matching(projectId, search)
        .select(['status', sql<number>`count(*)`.as('count')])
        .groupBy('status')
        .execute()
      return new Map(rows.map(({ status, count }) => [status, Number(count)]))
    },

    /** Failures by cause and configuration, the newest first. Containers and flows fail because of jobs that are counted themselves. */
    failures: async (projectId: number, search: JobSearch): Promise<readonly FailuresOfConfiguration[]> => {
      const rows = await matching(projectId, search)
        .select(['cause_kind', 'cause_subject', 'component_id', 'configuration_id', 'branch_id'])
        .select([
          sql<number>`count(*)`.as('count'),
          sql<number>`min(ended_at)`.as('first'),
          sql<number>`max(ended_at)`.as('last'),
          sql<number>`max(id)`.as('job'),
        ])
        .where('cause_kind', 'is not', null)
        .where('cause_kind', '<>', 'parts.failed')
        .where('status', '=', 'error')
        .groupBy(['cause_kind', 'cause_subject', 'component_id', 'configuration_id', 'branch_id'])
        .orderBy('last', 'desc')
        .limit(MAX_FAILING)
        .execute()
      return rows.map((row) => ({
        kind: row.cause_kind ?? '',
        subject: row.cause_subject,
        componentId: row.component_id,
        configurationId: row.configuration_id,
        branchId: row.branch_id,
        count: Number(row.count),
        firstAt: Number(row.first),
        lastAt: Number(row.last),
        lastJobId: Number(row.job),
      }))
    },

    /** How the newest job of a configuration that has ended did. */
    newestEnded: async (projectId: number, branchId: number, componentId: string, configurationId: string) => {
      const job = await db
        .selectFrom('queue_job')
        .select(['id', 'status', 'cause_kind', 'error'])
        .where('project_id', '=', projectId)
        .where('component_id', '=', componentId)
        .where('configuration_id', '=', configurationId)
        .where('branch_id', '=', branchId)
        .where('ended_at', 'is not', null)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return job && { id: String(job.id), status: job.status, kind: job.cause_kind, message: job.error }
    },

    /** When jobs began, and what they delivered. */
    deliveriesOf: async (projectId: number, jobIds: readonly number[]): Promise<ReadonlyMap<number, JobDelivery>> => {
      if (jobIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('queue_job')
        .select(['id', 'started_at', 'usage'])
        .where('project_id', '=', projectId)
        .where('id', 'in', jobIds)
        .execute()
      return new Map(
        rows.flatMap(({ id, started_at, usage }) =>
          started_at === null ? [] : [[id, { startedAt: started_at, counts: deliveryCounts(readStored<unknown[]>(usage)) }]],
        ),
      )
    },

    messagesOf: async (projectId: number, jobIds: readonly number[]): Promise<ReadonlyMap<number, string>> => {
      if (jobIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('queue_job')
        .select(['id', 'error'])
        .where('project_id', '=', projectId)
        .where('id', 'in', jobIds)
        .execute()
      return new Map(rows.map(({ id, error }) => [id, error ?? '']))
    },

    /** The first `perGroup` jobs of every group, group by group in the order of their first ones; `most` jobs in all. */
    searchGrouped(
      projectId: number,
      search: JobSearch,
      groupBy: readonly EqualColumn[],
      perGroup: number,
      max: number,
    ): Promise<JobRow[]> {
      const by = sortOf(search)
      const group = sql.join(groupBy.map((column) => sql.ref(column)))
      const order = sql.raw(search.sortOrder)
      const placed = matching(projectId, search).select([
        'id as placed_id',
        sql<number>`row_number() over (partition by ${group} order by ${by} ${order} nulls last, id ${order})`.as('place'),
        sql<number>`first_value(id) over (partition by ${group} order by ${by} ${order} nulls last, id ${order})`.as('first_id'),
      ])
      const firstBy = sql<number>`(select ${by} from queue_job where id = placed.first_id)`
      return db
        .selectFrom(placed.as('placed'))
        .innerJoin('queue_job', 'queue_job.id', 'placed.placed_id')
        .selectAll('queue_job')
        .where('placed.place', '<=', perGroup)
        .orderBy(firstBy, (one) => one[search.sortOrder]().nullsLast())
        .orderBy('placed.first_id', search.sortOrder)
        .orderBy('placed.place')
        .limit(max)
        .execute()
    },

    durationSumMs: async (projectId: number): Promise<number> => {
      const { sum } = await db
        .selectFrom('queue_job')
        .select(sql<number | null>`sum(ended_at - started_at)`.as('sum'))
        .where('project_id', '=', projectId)
        .where('type', '=', 'standard')
        .where('ended_at', 'is not', null)
        .executeTakeFirstOrThrow()
      return Number(sum ?? 0)
    },

    /** Milliseconds by the day on which jobs ended; days are counted from 1970 by a clock that is `offsetMs` ahead of UTC. */
    durationMsByDay: async (projectId: number, { from, to, offsetMs }: DailyRange): Promise<ReadonlyMap<number, number>> => {
      const shifted = sql<number>`(ended_at + ${sql.lit(offsetMs)})`
      const day = sql<number>`(${shifted} / ${sql.lit(DAY_MS)})`
      const rows = await db
        .selectFrom('queue_job')
        .select([day.as('day'), sql<number>`sum(ended_at - started_at)`.as('sum')])
        .where('project_id', '=', projectId)
        .where('type', '=', 'standard')
        .where('started_at', 'is not', null)
        .where(shifted, '>=', from * DAY_MS)
        .where(shifted, '<', (to + 1) * DAY_MS)
        .groupBy(day)
        .execute()
      return new Map(rows.map((row) => [Number(row.day), Number(row.sum)]))
    },

    /** How many jobs have each status, and since when the oldest of those that may start waits; of all projects. */
    workload: async (now: number): Promise<Workload> => {
      const rows = await db
        .selectFrom('queue_job')
        .select(['status', sql<number>`count(*)`.as('count')])
        .where('ended_at', 'is', null)
        .where('status', 'in', [...QUEUED, ...RUNNING])
        .groupBy('status')
        .execute()
      const ended = await countEnded(now)
      const oldest = await db
        .selectFrom('queue_job')
        .select(sql<number | null>`min(case when start_after > created_at then start_after else created_at end)`.as('since'))
        .where('ended_at', 'is', null)
        .where('status', 'in', QUEUED)
        .where('start_after', '<=', now)
        .executeTakeFirst()
      const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]))
      const countOf = (statuses: readonly JobStatus[]) =>
        Object.fromEntries(statuses.map((status) => [status, counts.get(status) ?? 0]))
      return {
        open: countOf([...QUEUED, ...RUNNING]),
        ended: Object.fromEntries(JOB_STATUSES.filter(isFinished).map((status) => [status, ended.get(status) ?? 0])),
        oldestWaitingMs: oldest?.since == null ? 0 : Math.max(0, now - oldest.since),
      }
    },
  }
}
