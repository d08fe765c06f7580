// A list to choose from, with a filter above it where there are more than people look through.

import type { ReactNode } from 'react'

interface FilteredSelectProps {
  readonly id: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** What the filter is about, for example "Filter configurations". */
  readonly filterLabel: string
  readonly filter: string
  readonly onFilter: (text: string) => void
  /** More match than are shown, or a filter was typed. */
  readonly isFiltered: boolean
  /** What the filter found; undefined while it is searched for. */
  readonly note: string | undefined
  readonly isRequired?: boolean
  readonly children: ReactNode
}

export const FilteredSelect = ({ isFiltered, isRequired = false, ...props }: FilteredSelectProps) => (
  <>
    {isFiltered ? (
      <input
        className="input"
        type="search"
        aria-label={props.filterLabel}
        placeholder={props.filterLabel}
        value={props.filter}
        onChange={(event) => props.onFilter(event.target.value)}
      />
    ) : null}
    <select
      className="input"
      id={props.id}
      required={isRequired}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {props.children}
    </select>
    {isFiltered ? (
      <span className="hint" role="status">
        {props.note ?? 'Searching ...'}
      </span>
    ) : null}
  </>
)
