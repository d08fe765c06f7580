// Arrow keys in a grid: one tab stop, and a focus that moves from cell to cell. The header is row -1.

import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'

export interface GridCell {
  readonly row: number
  readonly column: number
}

interface GridKeys {
  readonly rows: number
  readonly columns: number
  /** Enter on a cell. */
  readonly onEnter: (cell: GridCell) => void
  /** What Ctrl C copies; undefined where a cell has nothing to copy. */
  readonly textOf?: (cell: GridCell) => string | undefined
  /** Brings a cell into sight that may not exist yet. */
  readonly reveal?: (cell: GridCell) => void
}

const PAGE = 10

/** Where a key leads to from a cell; undefined for other keys. */
export function nextCell(
  { key, ctrlKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey'>,
  { row, column }: GridCell,
  { rows, columns }: Pick<GridKeys, 'rows' | 'columns'>,
): GridCell | undefined {
  const to = (nextRow: number, nextColumn: number): GridCell => ({
    row: Math.min(rows - 1, Math.max(-1, nextRow)),
    column: Math.min(columns - 1, Math.max(0, nextColumn)),
  })
  switch (key) {
    case 'ArrowLeft':
      return to(row, column - 1)
    case 'ArrowRight':
      return to(row, column + 1)
    case 'ArrowUp':
      return to(row - 1, column)
    case 'ArrowDown':
      return to(row + 1, column)
    case 'PageUp':
      return to(row - PAGE, column)
    case 'PageDown':
      return to(row + PAGE, column)
    case 'Home':
      return to(ctrlKey ? -1 : row, 0)
    case 'End':
      return to(ctrlKey ? rows - 1 : row, columns - 1)
    default:
      return undefined
  }
}

export function useGridKeys({ rows, columns, onEnter, textOf, reveal }: GridKeys) {
  const [chosen, setChosen] = useState<GridCell>({ row: 0, column: 0 })
  const at = { row: Math.min(chosen.row, rows - 1), column: Math.min(chosen.column, columns - 1) }
  const grid = useRef<HTMLTableElement>(null)
  /** The cell that the next rendering shows gets the focus. */
  const isMoving = useRef(false)
  /** A cell that leaves the page takes the focus with it, without an event. */
  const hasFocus = useRef(false)
  useEffect(() => {
    const isLost = hasFocus.current && document.activeElement === document.body
    if (!isMoving.current && !isLost) return
    const cell = grid.current?.querySelector<HTMLElement>(`[data-cell="${at.row} ${at.column}"]`)
    if (!cell) return // it comes into sight with the next one
    isMoving.current = false
    cell.focus()
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextCell(event, at, { rows, columns })
    if (next) {
      event.preventDefault()
      isMoving.current = true
      setChosen(next)
      reveal?.(next)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      onEnter(at)
    } else if (event.key === 'c' && (event.ctrlKey || event.metaKey) && document.getSelection()?.isCollapsed !== false) {
      const text = textOf?.(at)
      if (text !== undefined) void navigator.clipboard.writeText(text)
    }
  }
  /** A click moves it, too. */
  const onFocus = ({ target }: FocusEvent) => {
    hasFocus.current = true
    const [row, column] = (target.closest<HTMLElement>('[data-cell]')?.dataset.cell ?? '').split(' ').map(Number)
    if (row !== undefined && column !== undefined) setChosen({ row, column })
  }
  const onBlur = ({ target }: FocusEvent) => {
    if (target.isConnected) hasFocus.current = false
  }
  return {
    at,
    grid: { ref: grid, role: 'grid', onKeyDown, onFocus, onBlur },
    cell: (row: number, column: number) => ({
      'data-cell': `${row} ${column}`,
      tabIndex: row === at.row && column === at.column ? 0 : -1,
    }),
  }
}
