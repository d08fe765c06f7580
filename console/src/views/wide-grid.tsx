// A table of many columns: only the cells in sight exist, each in a place of its own. A scrolled frame then adds the cells of a column, and
// neither renders the others again nor lays out the table.

import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useEffect, useRef } from 'react'
import { count } from '../format.ts'
import { useGridKeys } from '../parts/grid-keys.ts'
import { Scroll } from '../parts/scroll.tsx'
import { type CellGridProps, COLUMN_PX, ColumnEdge, classOf, type GridColumn, useCells, widthBefore } from './grid-cells.tsx'
import { CellValue } from './long-cell.tsx'
import './views.css'

const NUMBER_PX = 56
/** The height that the styles give a row. */
const ROW_PX = 30
const OVERSCAN = 3

interface WideGridProps extends CellGridProps {
  readonly headerPx: number
}

export function WideGrid({
  labels,
  columns,
  rows,
  offset,
  cellAt,
  onOpen,
  onSort,
  onSeen,
  isEditing = false,
  onWidth,
  headerPx,
}: WideGridProps) {
  const frame = useRef<HTMLElement>(null)
  /** The cell with the focus stays, wherever the frame is scrolled to; so do pinned columns. */
  const active = useRef({ row: 0, column: 0 })
  const pinned = columns.flatMap(({ isPinned }, index) => (isPinned ? [index] : []))
  const withAlways = (range: Range, always: readonly number[]) =>
    [...new Set([...always, ...defaultRangeExtractor(range)])].filter((index) => index >= 0).toSorted((a, b) => a - b)
  const across = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => columns[index]?.width ?? COLUMN_PX,
    overscan: OVERSCAN,
    paddingStart: NUMBER_PX,
    scrollPaddingStart: widthBefore(columns, pinned.length),
    rangeExtractor: (range) => withAlways(range, [...pinned, active.current.column]),
  })
  const down = useVirtualizer({
    count: rows,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    paddingStart: headerPx,
    scrollPaddingStart: headerPx,
    rangeExtractor: (range) => withAlways(range, [active.current.row]),
  })
  const widths = columns.map(({ width }) => width).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are estimated again when one was changed
  useEffect(() => across.measure(), [widths])
  const { open, ...keyed } = useCells({ columns, offset, cellAt, onOpen, onSort })
  const keys = useGridKeys({
    ...keyed,
    rows,
    columns: columns.length,
    reveal: ({ row, column }) => {
      across.scrollToIndex(column)
      if (row >= 0) down.scrollToIndex(row)
    },
  })
  active.current = keys.at
  const [first, last] = [across.range?.startIndex ?? 0, across.range?.endIndex ?? 0]
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is a new one each time
  useEffect(() => onSeen?.(first, last), [first, last])
  const handlers = useLatest({ open, onOpen })
  const shown = across.getVirtualItems()
  const width = across.getTotalSize()
  /** Pinned columns come first and stand in the row, where they stick; the others lie in their places. */
  const placeOf = ({ index, start }: { index: number; start: number }) =>
    columns[index]?.isPinned ? { isSticky: true, left: widthBefore(columns, index) } : { isSticky: false, left: start }
  return (
    <Scroll label={labels[0]} className="rows" frame={frame} hasFocus>
      <table
        {...keys.grid}
        className="data-table wide-grid"
        style={{ width, height: down.getTotalSize() }}
        aria-label={labels[1]}
        aria-rowcount={rows + 1}
        aria-colcount={columns.length + 1}
      >
        <thead style={{ height: headerPx }}>
          <tr aria-rowindex={1}>
            <th className="row-number" style={{ width: NUMBER_PX }}>
              <span className="visually-hidden">Row</span>
            </th>
            {shown.map((item) => {
              const { name, isNumber, isPinned, sorted, header } = columns[item.index]!
              const { isSticky, left } = placeOf(item)
              return (
                <th
                  key={item.index}
                  {...keys.cell(-1, item.index)}
                  className={classOf(isNumber, isPinned)}
                  style={{ left, width: item.size, position: isSticky ? 'sticky' : 'absolute' }}
                  aria-sort={sorted}
                  aria-colindex={item.index + 2}
                >
                  {header}
                  <ColumnEdge name={name} onWidth={onWidth} />
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {down.getVirtualItems().map(({ index: row, start: top }) => (
            <tr key={row} aria-rowindex={row + 2} style={{ top, width, height: ROW_PX }}>
              <td className="row-number tabular" style={{ width: NUMBER_PX }}>
                {count(offset + row + 1)}
              </td>
              {shown.map((item) => {
                const cell = cellAt(row, item.index)
                return (
                  <WideCell
                    key={item.index}
                    row={row}
                    offset={offset}
                    column={item.index}
                    name={cell?.column}
                    value={cell?.value}
                    isCut={cell?.isCut ?? false}
                    isActive={row === keys.at.row && item.index === keys.at.column}
                    isNumber={columns[item.index]!.isNumber}
                    {...placeOf(item)}
                    width={item.size}
                    isEditing={isEditing}
                    handlers={handlers}
                  />
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

interface Handlers {
  readonly open: (row: number, column: number) => void
  readonly onOpen: CellGridProps['onOpen']
}

interface WideCellProps {
  readonly row: number
  readonly offset: number
  readonly column: number
  /** Undefined: it is not loaded yet. */
  readonly name: GridColumn['name'] | undefined
  readonly value: string | null | undefined
  readonly isCut: boolean
  readonly isActive: boolean
  readonly isNumber: boolean
  readonly isSticky: boolean
  readonly left: number
  readonly width: number
  readonly isEditing: boolean
  readonly handlers: RefObject<Handlers>
}

/** Rendered again only when something of it changes: all members are plain values, and the functions are those of the last rendering. */
const WideCell = memo(function WideCell({
  row,
  offset,
  column,
  name,
  value,
  isCut,
  isActive,
  isNumber,
  isSticky,
  left,
  width,
  isEditing,
  handlers,
}: WideCellProps) {
  return (
    <td
      data-cell={`${row} ${column}`}
      tabIndex={isActive ? 0 : -1}
      className={classOf(isNumber, isSticky)}
      style={{ left, width, position: isSticky ? 'sticky' : 'absolute' }}
      aria-colindex={column + 2}
      onDoubleClick={isEditing ? () => handlers.current.open(row, column) : undefined}
    >
      {name === undefined || value === undefined ? (
        <span className="skeleton" />
      ) : (
        <CellValue
          cell={{ column: name, value, isCut, row: offset + row }}
          onOpen={(cell) => handlers.current.onOpen(cell)}
          isInGrid
        />
      )}
    </td>
  )
})

/** The value of the last rendering, in a box that stays the same. */
function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  latest.current = value
  return latest
}
