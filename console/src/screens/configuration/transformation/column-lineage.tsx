// Which columns of tables each column of a result is made of: both sides as lists, and lines between. The text has the same content as the lines.

import { useState } from 'react'
import { plural } from '../../../format.ts'
import { Scroll } from '../../../parts/scroll.tsx'
import type { DryRun, DryRunColumn } from './use-trial.ts'
import './transformation.css'

const ROW = 24
const WIDTH = 160

interface End {
  readonly key: string
  readonly y: number
}

interface Group {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly note: string; readonly key: string }[]
}

const keyOf = (table: string, column: string): string => `${table} ${column}`

/** One line for the name of each group, one for each column. */
function placesOf(groups: readonly Group[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  let row = 0
  for (const { columns } of groups) {
    row += 1
    for (const { key } of columns) places.set(key, ROW * row++ + ROW / 2)
  }
  return places
}

const rowsIn = (groups: readonly Group[]): number => groups.reduce((sum, { columns }) => sum + 1 + columns.length, 0)

const wordsOf = ({ from }: DryRunColumn): string => {
  if (from === null || from === undefined) return 'unknown origin'
  if (from.length === 0) return 'a constant or a count'
  return `from ${from.map(({ tableId, column }) => `${tableId}.${column}`).join(', ')}`
}

export function ColumnLineage({ outputs }: Pick<DryRun, 'outputs'>) {
  const [held, setHeld] = useState<string>()
  const sources = Map.groupBy(
    outputs.flatMap(({ columns }) => columns.flatMap(({ from }) => from ?? [])),
    ({ tableId }) => tableId,
  )
  const left: Group[] = [...sources].map(([name, list]) => ({
    name,
    columns: [...new Set(list.map(({ column }) => column))].map((column) => ({
      name: column,
      note: '',
      key: keyOf(name, column),
    })),
  }))
  const right: Group[] = outputs.map(({ destination, source, columns }) => ({
    name: destination || source,
    columns: columns.map((column) => ({
      name: column.name,
      note: wordsOf(column),
      key: `out ${keyOf(destination || source, column.name)}`,
    })),
  }))
  const [from, to] = [placesOf(left), placesOf(right)]
  const lines = outputs.flatMap(({ destination, source, columns }) =>
    columns.flatMap(({ name, from: origins }) =>
      (origins ?? []).map(({ tableId, column }) => {
        const [start, end] = [keyOf(tableId, column), `out ${keyOf(destination || source, name)}`]
        return { from: { key: start, y: from.get(start) ?? 0 }, to: { key: end, y: to.get(end) ?? 0 } }
      }),
    ),
  )
  const height = ROW * Math.max(rowsIn(left), rowsIn(right))
  if (right.length === 0) return <p className="inset mute">The output mapping names no table yet.</p>
  return (
    <Scroll label="Column lineage">
      <div className="column-lineage">
        <Side groups={left} lines={lines} held={held} onHold={setHeld} />
        <svg width={WIDTH} height={height} aria-hidden="true">
          {lines.map(({ from: start, to: end }) => (
            <path
              key={`${start.key} ${end.key}`}
              className={isHeld(held, start, end) ? 'held' : undefined}
              d={`M0 ${start.y} C ${WIDTH / 2} ${start.y}, ${WIDTH / 2} ${end.y}, ${WIDTH} ${end.y}`}
            />
          ))}
        </svg>
        <Side groups={right} lines={lines} held={held} onHold={setHeld} />
      </div>
    </Scroll>
  )
}

const isHeld = (held: string | undefined, start: End, end: End): boolean => held === start.key || held === end.key

interface SideProps {
  readonly groups: readonly Group[]
  readonly lines: readonly { readonly from: End; readonly to: End }[]
  readonly held: string | undefined
  readonly onHold: (key: string | undefined) => void
}

const Side = ({ groups, lines, held, onHold }: SideProps) => (
  <div className="lineage-side">
    {groups.map(({ name, columns }) => (
      <div key={name}>
        <div className="medium clip lineage-table" title={`${name}, ${plural(columns.length, 'column')}`}>
          {name}
        </div>
        <ul>
          {columns.map(({ key, name: column, note }) => {
            const isOn =
              held === key || lines.some(({ from, to }) => isHeld(held, from, to) && (from.key === key || to.key === key))
            return (
              <li key={key}>
                <button
                  type="button"
                  className={`lineage-column clip ${isOn ? 'held' : ''}`}
                  title={note}
                  aria-label={note === '' ? undefined : `${column}, ${note}`}
                  onMouseEnter={() => onHold(key)}
                  onMouseLeave={() => onHold(undefined)}
                  onFocus={() => onHold(key)}
                  onBlur={() => onHold(undefined)}
                >
                  {column}
                </button>
              </li>
            )
          })}
        </ul>
      </div>
    ))}
  </div>
)
