// Tables of the project for the completion of SQL.

import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { Input } from '../../../client/src/client.ts'
import type { SqlTable, WantedTables } from '../editor/sql-completion.ts'
import type { FoundTables } from '../editor/sql-editor.tsx'
import { type BrowsedTable, MAX_NAMED, OFFERED } from '../facts/storage-names.ts'
import { bucketOf, tableNameOf } from '../facts/table-id.ts'
import { api } from '../session.ts'

/** Found tables are not searched for again so long. */
const FRESH_MS = 30_000

/** For the completion of SQL: the tables that a statement names, with their columns, and those that match what is typed. */
export function useTableSearch(): (wanted: WantedTables) => Promise<FoundTables> {
  const queries = useQueryClient()
  return useCallback(
    async ({ ids, name }) => {
      const load = (query: NonNullable<Input<'tables.browse'>['query']>) =>
        queries.fetchQuery({
          queryKey: ['tables.browse', { query }],
          queryFn: () => api.call('tables.browse', { query }),
          staleTime: FRESH_MS,
        })
      const tableId = ids.slice(0, MAX_NAMED).toSorted()
      const [named, matching] = await Promise.all([
        tableId.length === 0 ? [] : load({ tableId, include: 'columns', limit: MAX_NAMED }),
        name === undefined ? [] : load({ ...(name === '' ? {} : { name }), limit: OFFERED }),
      ])
      const found = [...named, ...matching].flatMap(({ table }) => table ?? [])
      const byId = new Map(found.toReversed().map((table) => [table.id, sqlTableOf(table)]))
      return { tables: [...byId.values()].toReversed(), isComplete: matching.length < OFFERED } // the first of each
    },
    [queries],
  )
}

const sqlTableOf = ({ id, columns = [] }: BrowsedTable): SqlTable => ({
  ...{ bucket: bucketOf(id), name: tableNameOf(id), columns },
})
