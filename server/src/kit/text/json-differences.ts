// What differs between two JSON values, one line for each value, without secrets. Numbers are compared as they are written.

import { isRawNumber } from './exact-numbers.ts'

export interface JsonDifference {
  readonly pointer: string
  /** JSON text; null: the value does not exist. */
  readonly before: string | null
  readonly after: string | null
}

const MAX_VALUE = 2000
/** Characters before the first difference of values that are shown in part. */
const LEAD = 200

export function jsonDifferences(before: unknown, after: unknown, max: number): JsonDifference[] {
  const found: JsonDifference[] = []
  compare({ before, after, pointer: '' }, found, max)
  return found
}

interface Pair {
  readonly before: unknown
  readonly after: unknown
  readonly pointer: string
}

function compare({ before, after, pointer }: Pair, found: JsonDifference[], max: number): void {
  if (found.length >= max) return
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const place = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      compare({ before: before[name], after: after[name], pointer: place }, found, max)
    }
    return
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, one] of before.entries())
      compare({ before: one, after: after[index], pointer: `${pointer}/${index}` }, found, max)
    return
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const [old, young] = [textOf(before, pointer), textOf(after, pointer)]
  const from = Math.max(0, firstDifference(old ?? '', young ?? '') - LEAD)
  found.push({ pointer, before: part(old, from), after: part(young, from) })
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
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)

function textOf(value: unknown, pointer: string): string | null {
  if (value === undefined) return null
  if (pointer.includes('/#')) return '(secret)'
  return JSON.stringify(value, (name, member: unknown) => (name.startsWith('#') ? '(secret)' : member))
}
