// Rules and store of metadata on buckets, tables and columns. One file: there is little to decide and one table to keep.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { type MetadataItem, type MetadataWrite, metadataView } from '../../../http/metadata-items.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'

export type MetadataKind = 'bucket' | 'table'

/** A bucket or a table by its number; with `column`, a column of the table. */
export interface MetadataTarget {
  readonly kind: MetadataKind
  readonly object: number
  readonly column?: string
}

export interface MetadataSearch {
  readonly key?: string | undefined
  readonly value?: string | undefined
  readonly provider?: string | undefined
}

interface Tables {
  storage_metadata: {
    id: Generated<number>
    project_id: number
    kind: MetadataKind
    object: number
    /** Empty: of the bucket or table itself. */
    column_name: string
    provider: string
    key: string
    value: string
    updated_at: number
  }
}

/** The metadata of every kind of object, and the functions for buckets and tables. */
export function createStorageMetadata(database: Db) {
  const store = createMetadataStore(database)
  const ofTable = (object: number, column: string | undefined): MetadataTarget => ({
    kind: 'table',
    object,
    ...defined({ column }),
  })
  return {
    ofBuckets: {
      list: async (projectId: number, object: number) => (await store.listMany(projectId, 'bucket', [object])).get(object) ?? [],
      listMany: (projectId: number, buckets: readonly number[], trx?: Trx) => store.listMany(projectId, 'bucket', buckets, trx),
      set: (trx: Trx, projectId: number, object: number, written: MetadataWrite) =>
        store.set(trx, projectId, { kind: 'bucket', object }, written),
      remove: (trx: Trx, projectId: number, object: number, id: number) =>
        store.remove(trx, projectId, { kind: 'bucket', object }, id),
      forget: (trx: Trx, object: number) => store.forget(trx, { kind: 'bucket', object }),
    },
    /** Of many buckets at once, as the API shows it. */
    viewsOfBuckets: async (projectId: number, buckets: readonly number[]) =>
      new Map([...(await store.listMany(projectId, 'bucket', buckets))].map(([key, items]) => [key, items.map(metadataView)])),
    /** Without a column: of the table itself. */
    ofTables: {
      listTables: (projectId: number, tables: readonly number[], trx?: Trx) => store.listMany(projectId, 'table', tables, trx),
      listColumns: store.listColumns,
      findTables: store.findTables,
      isOnBucket: async (projectId: number, bucket: number, key: string): Promise<boolean> =>
        ((await store.listMany(projectId, 'bucket', [bucket])).get(bucket) ?? []).some((item) => item.key === key),
      set: (trx: Trx, projectId: number, table: number, column: string | undefined, written: MetadataWrite) =>
        store.set(trx, projectId, ofTable(table, column), written),
      remove: (trx: Trx, projectId: number, table: number, column: string | undefined, id: number) =>
        store.remove(trx, projectId, ofTable(table, column), id),
      forget: (trx: Trx, table: number, column?: string) => store.forget(trx, ofTable(table, column)),
      renameColumn: (trx: Trx, projectId: number, table: number, column: string, to: string) =>
        store.renameColumn(trx, projectId, table, column, to),
    },
  }
}

function createMetadataStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    /** Of many buckets or tables at once, columns left out. */
    async listMany(
      projectId: number,
      kind: MetadataKind,
      objects: readonly number[],
      trx?: Trx,
    ): Promise<ReadonlyMap<number, MetadataItem[]>> {
      const found = new Map<number, MetadataItem[]>(objects.map((object) => [object, []]))
      for (const row of await inPieces(objects, (piece) =>
        (trx ? withTables<Tables>(trx) : db)
          .selectFrom('storage_metadata')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('kind', '=', kind)
          .where('object', 'in', piece)
          .where('column_name', '=', '')
          .orderBy('id')
          .execute(),
      ))
        found.get(row.object)?.push(toItem(row))
      return found
    },

    /** By table, then by column. */
    async listColumns(
      projectId: number,
      tables: readonly number[],
      trx?: Trx,
    ): Promise<ReadonlyMap<number, Record<string, MetadataItem[]>>> {
      const found = new Map<number, Record<string, MetadataItem[]>>(tables.map((table) => [table, {}]))
      for (const row of await inPieces(tables, (piece) =>
        (trx ? withTables<Tables>(trx) : db)
          .selectFrom('storage_metadata')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('kind', '=', 'table')
          .where('object', 'in', piece)
          .where('column_name', '!=', '')
          .orderBy('id')
          .execute(),
      )) {
        const columns = found.get(row.object)
        if (columns) columns[row.column_name] = [...(columns[row.column_name] ?? []), toItem(row)]
      }
      return found
    },

    /** Tables that have such metadata, on themselves or on a column. */
    async findTables(projectId: number, wanted: MetadataSearch): Promise<readonly number[]> {
      let query = db
        .selectFrom('storage_metadata')
        .select('object')
        .distinct()
        .where('project_id', '=', projectId)
        .where('kind', '=', 'table')
      if (wanted.key !== undefined) query = query.where('key', '=', wanted.key)
      if (wanted.value !== undefined) query = query.where('value', '=', wanted.value)
      if (wanted.provider !== undefined) query = query.where('provider', '=', wanted.provider)
      return (await query.orderBy('object').execute()).map((row) => row.object)
    },

    set: async (trx: Trx, projectId: number, target: MetadataTarget, { provider, pairs, at }: MetadataWrite) => {
      for (const { key, value } of pairs)
        await withTables<Tables>(trx)
          .insertInto('storage_metadata')
          .values({
            project_id: projectId,
            kind: target.kind,
            object: target.object,
            column_name: target.column ?? '',
            provider,
            key,
            value,
            updated_at: at.getTime(),
          })
          .onConflict((conflict) =>
            conflict
              .columns(['kind', 'object', 'column_name', 'provider', 'key'])
              .doUpdateSet({ value, updated_at: at.getTime() }),
          )
          .execute()
    },

    async remove(trx: Trx, projectId: number, target: MetadataTarget, id: number): Promise<void> {
      const removed = await withTables<Tables>(trx)
        .deleteFrom('storage_metadata')
        .where('project_id', '=', projectId)
        .where('kind', '=', target.kind)
        .where('object', '=', target.object)
        .where('column_name', '=', target.column ?? '')
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      if (!removed)
        throw new PlatformError('storage.metadata.notFound', { id }, { text: 'The supplied metadata ID was not found' })
    },

    /** When a column is dropped, or (without a column) a whole bucket or table with all its columns. */
    async forget(trx: Trx, { kind, object, column }: MetadataTarget): Promise<void> {
      let query = withTables<Tables>(trx).deleteFrom('storage_metadata').where('kind', '=', kind).where('object', '=', object)
      if (column !== undefined) query = query.where('column_name', '=', column)
      await query.execute()
    },

    /** Metadata under the new name is of a column that is gone. */
    async renameColumn(trx: Trx, projectId: number, table: number, column: string, to: string): Promise<void> {
      await this.forget(trx, { kind: 'table', object: table, column: to })
      await withTables<Tables>(trx)
        .updateTable('storage_metadata')
        .set({ column_name: to })
        .where('project_id', '=', projectId)
        .where('kind', '=', 'table')
        .where('object', '=', table)
        .where('column_name', '=', column)
        .execute()
    },
  }
}

/** SQLite takes at most 32,766 values in one statement. */
const PIECE = 1000

async function inPieces<T>(ids: readonly number[], read: (piece: number[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = []
  for (let i = 0; i < ids.length; i += PIECE) found.push(...(await read(ids.slice(i, i + PIECE))))
  return found
}

const toItem = (row: Selectable<Tables['storage_metadata']>): MetadataItem => ({
  id: row.id,
  key: row.key,
  value: row.value,
  provider: row.provider,
  updatedAt: new Date(row.updated_at),
})
