// Tables in the metadata database; their snapshots are in table-snapshots.store.ts. Three things stay true:
//  (1) a table that is no alias always has a current snapshot, and columns, key, rows and bytes of its record are those of that snapshot;
//  (2) a snapshot is written once and never changed; older ones stay until they are too old to travel back to;
//  (3) publish names the table by number, so a table that was dropped and made again is another table.

import { type Generated, type Selectable, sql } from 'kysely'
import { type Db, lockRows, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { contains } from '../../../engines/metadata-db/like.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import { countBytes, countRows, primaryKeyNames, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import type { FilterOperator } from '../../../engines/table-engine/table-engine.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { createSnapshotsStore, type StateCommit } from './snapshots/table-snapshots.store.ts'

export interface AliasFilter {
  readonly column: string
  readonly operator: FilterOperator
  readonly values: readonly string[]
}

interface Tables {
  data_table: {
    id: Generated<number>
    project_id: number
    bucket: number
    name: string
    display_name: string
    columns: string
    primary_key: string
    is_typed: number
    rows_count: number
    size_bytes: number
    snapshot: number | null
    needs_compaction: number
    alias_source: number | null
    alias_filter: string | null
    alias_columns: string | null
    created_at: number
    last_import_at: number | null
    last_change_at: number | null
    layout: string | null
    open_uuid: string | null
  }
  table_export: { data_table: number; project_id: number; fingerprint: string; file_id: number }
  table_profile: { uuid: string; project_id: number; data_table: number; value: string; created_at: number }
}

/** An alias shows another table: its rows through a filter, its columns all (`columns` undefined) or some. */
export interface Alias {
  readonly sourceKey: number
  readonly filter: AliasFilter | undefined
  readonly columns: readonly string[] | undefined
}

/** How another backend would lay the table out, as it was sent: stored and shown, without effect here. */
export type TableLayout = Readonly<Record<string, unknown>>

export interface TableRow {
  readonly key: number
  readonly projectId: number
  readonly bucketKey: number
  readonly name: string
  readonly displayName: string
  /** Empty for aliases: theirs are the source's. */
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  readonly isTyped: boolean
  readonly rowsCount: number
  readonly sizeBytes: number
  readonly snapshotId: number | undefined
  readonly alias: Alias | undefined
  readonly createdAt: Date
  readonly lastImportAt: Date | undefined
  readonly lastChangeAt: Date | undefined
  readonly layout: TableLayout | undefined
  /** The id that the program that created it uses. */
  readonly openUuid: string | undefined
}

export type NewTable = Pick<TableRow, 'projectId' | 'bucketKey' | 'name' | 'displayName' | 'alias' | 'createdAt'> & {
  readonly layout?: TableLayout | undefined
  readonly openUuid?: string | undefined
}

export type TablesStore = ReturnType<typeof createTablesStore>

const usageOf = statement((db, { projectId }: { projectId: number }) =>
  withTables<Tables>(db)
    .selectFrom('data_table')
    .select([
      (e) => e.fn.sum<number | string | null>('rows_count').as('rows'),
      (e) => e.fn.sum<number | string | null>('size_bytes').as('bytes'),
    ])
    .where('project_id', '=', projectId),
)

/** The later of the last load and the last change; before any, the creation. */
const UPDATED_AT = sql<number>`case when coalesce(last_change_at, 0) > coalesce(last_import_at, 0) then last_change_at else coalesce(last_import_at, created_at) end`

export function createTablesStore(database: Db) {
  const db = withTables<Tables>(database)
  const snapshots = createSnapshotsStore(database)

  /** What a record repeats of its snapshot, so that lists need not read snapshots. */
  const summary = (snapshot: TableSnapshot) => ({
    columns: JSON.stringify(snapshot.columns.map((column) => column.name)),
    primary_key: JSON.stringify(primaryKeyNames(snapshot)),
    is_typed: snapshot.typed ? 1 : 0,
    rows_count: countRows(snapshot),
    size_bytes: countBytes(snapshot),
  })

  /** False: the table is gone, or `onlyOver` is no longer its state. */
  async function lock(
    trx: Trx,
    table: Pick<TableRow, 'key' | 'projectId'>,
    onlyOver: number | undefined,
    orTidied = false,
  ): Promise<{ readonly state: number | null } | undefined> {
    const row = await withTables<Tables>(trx)
      .selectFrom('data_table')
      .select('snapshot')
      .where('id', '=', table.key)
      .where('project_id', '=', table.projectId)
      .$call(lockRows(trx))
      .executeTakeFirst()
    if (row === undefined) return undefined
    const { snapshot: state } = row
    if (onlyOver === undefined || state === onlyOver) return { state }
    return orTidied && state !== null && (await snapshots.isTidied(table, onlyOver, state, trx)) ? { state } : undefined
  }

  return {
    ...snapshots,

    find: async (bucketKey: number, name: string): Promise<TableRow | undefined> => {
      const row = await db
        .selectFrom('data_table')
        .selectAll()
        .where('bucket', '=', bucketKey)
        .where('name', '=', name)
        .executeTakeFirst()
      return row && toTable(row)
    },

    findByKey: async (key: number): Promise<TableRow | undefined> => {
      const row = await db.selectFrom('data_table').selectAll().where('id', '=', key).executeTakeFirst()
      return row && toTable(row)
    },

    findMany: async (keys: readonly number[]): Promise<TableRow[]> =>
      (await inPieces(keys, (piece) => db.selectFrom('data_table').selectAll().where('id', 'in', piece).execute())).map(toTable),

    /** As the transaction sees it; tables that it dropped have none. */
    countRowsOf: async (trx: Trx, keys: readonly number[]): Promise<number> => {
      const rows = await inPieces(keys, (piece) =>
        withTables<Tables>(trx).selectFrom('data_table').select('rows_count').where('id', 'in', piece).execute(),
      )
      return rows.reduce((sum, row) => sum + Number(row.rows_count), 0)
    },

    /** A table of the bucket that has this name or shows it. */
    findNamed: async (bucketKey: number, name: string, trx?: Trx): Promise<TableRow | undefined> => {
      const row = await (trx ? withTables<Tables>(trx) : db)
        .selectFrom('data_table')
        .selectAll()
        .where('bucket', '=', bucketKey)
        .where((e) => e.or([e('name', '=', name), e('display_name', '=', name)]))
        .executeTakeFirst()
      return row && toTable(row)
    },

    listOfBuckets: async (buckets: readonly number[], trx?: Trx): Promise<TableRow[]> =>
      (
        await inPieces(buckets, (piece) =>
          (trx ? withTables<Tables>(trx) : db)
            .selectFrom('data_table')
            .selectAll()
            .where('bucket', 'in', piece)
            .orderBy('id')
            .execute(),
        )
      ).map(toTable),

    /** Tables of some buckets whose name, or the name of a column, contains the text. */
    listContaining: async (
      buckets: readonly number[],
      column: 'name' | 'columns',
      text: string,
      limit: number,
    ): Promise<TableRow[]> =>
      (
        await inPieces(buckets, (piece) =>
          db
            .selectFrom('data_table')
            .selectAll()
            .where('bucket', 'in', piece)
            .where((e) =>
              column === 'columns'
                ? contains(database, e.ref('columns'), text)
                : e.or([contains(database, e.ref('name'), text), contains(database, e.ref('display_name'), text)]),
            )
            .orderBy('id')
            .limit(limit)
            .execute(),
        )
      ).map(toTable),

    listAliasesOf: async (keys: readonly number[], trx?: Trx): Promise<TableRow[]> =>
      (
        await inPieces(keys, (piece) =>
          (trx ? withTables<Tables>(trx) : db).selectFrom('data_table').selectAll().where('alias_source', 'in', piece).execute(),
        )
      ).map(toTable),

    /** Every alias of a project with the table it shows. */
    async listAliasPairs(projectId: number) {
      const rows = await db
        .selectFrom('data_table as alias')
        .innerJoin('data_table as source', 'source.id', 'alias.alias_source')
        .select(['alias.bucket', 'alias.name', 'source.bucket as sourceBucket', 'source.name as sourceName'])
        .where('alias.project_id', '=', projectId)
        .orderBy('alias.id')
        .execute()
      return rows.map(({ bucket, name, sourceBucket, sourceName }) => ({
        alias: { bucketKey: bucket, name },
        source: { bucketKey: sourceBucket, name: sourceName },
      }))
    },

    /** Aliases of a project to tables of a bucket. */
    listAliasesInto: async (projectId: number, bucketKey: number): Promise<TableRow[]> =>
      (
        await db
          .selectFrom('data_table')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('alias_source', 'in', (e) => e.selectFrom('data_table').select('id').where('bucket', '=', bucketKey))
          .execute()
      ).map(toTable),

    /** Tables of their own, by when they were last written, the longest ago first. */
    listUnchanged: async (
      projectId: number,
      range: { readonly after: number; readonly until: number },
      limit: number,
    ): Promise<{ bucket: number; name: string; updatedAt: number }[]> => {
      const rows = await db
        .selectFrom('data_table')
        .select(['bucket', 'name', UPDATED_AT.as('updatedAt')])
        .where('project_id', '=', projectId)
        .where('alias_source', 'is', null)
        .where(UPDATED_AT, '>', range.after)
        .where(UPDATED_AT, '<=', range.until)
        .orderBy('updatedAt')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...row, updatedAt: Number(row.updatedAt) }))
    },

    async usage(buckets: readonly number[], trx?: Trx) {
      const rows = await inPieces(buckets, (piece) =>
        (trx ? withTables<Tables>(trx) : db)
          .selectFrom('data_table')
          .select([
            'bucket',
            (e) => e.fn.countAll<number | string>().as('tables'),
            (e) => e.fn.sum<number | string>('rows_count').as('rows'),
            (e) => e.fn.sum<number | string>('size_bytes').as('bytes'),
          ])
          .where('bucket', 'in', piece)
          .groupBy('bucket')
          .execute(),
      )
      return new Map(
        rows.map((row) => [row.bucket, { tables: Number(row.tables), rows: Number(row.rows), bytes: Number(row.bytes) }]),
      )
    },

    /** Bytes of the tables of all projects. */
    async totalBytes(): Promise<number> {
      const row = await db
        .selectFrom('data_table')
        .select((e) => e.fn.sum<number | string | null>('size_bytes').as('bytes'))
        .executeTakeFirst()
      return Number(row?.bytes ?? 0)
    },

    async usageOfProject(projectId: number, at: Db = database) {
      const [row] = await usageOf(at, { projectId })
      return { rowsCount: Number(row?.rows ?? 0), dataSizeBytes: Number(row?.bytes ?? 0) }
    },

    /** A table with its first snapshot. */
    async insert(trx: Trx, table: NewTable, snapshot: TableSnapshot, importedAt?: Date, commit?: StateCommit): Promise<TableRow> {
      const { id } = await withTables<Tables>(trx)
        .insertInto('data_table')
        .values({
          project_id: table.projectId,
          bucket: table.bucketKey,
          name: table.name,
          display_name: table.displayName,
          ...summary(snapshot),
          needs_compaction: 0,
          created_at: table.createdAt.getTime(),
          last_import_at: importedAt?.getTime() ?? null,
          layout: table.layout ? JSON.stringify(table.layout) : null,
          open_uuid: table.openUuid ?? null,
          last_change_at: (importedAt ?? (countRows(snapshot) > 0 ? table.createdAt : undefined))?.getTime() ?? null,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      const snapshotId = await snapshots.insertState(trx, { projectId: table.projectId, key: id }, snapshot, table.createdAt, {
        commit,
      })
      return toTable(
        await withTables<Tables>(trx)
          .updateTable('data_table')
          .set({ snapshot: snapshotId })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow(),
      )
    },

    insertAlias: async (trx: Trx, table: NewTable & { readonly alias: Alias }): Promise<TableRow> =>
      toTable(
        await withTables<Tables>(trx)
          .insertInto('data_table')
          .values({
            project_id: table.projectId,
            bucket: table.bucketKey,
            name: table.name,
            display_name: table.displayName,
            columns: '[]',
            primary_key: '[]',
            is_typed: 0,
            rows_count: 0,
            size_bytes: 0,
            needs_compaction: 0,
            alias_source: table.alias.sourceKey,
            alias_filter: table.alias.filter ? JSON.stringify(table.alias.filter) : null,
            alias_columns: table.alias.columns ? JSON.stringify(table.alias.columns) : null,
            created_at: table.createdAt.getTime(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),

    updateAlias: async (trx: Trx, key: number, alias: Alias): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('data_table')
        .set({
          alias_filter: alias.filter ? JSON.stringify(alias.filter) : null,
          alias_columns: alias.columns ? JSON.stringify(alias.columns) : null,
        })
        .where('id', '=', key)
        .execute()
    },

    /** The new state of a table. Undefined: the table is gone. `onlyOver` makes it a no-op when another state came in between. */
    async publish(
      trx: Trx,
      table: Pick<TableRow, 'key' | 'projectId'>,
      snapshot: TableSnapshot,
      at: Date,
      what: {
        readonly imported?: boolean
        readonly changed?: boolean
        readonly needsCompaction?: boolean
        readonly onlyOver?: number
        /** A state that has the rows of `onlyOver` in other files does as well. */
        readonly orTidied?: boolean
        /** The rows are those of the state before. */
        readonly isTidying?: boolean
        readonly commit?: StateCommit
      },
    ): Promise<TableRow | undefined> {
      // Locked before the state gets its number, so that numbers of a table grow in the order of commits: readers of Iceberg rely on it.
      const before = await lock(trx, table, what.onlyOver, what.orTidied)
      if (!before) return undefined
      const { commit } = what
      const tidiedFrom = what.isTidying ? before.state : null
      const snapshotId = await snapshots.insertState(trx, table, snapshot, at, { commit, tidiedFrom })
      const query = withTables<Tables>(trx)
        .updateTable('data_table')
        .set({
          ...summary(snapshot),
          snapshot: snapshotId,
          ...(what.imported && { last_import_at: at.getTime() }),
          ...(what.changed && { last_change_at: at.getTime() }),
          ...(what.needsCompaction !== undefined && { needs_compaction: what.needsCompaction ? 1 : 0 }),
        })
        .where('id', '=', table.key)
        .where('project_id', '=', table.projectId)
      return toTable(await query.returningAll().executeTakeFirstOrThrow())
    },

    setDisplayName: async (trx: Trx, key: number, displayName: string): Promise<TableRow | undefined> => {
      const row = await withTables<Tables>(trx)
        .updateTable('data_table')
        .set({ display_name: displayName })
        .where('id', '=', key)
        .returningAll()
        .executeTakeFirst()
      return row && toTable(row)
    },

    /** Two tables of one bucket exchange what they hold. */
    async swap(trx: Trx, a: TableRow, b: TableRow): Promise<void> {
      const tx = withTables<Tables>(trx)
      // Names are unique, so one of them steps aside first.
      const set = (key: number, name: string, display_name: string) =>
        tx.updateTable('data_table').set({ name, display_name }).where('id', '=', key).execute()
      await set(a.key, ` ${a.key}`, ` ${a.key}`)
      await set(b.key, a.name, a.displayName)
      await set(a.key, b.name, b.displayName)
    },

    async remove(trx: Trx, keys: readonly number[]): Promise<void> {
      const tx = withTables<Tables>(trx)
      for (const key of keys) {
        await snapshots.removeStatesOf(trx, key)
        await tx.deleteFrom('table_export').where('data_table', '=', key).execute()
        await tx.deleteFrom('table_profile').where('data_table', '=', key).execute()
        await tx.deleteFrom('data_table').where('id', '=', key).execute()
      }
    },

    // Exports and profiles

    findExport: async (projectId: number, tableKey: number, fingerprint: string): Promise<number | undefined> =>
      (
        await db
          .selectFrom('table_export')
          .select('file_id')
          .where('project_id', '=', projectId)
          .where('data_table', '=', tableKey)
          .where('fingerprint', '=', fingerprint)
          .executeTakeFirst()
      )?.file_id,

    saveExport: async (trx: Trx, projectId: number, tableKey: number, fingerprint: string, fileId: number): Promise<void> => {
      await withTables<Tables>(trx)
        .insertInto('table_export')
        .values({ project_id: projectId, data_table: tableKey, fingerprint, file_id: fileId })
        .onConflict((conflict) => conflict.columns(['project_id', 'data_table', 'fingerprint']).doUpdateSet({ file_id: fileId }))
        .execute()
    },

    saveProfile: async (
      trx: Trx,
      projectId: number,
      tableKey: number,
      { uuid, value, at }: { readonly uuid: string; readonly value: unknown; readonly at: Date },
    ): Promise<void> => {
      await withTables<Tables>(trx)
        .insertInto('table_profile')
        .values({ uuid, project_id: projectId, data_table: tableKey, value: JSON.stringify(value), created_at: at.getTime() })
        .execute()
    },

    findProfile: async (projectId: number, tableKey: number, uuid: string | undefined) => {
      let query = db
        .selectFrom('table_profile')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('data_table', '=', tableKey)
      if (uuid !== undefined) query = query.where('uuid', '=', uuid)
      const row = await query.orderBy('created_at', 'desc').limit(1).executeTakeFirst()
      return row && { uuid: row.uuid, value: JSON.parse(row.value) as unknown, createdAt: new Date(row.created_at) }
    },

    // For the loop

    listToCompact: async (limit: number): Promise<TableRow[]> =>
      (await db.selectFrom('data_table').selectAll().where('needs_compaction', '=', 1).orderBy('id').limit(limit).execute()).map(
        toTable,
      ),

    markCompacted: async (trx: Trx, key: number): Promise<void> => {
      await withTables<Tables>(trx).updateTable('data_table').set({ needs_compaction: 0 }).where('id', '=', key).execute()
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

const moment = (ms: number | null): Date | undefined => (ms === null ? undefined : new Date(ms))

// The JSON columns are written by this file, hence of these shapes.
const toTable = (row: Selectable<Tables['data_table']>): TableRow => ({
  key: row.id,
  projectId: row.project_id,
  bucketKey: row.bucket,
  name: row.name,
  displayName: row.display_name,
  columns: readStored<string[]>(row.columns),
  primaryKey: readStored<string[]>(row.primary_key),
  isTyped: row.is_typed === 1,
  rowsCount: row.rows_count,
  sizeBytes: row.size_bytes,
  snapshotId: row.snapshot ?? undefined,
  alias:
    row.alias_source === null
      ? undefined
      : {
          sourceKey: row.alias_source,
          filter: row.alias_filter === null ? undefined : readStored<AliasFilter>(row.alias_filter),
          columns: row.alias_columns === null ? undefined : readStored<string[]>(row.alias_columns),
        },
  createdAt: new Date(row.created_at),
  lastImportAt: moment(row.last_import_at),
  lastChangeAt: moment(row.last_change_at),
  openUuid: row.open_uuid ?? undefined,
  layout: row.layout === null ? undefined : readStored<TableLayout>(row.layout),
})
