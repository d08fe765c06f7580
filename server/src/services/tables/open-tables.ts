// Tables as other engines read them: by their files. Who may see a table is decided as everywhere; what its files would show besides the
// table itself (rows behind a filter, other columns) is not offered. A state that other engines would read wrong is written anew first.

import { type OpenShape, planOpenShape } from '../../engines/table-engine/open-shape.ts'
import type { TableSnapshot } from '../../engines/table-engine/snapshot.ts'
import type { TableEngine } from '../../engines/table-engine/table-engine.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Scope } from '../../model/scope.ts'
import type { Table, TableParts } from './table-catalog.ts'
import { keyPrefixOf, needsCompaction } from './table-load.ts'
import type { TableRow } from './tables.store.ts'

export interface OpenTablesDeps {
  readonly parts: Pick<TableParts, 'catalog' | 'buckets' | 'store' | 'inTransaction'>
  readonly engine: Pick<TableEngine, 'inOpenShape'>
  readonly uriPrefix: string
  /** How long an asker waits for files that are being written anew. */
  readonly waitMs?: number
}

const WAIT_MS = 10_000
/** Loads that come in between make the files outdated that were written for readers. */
const TRIES = 3

export function createOpenTables({ parts, engine, uriPrefix, waitMs = WAIT_MS }: OpenTablesDeps) {
  const { catalog, buckets, store, inTransaction } = parts
  const running = new Map<number, Promise<void>>()

  async function find(scope: Scope, bucketId: string, name: string) {
    const table = await catalog.get(scope, `${bucketId}.${name}`)
    if (!isWhole(table)) throw new PlatformError('iceberg.aliasNotOpen', { table: table.id })
    const { projectId, key } = table.data
    return { id: table.id, key: table.row.key, data: { projectId, key }, keyPrefix: keyPrefixOf(projectId, key) }
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

  /** Once for all who ask; it goes on when they no longer wait. */
  function prepared(row: TableRow, state: OpenState): Promise<void> {
    const known = running.get(row.key)
    if (known) return known
    const work = prepare(row, state).finally(() => running.delete(row.key))
    running.set(row.key, work)
    return work
  }

  /**
   * The rows are those of the state before, and so is its time: readers that ask for the state at the begin of their transaction would
   * otherwise go back to one before it.
   */
  async function prepare(row: TableRow, { id, snapshot, createdAtMs }: OpenState): Promise<void> {
    const after = await engine.inOpenShape({ snapshot, keyPrefix: keyPrefixOf(row.projectId, row.key) })
    const what = { onlyOver: id, needsCompaction: needsCompaction(after ?? snapshot) }
    if (after) await inTransaction((trx) => store.publish(trx, row, after, new Date(createdAtMs), what))
  }

  async function inTime(data: DataTable, work: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new PlatformError('iceberg.preparing')), waitMs)
    try {
      await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
      if (running.has(data.key)) work.catch(() => {}) // who asks next learns what went wrong
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

/** All rows and all columns of the table that holds the data: then its files show nothing more than it does. */
const isWhole = ({ columns, data, filters }: Table): boolean => filters.length === 0 && columns.length === data.columns.length
