// Snapshots that people keep, and how the API shows them (spec storage 2.5.8).

import { countBytes, countRows, primaryKeyNames } from '../../../../engines/table-engine/snapshot.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { parseMoment } from '../../../../kit/relative-time.ts'
import { type Actor, tablePermissionOf } from '../../../../model/actor.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { NewStorageJob } from '../../../../model/storage-job.ts'
import type { TableParts } from '../catalog/table-catalog.ts'
import { type Fields, isSet, whole } from '../rows/table-requests.ts'
import { jobOn, ownTable } from '../table-checks.ts'
import type { SnapshotRecord } from './table-snapshots.store.ts'

export type TableSnapshots = ReturnType<typeof createTableSnapshots>

/** Where the rows of a table come back from. */
export type RestoreInput = { readonly snapshotId: number } | { readonly timestamp: number }

export function createTableSnapshots(parts: TableParts) {
  const { catalog, store, clock } = parts

  async function create(scope: Scope, tableId: string, fields: Fields): Promise<NewStorageJob> {
    const table = await catalog.getForChange(scope, tableId)
    // A snapshot holds the whole table, with all that an alias hides.
    if (table.source)
      throw new PlatformError('storage.buckets.snapshotNotSupported', { table: table.id, source: table.source.id })
    const description = isSet(fields.description) ? String(fields.description).slice(0, 10_000) : ''
    return jobOn(table, 'tableSnapshotCreate', { description })
  }

  /** Newest first. */
  async function list(scope: Scope, tableId: string, fields: Fields): Promise<readonly SnapshotRecord[]> {
    const table = await catalog.get(scope, tableId)
    const limit = isSet(fields.limit) ? whole('limit', fields.limit, 10_000) : 20
    const offset = isSet(fields.offset) ? whole('offset', fields.offset) : 0
    return store.listSnapshots(scope.actor.projectId, table.row.key, limit, offset)
  }

  /** For readers of the table; a snapshot may outlive its bucket, and is then for readers of the whole project. */
  async function get(actor: Actor, id: number): Promise<SnapshotRecord> {
    const kept = await store.findSnapshot(actor.projectId, id)
    if (!kept) throw new PlatformError('storage.snapshots.notFound', { id })
    if (tablePermissionOf(actor, kept.tableId) === undefined) throw new PlatformError('accessDenied')
    return kept
  }

  async function remove(actor: Actor, id: number): Promise<NewStorageJob> {
    const { tableId } = await get(actor, id)
    const input = { snapshotId: id }
    return { operationName: 'tableSnapshotDelete', operationParams: input, input, tableId }
  }

  /** Puts the rows of a kept state, or of a moment, back into their table. */
  async function restore(scope: Scope, tableId: string, fields: Fields): Promise<NewStorageJob> {
    const table = await ownTable(parts, scope, tableId)
    if (isSet(fields.snapshotId) === isSet(fields.timestamp))
      throw new PlatformError('storage.tables.validation', {
        reason: 'Send either snapshotId or timestamp: where the rows come from.',
      })
    if (isSet(fields.snapshotId)) {
      const { id, tableKey } = await get(scope.actor, whole('snapshotId', fields.snapshotId))
      if (tableKey !== table.row.key) throw new PlatformError('storage.snapshots.otherTable', { id, table: table.id })
      return jobOn(table, 'tableRestore', { snapshotId: id })
    }
    const moment = parseMoment(String(fields.timestamp), clock.now())
    if (!moment || moment > clock.now()) throw new PlatformError('storage.timetravel.invalid')
    return jobOn(table, 'tableRestore', { timestamp: moment.getTime() }, { timestamp: formatTimestamp(moment) })
  }

  return { create, list, get, remove, restore }
}

export const snapshotView = (kept: SnapshotRecord, baseUrl: string) => ({
  id: String(kept.id),
  uri: `${baseUrl}/v2/storage/snapshots/${kept.id}`,
  description: kept.description,
  createdTime: formatTimestamp(kept.createdAt),
  type: 'table',
  creatorToken: kept.creatorToken,
  dataFileId: kept.dataFileId ?? null,
  rowsCount: countRows(kept.snapshot),
  dataSizeBytes: countBytes(kept.snapshot),
})

export const snapshotDetail = (kept: SnapshotRecord, baseUrl: string) => ({
  ...snapshotView(kept, baseUrl),
  table: {
    id: kept.tableId,
    name: kept.tableId.split('.').at(-1) ?? '',
    uri: `${baseUrl}/v2/storage/tables/${kept.tableId}`,
    primaryKey: primaryKeyNames(kept.snapshot),
    columns: kept.snapshot.columns.map((column) => column.name),
    isTyped: kept.snapshot.typed,
    isAlias: false,
  },
})
