// Tables and columns by a part of their name, as far as the token may read them. Aliases are found by their name; their columns are
// those of the table they show.

import type { Scope } from '../../../../model/scope.ts'
import type { TableParts } from './table-catalog.ts'

export function createTableSearch({ buckets, store }: Pick<TableParts, 'buckets' | 'store'>) {
  /** What the branch owns; linked buckets show tables of another project, which are found there. */
  async function ownBuckets(scope: Scope): Promise<ReadonlyMap<number, string>> {
    const visible = await buckets.list(scope)
    return new Map(
      visible
        .filter(({ sourceKey, branchId }) => sourceKey === undefined && branchId === scope.branch.id)
        .map(({ key, id }) => [key, id]),
    )
  }

  async function tables(scope: Scope, text: string, limit: number) {
    const own = await ownBuckets(scope)
    const rows = await store.listContaining([...own.keys()], 'name', text, limit)
    return rows.slice(0, limit).map((row) => ({
      kind: 'table' as const,
      id: `${own.get(row.bucketKey)}.${row.name}`,
      name: row.displayName,
    }))
  }

  async function columns(scope: Scope, text: string, limit: number) {
    const own = await ownBuckets(scope)
    const wanted = text.toLowerCase()
    const rows = await store.listContaining([...own.keys()], 'columns', text, limit)
    const found = rows.flatMap((row) => {
      const tableId = `${own.get(row.bucketKey)}.${row.name}`
      const names = row.columns.filter((name) => name.toLowerCase().includes(wanted))
      return names.map((name) => ({ kind: 'column' as const, id: `${tableId}.${name}`, name, tableId }))
    })
    return found.slice(0, limit)
  }

  return { tables, columns }
}
