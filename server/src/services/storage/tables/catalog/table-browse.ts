// Storage as people browse it: a page of tables by bucket, filtered and sorted by the database.

import type { Page } from '../../../../http/page.ts'
import type { Scope } from '../../../../model/scope.ts'
import { type BrowseFilter, type BrowseSort, createTableBrowseStore } from './table-browse.store.ts'
import { isShownIn, type Table, type TableParts } from './table-catalog.ts'

export interface BrowsedBucket {
  readonly id: string
  /** How many it shows, whatever the filter. */
  readonly tables: number
  readonly isShared: boolean
  readonly isLinked: boolean
}

/** `table` is undefined for a bucket without tables. */
export interface BrowsedLine {
  readonly bucket: BrowsedBucket
  readonly table: Table | undefined
}

export function createTableBrowse({ db, buckets, store, catalog }: Pick<TableParts, 'db' | 'buckets' | 'store' | 'catalog'>) {
  const browse = createTableBrowseStore(db)

  async function page(scope: Scope, filter: BrowseFilter, sort: BrowseSort, at: Page): Promise<readonly BrowsedLine[]> {
    const visible = await buckets.visibleTo(scope)
    const found = await browse.page(visible, filter, sort, at)
    const bucketKeys = [...new Set(found.map(({ bucketKey }) => bucketKey))]
    const tableKeys = found.flatMap(({ tableKey }) => (tableKey === null ? [] : [tableKey]))
    const [shown, rows, counts] = await Promise.all([
      buckets.findMany(bucketKeys),
      store.findMany(tableKeys),
      browse.tablesOf(visible, bucketKeys),
    ])
    const bucketOf = new Map(shown.map((bucket) => [bucket.key, bucket]))
    const rowOf = new Map(rows.map((row) => [row.key, row]))
    const lines = found.map(async ({ bucketKey, tableKey }): Promise<BrowsedLine[]> => {
      const bucket = bucketOf.get(bucketKey)
      const row = tableKey === null ? undefined : rowOf.get(tableKey)
      if (!bucket || (tableKey !== null && !row)) return [] // deleted since
      if (row && !isShownIn(bucket, row)) return []
      const { id, sharing, sourceKey } = bucket
      const about = { id, tables: counts.get(bucketKey) ?? 0, isShared: sharing !== null, isLinked: sourceKey !== undefined }
      return [{ bucket: about, table: row && (await catalog.resolve(bucket, row)) }]
    })
    return (await Promise.all(lines)).flat()
  }

  const totals = async (scope: Scope) => browse.totals(await buckets.visibleTo(scope))

  const bucketPage = async (scope: Scope, filter: Parameters<typeof browse.buckets>[1], at: Page) =>
    browse.buckets(await buckets.visibleTo(scope), filter, at)

  return { page, totals, bucketPage }
}
