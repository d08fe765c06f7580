// What a person reads before accepting a proposal: differences without secrets, and what the change touches.

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

export interface Difference {
  readonly pointer: string
  readonly before: string | null
  readonly after: string | null
  /** What of `after` the token has read in data before; null: nothing. */
  readonly copiedFrom: string | null
}

const MAX_DIFFERENCES = 200
const MAX_VALUE = 500

/** One line for each value that differs; `/rows/<id>` is before the pointers of a row. */
export function differencesOf(before: Side | undefined, after: Side | undefined): Difference[] {
  const found: Difference[] = []
  compare(before && whole(before), after && whole(after), '', found)
  return found
}

const whole = ({ name, description, isDisabled, configuration, rows }: Side) => ({
  ...{ name, description, isDisabled, configuration: JSON.parse(configuration) as unknown },
  rows: Object.fromEntries(
    rows.map((row) => [
      row.id,
      { name: row.name, isDisabled: row.isDisabled, configuration: JSON.parse(row.configuration) as unknown },
    ]),
  ),
})

function compare(before: unknown, after: unknown, pointer: string, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES) return
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[name], after[name], `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, found)
    return
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  found.push({ pointer, before: shown(before, pointer), after: shown(after, pointer), copiedFrom: null })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function shown(value: unknown, pointer: string): string | null {
  if (value === undefined) return null
  if (/\/#[^/]*$/.test(pointer)) return '(secret)'
  const text = JSON.stringify(value, (name, member: unknown) => (name.startsWith('#') ? '(secret)' : member))
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

/** Tables of the mappings of a configuration and its rows. */
export function tablesOf({ configuration, rows }: Side): string[] {
  const tables = new Set<string>()
  for (const text of [configuration, ...rows.map((row) => row.configuration)]) {
    const storage = membersOf(text).get('storage') ?? ''
    for (const [, id = ''] of storage.matchAll(/"(?:source|destination)"\s*:\s*"((?:in|out)\.c-[^"\\]{1,200})"/g)) tables.add(id)
  }
  return [...tables].sort()
}
