// Python's values in JavaScript. An integer is a number without a fraction (or a bigint above 2^53), a float is a number with one;
// a whole float, which JavaScript cannot distinguish from an integer, is a PyFloat. None is null, a tuple is a Tuple.

export class PyFloat {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
  toJSON(): number {
    return this.value
  }
}

export class Tuple<T = unknown> extends Array<T> {
  static of<T>(...items: T[]): Tuple<T> {
    const tuple = new Tuple<T>()
    for (const item of items) tuple.push(item)
    return tuple
  }
}

export type Dict = Record<string, unknown>

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)

export const toFloat = (value: number): number | PyFloat => (Number.isInteger(value) ? new PyFloat(value) : value)

/** A key of an object from outside, `__proto__` included. */
export function setKey(target: Dict, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

export const getKey = (source: Dict, key: string): unknown => (Object.hasOwn(source, key) ? source[key] : undefined)

export const isInt = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
export const isFloat = (value: unknown): value is number | PyFloat =>
  value instanceof PyFloat || (typeof value === 'number' && !Number.isInteger(value))
export const isNumber = (value: unknown): value is number | bigint | PyFloat =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof PyFloat

export const asNumber = (value: unknown): number =>
  value instanceof PyFloat ? value.value : typeof value === 'boolean' ? (value ? 1 : 0) : Number(value)

/** Objects of our own with Python's behaviour: dates, durations, undefined. */
export interface PyObject {
  pyStr(): string
  pyRepr(): string
  pyTruth?(): boolean
  pyEquals?(other: unknown): boolean
  pyCompare?(other: unknown): number | undefined
}
export const isPyObject = (value: unknown): value is PyObject =>
  typeof value === 'object' && value !== null && typeof (value as { pyStr?: unknown }).pyStr === 'function'

export function truthy(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0 || value === 0n) return false
  if (typeof value !== 'object') return true
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof PyFloat) return value.value !== 0
  if (isPyObject(value)) return value.pyTruth ? value.pyTruth() : true
  if (value instanceof Set || value instanceof Map) return value.size > 0
  return Object.keys(value).length > 0
}

export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits = '', exponent = '0'] = value.toExponential().split('e')
    const power = Number(exponent)
    return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  }
  if (Number.isInteger(value)) return `${Object.is(value, -0) ? '-0' : value.toFixed(0)}.0`
  return String(value)
}

function textRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  let out = quote
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (char === quote || char === '\\') out += `\\${char}`
    else if (char === '\n') out += '\\n'
    else if (char === '\r') out += '\\r'
    else if (char === '\t') out += '\\t'
    else if (code < 32 || (code >= 127 && code < 161)) out += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code === 0xad || (code >= 0x2000 && code <= 0x200f) || code === 0x2028 || code === 0x2029 || code === 0xfeff)
      out += code < 256 ? `\\x${code.toString(16)}` : `\\u${code.toString(16).padStart(4, '0')}`
    else out += char
  }
  return out + quote
}

export function pyStr(value: unknown): string {
  return typeof value === 'string' ? value : isPyObject(value) ? value.pyStr() : pyRepr(value)
}

export function pyRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'string') return textRepr(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isInteger(value) ? integerText(value) : floatText(value)
  if (value instanceof PyFloat) return floatText(value.value)
  if (value instanceof Tuple) return value.length === 1 ? `(${pyRepr(value[0])},)` : `(${value.map(pyRepr).join(', ')})`
  if (Array.isArray(value)) return `[${value.map(pyRepr).join(', ')}]`
  if (isPyObject(value)) return value.pyRepr()
  if (value instanceof Set) return value.size === 0 ? 'set()' : `{${[...value].map(pyRepr).join(', ')}}`
  return `{${Object.entries(value)
    .map(([key, member]) => `${textRepr(key)}: ${pyRepr(member)}`)
    .join(', ')}}`
}

/** Larger integers are bigints: what is none was a float. */
const integerText = (value: number): string => (Number.isSafeInteger(value) ? String(value) : floatText(value))

export function equals(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a === 'boolean') return isNumber(b) && asNumber(a) === asNumber(b)
  if (typeof b === 'boolean') return isNumber(a) && asNumber(a) === asNumber(b)
  if (isNumber(a) && isNumber(b))
    return typeof a === 'bigint' || typeof b === 'bigint'
      ? asNumber(a) === asNumber(b) && String(a) === String(b)
      : asNumber(a) === asNumber(b)
  if (isPyObject(a)) return a.pyEquals?.(b) ?? false
  if (isPyObject(b)) return b.pyEquals?.(a) ?? false
  if ((a === null || a === undefined) && (b === null || b === undefined)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a instanceof Tuple === b instanceof Tuple &&
      a.length === b.length &&
      a.every((item, i) => equals(item, b[i]))
    )
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equals((a as Dict)[key], (b as Dict)[key]))
  )
}

/** Undefined when Python would refuse to compare them. */
export function compare(a: unknown, b: unknown): number | undefined {
  if ((isNumber(a) || typeof a === 'boolean') && (isNumber(b) || typeof b === 'boolean')) {
    const [x, y] = typeof a === 'bigint' && typeof b === 'bigint' ? [a, b] : [asNumber(a), asNumber(b)]
    return x < y ? -1 : x > y ? 1 : 0
  }
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (isPyObject(a)) return a.pyCompare?.(b)
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < a.length && i < b.length; i++) if (!equals(a[i], b[i])) return compare(a[i], b[i])
    return a.length - b.length
  }
  return undefined
}

/** By code point, as Python does, not by UTF-16 unit. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  for (let i = 0; i < a.length && i < b.length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    const high = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
    return high(x) - high(y)
  }
  return a.length - b.length
}
