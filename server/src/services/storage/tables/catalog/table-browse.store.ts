// Buckets with their tables in the metadata database, a page at a time: with 100,000 of either, only what is shown is read.

import { type Expression, type SqlBool, sql } from 'kysely'
import { type Db, withTables } from '../../../../engines/metadata-db/dialects.ts'
import { contains } from '../../../../engines/metadata-db/like.ts'
import type { Page } from '../../../../http/page.ts'

interface Tables {
  bucket: { id: number; project_id: number; branch_id: number; bucket_id: string; source_bucket: number | null }
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
  readonly tableIds?: readonly string[] | undefined
  readonly minBytes?: number | undefined
  readonly changedAfter?: number | undefined
  readonly changedBefore?: number | undefined
  readonly isNeverLoaded?: boolean | undefined
}

export type BrowseSort = 'name' | 'rows' | 'size' | 'changed'

const SORTED = { rows: 't.rows_count', size: 't.size_bytes', changed: 't.last_change_at' } as const

export function createTableBrowseStore(database: Db) {
  const db = withTables<Tables>(database)

  /** A line for each table, and for each bucket without one. Linked buckets show no aliases with a filter. */
  const lines = ({ projectId, branchId, fallbackBranchId, ids }: VisibleBuckets) =>
    db
      .selectFrom('bucket as b')
      .leftJoin('data_table as t', (join) =>
        join
          .on((e) => e('t.bucket', '=', e.fn.coalesce('b.source_bucket', 'b.id')))
          .on((e) => e.or([e('b.source_bucket', 'is', null), e('t.alias_filter', 'is', null)])),
      )
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

  return {
    async page(
      visible: VisibleBuckets,
      { text, tableIds, minBytes, changedAfter, changedBefore, isNeverLoaded }: BrowseFilter,
      sort: BrowseSort,
      { limit, offset }: Page,
    ): Promise<{ bucketKey: number; tableKey: number | null }[]> {
      if (visible.ids?.length === 0 || tableIds?.length === 0) return []
      const tableId = sql<string>`b.bucket_id || '.' || t.name`
      const isOnlyTables =
        sort !== 'name' || [tableIds, minBytes, changedAfter, changedBefore, isNeverLoaded].some((one) => one !== undefined)
      return lines(visible)
        .select(['b.id as bucketKey', 't.id as tableKey'])
        .$if(isOnlyTables, (query) => query.where('t.id', 'is not', null))
        .$if(tableIds !== undefined, (query) => query.where(tableId, 'in', tableIds!))
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
        .$call((query) =>
          sort === 'name'
            ? query.orderBy('b.bucket_id').orderBy('t.name')
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
