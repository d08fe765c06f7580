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
const MAX_VALUE = 2000
/** Characters before the first difference of values that are shown in part. */
const LEAD = 200

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
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, one] of before.entries()) compare(one, after[index], `${pointer}/${index}`, found)
    return
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const [old, young] = [textOf(before, pointer), textOf(after, pointer)]
  const from = Math.max(0, firstDifference(old ?? '', young ?? '') - LEAD)
  found.push({ pointer, before: part(old, from), after: part(young, from), copiedFrom: null })
}

function firstDifference(one: string, other: string): number {
  const end = Math.min(one.length, other.length)
  let at = 0
  while (at < end && one[at] === other[at]) at++
  return at
}

/** Where values are long, the part that differs: a change behind the shown part would be accepted unread. */
function part(text: string | null, from: number): string | null {
  if (text === null || text.length <= MAX_VALUE) return text
  return `${from > 0 ? '…' : ''}${text.slice(from, from + MAX_VALUE)}${text.length > from + MAX_VALUE ? '…' : ''}`
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function textOf(value: unknown, pointer: string): string | null {
  if (value === undefined) return null
  if (pointer.includes('/#')) return '(secret)'
  return JSON.stringify(value, (name, member: unknown) => (name.startsWith('#') ? '(secret)' : member))
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
