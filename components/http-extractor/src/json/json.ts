/**
 * JSON values as the API sent them.
 *
 * A value is what `JSON.parse` would give, with two additions where a JavaScript value cannot hold what was sent:
 *
 * 1. An object with an integer-like key (`"10"`) is a `Map`, because a plain object would move that key to the front.
 *    Always reach into objects with `memberOf`, `entriesOf` and `valueAt`, never with `value[key]`.
 * 2. A number that a double would change, or whose spelling matters (`9007199254740993`, `1.0`, `1e3`), is a `JsonNumber`
 *    that keeps its source text. Every other number is a plain `number`: with a fraction or `-0` it is what PHP calls a
 *    float, without one it is an integer.
 *
 * Both exist because column order, the ids that link tables and cursors depend on them (spec extractor 13.9, 24).
 */
export type JsonValue = null | boolean | number | string | JsonNumber | JsonValue[] | JsonObject
export type JsonObject = PlainObject | Map<string, JsonValue>
export type PlainObject = { [key: string]: JsonValue }
export type JsonScalar = boolean | number | string | JsonNumber

/** A number kept as the text it was sent as. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** True for a token without point and exponent, whatever its size. */
  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text)
  }

  /** The nearest double; loses what made this a JsonNumber. */
  get double(): number {
    return Number(this.text)
  }

  toString(): string {
    return this.text
  }
}

export function isArray(value: JsonValue | undefined): value is JsonValue[] {
  return Array.isArray(value)
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
}

export function isNumber(value: JsonValue | undefined): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber
}

/** A boolean, number or string; null is not a scalar. */
export function isScalar(value: JsonValue | undefined): value is JsonScalar {
  return value !== undefined && value !== null && (typeof value !== 'object' || value instanceof JsonNumber)
}

/** PHP's `empty()`: decides for data fields, flags, next links and filters (spec extractor 24). An empty object is not empty. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === '0') return true
  if (Array.isArray(value)) return value.length === 0
  if (value instanceof JsonNumber) return value.double === 0
  return value === 0
}

export function memberOf(object: JsonObject, key: string): JsonValue | undefined {
  if (object instanceof Map) return object.get(key)
  // What every object inherits are functions, which JSON has none of, and `__proto__`. A check whether a key is own costs more than reading it.
  const value = object[key]
  if (typeof value === 'function' || key === '__proto__') return Object.hasOwn(object, key) ? value : undefined
  return value
}

export function hasMember(object: JsonObject, key: string): boolean {
  return object instanceof Map ? object.has(key) : Object.hasOwn(object, key)
}

/** Key order as sent. */
export function keysOf(object: JsonObject): string[] {
  return object instanceof Map ? [...object.keys()] : Object.keys(object)
}

/** Key order as sent. */
export function entriesOf(object: JsonObject): [string, JsonValue][] {
  return object instanceof Map ? [...object] : Object.entries(object)
}

/** Builds an object that keeps the order of its entries; a repeated key keeps its first place and its last value. */
export function objectOf(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const map = new Map(entries)
  for (const key of map.keys()) if (isIntegerLike(key)) return map
  return Object.fromEntries(map)
}

export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (object instanceof Map) object.set(key, value)
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/**
 * The value at a path: segments step through objects by key and through arrays by index; undefined when there is none.
 * A path equal to the delimiter, or an empty path, is the value itself.
 */
export function valueAt(value: JsonValue, path: string, delimiter = '.'): JsonValue | undefined {
  if (path === '' || path === delimiter) return value
  if (!path.includes(delimiter)) return step(value, path)
  let at: JsonValue | undefined = value
  for (const segment of path.split(delimiter)) at = at === undefined ? undefined : step(at, segment)
  return at
}

function step(value: JsonValue, segment: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(segment) ? value[Number(segment)] : undefined
  return isObject(value) ? memberOf(value, segment) : undefined
}

/** Equal in kind, numbers by value, objects whatever their key order: the test for a repeated response (spec extractor 6). */
export function equalJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (isNumber(a) && isNumber(b)) return equalNumbers(a, b)
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, i) => equalJson(element, b[i] ?? null))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = keysOf(a)
  if (keys.length !== keysOf(b).length) return false
  return keys.every((key) => {
    const other = memberOf(b, key)
    return other !== undefined && equalJson(memberOf(a, key) ?? null, other)
  })
}

function equalNumbers(a: number | JsonNumber, b: number | JsonNumber): boolean {
  const areBigIntegers = a instanceof JsonNumber && b instanceof JsonNumber && a.isInteger && b.isInteger
  return areBigIntegers ? a.text === b.text : Number(String(a)) === Number(String(b))
}

/** Keys that JavaScript orders before all others: array indexes, up to 2^32 - 2. */
export function isIntegerLike(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4294967295
}
