// Figures of every column: what is missing, how many values differ, their range. From a sample immediately, from all rows on request.

import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import type { Table } from '../../../../client/src/operations.ts'
import { count, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Value } from '../../parts/value.tsx'
import './table.css'

type Profile = Answer<'tables.profileNow'>
type Column = Profile['columns'][number]

const MAX_TOP = 3
/** The figures of a wide table are requested in parts. */
const COLUMNS_AT_ONCE = 50

export function TableProfile({ table }: { table: Table }) {
  const [isExact, setExact] = useState(false)
  const [filter, setFilter] = useState('')
  const [part, setPart] = useState(1)
  const all = table.columns ?? []
  const found = all.filter((name) => name.toLowerCase().includes(filter.trim().toLowerCase()))
  const columns = found.slice((part - 1) * COLUMNS_AT_ONCE, part * COLUMNS_AT_ONCE)
  const isPart = all.length > COLUMNS_AT_ONCE
  const query = useLoad(
    'tables.profileNow',
    {
      path: { tableId: table.id },
      query: { ...(isExact ? { exact: true } : {}), ...(isPart ? { columns } : {}) },
    },
    { enabled: columns.length > 0 },
  )
  return (
    <section className="card" aria-labelledby="profile">
      <header>
        <h2 id="profile">Profile</h2>
        {query.data ? <span className="mute fine">{originOf(query.data)}</span> : null}
        {query.data?.isSampled ? (
          <button type="button" className="button small push" onClick={() => setExact(true)}>
            Count all rows
          </button>
        ) : null}
      </header>
      {isPart ? (
        <div className="toolbar">
          <FilterField
            label="Filter columns"
            value={filter}
            onChange={(text) => {
              setFilter(text)
              setPart(1)
            }}
          />
          <span className="push mute tabular">
            {plural(columns.length, 'column')} of {count(found.length)}
          </span>
          <button type="button" className="button small" disabled={part === 1} onClick={() => setPart(part - 1)}>
            Previous
          </button>
          <button
            type="button"
            className="button small"
            disabled={part * COLUMNS_AT_ONCE >= found.length}
            onClick={() => setPart(part + 1)}
          >
            Next
          </button>
        </div>
      ) : null}
      {columns.length === 0 ? (
        <p className="inset mute">No matching columns.</p>
      ) : (
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {(profile) => <Columns profile={profile} />}
        </Loaded>
      )}
    </section>
  )
}

const originOf = ({ isSampled, readRows, rows }: Profile): string =>
  isSampled ? `about, from ${count(readRows)} of ${plural(rows, 'row')}` : `of all ${plural(rows, 'row')}`

const Columns = ({ profile: { columns, readRows } }: { profile: Profile }) => (
  <ListTable
    label="Profile of the columns"
    columns={['Column', { num: 'Different values' }, 'Filled', 'Least', 'Greatest', 'Most frequent']}
  >
    {columns.map((column) => (
      <tr key={column.name}>
        <td className="medium">{column.name}</td>
        <td className="numeric">{column.distinct === readRows && readRows > 0 ? 'all different' : count(column.distinct)}</td>
        <td>
          <Filled share={readRows === 0 ? 0 : 1 - (column.nulls + column.empty) / readRows} />
        </td>
        <td className="profile-value">
          <Value value={column.min} />
        </td>
        <td className="profile-value">
          <Value value={column.max} />
        </td>
        <td className="profile-value">
          <Top column={column} rows={readRows} />
        </td>
      </tr>
    ))}
  </ListTable>
)

/** A column whose values are all different has none that is frequent. */
function Top({ column: { top, distinct }, rows }: { column: Column; rows: number }) {
  if (distinct === rows) return <span className="mute">none repeats</span>
  return (
    <>
      {top.slice(0, MAX_TOP).map(({ value, rows: having }) => (
        <span key={value} className="top-value">
          <Value value={value} /> <span className="mute fine tabular">{Math.round((100 * having) / Math.max(1, rows))} %</span>
        </span>
      ))}
    </>
  )
}

const Filled = ({ share }: { share: number }) => (
  <span className="flex-row">
    <span className="meter filled" aria-hidden="true">
      <i className="meter-good" style={{ width: `${share * 100}%` }} />
    </span>
    <span className="tabular fine nowrap">{Math.floor(share * 100)} %</span>
  </span>
)
