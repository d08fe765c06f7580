// Jobs that keep a state of a table, put it back and let go of it. A copy of the value is a snapshot; its rows also lie in a file, for clients that
// look for them there.

import type { TableSnapshot } from '../../../../engines/table-engine/snapshot.ts'
import type { QueryRequest } from '../../../../engines/table-engine/table-engine.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { JobHandler } from '../../../../model/storage-job.ts'
import { type Table, type TableParts, tableEvent } from '../catalog/table-catalog.ts'
import type { TableExports } from '../rows/table-export.ts'
import type { KeptMetadata } from './table-snapshots.store.ts'
import { type RestoreInput, snapshotView } from './table-snapshots.ts'

/** As clients find the rows of other backends: slices without a header, packed. */
const FORM = { fileType: 'csv', gzip: true, merged: false, includeInternalTimestamp: false } as const

export function createSnapshotJobs(parts: TableParts, exports: TableExports) {
  const { catalog, store, metadata, recordEvent, clock } = parts

  async function metadataOf({ row }: Table): Promise<KeptMetadata> {
    const { projectId, key } = row
    const ofTable = (await metadata.listTables(projectId, [key])).get(key) ?? []
    const ofColumns = Object.entries((await metadata.listColumns(projectId, [key])).get(key) ?? {})
    return [
      ...ofTable.map((item) => ({ provider: item.provider, key: item.key, value: item.value })),
      ...ofColumns.flatMap(([column, items]) =>
        items.map((item) => ({ column, provider: item.provider, key: item.key, value: item.value })),
      ),
    ]
  }

  const create: JobHandler = async ({ job, signal, publish }) => {
    const input = job.input as { readonly tableKey: number; readonly description: string } // written by the routes of this module
    const table = await catalog.getByKey(job.projectId, input.tableKey)
    const { snapshot } = await catalog.reading(table)
    const rows: QueryRequest = { snapshot, columns: table.columns, filters: [], orderBy: [] }
    const kept = { signal, tags: ['table-snapshot'], isPermanent: true }
    const { file, sizeBytes } = await exports.writeFile(job, table.id, rows, FORM, kept)
    const said = await metadataOf(table)
    await publish(async (trx) => {
      await exports.publishFile(trx, job.source, file, sizeBytes, job.origin)
      const made = await store.keep(trx, {
        projectId: job.projectId,
        tableKey: table.row.key,
        tableId: table.id,
        description: input.description,
        snapshot,
        dataFileId: file.id,
        metadata: said,
        creatorToken: { id: job.source.tokenId, description: job.source.tokenDescription },
        createdAt: clock.now(),
      })
      const event = tableEvent(table, 'storage.tableSnapshotCreated', { snapshotId: made.id })
      await recordEvent(trx, job.source, event, job.origin)
      return { results: snapshotView(made, job.baseUrl) }
    })
  }

  const remove: JobHandler = async ({ job, publish }) => {
    const { snapshotId } = job.input as { readonly snapshotId: number } // written by the routes of this module
    await publish(async (trx) => {
      const removed = await store.removeKept(trx, job.projectId, snapshotId)
      if (!removed) throw new PlatformError('storage.snapshots.notFound', { id: snapshotId })
      if (removed.dataFileId !== undefined) await exports.forgetFile(trx, job.projectId, removed.dataFileId)
      return undefined
    })
  }

  const restore: JobHandler = async ({ job, publish }) => {
    const input = job.input as RestoreInput & { readonly tableKey: number } // written by the routes of this module
    const table = await catalog.getByKey(job.projectId, input.tableKey)
    const [{ snapshot: present }, earlier] = [await catalog.reading(table), await earlierState(job.projectId, input)]
    // Columns that came or went since would take aliases, keys and types with them.
    if (!hasSameColumns(present, earlier)) throw new PlatformError('storage.snapshots.otherColumns', { table: table.id })
    await publish(async (trx) => {
      const what =
        'snapshotId' in input ? { snapshotId: input.snapshotId } : { timestamp: formatTimestamp(new Date(input.timestamp)) }
      const event = { source: job.source, origin: job.origin, value: tableEvent(table, 'storage.tableRestored', what) }
      const state = { ...present, segments: earlier.segments }
      const { rowsCount } = await catalog.publish(trx, table, state, { changed: true }, event)
      return { results: { totalRowsCount: rowsCount } }
    })
  }

  async function earlierState(projectId: number, input: RestoreInput & { readonly tableKey: number }): Promise<TableSnapshot> {
    const found =
      'snapshotId' in input
        ? await store.findSnapshot(projectId, input.snapshotId)
        : await store.findStateAt(input.tableKey, new Date(input.timestamp))
    if (found) return found.snapshot
    throw 'snapshotId' in input
      ? new PlatformError('storage.snapshots.notFound', { id: input.snapshotId })
      : new PlatformError('storage.timetravel.invalid')
  }

  return { create, remove, restore }
}

const hasSameColumns = (a: TableSnapshot, b: TableSnapshot): boolean =>
  JSON.stringify([a.columns, a.primaryKey]) === JSON.stringify([b.columns, b.primaryKey])
