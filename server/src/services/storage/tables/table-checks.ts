// What has to hold before a table is made or changed. Each check throws the error the client sees, and changes nothing.

import { checkFilter } from '../../../engines/table-engine/filter-values.ts'
import type { NewColumn } from '../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import type { NewStorageJob } from '../../../model/storage-job.ts'
import {
  type BucketRef,
  isShownIn,
  lockOf,
  refuseAlias,
  refuseLinked,
  type Table,
  type TableParts,
  tableExists,
} from './catalog/table-catalog.ts'
import { checkTableName } from './catalog/table-names.ts'
import type { TableQuery } from './rows/table-query.ts'

/** A bucket that can take a new table: not one that only shows the tables of another. */
export async function writableBucket({ buckets }: TableParts, scope: Scope, bucketId: string): Promise<BucketRef> {
  const bucket = await buckets.getForChange(scope, bucketId, 'write')
  refuseLinked(bucket)
  return bucket
}

/** A table with data of its own that the caller may change. */
export async function ownTable({ catalog }: TableParts, scope: Scope, tableId: string): Promise<Table> {
  const table = await catalog.getForChange(scope, tableId)
  refuseAlias(table)
  return table
}

export async function checkNewTable({ store }: TableParts, bucket: BucketRef, name: string, displayName: string): Promise<void> {
  checkTableName(name)
  if (displayName !== name) checkTableName(displayName, 'displayName')
  for (const wanted of new Set([name, displayName])) {
    const same = await store.findNamed(bucket.key, wanted)
    if (same) throw tableExists(same.name, wanted)
  }
}

export async function checkDisplayName({ store }: TableParts, table: Table, displayName: string): Promise<void> {
  checkTableName(displayName, 'displayName')
  const same = await store.findNamed(table.row.bucketKey, displayName)
  if (same && same.key !== table.row.key) throw tableExists(same.name, displayName)
}

/** Refuses filter values that are not of the column's type, before a job is made of them. */
export async function checkFilters(
  { catalog }: TableParts,
  table: Table,
  { filters }: Pick<TableQuery, 'filters'>,
): Promise<void> {
  if (filters.length === 0) return
  const { snapshot } = await catalog.reading(table)
  for (const filter of filters) checkFilter(snapshot, filter)
}

/** Existing rows would have no value in the new column. */
export function checkFits(table: Table, { name, nullable = true, default: fallback }: NewColumn): void {
  if (table.data.isTyped && !nullable && fallback === undefined && table.data.rowsCount > 0)
    throw new PlatformError('storage.tables.columnNeedsValues', { column: name, rows: table.data.rowsCount })
}

/** What other projects see through a linked bucket; their name for it. */
export async function linksShowing({ buckets }: TableParts, { bucket, row }: Table): Promise<readonly string[]> {
  if (!isShownIn({ sourceKey: bucket.key }, row)) return []
  return (await buckets.listLinks(bucket)).map(({ id, projectId }) => `the linked bucket ${id} of project ${projectId}`)
}

/** Projects that linked the bucket would lose the table, so force does not help. */
export async function refuseIfLinked(parts: TableParts, table: Table): Promise<void> {
  const links = await linksShowing(parts, table)
  if (links.length > 0)
    throw new PlatformError(
      'tables.cannotDeletedTableWithAliases',
      {},
      { text: `The table ${table.row.name} cannot be deleted because an alias exists: ${links.join(', ')}. Unlink it first.` },
    )
}

export async function refuseWithAliases({ catalog }: TableParts, table: Table): Promise<void> {
  const aliases = await catalog.aliasesOf(table.row.key)
  if (aliases.length > 0)
    throw new PlatformError('tables.cannotDeletedTableWithAliases', {
      table: table.row.name,
      aliases: aliases.map(({ name }) => name).join(', '),
    })
}

/** A job on one table, holding its lock. */
export const jobOn = (table: Table, operationName: string, input: object, operationParams: object = input): NewStorageJob => ({
  operationName,
  operationParams: { ...operationParams },
  input: { ...input, tableKey: table.row.key },
  tableId: table.id,
  branchId: table.bucket.branchId,
  lockKeys: [lockOf(table.bucket, table.row.name)],
})
