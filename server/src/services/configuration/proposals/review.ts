// What a person reads before accepting a proposal: differences without secrets, and what the change touches.

import { parseExact } from '../../../kit/text/exact-numbers.ts'
import { type JsonDifference, jsonDifferences } from '../../../kit/text/json-differences.ts'
import { membersOf } from '../../../kit/text/json-text.ts'

export interface Side {
  readonly name: string
  readonly description: string
  readonly isDisabled: boolean
  /** JSON text. */
  readonly configuration: string
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly isDisabled: boolean
    readonly configuration: string
  }[]
}

export interface Difference extends JsonDifference {
  /** What of `after` the token has read in data before; null: nothing. */
  readonly copiedFrom: string | null
}

const MAX_DIFFERENCES = 200

/** One line for each value that differs; `/rows/<id>` is before the pointers of a row. */
export function differencesOf(before: Side | undefined, after: Side | undefined): Difference[] {
  return differencesBetween(before && whole(before), after && whole(after))
}

export function differencesBetween(before: object | undefined, after: object | undefined): Difference[] {
  return jsonDifferences(before, after, MAX_DIFFERENCES).map((one) => ({ ...one, copiedFrom: null }))
}

const whole = ({ name, description, isDisabled, configuration, rows }: Side) => ({
  ...{ name, description, isDisabled, configuration: parseExact(configuration) },
  rows: Object.fromEntries(
    rows.map((row) => [row.id, { name: row.name, isDisabled: row.isDisabled, configuration: parseExact(row.configuration) }]),
  ),
})

/** Tables of the mappings of a configuration and its rows. */
export function tablesOf({ configuration, rows }: Side): string[] {
  const tables = new Set<string>()
  for (const text of [configuration, ...rows.map((row) => row.configuration)]) {
    const storage = membersOf(text).get('storage') ?? ''
    for (const [, id = ''] of storage.matchAll(/"(?:source|destination)"\s*:\s*"((?:in|out)\.c-[^"\\]{1,200})"/g)) tables.add(id)
  }
  return [...tables].sort()
}
