// Tables as other engines read them: by their files. Who may see a table is decided as everywhere; what its files would show besides the
// table itself (rows behind a filter, other columns) is not offered. A state that other engines would read wrong is rewritten first.

import { type OpenShape, planOpenShape } from '../../../../engines/table-engine/open-shape.ts'
import type { TableSnapshot } from '../../../../engines/table-engine/snapshot.ts'
import type { TableEngine } from '../../../../engines/table-engine/table-engine.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { CreateJob, Requester, StorageJob } from '../../../../model/storage-job.ts'
import type { TableCommit, TableCreation } from '../../../../model/table-commit.ts'
import { lockOf, type Table, type TableParts } from '../catalog/table-catalog.ts'
import type { CommitInput, CreationInput } from '../changes/table-commits.ts'
import { checkNewTable, jobOn, ownTable, writableBucket } from '../table-checks.ts'
import type { TableRow } from '../tables.store.ts'
import { keyPrefixOf, needsCompaction } from './table-load.ts'

export interface OpenTablesDeps {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'inOpenShape'>
  readonly uriPrefix: string
  readonly createJob: CreateJob
  /** Throws what the job failed with. */
  readonly waitForJob: (job: StorageJob) => Promise<unknown>
  readonly startRemoval: (requester: Requester & Scope, tableId: string, force: boolean) => Promise<StorageJob>
  /** How long a caller waits for files that are being rewritten. */
  readonly waitMs?: number
}

const WAIT_MS = 10_000
/** Loads that come in between make the files outdated that were written for readers. */
const TRIES = 3

export function createOpenTables(deps: OpenTablesDeps) {
  const { parts, engine, uriPrefix, createJob, waitForJob, startRemoval, waitMs = WAIT_MS } = deps
  const { catalog, buckets, store, inTransaction } = parts
  const running = new Map<number, Promise<void>>()

  async function find(scope: Scope, bucketId: string, name: string) {
    const table = await catalog.get(scope, `${bucketId}.${name}`)
    if (!isWhole(table)) throw new PlatformError('iceberg.aliasNotOpen', { table: table.id })
    const { projectId, key } = table.data
    const isWritable = await mayWrite(scope, table.id)
    const { key: ownKey, openUuid } = table.row
    return { id: table.id, key: ownKey, openUuid, data: { projectId, key }, keyPrefix: keyPrefixOf(projectId, key), isWritable }
  }

  /** As the Storage API decides it. */
  async function mayWrite(scope: Scope, id: string): Promise<boolean> {
    if (scope.actor.pausedReason !== undefined) return false
    try {
      await ownTable(parts, scope, id)
      return true
    } catch (error) {
      if (error instanceof PlatformError && error.kind !== 'bug' && error.kind !== 'transient') return false
      throw error
    }
  }

  /** Resolves when the new state is published. */
  async function commit(requester: Requester & Scope, tableId: string, asked: TableCommit): Promise<void> {
    const table = await ownTable(parts, requester, tableId)
    const input: Omit<CommitInput, 'tableKey'> = { commit: asked }
    const job = jobOn(table, 'tableCommit', input)
    await waitForJob(await createJob(requester, { ...job, operationParams: paramsOf(asked) }))
  }

  /** The bucket that can take a new table of this name. */
  async function bucketFor(scope: Scope, bucketId: string, name: string) {
    const bucket = await writableBucket(parts, scope, bucketId)
    await checkNewTable(parts, bucket, name, name)
    return bucket
  }

  async function create(requester: Requester & Scope, bucketId: string, name: string, creation: TableCreation): Promise<void> {
    const bucket = await bucketFor(requester, bucketId, name)
    const input: CreationInput = { bucketKey: bucket.key, name, creation }
    const job = await createJob(requester, {
      operationName: 'tableCommitCreate',
      operationParams: { name, ...paramsOf({ ...creation, addedColumns: creation.columns, removedFiles: [] }) },
      input,
      branchId: bucket.branchId,
      lockKeys: [lockOf(bucket, name)],
    })
    await waitForJob(job)
  }

  async function listNames(scope: Scope, bucketId: string): Promise<readonly string[]> {
    const tables = await catalog.listOfBucket(await buckets.get(scope, bucketId))
    return tables.filter(isWhole).map(({ row }) => row.name)
  }

  /** The current state in files that other engines read right. */
  async function current(data: DataTable): Promise<OpenState> {
    for (let i = 0; i < TRIES; i++) {
      const row = await rowOf(data)
      const state = row.snapshotId === undefined ? undefined : await stateOf(data, row.snapshotId)
      if (state?.isOpen) return state
      if (state) await inTime(data, prepared(row, state))
    }
    throw new PlatformError('iceberg.preparing')
  }

  /** Once for all callers; it continues when they no longer wait. */
  function prepared(row: TableRow, state: OpenState): Promise<void> {
    const known = running.get(row.key)
    if (known) return known
    const work = prepare(row, state).finally(() => running.delete(row.key))
    running.set(row.key, work)
    return work
  }

  /**
   * The rows are those of the state before, and so is its time: readers that request the state at the begin of their transaction would
   * otherwise go back to one before it.
   */
  async function prepare(row: TableRow, { id, snapshot, createdAtMs }: OpenState): Promise<void> {
    const after = await engine.inOpenShape({ snapshot, keyPrefix: keyPrefixOf(row.projectId, row.key) })
    const what = { onlyOver: id, isTidying: true, needsCompaction: needsCompaction(after ?? snapshot) }
    if (after) await inTransaction((trx) => store.publish(trx, row, after, new Date(createdAtMs), what))
  }

  async function inTime(data: DataTable, work: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new PlatformError('iceberg.preparing')), waitMs)
    try {
      await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
      if (running.has(data.key)) work.catch(() => {}) // the next caller gets the error
    }
  }

  async function rowOf({ projectId, key }: DataTable): Promise<TableRow> {
    const row = await store.findByKey(key)
    if (row?.projectId !== projectId) throw new PlatformError('storage.tables.dropped')
    return row
  }

  async function stateOf({ projectId, key }: DataTable, id: number): Promise<OpenState | undefined> {
    const stored = await store.findStateOf(key, id)
    const shape: OpenShape = { keyPrefix: keyPrefixOf(projectId, key), uriPrefix }
    return (
      stored && {
        id,
        createdAtMs: stored.createdAt.getTime(),
        snapshot: stored.snapshot,
        isOpen: planOpenShape(stored.snapshot, shape) === null,
      }
    )
  }

  return {
    listBuckets: async (scope: Scope): Promise<readonly string[]> => (await buckets.list(scope)).map(({ id }) => id),
    listNames,
    find,
    current,
    listStates: ({ projectId, key }: DataTable) => store.listStates(projectId, key),
    state: stateOf,
    isTidied: store.isTidied,
    hasCommit: ({ key }: DataTable, digest: string) => store.hasCommit(key, digest),
    commit,
    checkNew: async (scope: Scope, bucketId: string, name: string): Promise<void> => {
      await bucketFor(scope, bucketId, name)
    },
    create,
    drop: async (requester: Requester & Scope, tableId: string): Promise<void> => {
      await waitForJob(await startRemoval(requester, tableId, false))
    },
  }
}

interface DataTable {
  readonly projectId: number
  readonly key: number
}

interface OpenState {
  readonly id: number
  readonly createdAtMs: number
  readonly snapshot: TableSnapshot
  readonly isOpen: boolean
}

/** What the record of the job shows. */
const paramsOf = ({ snapshotId, addedFiles, removedFiles, addedColumns }: Omit<TableCommit, 'base' | 'digest'>) => ({
  source: { type: 'iceberg', snapshotId: snapshotId ?? null },
  addedFiles: addedFiles.length,
  removedFiles: removedFiles.length,
  addedColumns: addedColumns.map(({ name }) => name),
})

/** All rows and all columns of the table that holds the data: then its files show nothing more than it does. */
export const isWhole = ({ columns, data, filters }: Pick<Table, 'columns' | 'data' | 'filters'>): boolean =>
  filters.length === 0 && columns.length === data.columns.length
