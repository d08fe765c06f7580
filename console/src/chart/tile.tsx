// One tile of a dashboard: a chart or a table of a result, the same for members of a project and behind a link.

import { useState } from 'react'
import { Loaded, type Loading } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Chart, figureOf } from './chart.tsx'
import './chart.css'
import { guessedSettings, numberOf, numericColumns, type ResultRows } from './chart-data.ts'

export interface TileShape {
  readonly id: string
  readonly title: string
  readonly type: 'table' | 'line' | 'area' | 'bar' | 'scatter' | 'pivot' | 'figure'
  readonly width: number
  readonly x?: string
  readonly y?: readonly string[]
  readonly series?: string
  readonly alert?: { readonly operator: 'above' | 'below'; readonly value: number }
}

const MAX_SHOWN = 200

/** A tile that names no columns gets those that fit. */
function settingsOf(tile: TileShape & { readonly type: Exclude<TileShape['type'], 'table'> }, result: ResultRows) {
  const guessed = guessedSettings(result, tile.type)
  return { type: tile.type, x: tile.x ?? guessed.x, y: tile.y ?? guessed.y, series: tile.series ?? guessed.series }
}

export function TileContent({ tile, query }: { tile: TileShape; query: Loading<ResultRows> }) {
  const [isTable, setTable] = useState(false)
  return (
    <Loaded query={query}>
      {(result) =>
        tile.type === 'table' || isTable ? (
          <>
            <Rows result={result} label={`Rows of ${tile.title}`} />
            {tile.type === 'table' ? null : <Toggle isTable onChange={setTable} />}
          </>
        ) : (
          <div className="inset stack-3">
            <Alert tile={tile} result={result} />
            <Chart result={result} settings={settingsOf({ ...tile, type: tile.type }, result)} label={tile.title} />
            {tile.type === 'figure' || tile.type === 'pivot' ? null : <Toggle isTable={false} onChange={setTable} />}
          </div>
        )
      }
    </Loaded>
  )
}

const Toggle = ({ isTable, onChange }: { isTable: boolean; onChange: (isTable: boolean) => void }) => (
  <button type="button" className="link fine" onClick={() => onChange(!isTable)}>
    {isTable ? 'As a chart' : 'As a table'}
  </button>
)

/** A figure beyond its bound is marked in words. */
function Alert({ tile, result }: { tile: TileShape; result: ResultRows }) {
  if (!tile.alert || tile.type !== 'figure') return null
  const value = numberOf(figureOf(result, settingsOf({ ...tile, type: 'figure' }, result)))
  const { operator, value: bound } = tile.alert
  if (value === null || !(operator === 'above' ? value > bound : value < bound)) return null
  return (
    <p className="warn flex-row gap-1" role="status">
      <Icon name="st-warn" size="small" />
      <span>
        {operator === 'above' ? 'Above' : 'Below'} {bound.toLocaleString()}
      </span>
    </p>
  )
}

function Rows({ result, label }: { result: ResultRows; label: string }) {
  const { columns, rows } = result
  const numeric = numericColumns(result)
  const classOf = (name: string) => (numeric.includes(name) ? 'numeric tabular' : undefined)
  return (
    <>
      <Scroll label={label} className="tile-rows">
        <table className="data-table">
          <thead>
            <tr>
              {columns.map(({ name }) => (
                <th key={name} className={classOf(name)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MAX_SHOWN).map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result have no other name
              <tr key={index}>
                {columns.map(({ name }, at) => (
                  <td key={name} className={classOf(name)}>
                    {row[at] === null || row[at] === undefined ? (
                      <i className="mute fine">null</i>
                    ) : typeof row[at] === 'object' ? (
                      JSON.stringify(row[at])
                    ) : (
                      String(row[at])
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {rows.length > MAX_SHOWN ? <p className="inset fine mute">The first {MAX_SHOWN} rows.</p> : null}
    </>
  )
}

export interface FilterShape {
  readonly name: string
  readonly type: string
  readonly default?: string
  readonly label?: string
}

const INPUT_TYPES: Readonly<Record<string, string>> = { date: 'date', number: 'number' }

/** Values are used when the field is left or Enter is pressed, not with each letter. */
export function FilterFields({
  filters,
  values,
  onChange,
}: {
  filters: readonly FilterShape[]
  values: Readonly<Record<string, string>>
  onChange: (values: Readonly<Record<string, string>>) => void
}) {
  if (filters.length === 0) return null
  return (
    <form
      className="flex-row wrap gap-4"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault()
        const entries = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '')
        onChange(Object.fromEntries(entries) as Record<string, string>) // fields of text alone
      }}
    >
      {filters.map(({ name, label, type, default: otherwise }) => (
        <label key={name} className="flex-row gap-1">
          <span className="mute nowrap">{label || name}</span>
          <input
            className="input small"
            type={INPUT_TYPES[type] ?? 'text'}
            name={name}
            defaultValue={values[name] ?? otherwise ?? ''}
          />
        </label>
      ))}
      <button type="submit" className="button small">
        Apply
      </button>
    </form>
  )
}
