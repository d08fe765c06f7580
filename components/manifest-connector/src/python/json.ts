// JSON without loss: integers above 2^53 stay exact, and are written as they came.

import { type Dict, floatText, PyFloat, setKey } from './values.ts'

/** Of fewer digits every integer is exact. */
const LONG = 16
const BEFORE_NUMBER = new Set([...' \t\n\r[,:-'].map((char) => char.charCodeAt(0)))
const AFTER_NUMBER = new Set([...' \t\n\r,]}'].map((char) => char.charCodeAt(0)))

export function parseJson(text: string): unknown {
  if (!mayHaveLongInteger(text)) return JSON.parse(text)
  return JSON.parse(text, reviveLong as (this: unknown, key: string, value: unknown) => unknown)
}

/** Whether so many digits stand where a number may be. They cover a multiple of their count, so few characters are looked at. */
function mayHaveLongInteger(text: string): boolean {
  const { length } = text
  for (let i = LONG - 1; i < length; i += LONG) {
    if (!isDigit(text.charCodeAt(i))) continue
    let from = i
    let to = i + 1
    while (from > 0 && isDigit(text.charCodeAt(from - 1))) from--
    while (to < length && isDigit(text.charCodeAt(to))) to++
    const isNumber =
      (from === 0 || BEFORE_NUMBER.has(text.charCodeAt(from - 1))) && (to === length || AFTER_NUMBER.has(text.charCodeAt(to)))
    if (to - from >= LONG && isNumber) return true
    i = to
  }
  return false
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39

/** Python reads NaN and the infinities, too, which have no JSON when they are written: null. */
export function parsePythonJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    const replaced = text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/gs, (found) => (found[0] === '"' ? found : 'null'))
    if (replaced === text) throw error
    return parseJson(replaced)
  }
}

function reviveLong(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context.source!)
    : value
}

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON // in V8 since 11.4, not yet in the types

/** Nothing in it needs a text of its own. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'bigint') return false
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (const each of value) if (!isPlain(each)) return false
    return true
  }
  if (value instanceof Set) return false
  for (const key of Object.keys(value)) if (!isPlain((value as Dict)[key])) return false
  return true
}

/** JSON text of a record; NaN and infinities, which JSON has no text for, are null. */
export const jsonText = (value: unknown): string => (isPlain(value) ? JSON.stringify(value) : specialText(value))

const specialText = (value: unknown): string =>
  JSON.stringify(value, (_key, member) =>
    typeof member === 'bigint' ? rawJson(String(member)) : member instanceof Set ? [...member] : member,
  )

/** A deep copy that shares nothing; a walk of our own, because structuredClone is slower and refuses our classes. */
export function copied<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copied) as T
  if (value instanceof PyFloat || (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null))
    return value
  const out: Dict = {}
  for (const [key, member] of Object.entries(value)) setKey(out, key, copied(member))
  return out as T
}

/** Python's json.dumps with its blanks, or lines indented by `step`. */
export function pythonJson(value: unknown, step?: string, level = 0): string {
  if (Array.isArray(value))
    return listed(
      '[',
      ']',
      value.map((each) => pythonJson(each, step, level + 1)),
      step,
      level,
    )
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : jsonFloat(value)
  if (value instanceof PyFloat) return jsonFloat(value.value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string')
    return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(([key, member]) => `${pythonJson(key)}: ${pythonJson(member, step, level + 1)}`)
  return listed('{', '}', members, step, level)
}

const jsonFloat = (value: number): string =>
  Number.isFinite(value) ? floatText(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'

function listed(open: string, close: string, items: readonly string[], step: string | undefined, level: number): string {
  if (items.length === 0 || step === undefined) return `${open}${items.join(', ')}${close}`
  const line = `\n${step.repeat(level + 1)}`
  return `${open}${line}${items.join(`,${line}`)}\n${step.repeat(level)}${close}`
}
