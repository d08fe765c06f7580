// Values for databases without a type of true and false, which get 1 and 0.

import type { Cells } from '../../../connector-kit/src/input-table.ts'
import type { Places } from './target.ts'

const TRUTH: Readonly<Record<string, string>> = { true: '1', false: '0' }

export function cellsFor(places: Places): (row: Cells) => (string | null)[] {
  const used = places.flatMap((place, at) => (place ? [{ ...place, at }] : []))
  return (row) =>
    used.map(({ at, isBoolean, emptyIsNull }) => {
      const value = row[at] ?? null
      if (value === '' && emptyIsNull) return null
      return isBoolean && value !== null ? (TRUTH[value] ?? value) : value
    })
}
