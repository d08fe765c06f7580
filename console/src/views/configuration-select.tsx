// Choosing a configuration that a job can run: the first of them, and the others by a part of their names.

import { useState } from 'react'
import { useNames } from '../facts/names.ts'
import { useSettled } from '../facts/storage-names.ts'
import { count } from '../format.ts'
import { useLoad } from '../load.tsx'
import { FilteredSelect } from '../parts/filtered-select.tsx'

/** A list of more is hard to choose from. */
const SHOWN = 100

export interface ChosenConfiguration {
  readonly key: string
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
}

/** The first that match what is typed. */
export function useRunnable() {
  const [filter, setFilter] = useState('')
  const text = useSettled(filter.trim())
  const query = useLoad(
    'configurations.browse',
    { query: { canRun: true, ...(text === '' ? {} : { text }), limit: SHOWN + 1 } },
    { isKept: true },
  )
  const found = query.data ?? []
  const choices = found.slice(0, SHOWN).map(
    ({ componentId, configurationId, name }): ChosenConfiguration => ({
      ...{ componentId, configurationId, name },
      key: `${componentId} ${configurationId}`,
    }),
  )
  const isMore = found.length > SHOWN
  const isFiltered = isMore || filter !== ''
  const note = query.isPlaceholderData || text !== filter.trim() ? undefined : noteOf(choices.length, isMore)
  return { choices, filter, setFilter, isFiltered, note, isLoaded: query.data !== undefined }
}

const noteOf = (shown: number, isMore: boolean): string => {
  if (isMore) return `The first ${count(shown)} are listed. Type to find others.`
  return shown === 0 ? 'No configuration matches.' : `${count(shown)} found.`
}

interface SelectProps {
  readonly id: string
  readonly list: ReturnType<typeof useRunnable>
  /** Component and configuration; empty for none. */
  readonly value: string
  /** What no choice means; without it there is always one. */
  readonly none?: string
  readonly isRequired?: boolean
  readonly onChange: (chosen: ChosenConfiguration | undefined) => void
}

export function ConfigurationSelect({ id, list, value, none, isRequired = false, onChange }: SelectProps) {
  const nameOf = useNames()
  const { choices } = list
  const [componentId = '', ...rest] = value.split(' ')
  const isListed = value === '' || choices.some(({ key }) => key === value)
  const change = (key: string) => {
    const [component = '', ...ids] = key.split(' ')
    const configurationId = ids.join(' ')
    const chosen = { key, componentId: component, configurationId, name: nameOf(component, configurationId) }
    onChange(key === '' ? undefined : (choices.find((one) => one.key === key) ?? chosen))
  }
  return (
    <FilteredSelect
      id={id}
      value={value}
      isRequired={isRequired}
      onChange={change}
      filterLabel="Filter configurations"
      filter={list.filter}
      onFilter={list.setFilter}
      isFiltered={list.isFiltered}
      note={list.note}
    >
      {none === undefined ? null : <option value="">{none}</option>}
      {isListed ? null : <option value={value}>{nameOf(componentId, rest.join(' '))}</option>}
      {choices.map((one) => (
        <option key={one.key} value={one.key}>
          {one.name}, {nameOf(one.componentId, null)}
        </option>
      ))}
    </FilteredSelect>
  )
}
