// Jobs and locks in the metadata database. A lock is a row whose key is unique: two jobs can never hold one configuration.

import { sql } from 'kysely'
import { claimRows, type Db, dialectOf, lockRows, ofWorkingProject, type Trx } from '../../../engines/metadata-db/dialects.ts'
import { belowRun, ofRun } from '../../../engines/metadata-db/run-ids.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import { isSilent } from '../../../engines/metadata-db/worker-lease.ts'
import type { NewChange, RecordChange } from '../../../model/change.ts'
import type { JobCause } from '../../../model/job-cause.ts'
import type { JobProgress } from '../../../model/job-progress.ts'
import { createJobSearchStore } from './job-search.store.ts'
import { type JobStatus, QUEUED, RUNNING } from './job-states.ts'
import { type JobRow, type NewJobRow, tables } from './queue.schema.ts'
import { type EarlierRun, earlierRuns, type RunOf, type UsualDuration } from './usual-duration.ts'

/** How a finished job is written. */
export interface JobEnd {
  readonly status: JobStatus
  readonly result: string
  readonly usage: string
  readonly metrics: string
  readonly error: string | null
  /** Of a failure. */
  readonly cause?: Pick<JobCause, 'kind' | 'subject'> | null
}

/** Jobs that cannot start here: of full projects and containers, of configurations that are held, of components and labels of other nodes. */
export interface LeftOut {
  readonly fullProjects: readonly number[]
  readonly heldKeys: readonly string[]
  readonly fullParents: readonly number[]
  readonly elsewhere: readonly string[]
  /** Sets of labels that this node lacks. */
  readonly labels: readonly string[]
}

/** Who holds a job: writes of a worker that lost it touch no row. */
export interface Hold {
  readonly jobId: number
  readonly worker: string
  readonly attempt: number
}

export type QueueStore = ReturnType<typeof createQueueStore>

/**
 * Values of `has_begun`: no component has started; one has, and perhaps something is in the project (also: older versions did not
 * record it); all results are; one has, and nothing is.
 */
const NOT_BEGUN = 0
const BEGUN = 1
export const PUBLISHED = 2
const UNPUBLISHED = 3
export const hasPublishedNothing = (hasBegun: number): boolean => hasBegun === NOT_BEGUN || hasBegun === UNPUBLISHED

/** Ids begin at 1. */
const NO_JOB = 0

/** Claims are short; one at a time keeps the limits exact on several nodes. The number is ours alone. */
const CLAIM_LOCK = 5_070_001

/** A lease that ends later was written by a clock that was ahead and has been set back: it counts as over when its worker is silent. */
const FARTHEST_LEASE_MS = 5 * 60_000

export const isLeaseOver = (leaseUntil: number, now: number): boolean => leaseUntil < now || leaseUntil > now + FARTHEST_LEASE_MS

// Queries for jobs that wait or run also have the condition that these have not ended: the index of open jobs is small, whatever the history.

const CHANGED = ['id', 'project_id', 'branch_id', 'component_id', 'status', 'token_id'] as const

// Queries of every job and of every client that waits for one.

const jobAt = statement((db, at: { projectId: number; id: number }) =>
  tables(db).selectFrom('queue_job').selectAll().where('project_id', '=', at.projectId).where('id', '=', at.id),
)

const nameRun = statement((db, { id, runId }: { id: number; runId: string }) =>
  tables(db).updateTable('queue_job').set({ run_id: runId }).where('id', '=', id).returningAll(),
)

const allLocks = statement((db, _: object) => tables(db).selectFrom('queue_lock').select(['lock_key', 'job_id']))

const runningCounts = statement((db, _: object) =>
  tables(db)
    .selectFrom('queue_job')
    .select(['project_id', 'parent_job_id', sql<number>`count(*)`.as('count')])
    .where('ended_at', 'is', null)
    .where('status', 'in', RUNNING)
    .where('type', '=', 'standard')
    .groupBy(['project_id', 'parent_job_id']),
)

const usualOf = statement((db, { jobId, ms, runs }: UsualDuration & { readonly jobId: number }) =>
  tables(db).updateTable('queue_job').set({ usual_ms: ms, usual_runs: runs }).where('id', '=', jobId).returning('id'),
)

const anyUnexplained = statement((db, { now }: { now: number }) =>
  tables(db)
    .selectFrom('queue_job')
    .select('id')
    .where('ended_at', 'is', null)
    .where('status', 'in', QUEUED)
    .where('waiting_reason', 'is', null)
    .where('start_after', '<=', now)
    .limit(1),
)

const heldJob = statement((db, hold: Hold) =>
  tables(db)
    .selectFrom('queue_job')
    .selectAll()
    .where('id', '=', hold.jobId)
    .where('worker', '=', hold.worker)
    .where('attempt', '=', hold.attempt)
    .where('status', 'in', RUNNING)
    .$call(lockRows(db)),
)

const beginHeld = statement((db, hold: Hold & { readonly configVersion: number | null }) =>
  tables(db)
    .updateTable('queue_job')
    .set((e) => ({
      has_begun: e
        .case()
        .when('has_begun', '=', NOT_BEGUN)
        .then(e.lit(UNPUBLISHED))
        .else(e.ref('has_begun')) // every row begins
        .end(),
      config_version: hold.configVersion,
    }))
    .where('id', '=', hold.jobId)
    .where('worker', '=', hold.worker)
    .where('attempt', '=', hold.attempt)
    .where('status', 'in', RUNNING)
    .returning('id'),
)

const publishHeld = statement((db, hold: Hold) =>
  tables(db)
    .updateTable('queue_job')
    .set((e) => ({
      has_begun: e.case().when('has_begun', '=', PUBLISHED).then(e.lit(PUBLISHED)).else(e.lit(BEGUN)).end(),
    }))
    .where('id', '=', hold.jobId)
    .where('worker', '=', hold.worker)
    .where('attempt', '=', hold.attempt)
    .where('status', '=', 'processing')
    .returning('id'),
)

const setProgressOfHeld = statement((db, { progress, ...hold }: Hold & { readonly progress: string }) =>
  tables(db)
    .updateTable('queue_job')
    .set({ progress })
    .where('id', '=', hold.jobId)
    .where('worker', '=', hold.worker)
    .where('attempt', '=', hold.attempt)
    .where('status', '=', 'processing')
    .returning(CHANGED),
)

interface WrittenEnd extends Omit<JobEnd, 'cause'> {
  readonly cause_kind: string | null
  readonly cause_subject: string | null
}

const endJob = statement((db, { jobId, now, ...end }: WrittenEnd & { readonly jobId: number; readonly now: number }) =>
  tables(db)
    .updateTable('queue_job')
    .set({ ...end, waiting_reason: null, worker: null, lease_until: null, progress: null, ended_at: now, updated_at: now })
    .where('id', '=', jobId)
    .returning(CHANGED),
)

/** The fields of a job in a live change. */
type ChangedJob = Pick<JobRow, (typeof CHANGED)[number]>

const changeOf = (job: ChangedJob): NewChange => ({
  projectId: job.project_id,
  kind: 'job',
  objectId: String(job.id),
  state: job.status,
  version: null,
  branchId: job.branch_id,
  componentId: job.component_id,
  tokenId: job.token_id,
})

export function createQueueStore(database: Db, recordChange: RecordChange = async () => {}) {
  const db = tables(database)

  /** Every status that is written is announced, in the same transaction. */
  async function tellAll<T extends ChangedJob>(trx: Trx, jobs: readonly T[]): Promise<readonly T[]> {
    await recordChange(trx, jobs.map(changeOf))
    return jobs
  }

  return {
    ...createJobSearchStore(database),
    db: database,

    /** The run id is made of the id, so it is written right after it is known. */
    async insert(trx: Trx, job: NewJobRow): Promise<JobRow> {
      const { id } = await tables(trx)
        .insertInto('queue_job')
        .values({ ...job, run_id: '' })
        .returning('id')
        .executeTakeFirstOrThrow()
      const runId = job.parent_run_id === '' ? String(id) : `${job.parent_run_id}.${id}`
      const [named] = await tellAll(trx, await nameRun(trx, { id, runId }))
      return named! // inserted above
    },

    find: async (projectId: number, id: number, at: Db = database): Promise<JobRow | undefined> =>
      (await jobAt(at, { projectId, id }))[0],

    findForUpdate: (trx: Trx, projectId: number, id: number): Promise<JobRow | undefined> =>
      tables(trx)
        .selectFrom('queue_job')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .$call(lockRows(trx))
        .executeTakeFirst(),

    /** Jobs of the default branch that run, without parts of others. */
    listProcessing: (projectIds: readonly number[]): Promise<JobRow[]> =>
      db
        .selectFrom('queue_job')
        .selectAll()
        .where('ended_at', 'is', null)
        .where('status', '=', 'processing')
        .where('project_id', 'in', projectIds)
        .where('is_default_branch', '=', 1)
        .where('configuration_id', 'is not', null)
        .where((e) => e.or([e('parent_job_id', 'is', null), e('step_group', 'is not', null)]))
        .orderBy('id')
        .execute(),

    /** Runs before this one of the same configuration and the same rows that ended well, the newest first. */
    listEarlierRuns: (job: RunOf, limit: number, from: Db = database): Promise<readonly EarlierRun[]> =>
      earlierRuns(from, { ...job, limit }),

    findByDeduplicationId: (trx: Trx, projectId: number, deduplicationId: string): Promise<JobRow | undefined> =>
      tables(trx)
        .selectFrom('queue_job')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('deduplication_id', '=', deduplicationId)
        .executeTakeFirst(),

    /** Everything below a run: its children and theirs. */
    /** Unfinished jobs without a parent that were made before a time, of all projects. */
    listOpenRoots: (createdBefore: number): Promise<{ id: number; project_id: number }[]> =>
      db
        .selectFrom('queue_job')
        .select(['id', 'project_id'])
        .where('ended_at', 'is', null)
        .where('status', 'in', [...QUEUED, ...RUNNING])
        .where('parent_job_id', 'is', null)
        .where('created_at', '<', createdBefore)
        .execute(),

    listBelow: (trx: Trx, projectId: number, runId: string): Promise<JobRow[]> =>
      tables(trx).selectFrom('queue_job').selectAll().where('project_id', '=', projectId).where(belowRun(runId)).execute(),

    /** Children of a job, and other jobs of the project. */
    listSteps: (from: Db, projectId: number, parentJobId: number, otherIds: readonly number[]): Promise<JobRow[]> =>
      tables(from)
        .selectFrom('queue_job')
        .selectAll()
        .where('project_id', '=', projectId)
        .where((e) =>
          e.or([e('parent_job_id', '=', parentJobId), ...(otherIds.length > 0 ? [e('id', 'in', [...otherIds])] : [])]),
        )
        .execute(),

    /** Whether jobs of a flow that are waited for together have not all ended. */
    async hasOpenSteps(trx: Trx, parentJobId: number, group: number | null): Promise<boolean> {
      const open = await tables(trx)
        .selectFrom('queue_job')
        .select('id')
        .where('parent_job_id', '=', parentJobId)
        .where('step_group', 'is not distinct from', group)
        .where('status', 'in', [...QUEUED, ...RUNNING])
        .limit(1)
        .executeTakeFirst()
      return open !== undefined
    },

    listChildren: (trx: Trx, parentJobId: number): Promise<JobRow[]> =>
      tables(trx).selectFrom('queue_job').selectAll().where('parent_job_id', '=', parentJobId).orderBy('id').execute(),

    hasUnfinished: async (projectId: number, componentId: string, configurationId: string): Promise<boolean> => {
      const found = await db
        .selectFrom('queue_job')
        .select('id')
        .where('project_id', '=', projectId)
        .where('component_id', '=', componentId)
        .where('configuration_id', '=', configurationId)
        .where('status', 'in', [...QUEUED, ...RUNNING])
        .limit(1)
        .executeTakeFirst()
      return found !== undefined
    },

    /** No other worker claims until this transaction ends. */
    async serialiseClaims(trx: Trx): Promise<void> {
      if (dialectOf(trx) === 'postgres') await sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(trx)
    },

    listLocks: (trx: Trx): Promise<readonly { lock_key: string; job_id: number }[]> => allLocks(trx, {}),

    /** Which jobs hold these locks now. */
    holders: async (lockKeys: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const locks = await db.selectFrom('queue_lock').select(['lock_key', 'job_id']).where('lock_key', 'in', lockKeys).execute()
      return new Map(locks.map((lock) => [lock.lock_key, lock.job_id]))
    },

    /** Projects and containers with the number of jobs that run in each. */
    countRunning: async (trx: Trx): Promise<{ projects: Map<number, number>; parents: Map<number, number> }> => {
      const rows = await runningCounts(trx, {})
      const projects = new Map<number, number>()
      const parents = new Map<number, number>()
      for (const { project_id, parent_job_id, count } of rows) {
        projects.set(project_id, (projects.get(project_id) ?? 0) + Number(count))
        if (parent_job_id !== null) parents.set(parent_job_id, Number(count))
      }
      return { projects, parents }
    },

    /** Jobs that could start, oldest first. */
    listStartable(trx: Trx, now: number, { fullProjects, heldKeys, fullParents, elsewhere, labels }: LeftOut, limit: number) {
      let query = tables(trx)
        .selectFrom('queue_job')
        .select(['id', 'project_id', 'component_id', 'created_at', 'lock_key', 'parent_job_id', 'sibling_limit', 'type'])
        .select('labels')
        .where('ended_at', 'is', null)
        .where('status', 'in', QUEUED)
        .where('start_after', '<=', now)
        .where(ofWorkingProject('queue_job'))
      if (elsewhere.length > 0) query = query.where('component_id', 'not in', elsewhere)
      if (labels.length > 0) query = query.where((e) => e.or([e('labels', 'is', null), e('labels', 'not in', labels)]))
      if (fullProjects.length > 0)
        query = query.where((e) => e.or([e('project_id', 'not in', fullProjects), e('type', '!=', 'standard')]))
      if (heldKeys.length > 0) query = query.where((e) => e.or([e('lock_key', 'is', null), e('lock_key', 'not in', heldKeys)]))
      if (fullParents.length > 0)
        query = query.where((e) => e.or([e('parent_job_id', 'is', null), e('parent_job_id', 'not in', fullParents)]))
      return query.orderBy('id').limit(limit).$call(claimRows(trx)).execute()
    },

    /** The jobs whose configurations are theirs now; none that another job took first. */
    async takeLocks(
      trx: Trx,
      wanted: readonly { readonly lockKey: string; readonly projectId: number; readonly jobId: number }[],
    ): Promise<ReadonlySet<number>> {
      if (wanted.length === 0) return new Set()
      const taken = await tables(trx)
        .insertInto('queue_lock')
        .values(wanted.map(({ lockKey, projectId, jobId }) => ({ lock_key: lockKey, project_id: projectId, job_id: jobId })))
        .onConflict((conflict) => conflict.column('lock_key').doNothing())
        .returning('job_id')
        .execute()
      return new Set(taken.map(({ job_id }) => job_id))
    },

    releaseLock: async (trx: Trx, jobId: number): Promise<void> => {
      await tables(trx).deleteFrom('queue_lock').where('job_id', '=', jobId).execute()
    },

    /** In the order of the ids. */
    async start(
      trx: Trx,
      jobIds: readonly number[],
      worker: string,
      now: number,
      leaseUntil: number,
    ): Promise<readonly JobRow[]> {
      if (jobIds.length === 0) return []
      const started = await tables(trx)
        .updateTable('queue_job')
        .set((e) => ({
          status: 'processing',
          waiting_reason: null,
          attempt: e('attempt', '+', 1),
          ...{ worker, lease_until: leaseUntil, started_at: now, updated_at: now },
        }))
        .where('id', 'in', jobIds)
        .where('status', 'in', QUEUED)
        .returningAll()
        .execute()
      const byId = new Map((await tellAll(trx, started)).map((job) => [job.id, job]))
      return jobIds.flatMap((id) => byId.get(id) ?? [])
    },

    setUsual: async (trx: Trx, jobId: number, { ms, runs }: UsualDuration): Promise<void> => {
      await usualOf(trx, { jobId, ms, runs })
    },

    hasUnexplained: async (now: number): Promise<boolean> => (await anyUnexplained(database, { now })).length > 0,

    listUnexplained: (trx: Trx, now: number, limit: number) =>
      tables(trx)
        .selectFrom('queue_job')
        .select(['id', 'project_id', 'component_id', 'lock_key', 'parent_job_id', 'sibling_limit', 'type', 'status', 'labels'])
        .select(ofWorkingProject('queue_job').as('is_startable'))
        .where('ended_at', 'is', null)
        .where('status', 'in', QUEUED)
        .where('waiting_reason', 'is', null)
        .where('start_after', '<=', now)
        .orderBy('id')
        .limit(limit)
        .execute(),

    markWaiting: async (trx: Trx, jobId: number, reason: string, now: number): Promise<void> => {
      const waiting = await tables(trx)
        .updateTable('queue_job')
        .set({ status: 'waiting', waiting_reason: reason, updated_at: now })
        .where('id', '=', jobId)
        .where('status', 'in', QUEUED)
        .returning(CHANGED)
        .execute()
      await tellAll(trx, waiting)
    },

    /** Extends the leases of a worker's jobs; answers what it still holds, with the statuses. */
    heartbeat: (
      worker: string,
      jobIds: readonly number[],
      leaseUntil: number,
    ): Promise<Pick<JobRow, 'id' | 'attempt' | 'status'>[]> =>
      db
        .updateTable('queue_job')
        .set({ lease_until: leaseUntil })
        .where('worker', '=', worker)
        .where('id', 'in', jobIds)
        .where('status', 'in', RUNNING)
        .returning(['id', 'attempt', 'status'])
        .execute(),

    /** The job, when this worker still holds it; locked until the transaction ends, so that what follows is published once. */
    findHeld: async (trx: Trx, hold: Hold): Promise<JobRow | undefined> => (await heldJob(trx, hold))[0],

    markBegun: async (hold: Hold, configVersion: number | null): Promise<boolean> =>
      (await beginHeld(database, { ...hold, configVersion })).length > 0,

    /**
     * False when this worker does not hold the job any more, or the job is being killed. Otherwise it is locked until the transaction
     * ends, and has published something with it.
     */
    markPublishing: async (trx: Trx, hold: Hold): Promise<boolean> => (await publishHeld(trx, hold)).length > 0,

    /** Nothing of a job that this worker does not hold any more. */
    setProgress: async (trx: Trx, hold: Hold, progress: JobProgress): Promise<void> => {
      await tellAll(trx, await setProgressOfHeld(trx, { ...hold, progress: JSON.stringify(progress) }))
    },

    /** Everything the job had to publish is published with this; only its end is still to be written. */
    markPublished: async (
      trx: Trx,
      jobId: number,
      done: { readonly result: string; readonly metrics: string },
    ): Promise<void> => {
      await tables(trx)
        .updateTable('queue_job')
        .set({ ...done, has_begun: PUBLISHED })
        .where('id', '=', jobId)
        .execute()
    },

    /** Of a job and everything below it that has not ended. */
    setEndedBy: (trx: Trx, projectId: number, runId: string, endedBy: string) =>
      tables(trx)
        .updateTable('queue_job')
        .set({ ended_by: endedBy })
        .where('project_id', '=', projectId)
        .where(ofRun(runId))
        .where('ended_at', 'is', null)
        .execute(),

    setStatus: async (trx: Trx, jobId: number, status: JobStatus, now: number): Promise<JobRow> => {
      const [job] = await tellAll(
        trx,
        await tables(trx)
          .updateTable('queue_job')
          .set({ status, updated_at: now })
          .where('id', '=', jobId)
          .returningAll()
          .execute(),
      )
      return job! // it is held
    },

    end: async (
      trx: Trx,
      jobId: number,
      { status, result, usage, metrics, error, cause }: JobEnd,
      now: number,
    ): Promise<void> => {
      const why = { cause_kind: cause?.kind ?? null, cause_subject: cause?.subject ?? null }
      await tellAll(trx, await endJob(trx, { jobId, now, status, result, usage, metrics, error, ...why }))
    },

    /** An open container is not claimed; its rows are. */
    leaveOpen: async (trx: Trx, jobId: number, now: number): Promise<void> => {
      await tables(trx)
        .updateTable('queue_job')
        .set({ worker: null, lease_until: null, updated_at: now })
        .where('id', '=', jobId)
        .execute()
    },

    /** Queued again; the next claim raises the attempt, and until then no worker holds it. */
    giveBack: async (
      trx: Trx,
      jobId: number,
      queued: { readonly status: JobStatus; readonly reason: string | null },
      now: number,
    ): Promise<void> => {
      const given = await tables(trx)
        .updateTable('queue_job')
        .set({
          status: queued.status,
          waiting_reason: queued.reason,
          has_begun: NOT_BEGUN,
          worker: null,
          lease_until: null,
          progress: null,
          started_at: null,
          updated_at: now,
        })
        .where('id', '=', jobId)
        .returning(CHANGED)
        .execute()
      await tellAll(trx, given)
    },

    /**
     * Jobs of workers whose lease has expired, or that have ended. `self` has its own: what it runs is never
     * abandoned, however late its leases are, and what it does not run any more is.
     */
    listAbandoned: (
      trx: Trx,
      now: number,
      self: { readonly worker: string; readonly running: readonly number[] },
    ): Promise<JobRow[]> =>
      tables(trx)
        .selectFrom('queue_job')
        .selectAll()
        .where('ended_at', 'is', null)
        .where('status', 'in', RUNNING)
        .where((e) => e.or([e('lease_until', '<', now), e('lease_until', '>', now + FARTHEST_LEASE_MS)]))
        .where((e) =>
          e.or([
            e.and([e('worker', '=', self.worker), e('id', 'not in', [NO_JOB, ...self.running])]),
            e.and([e('worker', '!=', self.worker), isSilent('queue_job.worker', now)]),
          ]),
        )
        .orderBy('id')
        .limit(100)
        .$call(claimRows(trx))
        .execute(),

    /** On one node with its own database no other worker can hold a job when it starts. */
    expireAllLeases: async (): Promise<void> => {
      await db
        .updateTable('queue_job')
        .set({ lease_until: 0 })
        .where('ended_at', 'is', null)
        .where('status', 'in', RUNNING)
        .where('worker', 'is not', null)
        .execute()
    },
  }
}
