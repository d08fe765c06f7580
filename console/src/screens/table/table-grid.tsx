// The cells of a table: only the columns that are seen exist, and the arrow keys move from cell to cell.

import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, Fragment, type PointerEvent, type ReactNode, useEffect, useRef } from 'react'
import { count } from '../../format.ts'
import { useGridKeys } from '../../parts/grid-keys.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { type Cell, CellValue } from '../../views/long-cell.tsx'
import './table.css'

export interface GridColumn {
  readonly name: string
  readonly isNumber: boolean
  /** Stays at the left; pinned columns come first. */
  readonly isPinned: boolean
  /** In pixels; undefined: as its values want. */
  readonly width: number | undefined
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
  /** A click on a short value opens the cell, too. */
  readonly isEditing: boolean
  readonly onWidth: (name: string, width: number | undefined) => void
  /** Which columns are seen. */
  readonly onSeen: (first: number, last: number) => void
}

/** Fewer columns are all laid out, each as wide as its values. */
const MAX_LAID_OUT = 50
const COLUMN_PX = 168
const NUMBER_PX = 56
export const MIN_WIDTH = 48
export const MAX_WIDTH = 1200

export const boundedWidth = (width: number): number => Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))

export function TableGrid({ columns, rows, offset, cellAt, onOpen, onSort, onSeen, isEditing, onWidth }: TableGridProps) {
  const frame = useRef<HTMLElement>(null)
  const isWide = columns.length > MAX_LAID_OUT
  const active = useRef(0)
  const pinned = columns.flatMap(({ isPinned }, index) => (isPinned ? [index] : []))
  const seen = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => columns[index]?.width ?? COLUMN_PX,
    overscan: 3,
    paddingStart: NUMBER_PX,
    // The cell with the focus stays, wherever the frame is scrolled to.
    rangeExtractor: (range) =>
      [...new Set([...pinned, ...defaultRangeExtractor(range), active.current])].toSorted((a, b) => a - b),
  })
  const widths = columns.map(({ width }) => width).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are estimated anew when one was changed
  useEffect(() => seen.measure(), [widths])
  /** A pinned column has a width, which the next one begins after; columns that were resized have theirs. */
  const layOf = (index: number): CSSProperties | undefined => {
    const { isPinned, width } = columns[index]!
    const px = width ?? (isPinned || isWide ? COLUMN_PX : undefined)
    if (px === undefined) return undefined
    const size = { width: px, minWidth: px, maxWidth: px }
    if (!isPinned) return size
    const before = columns.slice(0, index).reduce((sum, one) => sum + (one.width ?? COLUMN_PX), 0)
    return { ...size, position: 'sticky', left: before }
  }
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
              const { name, isNumber, isPinned, sorted, header } = columns[index]!
              return (
                <th
                  key={name}
                  {...keys.cell(-1, index)}
                  className={classOf(isNumber, isPinned)}
                  style={layOf(index)}
                  aria-sort={sorted}
                  aria-colindex={index + 2}
                >
                  {header}
                  <ColumnEdge name={name} onWidth={onWidth} />
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
                    className={classOf(columns[index]!.isNumber, columns[index]!.isPinned)}
                    style={layOf(index)}
                    aria-colindex={index + 2}
                    onDoubleClick={isEditing ? () => open(row, index) : undefined}
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

const classOf = (isNumber: boolean, isPinned: boolean): string | undefined =>
  [isNumber ? 'numeric' : '', isPinned ? 'pinned-column' : ''].filter((name) => name !== '').join(' ') || undefined

/** Dragged, it sets the width of its column; the list of columns does so by keyboard. */
function ColumnEdge({ name, onWidth }: { name: string; onWidth: TableGridProps['onWidth'] }) {
  const start = (event: PointerEvent<HTMLElement>) => {
    const edge = event.currentTarget
    const cell = edge.closest('th')
    if (!cell) return
    event.preventDefault()
    const from = { x: event.clientX, width: cell.getBoundingClientRect().width }
    const widthAt = (x: number) => boundedWidth(from.width + x - from.x)
    edge.setPointerCapture(event.pointerId)
    const move = ({ clientX }: globalThis.PointerEvent) => {
      const px = `${widthAt(clientX)}px`
      Object.assign(cell.style, { width: px, minWidth: px, maxWidth: px })
    }
    const end = ({ clientX }: globalThis.PointerEvent) => {
      edge.removeEventListener('pointermove', move)
      if (clientX !== from.x) onWidth(name, widthAt(clientX))
    }
    edge.addEventListener('pointermove', move)
    edge.addEventListener('pointerup', end, { once: true })
  }
  return (
    <span
      className="column-edge"
      aria-hidden="true"
      title={`Width of ${name}: drag; double-click for the usual one`}
      onPointerDown={start}
      onDoubleClick={() => onWidth(name, undefined)}
    />
  )
}
