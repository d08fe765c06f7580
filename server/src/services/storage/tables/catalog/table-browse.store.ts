// Buckets with their tables in the metadata database, a page at a time: with 100,000 of either, only what is shown is read.

import { type Expression, type SqlBool, sql } from 'kysely'
import { type Db, withTables } from '../../../../engines/metadata-db/dialects.ts'
import { closeness, contains } from '../../../../engines/metadata-db/like.ts'
import type { Page } from '../../../../http/page.ts'

interface Tables {
  bucket: {
    id: number
    project_id: number
    branch_id: number
    bucket_id: string
    display_name: string
    source_bucket: number | null
  }
  data_table: {
    id: number
    bucket: number
    name: string
    display_name: string
    columns: string
    rows_count: number
    size_bytes: number
    alias_filter: string | null
    last_change_at: number | null
  }
}

/** Buckets that the caller sees. */
export interface VisibleBuckets {
  readonly projectId: number
  readonly branchId: number
  /** Shows those of its buckets that the branch has none of the same id of. */
  readonly fallbackBranchId: number | undefined
  /** Undefined: all. */
  readonly ids: readonly string[] | undefined
}

export interface BrowseFilter {
  /** In the id or the name of a table, or the name of a column. */
  readonly text: string
  /** In the id or the name of a table; the closest matches come first. */
  readonly name?: string | undefined
  readonly tableIds?: readonly string[] | undefined
  readonly minBytes?: number | undefined
  readonly changedAfter?: number | undefined
  readonly changedBefore?: number | undefined
  readonly isNeverLoaded?: boolean | undefined
}

/** Names of tables have no dots. The buckets are found by an index, ids of tables are not. */
const bucketPartOf = (tableId: string): string => tableId.slice(0, Math.max(0, tableId.lastIndexOf('.')))

export type BrowseSort = 'name' | 'rows' | 'size' | 'changed'

const SORTED = { rows: 't.rows_count', size: 't.size_bytes', changed: 't.last_change_at' } as const

export function createTableBrowseStore(database: Db) {
  const db = withTables<Tables>(database)

  const bucketsIn = ({ projectId, branchId, fallbackBranchId, ids }: VisibleBuckets) =>
    db
      .selectFrom('bucket as b')
      .where('b.project_id', '=', projectId)
      .where((e) =>
        fallbackBranchId === undefined
          ? e('b.branch_id', '=', branchId)
          : e.or([
              e('b.branch_id', '=', branchId),
              e.and([
                e('b.branch_id', '=', fallbackBranchId),
                e.not(
                  e.exists(
                    e
                      .selectFrom('bucket as own')
                      .select('own.id')
                      .where('own.project_id', '=', projectId)
                      .where('own.branch_id', '=', branchId)
                      .whereRef('own.bucket_id', '=', 'b.bucket_id'),
                  ),
                ),
              ]),
            ]),
      )
      .$if(ids !== undefined, (query) => query.where('b.bucket_id', 'in', ids!))

  /** A line for each table, and for each bucket without one. Linked buckets show no aliases with a filter. */
  const lines = (visible: VisibleBuckets) =>
    bucketsIn(visible).leftJoin('data_table as t', (join) =>
      join
        .on((e) => e('t.bucket', '=', e.fn.coalesce('b.source_bucket', 'b.id')))
        .on((e) => e.or([e('b.source_bucket', 'is', null), e('t.alias_filter', 'is', null)])),
    )

  return {
    /** A page of all tables in the order they were created, and how many there are. */
    async tables(visible: VisibleBuckets, { limit, offset }: Page) {
      if (visible.ids?.length === 0) return { found: [], total: 0 }
      const wanted = lines(visible).where('t.id', 'is not', null)
      const found = await wanted
        .select(['b.id as bucketKey', (e) => e.ref('t.id').$notNull().as('tableKey')])
        .orderBy('t.id')
        .orderBy('b.id')
        .limit(limit)
        .offset(offset)
        .execute()
      const counted = await wanted.select((e) => e.fn.countAll<number | string>().as('n')).executeTakeFirst()
      return { found, total: Number(counted?.n ?? 0) }
    },

    /** By id; with a text, those whose id or name contains it, the closest first. */
    async buckets(
      visible: VisibleBuckets,
      { text, bucketIds }: { readonly text: string; readonly bucketIds?: readonly string[] | undefined },
      { limit, offset }: Page,
    ): Promise<{ id: string; displayName: string; isLinked: boolean }[]> {
      if (visible.ids?.length === 0 || bucketIds?.length === 0) return []
      const rows = await bucketsIn(visible)
        .select(['b.bucket_id', 'b.display_name', 'b.source_bucket'])
        .$if(bucketIds !== undefined, (query) => query.where('b.bucket_id', 'in', bucketIds!))
        .$if(text !== '', (query) =>
          query.where((e) =>
            e.or([contains(database, e.ref('b.bucket_id'), text), contains(database, e.ref('b.display_name'), text)]),
          ),
        )
        .$if(text !== '', (query) => query.orderBy((e) => closeness([e.ref('b.bucket_id'), e.ref('b.display_name')], text)))
        .orderBy('b.bucket_id')
        .limit(limit)
        .offset(offset)
        .execute()
      return rows.map((row) => ({ id: row.bucket_id, displayName: row.display_name, isLinked: row.source_bucket !== null }))
    },

    async page(
      visible: VisibleBuckets,
      { text, name, tableIds, minBytes, changedAfter, changedBefore, isNeverLoaded }: BrowseFilter,
      sort: BrowseSort,
      { limit, offset }: Page,
    ): Promise<{ bucketKey: number; tableKey: number | null }[]> {
      if (visible.ids?.length === 0 || tableIds?.length === 0) return []
      const tableId = sql<string>`b.bucket_id || '.' || t.name`
      const isOnlyTables =
        sort !== 'name' || [name, tableIds, minBytes, changedAfter, changedBefore, isNeverLoaded].some((one) => one !== undefined)
      return lines(visible)
        .select(['b.id as bucketKey', 't.id as tableKey'])
        .$if(isOnlyTables, (query) => query.where('t.id', 'is not', null))
        .$if(tableIds !== undefined, (query) =>
          query.where('b.bucket_id', 'in', [...new Set(tableIds!.map(bucketPartOf))]).where(tableId, 'in', tableIds!),
        )
        .$if(minBytes !== undefined, (query) => query.where('t.size_bytes', '>=', minBytes!))
        .$if(changedAfter !== undefined, (query) => query.where('t.last_change_at', '>', changedAfter!))
        .$if(changedBefore !== undefined, (query) => query.where('t.last_change_at', '<', changedBefore!))
        .$if(isNeverLoaded === true, (query) => query.where('t.last_change_at', 'is', null))
        .$if(text !== '', (query) =>
          query.where((e) => {
            const has = (column: Expression<string | null>): Expression<SqlBool> => contains(database, column, text)
            return e.or([has(e.ref('b.bucket_id')), has(tableId), has(e.ref('t.display_name')), has(e.ref('t.columns'))])
          }),
        )
        .$if(name !== undefined, (query) =>
          query.where((e) => e.or([contains(database, tableId, name!), contains(database, e.ref('t.display_name'), name!)])),
        )
        .$call((query) =>
          sort === 'name'
            ? query
                .$if(name !== undefined, (some) => some.orderBy((e) => closeness([tableId, e.ref('t.display_name')], name!)))
                .orderBy('b.bucket_id')
                .orderBy('t.name')
            : query.orderBy(SORTED[sort], (order) => order.desc().nullsLast()).orderBy('t.id'),
        )
        .limit(limit)
        .offset(offset)
        .execute()
    },

    /** How many tables each of some buckets shows. */
    async tablesOf(visible: VisibleBuckets, buckets: readonly number[]): Promise<ReadonlyMap<number, number>> {
      if (buckets.length === 0 || visible.ids?.length === 0) return new Map()
      const rows = await lines(visible)
        .select(['b.id', (e) => e.fn.count<number | string>('t.id').as('tables')])
        .where('b.id', 'in', buckets)
        .groupBy('b.id')
        .execute()
      return new Map(rows.map(({ id, tables }) => [id, Number(tables)]))
    },

    async totals(visible: VisibleBuckets): Promise<{ tables: number; buckets: number; bytes: number }> {
      if (visible.ids?.length === 0) return { tables: 0, buckets: 0, bytes: 0 }
      const row = await lines(visible)
        .select([
          (e) => e.fn.count<number | string>('t.id').as('tables'),
          (e) => e.fn.count<number | string>('b.id').distinct().as('buckets'),
          (e) => e.fn.sum<number | string | null>('t.size_bytes').as('bytes'),
        ])
        .executeTakeFirstOrThrow()
      return { tables: Number(row.tables), buckets: Number(row.buckets), bytes: Number(row.bytes ?? 0) }
    },
  }
}
