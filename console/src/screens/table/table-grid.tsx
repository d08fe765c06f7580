// The cells of a table: each column is as wide as its values, and the arrow keys move from cell to cell. A wide table is another grid.

import { type CSSProperties, useEffect } from 'react'
import { count } from '../../format.ts'
import { useGridKeys } from '../../parts/grid-keys.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { type CellGridProps, COLUMN_PX, ColumnEdge, classOf, useCells, widthBefore } from '../../views/grid-cells.tsx'
import { CellValue } from '../../views/long-cell.tsx'
import { WideGrid } from '../../views/wide-grid.tsx'

/** Fewer columns are all laid out, each as wide as its values. */
const MAX_LAID_OUT = 50
/** Of a name above its figure, in a wide grid. */
const HEADER_PX = 72

export const TableGrid = (props: CellGridProps) =>
  props.columns.length > MAX_LAID_OUT ? <WideGrid {...props} headerPx={HEADER_PX} /> : <WholeGrid {...props} />

function WholeGrid({ columns, rows, offset, cellAt, onOpen, onSort, onSeen, isEditing, onWidth, labels }: CellGridProps) {
  const { open, ...keyed } = useCells({ columns, offset, cellAt, onOpen, onSort })
  const keys = useGridKeys({ ...keyed, rows, columns: columns.length })
  const last = columns.length - 1
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is a new one each time
  useEffect(() => onSeen?.(0, last), [last])
  /** A pinned column has a width, which the next one begins after; columns that were resized have theirs. */
  const layOf = (index: number): CSSProperties | undefined => {
    const { isPinned, width } = columns[index]!
    const px = width ?? (isPinned ? COLUMN_PX : undefined)
    if (px === undefined) return undefined
    const size = { width: px, minWidth: px, maxWidth: px }
    return isPinned ? { ...size, position: 'sticky', left: widthBefore(columns, index) } : size
  }
  return (
    <Scroll label={labels[0]} className="rows" hasFocus>
      <table
        {...keys.grid}
        className="data-table"
        aria-label={labels[1]}
        aria-rowcount={rows + 1}
        aria-colcount={columns.length + 1}
      >
        <thead>
          <tr>
            <th className="row-number">
              <span className="visually-hidden">Row</span>
            </th>
            {columns.map(({ name, isNumber, isPinned, sorted, header }, index) => (
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
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row of a page has no other name
            <tr key={row}>
              <td className="row-number tabular">{count(offset + row + 1)}</td>
              {columns.map(({ name, isNumber, isPinned }, index) => {
                const cell = cellAt(row, index)
                return (
                  <td
                    key={name}
                    {...keys.cell(row, index)}
                    className={classOf(isNumber, isPinned)}
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
