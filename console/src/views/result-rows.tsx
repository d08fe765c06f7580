// The rows of a query. A browser lays out some thousand cells; of a larger result only those in sight exist.

import { useState } from 'react'
import { Scroll } from '../parts/scroll.tsx'
import { type Cell, CellDrawer, CellValue } from './long-cell.tsx'
import { WideGrid } from './wide-grid.tsx'

const MAX_CELLS = 5_000
/** Of a name above its type. */
const HEADER_PX = 50
const NUMBERS = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U|FLOAT|DOUBLE|DECIMAL)/

interface ResultRowsProps {
  readonly label: string
  readonly className?: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

export function ResultRows(props: ResultRowsProps) {
  const { columns, rows } = props
  const [open, setOpen] = useState<Cell>()
  const isLarge = rows.length * columns.length > MAX_CELLS
  return (
    <>
      {isLarge ? <LargeResult {...props} onOpen={setOpen} /> : <SmallResult {...props} onOpen={setOpen} />}
      {open ? <CellDrawer column={open.column} whole={{ text: open.value ?? '' }} onClose={() => setOpen(undefined)} /> : null}
    </>
  )
}

type Opening = ResultRowsProps & { readonly onOpen: (cell: Cell) => void }

const SmallResult = ({ label, className = '', columns, rows, onOpen }: Opening) => (
  <Scroll label={label} className={`rows ${className}`}>
    <table className="data-table">
      <thead>
        <tr>
          {columns.map(({ name, type }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two columns of a result may have one name
            <th key={at} className={NUMBERS.test(type) ? 'numeric' : ''}>
              <ColumnHead name={name} type={type} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result have no other name
          <tr key={index}>
            {columns.map(({ name, type }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <td key={at} className={NUMBERS.test(type) ? 'numeric' : ''}>
                <CellValue cell={{ column: name, value: textOf(row[at]), isCut: false }} onOpen={onOpen} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

function LargeResult({ label, columns, rows, onOpen }: Opening) {
  const [widths, setWidths] = useState<Readonly<Record<string, number | undefined>>>({})
  return (
    <WideGrid
      labels={[label, 'Cells of the result']}
      headerPx={HEADER_PX}
      columns={columns.map(({ name, type }) => ({
        name,
        isNumber: NUMBERS.test(type),
        isPinned: false,
        width: widths[name],
        header: <ColumnHead name={name} type={type} />,
      }))}
      rows={rows.length}
      offset={0}
      cellAt={(row, at) => ({ column: columns[at]!.name, value: textOf(rows[row]?.[at]), isCut: false })}
      onOpen={onOpen}
      onWidth={(name, width) => setWidths({ ...widths, [name]: width })}
    />
  )
}

const ColumnHead = ({ name, type }: { name: string; type: string }) => (
  <>
    <span className="column-name">{name}</span>
    <span className="fine mute">{type.toLowerCase()}</span>
  </>
)

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'object' ? JSON.stringify(value) : String(value)
