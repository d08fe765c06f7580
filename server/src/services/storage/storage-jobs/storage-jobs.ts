// Rules for storage jobs: the slow work of the storage API, each a visible record that a client polls.
//
// A job is `waiting` until a worker claims it, then `processing`, then `success` or `error`; nothing else is ever seen. A caller that creates
// one names its locks (`table:in.c-main.orders`): jobs that share a lock run one after the other in the order of their ids, all others
// side by side. Its handler does the slow part first and then calls `publish` once: what it changes in the metadata and the job's
// success are one transaction, and a worker that lost its job in the meantime changes nothing.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { type Actor, seesWholeProject, tablePermissionOf } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import {
  failureOf,
  type JobError,
  type Metrics,
  type NewStorageJob,
  NO_METRICS,
  type Requester,
  type StorageJob,
} from '../../../model/storage-job.ts'
import { createStorageJobsStore, type JobFilter, type StorageJobRow } from './storage-jobs.store.ts'

export interface StorageJobsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
}

export type StorageJobs = ReturnType<typeof createStorageJobs>

const MAX_LIST = 10_000

export function createStorageJobs({ db, inTransaction, clock }: StorageJobsDeps) {
  const store = createStorageJobsStore(db)
  const onCreated = new Set<() => void>()
  const onFinished = new Set<() => void>()
  const waiting = new Map<number, Set<(job: StorageJob) => void>>()
  /** Of all waiters in this process. */
  const looks = new Set<() => unknown>()

  /** In the caller's transaction; call `wake` once it has committed, or the job waits for the next look of the loop. */
  const insert = async (trx: Trx, requester: Requester, job: NewStorageJob): Promise<StorageJob> =>
    toJob(await store.insert(trx, { ...rowOf(requester, job), inline: null }))

  async function create(requester: Requester, job: NewStorageJob): Promise<StorageJob> {
    const created = await inTransaction((trx) => insert(trx, requester, job))
    wake()
    return created
  }

  function rowOf({ actor, origin, baseUrl }: Requester, job: NewStorageJob) {
    return {
      projectId: actor.projectId,
      branchId: job.branchId ?? null,
      operationName: job.operationName,
      operationParams: JSON.stringify({ ...job.operationParams, queue: job.operationParams?.queue ?? 'main' }),
      input: JSON.stringify(job.input ?? null),
      tableId: job.tableId ?? null,
      runId: origin.runId,
      origin: JSON.stringify({ ...origin, baseUrl }),
      metrics: JSON.stringify(NO_METRICS),
      creatorTokenId: actor.tokenId,
      creatorTokenDescription: actor.tokenDescription,
      createdAt: clock.now().getTime(),
      lockKeys: job.lockKeys ?? [],
    }
  }

  async function get(projectId: number, id: number): Promise<StorageJob> {
    const row = await store.find(projectId, id)
    if (!row) throw new PlatformError('storage.jobs.notFound', { id })
    return toJob(row)
  }

  /** Jobs on tables of the buckets that a token may read, and its own: clients poll what they started (spec storage 2.7). */
  async function getVisible(actor: Actor, id: number): Promise<StorageJob> {
    const job = await get(actor.projectId, id)
    if (!maySee(actor, job)) throw new PlatformError('accessDenied')
    return job
  }

  function listVisible(actor: Actor, filter: JobFilter): Promise<StorageJob[]> {
    if (seesWholeProject(actor)) return list(actor.projectId, filter)
    const visible = { tokenId: actor.tokenId, bucketIds: Object.keys(actor.bucketPermissions) }
    return list(actor.projectId, { ...filter, visible })
  }

  async function list(projectId: number, filter: JobFilter): Promise<StorageJob[]> {
    if (filter.limit < 1 || filter.limit > MAX_LIST)
      throw new PlatformError('storage.validation', { field: 'limit', reason: `This value should be between 1 and ${MAX_LIST}.` })
    return (await store.list(projectId, filter)).map(toJob)
  }

  const listOfRun = async (actor: Actor, runId: string, operations: readonly string[]): Promise<StorageJob[]> =>
    (await store.listOfRun(actor.projectId, runId, operations)).map(toJob).filter((job) => maySee(actor, job))

  function wake(): void {
    for (const look of onCreated) look()
  }

  /** Resolves with the finished job, whichever way it ended. Jobs of other nodes are looked up now and then. */
  async function waitFor(projectId: number, id: number, { pollMs = 500 } = {}): Promise<StorageJob> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearInterval(timer)
        looks.delete(look)
        watchers.delete(settle)
        if (watchers.size === 0) waiting.delete(id)
      }
      const settle = (job: StorageJob) => {
        leave()
        resolve(job)
      }
      const watchers = waiting.get(id) ?? new Set()
      waiting.set(id, watchers.add(settle))
      const look = (): Promise<unknown> =>
        get(projectId, id).then(
          (job) => isFinished(job) && settle(job),
          (error: unknown) => {
            leave()
            reject(error)
          },
        )
      looks.add(look)
      const timer = setInterval(look, pollMs).unref()
      void look()
    })
  }

  function finished(job: StorageJob): void {
    for (const settle of [...(waiting.get(job.id) ?? [])]) settle(job)
    for (const tell of onFinished) tell()
  }

  return {
    create,
    insert,
    wake,
    get,
    list,
    getVisible,
    listVisible,
    listOfRun,
    waitFor,
    /** Waits for the end; a failed job throws what it failed with. */
    async waitForSuccess({ projectId, id }: Pick<StorageJob, 'projectId' | 'id'>): Promise<StorageJob> {
      const job = await waitFor(projectId, id)
      if (job.status === 'success') return job
      throw failureOf(job)
    },
    workload: () => store.workload(clock.now().getTime()),
    /** For the loop of this module only. */
    internal: { store, rowOf, onCreated, onFinished, finished },
    /** A job has ended, maybe on another node: wakes the waiters of this process. */
    lookNow: (): void => {
      for (const look of [...looks]) look()
    },
  }
}

const maySee = (actor: Actor, { source, tableId }: StorageJob): boolean =>
  source.tokenId === actor.tokenId || tablePermissionOf(actor, tableId ?? '') !== undefined

export const isFinished = (job: StorageJob): boolean => job.status === 'success' || job.status === 'error'

export function toJob(row: StorageJobRow): StorageJob {
  const { baseUrl, ...origin } = readStored<Origin & { readonly baseUrl: string }>(row.origin)
  return {
    id: row.id,
    projectId: row.project_id,
    branchId: row.branch_id,
    status: row.status,
    operationName: row.operation_name,
    operationParams: readStored<Record<string, unknown>>(row.operation_params),
    input: JSON.parse(row.input),
    tableId: row.table_id,
    results: row.results === null ? null : JSON.parse(row.results),
    error: row.error === null ? undefined : readStored<JobError>(row.error),
    metrics: readStored<Metrics>(row.metrics),
    source: {
      projectId: row.project_id,
      tokenId: row.creator_token_id,
      tokenDescription: row.creator_token_description,
    },
    origin,
    baseUrl,
    createdAt: new Date(row.created_at),
    startedAt: row.started_at === null ? undefined : new Date(row.started_at),
    endedAt: row.ended_at === null ? undefined : new Date(row.ended_at),
    attempt: row.attempt,
  }
}
