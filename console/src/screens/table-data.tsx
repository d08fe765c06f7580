// The rows of a table: filter by a column, sort, open a long cell.

import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Table } from '../../../client/src/operations.ts'
import { count } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Value } from '../parts/value.tsx'

const route = getRouteApi('/storage/$tableId')

const SHOWN_ROWS = 200

interface Cell {
  readonly columnName: string
  readonly value: string | null
  readonly isTruncated: boolean
}
interface Preview {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

export function TableData({ table }: { table: Table }) {
  const search = route.useSearch()
  const { column, value, sort, order } = search
  const navigate = useNavigate()
  const change = (next: Partial<typeof search>) =>
    void navigate({ to: '.', search: { ...search, ...next } as never, replace: true })
  const query = useLoad('tables.preview', {
    path: { tableId: table.id },
    query: {
      format: 'json',
      limit: SHOWN_ROWS,
      ...(column && value
        ? { 'whereFilters[0][column]': column, 'whereFilters[0][values][0]': value, 'whereFilters[0][operator]': 'eq' }
        : {}),
      ...(sort ? { 'orderBy[0][column]': sort, 'orderBy[0][order]': order === 'desc' ? 'DESC' : 'ASC' } : {}),
    },
  })
  const [open, setOpen] = useState<Cell>()
  const columns = table.columns ?? []
  const toggleSort = (name: string) =>
    change(
      sort !== name ? { sort: name, order: 'asc' } : order === 'asc' ? { sort: name, order: 'desc' } : { sort: '', order: '' },
    )
  return (
    <section className="card grid" aria-label="Rows">
      <div className="toolbar">
        <Icon name="filter" />
        <select
          className="input sm"
          aria-label="Column of the filter"
          value={column ?? ''}
          onChange={(event) => change({ column: event.target.value, value: '' })}
        >
          <option value="">All rows</option>
          {columns.map((name) => (
            <option key={name} value={name}>
              {name} is
            </option>
          ))}
        </select>
        {column ? <FilterValue key={column} value={value ?? ''} onChange={(text) => change({ value: text })} /> : null}
        <span className="push mute xs">
          {query.data ? shownText(query.data as Preview, table, Boolean(column && value)) : null}
        </span>
      </div>
      <Loaded query={query} skeleton={<Lines count={8} />}>
        {(data) => {
          const preview = data as Preview // described loosely
          if (preview.rows.length === 0)
            return <p className="in mute">{column && value ? 'No row fits the filter.' : 'The table has no rows yet.'}</p>
          return (
            <Scroll label="Data" className="rows">
              <table className="t">
                <thead>
                  <tr>
                    <th className="rn">
                      <span className="vh">Row</span>
                    </th>
                    {preview.columns.map((name) => (
                      <th key={name} aria-sort={sort === name ? (order === 'desc' ? 'descending' : 'ascending') : 'none'}>
                        <button type="button" className="cn link" onClick={() => toggleSort(name)} title={`Sort by ${name}`}>
                          {name}
                          {table.primaryKey.includes(name) ? <span className="tag">key</span> : null}
                          {sort === name ? <span aria-hidden="true">{order === 'desc' ? '↓' : '↑'}</span> : null}
                        </button>
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {preview.rows.map((row, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: rows of a preview have no other name
                    <tr key={index}>
                      <td className="rn tn">{index + 1}</td>
                      {row.map((cell) => (
                        <td key={cell.columnName}>
                          <CellValue cell={cell} onOpen={() => setOpen(cell)} />
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }}
      </Loaded>
      {open ? <CellDrawer cell={open} onClose={() => setOpen(undefined)} /> : null}
    </section>
  )
}

const shownText = ({ rows }: Preview, { rowsCount }: Table, isFiltered: boolean): string =>
  isFiltered
    ? `${count(rows.length)}${rows.length === SHOWN_ROWS ? ' or more' : ''} rows fit`
    : `first ${count(rows.length)} of ${count(rowsCount ?? rows.length)} rows`

function FilterValue({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value)
  return (
    <Form className="row" onSubmit={() => onChange(text)}>
      <input
        className="input sm"
        aria-label="Value of the filter"
        placeholder="value, then Enter"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </Form>
  )
}

const LONG = 40

function CellValue({ cell: { value, isTruncated, columnName }, onOpen }: { cell: Cell; onOpen: () => void }) {
  if (value === null || (value.length < LONG && !isTruncated)) return <Value value={value} />
  return (
    <button type="button" className="cell-button" aria-label={`Open ${columnName}: ${value.slice(0, LONG)}`} onClick={onOpen}>
      {value}
    </button>
  )
}

function CellDrawer({ cell: { columnName, value, isTruncated }, onClose }: { cell: Cell; onClose: () => void }) {
  const text = value ?? ''
  const pretty = prettyJson(text)
  return (
    <Drawer title={columnName} onClose={onClose}>
      <div className="row mute xs">
        <span>
          {count(text.length)} characters{isTruncated ? ', cut by the preview' : ''}
        </span>
        <span className="push">
          <CopyButton text={text} />
        </span>
      </div>
      <pre className="code sunken wrap">{pretty ?? text}</pre>
    </Drawer>
  )
}

function prettyJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return undefined
  }
}
