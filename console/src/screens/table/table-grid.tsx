// The cells of a table: only the columns that are seen exist, and the arrow keys move from cell to cell.

import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type ReactNode, useEffect, useRef } from 'react'
import { count } from '../../format.ts'
import { useGridKeys } from '../../parts/grid-keys.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { type Cell, CellValue } from '../../views/long-cell.tsx'
import './table.css'

export interface GridColumn {
  readonly name: string
  readonly isNumber: boolean
  readonly sorted: 'ascending' | 'descending' | 'none'
  readonly header: ReactNode
}

/** A cell and its row, counted from the first of the table. */
export interface PlacedCell extends Cell {
  readonly row: number
}

interface TableGridProps {
  readonly columns: readonly GridColumn[]
  readonly rows: number
  /** Rows before the first of this page. */
  readonly offset: number
  /** Undefined: it is not loaded yet. */
  readonly cellAt: (row: number, column: number) => Cell | undefined
  readonly onOpen: (cell: PlacedCell) => void
  readonly onSort: (name: string) => void
  /** Which columns are seen. */
  readonly onSeen: (first: number, last: number) => void
}

/** Fewer columns are all laid out, each as wide as its values. */
const MAX_LAID_OUT = 50
const COLUMN_PX = 168
const NUMBER_PX = 56

export function TableGrid({ columns, rows, offset, cellAt, onOpen, onSort, onSeen }: TableGridProps) {
  const frame = useRef<HTMLElement>(null)
  const isWide = columns.length > MAX_LAID_OUT
  const active = useRef(0)
  const seen = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => frame.current,
    estimateSize: () => COLUMN_PX,
    overscan: 3,
    paddingStart: NUMBER_PX,
    // The cell with the focus stays, wherever the frame is scrolled to.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), active.current])].toSorted((a, b) => a - b),
  })
  const open = (row: number, column: number) => {
    const cell = cellAt(row, column)
    if (cell) onOpen({ ...cell, row: offset + row })
  }
  const keys = useGridKeys({
    rows,
    columns: columns.length,
    onEnter: ({ row, column }) => (row === -1 ? onSort(columns[column]!.name) : open(row, column)),
    textOf: ({ row, column }) => {
      const cell = row === -1 ? undefined : cellAt(row, column)
      return cell?.isCut ? undefined : (cell?.value ?? undefined)
    },
    reveal: (column) => (isWide ? seen.scrollToIndex(column) : undefined),
  })
  active.current = keys.at.column
  const shown = isWide
    ? seen.getVirtualItems().map(({ index, start, end }) => ({ index, start, end }))
    : columns.map((_, index) => ({ index, start: 0, end: 0 }))
  const total = seen.getTotalSize()
  const range = seen.range
  const [first, last] = isWide ? [range?.startIndex ?? 0, range?.endIndex ?? 0] : [0, columns.length - 1]
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is a new one each time
  useEffect(() => onSeen(first, last), [first, last])
  /** Between columns that exist lies the room of those that do not. */
  const withGaps = (tag: 'th' | 'td', render: (column: number) => ReactNode) => {
    const Gap = tag
    let end = NUMBER_PX
    return [
      ...shown.map((item) => {
        const gap = isWide ? item.start - end : 0
        end = item.end
        return (
          <Fragment key={item.index}>
            {gap > 0 ? <Gap aria-hidden="true" style={{ width: gap }} /> : null}
            {render(item.index)}
          </Fragment>
        )
      }),
      isWide && total > end ? <Gap key="rest" aria-hidden="true" style={{ width: total - end }} /> : null,
    ]
  }
  return (
    <Scroll label="Data" className="rows" frame={frame} hasFocus>
      <table
        {...keys.grid}
        className={isWide ? 'data-table wide-grid' : 'data-table'}
        style={isWide ? { width: total } : undefined}
        aria-label="Rows of the table"
        aria-rowcount={rows + 1}
        aria-colcount={columns.length + 1}
      >
        <thead>
          <tr>
            <th className="row-number" style={isWide ? { width: NUMBER_PX } : undefined}>
              <span className="visually-hidden">Row</span>
            </th>
            {withGaps('th', (index) => {
              const { name, isNumber, sorted, header } = columns[index]!
              return (
                <th
                  key={name}
                  {...keys.cell(-1, index)}
                  className={isNumber ? 'numeric' : undefined}
                  style={isWide ? { width: COLUMN_PX } : undefined}
                  aria-sort={sorted}
                  aria-colindex={index + 2}
                >
                  {header}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row of a page has no other name
            <tr key={row}>
              <td className="row-number tabular">{count(offset + row + 1)}</td>
              {withGaps('td', (index) => {
                const cell = cellAt(row, index)
                return (
                  <td
                    key={index}
                    {...keys.cell(row, index)}
                    className={columns[index]!.isNumber ? 'numeric' : undefined}
                    aria-colindex={index + 2}
                  >
                    {cell ? (
                      <CellValue cell={{ ...cell, row: offset + row }} onOpen={onOpen} isInGrid />
                    ) : (
                      <span className="skeleton" />
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
