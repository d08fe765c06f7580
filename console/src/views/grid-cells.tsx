// What grids of cells share, whether all of their cells exist or those in sight only.

import type { PointerEvent, ReactNode } from 'react'
import type { GridCell } from '../parts/grid-keys.ts'
import type { Cell } from './long-cell.tsx'
import './views.css'

export interface GridColumn {
  readonly name: string
  readonly isNumber: boolean
  /** Stays at the left; pinned columns come first. */
  readonly isPinned: boolean
  /** In pixels; undefined: fitted to its values. */
  readonly width: number | undefined
  readonly sorted?: 'ascending' | 'descending' | 'none'
  readonly header: ReactNode
}

/** A cell and its row, counted from the first of the table. */
export interface PlacedCell extends Cell {
  readonly row: number
}

export interface CellGridProps {
  /** Of the frame that scrolls, and of the grid in it. */
  readonly labels: readonly [string, string]
  readonly columns: readonly GridColumn[]
  readonly rows: number
  /** Rows before the first of this page. */
  readonly offset: number
  /** Undefined: it is not loaded yet. */
  readonly cellAt: (row: number, column: number) => Cell | undefined
  readonly onOpen: (cell: PlacedCell) => void
  /** Undefined: the rows stay in their order. */
  readonly onSort?: ((name: string) => void) | undefined
  /** A click on a short value opens the cell, too. */
  readonly isEditing?: boolean
  readonly onWidth: (name: string, width: number | undefined) => void
  /** Which columns are seen. */
  readonly onSeen?: (first: number, last: number) => void
}

export const COLUMN_PX = 168
export const MIN_WIDTH = 48
export const MAX_WIDTH = 1200

export const boundedWidth = (width: number): number => Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))

/** What Enter and Ctrl C do in a cell. */
export function useCells({
  columns,
  offset,
  cellAt,
  onOpen,
  onSort,
}: Pick<CellGridProps, 'columns' | 'offset' | 'cellAt' | 'onOpen' | 'onSort'>) {
  const open = (row: number, column: number) => {
    const cell = cellAt(row, column)
    if (cell) onOpen({ ...cell, row: offset + row })
  }
  return {
    open,
    onEnter: ({ row, column }: GridCell) => (row === -1 ? onSort?.(columns[column]!.name) : open(row, column)),
    textOf: ({ row, column }: GridCell) => {
      const cell = row === -1 ? undefined : cellAt(row, column)
      return cell?.isCut ? undefined : (cell?.value ?? undefined)
    },
  }
}

export const widthBefore = (columns: readonly GridColumn[], index: number): number =>
  columns.slice(0, index).reduce((sum, { width }) => sum + (width ?? COLUMN_PX), 0)

export const classOf = (isNumber: boolean, isPinned: boolean): string | undefined =>
  [isNumber ? 'numeric' : '', isPinned ? 'pinned-column' : ''].filter((name) => name !== '').join(' ') || undefined

/** Dragged, it sets the width of its column; the list of columns does so by keyboard. */
export function ColumnEdge({ name, onWidth }: { name: string; onWidth: CellGridProps['onWidth'] }) {
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
