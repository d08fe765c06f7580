import type { ReactNode } from 'react'
import './parts.css'

/** A column by its name: text, figures that stand on the right, or a name for screen readers only. */
export type Column = string | { readonly num: string } | { readonly hidden: string }

const Header = ({ column }: { column: Column }) => {
  if (typeof column === 'string') return <th>{column}</th>
  if ('num' in column) return <th className="numeric">{column.num}</th>
  return (
    <th>
      <span className="visually-hidden">{column.hidden}</span>
    </th>
  )
}

const nameOf = (column: Column): string => (typeof column === 'string' ? column : Object.values(column)[0]!)

/** Rows below named columns, in a frame of its own that scrolls when they are wide. */
export const ListTable = ({ label, columns, children }: { label: string; columns: readonly Column[]; children: ReactNode }) => (
  // A group, not a landmark: the card around it has the same name.
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <div role="group" className="scroll" aria-label={label} tabIndex={0}>
    <table className="data-table">
      <thead>
        <tr>
          {columns.map((column) => (
            <Header key={nameOf(column)} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
