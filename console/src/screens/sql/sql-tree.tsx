// The tables of the project beside a query: buckets, tables and columns, found by any of their names, put into the text by a click.

import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type BrowsedTable, useSettled } from '../../facts/storage-names.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { count, plural } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import './sql.css'

interface TreeProps {
  /** A new query of the first rows. */
  readonly onSelect: (tableId: string) => void
  /** Puts a name where the cursor is. */
  readonly onInsert: (text: string) => void
}

/** More than people read: the filter finds the others. */
const MAX_TABLES = 100
/** So few buckets are open from the start. */
const FEW_BUCKETS = 3

export function SqlTree({ onSelect, onInsert }: TreeProps) {
  const [filter, setFilter] = useState('')
  const word = useSettled(filter.trim().toLowerCase())
  const query = useLoad(
    'tables.browse',
    { query: { ...(word === '' ? {} : { text: word }), include: 'columns', limit: MAX_TABLES + 1 } },
    { isKept: true },
  )
  return (
    <section className="card" aria-labelledby="tables">
      <header>
        <h2 id="tables">Tables</h2>
        <Link className="fine push" to="/storage">
          Storage
        </Link>
      </header>
      <div className="toolbar">
        <FilterField label="Filter tables and columns" value={filter} onChange={setFilter} />
      </div>
      <Loaded query={query}>
        {(lines) => {
          const found = lines.flatMap(({ table }) => table ?? [])
          const shown = Map.groupBy(found.slice(0, MAX_TABLES), ({ id }) => bucketOf(id))
          const tablesOf = new Map(lines.map(({ bucket }) => [bucket.id, bucket.tables]))
          if (found.length === 0 && word === '') return <p className="inset mute">The project has no tables yet.</p>
          if (found.length === 0) return <p className="inset mute">No table or column is called “{word}”.</p>
          return (
            <div className="side-list schema-tree">
              {[...shown].map(([bucket, members]) => (
                <Branch
                  key={`${bucket} ${word !== ''}`}
                  name={bucket}
                  note={plural(word === '' ? (tablesOf.get(bucket) ?? members.length) : members.length, 'table')}
                  isOpen={word !== '' || shown.size <= FEW_BUCKETS}
                >
                  {() =>
                    members.map((table) => (
                      <TableBranch key={table.id} table={table} word={word} onSelect={onSelect} onInsert={onInsert} />
                    ))
                  }
                </Branch>
              ))}
              {lines.length > MAX_TABLES ? (
                <p className="inset fine mute">The first {count(MAX_TABLES)} are listed: filter to see others.</p>
              ) : null}
            </div>
          )
        }}
      </Loaded>
    </section>
  )
}

interface BranchProps {
  readonly name: string
  readonly note: string
  readonly isOpen: boolean
  /** Of a table. */
  readonly isTable?: boolean
  readonly children: () => React.ReactNode
}

/** What is closed has no content: a project may have thousands of columns. */
function Branch({ name, note, isOpen: isOpenAtFirst, isTable = false, children }: BranchProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex-row">
        <Icon name={isTable ? 'table' : 'disk'} size="small" />
        <span className="medium tree-name">{name}</span>
        <span className="fine mute push nowrap">{note}</span>
      </summary>
      {isOpen ? children() : null}
    </details>
  )
}

interface TableBranchProps extends Pick<TreeProps, 'onSelect' | 'onInsert'> {
  readonly table: BrowsedTable
  readonly word: string
}

function TableBranch({ table: { id, columns = [] }, word, onSelect, onInsert }: TableBranchProps) {
  const named = columns.filter((name) => word !== '' && name.toLowerCase().includes(word))
  const shown = named.length > 0 && !id.toLowerCase().includes(word) ? named : columns
  return (
    <Branch
      key={`${id} ${named.length > 0}`}
      name={tableNameOf(id)}
      note={plural(columns.length, 'column')}
      isOpen={named.length > 0}
      isTable
    >
      {() => (
        <>
          <div className="flex-row tree-actions">
            <button type="button" className="link fine" onClick={() => onSelect(id)}>
              Select the first rows
            </button>
            <button type="button" className="link fine" onClick={() => onInsert(`"${bucketOf(id)}"."${tableNameOf(id)}"`)}>
              Insert the name
            </button>
          </div>
          <ul>
            {shown.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  className="link identifier tree-name"
                  title={`Insert "${name}"`}
                  onClick={() => onInsert(`"${name.replaceAll('"', '""')}"`)}
                >
                  {name}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Branch>
  )
}
