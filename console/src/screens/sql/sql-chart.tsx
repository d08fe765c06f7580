// The result of a query as bars: one column says what, another how much. The grid beside it is the same as a table.

import { useState } from 'react'
import { count } from '../../format.ts'
import './sql.css'

const SHOWN = 60
const isNumber = (value: unknown): boolean => value !== null && value !== '' && Number.isFinite(Number(value))

interface ChartProps {
  readonly columns: readonly { readonly name: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

export function SqlChart({ columns, rows }: ChartProps) {
  const numeric = columns
    .map((_, at) => at)
    .filter((at) => rows.some((row) => isNumber(row[at])) && rows.every((row) => row[at] === null || isNumber(row[at])))
  const [label, setLabel] = useState(() => columns.findIndex((_, at) => !numeric.includes(at)))
  const [value, setValue] = useState(() => numeric.at(-1) ?? -1)
  if (numeric.length === 0) return <p className="inset mute">A chart needs a column of numbers.</p>
  const shown = rows.slice(0, SHOWN)
  const most = Math.max(...shown.map((row) => Math.abs(Number(row[value] ?? 0))), 0) || 1
  return (
    <div className="inset stack-3">
      <div className="flex-row wrap">
        <Column
          name="What"
          value={label}
          onChange={setLabel}
          choices={columns.map(({ name }, at) => [at, name])}
          first="number of the row"
        />
        <Column name="How much" value={value} onChange={setValue} choices={numeric.map((at) => [at, columns[at]!.name])} />
        {rows.length > SHOWN ? <span className="fine mute push">the first {SHOWN} rows</span> : null}
      </div>
      <ul className="sql-bars" aria-label={`${columns[value]?.name} by ${columns[label]?.name ?? 'row'}`}>
        {shown.map((row, index) => {
          const amount = Number(row[value] ?? 0)
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result have no other name
            <li key={index}>
              <span className="clip">{label < 0 ? index + 1 : String(row[label] ?? 'null')}</span>
              <span className="meter">
                <i style={{ width: `${(100 * Math.abs(amount)) / most}%` }} />
              </span>
              <span className="tabular numeric">{count(amount)}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

interface ColumnProps {
  readonly name: string
  readonly value: number
  readonly choices: readonly (readonly [number, string])[]
  readonly first?: string
  readonly onChange: (at: number) => void
}

const Column = ({ name, value, choices, first, onChange }: ColumnProps) => (
  <label className="flex-row">
    <span className="mute nowrap">{name}</span>
    <select className="input small" aria-label={name} value={value} onChange={(event) => onChange(Number(event.target.value))}>
      {first ? <option value={-1}>{first}</option> : null}
      {choices.map(([at, text]) => (
        <option key={at} value={at}>
          {text}
        </option>
      ))}
    </select>
  </label>
)
