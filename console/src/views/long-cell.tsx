// A value of a grid: short ones as they are, long ones as a button that opens the whole.

import { count } from '../format.ts'
import { Lines } from '../load.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Problem } from '../parts/problem.tsx'
import { Value } from '../parts/value.tsx'
import './views.css'

export interface Cell {
  readonly column: string
  readonly value: string | null
  /** The grid has only its beginning. */
  readonly isCut: boolean
}

const LONG = 40
/** What a cell has room for; its name to screen readers is the same. */
const CELL_CHARS = 120
/** More text than anyone reads makes the page slow; copying gives all of it. */
const SHOWN_CHARS = 200_000

interface CellValueProps<C extends Cell> {
  readonly cell: C
  readonly onOpen: (cell: C) => void
  /** The cell around it has the focus; Enter opens it, too. */
  readonly isInGrid?: boolean
}

export function CellValue<C extends Cell>({ cell, onOpen, isInGrid = false }: CellValueProps<C>) {
  const { value, isCut, column } = cell
  if (value === null || (value.length < LONG && !isCut)) return <Value value={value} />
  const shown = value.slice(0, CELL_CHARS).trim()
  return (
    <button
      type="button"
      className="cell-button"
      tabIndex={isInGrid ? -1 : undefined}
      aria-label={`Open ${column}: ${shown}`}
      onClick={() => onOpen(cell)}
    >
      {shown}
    </button>
  )
}

/** The whole value, as far as it is here; its error, or nothing yet. */
export interface WholeValue {
  readonly text: string | undefined
  readonly error?: Error | null
  /** Even requested alone it was too long. */
  readonly isCut?: boolean
}

export const CellDrawer = ({ column, whole, onClose }: { column: string; whole: WholeValue; onClose: () => void }) => (
  <Drawer title={column} onClose={onClose}>
    {whole.text === undefined ? (
      whole.error ? (
        <Problem error={whole.error} />
      ) : (
        <Lines />
      )
    ) : (
      <Whole {...whole} text={whole.text} />
    )}
  </Drawer>
)

function Whole({ text, isCut = false }: WholeValue & { readonly text: string }) {
  const shown = prettyJson(text) ?? text
  return (
    <>
      <div className="flex-row mute fine">
        <span>
          {isCut
            ? `The first ${count(text.length)} characters; export the table for the rest`
            : `${count(text.length)} characters`}
          {shown.length > SHOWN_CHARS ? `, ${count(SHOWN_CHARS)} of them shown` : ''}
        </span>
        <span className="push">
          <CopyButton text={text} />
        </span>
      </div>
      <pre className="code sunken wrap">{shown.slice(0, SHOWN_CHARS)}</pre>
    </>
  )
}

function prettyJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return undefined
  }
}
