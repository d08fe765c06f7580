// Choosing a table: the first of the storage by bucket, and the others by a part of their ids.

import { useState } from 'react'
import { useSettled } from '../facts/storage-names.ts'
import { bucketOf } from '../facts/table-id.ts'
import { count } from '../format.ts'
import { useLoad } from '../load.tsx'
import { FilteredSelect } from '../parts/filtered-select.tsx'

/** A list of more is hard to choose from. */
const SHOWN = 200

interface TableSelectProps {
  readonly id: string
  readonly value: string
  /** What no choice means. */
  readonly none: string
  readonly onChange: (tableId: string) => void
}

/** A table that does not exist stays chosen. */
export function TableSelect({ id, value, none, onChange }: TableSelectProps) {
  const [filter, setFilter] = useState('')
  const name = useSettled(filter.trim())
  const query = useLoad('tables.browse', { query: { ...(name === '' ? {} : { name }), limit: SHOWN + 1 } }, { isKept: true })
  const found = (query.data ?? []).flatMap(({ table }) => table ?? [])
  const tables = found.slice(0, SHOWN)
  const isMore = (query.data?.length ?? 0) > SHOWN
  const isSearching = query.isPlaceholderData || name !== filter.trim()
  return (
    <FilteredSelect
      id={id}
      value={value}
      onChange={onChange}
      filterLabel="Filter tables"
      filter={filter}
      onFilter={setFilter}
      isFiltered={isMore || filter !== ''}
      note={isSearching ? undefined : noteOf(tables.length, isMore)}
    >
      <option value="">{none}</option>
      {value !== '' && !tables.some((one) => one.id === value) ? <option value={value}>{value}</option> : null}
      {[...Map.groupBy(tables, (table) => bucketOf(table.id))].map(([bucket, list]) => (
        <optgroup key={bucket} label={bucket}>
          {list.map((one) => (
            <option key={one.id} value={one.id}>
              {one.id.slice(bucket.length + 1)}
            </option>
          ))}
        </optgroup>
      ))}
    </FilteredSelect>
  )
}

const noteOf = (shown: number, isMore: boolean): string => {
  if (isMore) return `The first ${count(shown)} are listed. Type to find others.`
  return shown === 0 ? 'No table matches.' : `${count(shown)} found.`
}
