// Storage jobs in the metadata database. Three things stay true:
//  (1) a lock key has at most one holder (a unique index), and its waiters get it in the order of their ids;
//  (2) a write to a claimed job carries the attempt that claimed it; a later attempt makes every such write miss;
//  (3) a finished job holds and waits for nothing.

import { type Generated, type Selectable, type SqlBool, sql } from 'kysely'
import { claimRows, type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { ofRun } from '../../../engines/metadata-db/run-ids.ts'
import { isSilent } from '../../../engines/metadata-db/worker-lease.ts'
import { defined } from '../../../kit/defined.ts'
import type { JobStatus } from '../../../model/storage-job.ts'
import type { Workload } from '../../../model/workload.ts'

interface Tables {
  storage_job: {
    id: Generated<number>
    project_id: number
    branch_id: number | null
    status: JobStatus
    operation_name: string
    operation_params: string
    input: string
    table_id: string | null
    run_id: string | null
    origin: string
    results: string | null
    error: string | null
    metrics: string
    creator_token_id: number
    creator_token_description: string
    created_at: number
    started_at: number | null
    ended_at: number | null
    attempt: number
    losses: number
    worker: string | null
    is_inline: number
    lease_until: number | null
  }
  storage_job_lock: { job_id: number; project_id: number; lock_key: string; is_held: number }
  storage_job_turn: { project_id: number; last_claim: number }
}

export type StorageJobRow = Selectable<Tables['storage_job']>

export interface NewJobRow {
  readonly projectId: number
  readonly branchId: number | null
  readonly operationName: string
  readonly operationParams: string
  readonly input: string
  readonly tableId: string | null
  readonly runId: string | null
  readonly origin: string
  readonly metrics: string
  readonly creatorTokenId: number
  readonly creatorTokenDescription: string
  readonly createdAt: number
  /** Set for an inline job: only this worker may run it, and its lease starts now. */
  readonly inline: { readonly worker: string; readonly leaseUntil: number } | null
  readonly lockKeys: readonly string[]
}

export interface TimeRange {
  readonly from?: number
  readonly to?: number
}

export interface JobFilter {
  readonly limit: number
  readonly offset: number
  readonly statuses?: readonly string[]
  readonly excludedStatuses?: readonly string[]
  readonly runId?: string
  /** Only jobs of this token, and those on tables of these buckets. */
  readonly visible?: { readonly tokenId: number; readonly bucketIds: readonly string[] }
  readonly created?: TimeRange
  readonly started?: TimeRange
  readonly ended?: TimeRange
}

/** Ids begin at 1. */
const NO_JOB = 0

/** Compared as it is written: an underscore is no pattern. */
const isInBucket = (bucketId: string) => sql<SqlBool>`substr(table_id, 1, ${bucketId.length + 1}) = ${`${bucketId}.`}`

export interface ClaimRequest {
  readonly worker: string
  /** Jobs this worker has: they are never taken from it, however late their leases are. */
  readonly running: readonly number[]
  readonly operations: readonly string[]
  readonly now: number
  readonly leaseUntil: number
}

export interface Ending {
  readonly status: 'success' | 'error'
  readonly results: string | null
  readonly error: string | null
  readonly metrics: string
  readonly tableId?: string | null
  readonly endedAt: number
}

export function createStorageJobsStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    async insert(trx: Trx, job: NewJobRow): Promise<StorageJobRow> {
      const row = await withTables<Tables>(trx)
        .insertInto('storage_job')
        .values({
          project_id: job.projectId,
          branch_id: job.branchId,
          status: 'waiting',
          operation_name: job.operationName,
          operation_params: job.operationParams,
          input: job.input,
          table_id: job.tableId,
          run_id: job.runId,
          origin: job.origin,
          metrics: job.metrics,
          creator_token_id: job.creatorTokenId,
          creator_token_description: job.creatorTokenDescription,
          created_at: job.createdAt,
          attempt: 0,
          losses: 0,
          worker: job.inline?.worker ?? null,
          is_inline: job.inline ? 1 : 0,
          lease_until: job.inline?.leaseUntil ?? null,
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      if (job.lockKeys.length > 0)
        await withTables<Tables>(trx)
          .insertInto('storage_job_lock')
          .values(
            [...new Set(job.lockKeys)].map((lock_key) => ({ job_id: row.id, project_id: job.projectId, lock_key, is_held: 0 })),
          )
          .execute()
      return row
    },

    find: (projectId: number, id: number): Promise<StorageJobRow | undefined> =>
      db.selectFrom('storage_job').selectAll().where('project_id', '=', projectId).where('id', '=', id).executeTakeFirst(),

    list(projectId: number, filter: JobFilter): Promise<StorageJobRow[]> {
      let query = db.selectFrom('storage_job').selectAll().where('project_id', '=', projectId)
      // The caller has checked that these are statuses.
      if (filter.statuses?.length) query = query.where('status', 'in', filter.statuses as JobStatus[])
      else if (filter.excludedStatuses?.length) query = query.where('status', 'not in', filter.excludedStatuses as JobStatus[])
      if (filter.runId !== undefined) query = query.where('run_id', '=', filter.runId)
      const { visible } = filter
      if (visible)
        query = query.where((e) =>
          e.or([e('creator_token_id', '=', visible.tokenId), ...visible.bucketIds.map((bucketId) => isInBucket(bucketId))]),
        )
      const ranges = [
        ['created_at', filter.created],
        ['started_at', filter.started],
        ['ended_at', filter.ended],
      ] as const
      for (const [column, range] of ranges) {
        if (range?.from !== undefined) query = query.where(column, '>=', range.from)
        if (range?.to !== undefined) query = query.where(column, '<=', range.to)
      }
      return query.orderBy('id', 'desc').limit(filter.limit).offset(filter.offset).execute()
    },

    /** Every finished job of a run and its children that did one of these operations. */
    listOfRun: (projectId: number, runId: string, operations: readonly string[]): Promise<StorageJobRow[]> =>
      db
        .selectFrom('storage_job')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('operation_name', 'in', [...operations])
        .where('status', '=', 'success')
        .where(ofRun(runId))
        .orderBy('id')
        .execute(),

    /**
     * The next job this worker may run, now its own; undefined when there is none. Projects take turns: first the one with the fewest
     * running jobs, then the one served longest ago. Within a project the oldest job whose locks are free goes first.
     */
    async claim(trx: Trx, request: ClaimRequest): Promise<StorageJobRow | undefined> {
      const tx = withTables<Tables>(trx)
      const mine = sql<boolean>`(worker is null or worker = ${request.worker})`
      const projects = await tx
        .selectFrom('storage_job')
        .leftJoin('storage_job_turn', 'storage_job_turn.project_id', 'storage_job.project_id')
        .select('storage_job.project_id')
        .where('storage_job.ended_at', 'is', null)
        .where('operation_name', 'in', [...request.operations])
        .groupBy(['storage_job.project_id', 'storage_job_turn.last_claim'])
        .having(sql<number>`sum(case when status = 'waiting' then 1 else 0 end)`, '>', 0)
        .orderBy(sql`sum(case when status = 'processing' then 1 else 0 end)`)
        .orderBy(sql`coalesce(storage_job_turn.last_claim, 0)`)
        .orderBy('storage_job.project_id')
        .execute()
      for (const { project_id } of projects) {
        const next = await tx
          .selectFrom('storage_job as job')
          .select('id')
          .where('status', '=', 'waiting')
          .where('ended_at', 'is', null)
          .where('project_id', '=', project_id)
          .where('operation_name', 'in', [...request.operations])
          .where(mine)
          .where((e) =>
            e.not(
              e.exists(
                e
                  .selectFrom('storage_job_lock as own')
                  .innerJoin('storage_job_lock as other', (join) =>
                    join.onRef('other.project_id', '=', 'own.project_id').onRef('other.lock_key', '=', 'own.lock_key'),
                  )
                  .select(sql`1`.as('one'))
                  .whereRef('own.job_id', '=', 'job.id')
                  .where((other) =>
                    other.or([
                      other('other.job_id', '<', other.ref('own.job_id')),
                      other.and([other('other.is_held', '=', 1), other('other.job_id', '!=', other.ref('own.job_id'))]),
                    ]),
                  ),
              ),
            ),
          )
          .orderBy('id')
          .limit(1)
          .$call(claimRows(trx))
          .executeTakeFirst()
        if (!next) continue
        await tx.updateTable('storage_job_lock').set({ is_held: 1 }).where('job_id', '=', next.id).execute()
        await tx
          .insertInto('storage_job_turn')
          .values({ project_id, last_claim: request.now })
          .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ last_claim: request.now }))
          .execute()
        return tx
          .updateTable('storage_job')
          .set((e) => ({
            status: 'processing',
            attempt: e('attempt', '+', 1),
            worker: request.worker,
            lease_until: request.leaseUntil,
            started_at: request.now,
          }))
          .where('id', '=', next.id)
          .where('status', '=', 'waiting')
          .returningAll()
          .executeTakeFirst()
      }
      return undefined
    },

    /** A job whose worker is silent, now this worker's: the attempt rises, so the old worker can no longer publish. */
    async takeOver(trx: Trx, request: ClaimRequest): Promise<StorageJobRow | undefined> {
      const tx = withTables<Tables>(trx)
      const lost = await tx
        .selectFrom('storage_job')
        .select(['id', 'worker'])
        .where('ended_at', 'is', null)
        .where('lease_until', '<', request.now)
        .where((e) =>
          e.or([
            e('worker', 'is', null),
            e.and([
              e('worker', '=', request.worker),
              e('status', '=', 'processing'), // an inline job that waits for its locks is not lost
              e('id', 'not in', [NO_JOB, ...request.running]),
            ]),
            e.and([e('worker', '!=', request.worker), isSilent('storage_job.worker', request.now)]),
          ]),
        )
        .where('operation_name', 'in', [...request.operations])
        .orderBy('id')
        .limit(1)
        .$call(claimRows(trx))
        .executeTakeFirst()
      if (!lost) return undefined
      // A worker that stopped in good order gave its jobs back (worker null): that is no loss.
      const loss = lost.worker === null ? 0 : 1
      return tx
        .updateTable('storage_job')
        .set((e) => ({
          status: 'processing', // an inline job may be lost before it started
          started_at: e.fn.coalesce('started_at', e.val(request.now)),
          attempt: e('attempt', '+', 1),
          losses: e('losses', '+', loss),
          worker: request.worker,
          lease_until: request.leaseUntil,
        }))
        .where('id', '=', lost.id)
        .returningAll()
        .executeTakeFirst()
    },

    /** One more try by the same worker; the attempt rises as if another worker had adopted the job. */
    tryAgain: (
      trx: Trx,
      { id, attempt, loss, leaseUntil }: { id: number; attempt: number; loss: 0 | 1; leaseUntil: number },
    ): Promise<StorageJobRow | undefined> =>
      withTables<Tables>(trx)
        .updateTable('storage_job')
        .set((e) => ({ attempt: e('attempt', '+', 1), losses: e('losses', '+', loss), lease_until: leaseUntil }))
        .where('id', '=', id)
        .where('attempt', '=', attempt)
        .where('status', '=', 'processing')
        .returningAll()
        .executeTakeFirst(),

    /**
     * Prolongs the leases of the jobs that this worker runs or is about to run; returns which it still has. A job that was claimed without
     * the worker knowing it, because the answer was lost, is neither: its lease ends.
     */
    heartbeat: async (trx: Trx, worker: string, running: readonly number[], leaseUntil: number): Promise<ReadonlySet<number>> => {
      const rows = await withTables<Tables>(trx)
        .updateTable('storage_job')
        .set({ lease_until: leaseUntil })
        .where('ended_at', 'is', null)
        .where('worker', '=', worker)
        .where((e) => e.or([e('status', '=', 'waiting'), e('id', 'in', [NO_JOB, ...running])]))
        .returning('id')
        .execute()
      return new Set(rows.map(({ id }) => id))
    },

    /** Ends the leases of all other workers at once: right after a start, when this process is the only one there can be. */
    expireOthers: async (trx: Trx, worker: string): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('storage_job')
        .set({ lease_until: 0 })
        .where('ended_at', 'is', null)
        .where('worker', '!=', worker)
        .execute()
    },

    /** Releases a job in good order; the next worker claims it. */
    release: async (trx: Trx, id: number, attempt: number): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('storage_job')
        .set({ worker: null, lease_until: 0 })
        .where('id', '=', id)
        .where('attempt', '=', attempt)
        .where('status', '=', 'processing')
        .execute()
    },

    /** False: another attempt owns the job, and nothing was changed. */
    async end(trx: Trx, id: number, attempt: number, ending: Ending): Promise<boolean> {
      const tx = withTables<Tables>(trx)
      const ended = await tx
        .updateTable('storage_job')
        .set({
          status: ending.status,
          results: ending.results,
          error: ending.error,
          metrics: ending.metrics,
          ended_at: ending.endedAt,
          lease_until: null,
          ...defined({ table_id: ending.tableId }),
        })
        .where('id', '=', id)
        .where('attempt', '=', attempt)
        .where('status', '=', 'processing')
        .returning('id')
        .executeTakeFirst()
      if (!ended) return false
      await tx.deleteFrom('storage_job_lock').where('job_id', '=', id).execute()
      return true
    },

    /** Open jobs of all projects. */
    workload: async (now: number): Promise<Workload> => {
      const rows = await db
        .selectFrom('storage_job')
        .select(['status', (e) => e.fn.countAll<number | string>().as('jobs'), (e) => e.fn.min('created_at').as('since')])
        .where('ended_at', 'is', null)
        .groupBy('status')
        .execute()
      const of = (status: JobStatus) => rows.find((row) => row.status === status)
      const countOf = (status: JobStatus) => Number(of(status)?.jobs ?? 0)
      return {
        open: { waiting: countOf('waiting'), processing: countOf('processing') },
        ended: {},
        oldestWaitingMs: now - Number(of('waiting')?.since ?? now),
      }
    },
  }
}
