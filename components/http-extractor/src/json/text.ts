/** Values as text: cells (spec extractor 13.3), JSON in cells and bodies (spec extractor 13.4), and PHP's serialisation, from which link ids are made (spec extractor 13.9). */
import { JsonNumber, type JsonScalar, type JsonValue } from './json.ts'
import { MAX_DEPTH } from './parse.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** A scalar as a cell or a query value holds it: true is `1`, false and null are empty, floats have 14 significant digits. */
export function toText(value: JsonScalar | null): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : formatFloat(value, 14, 'E')
    case 'boolean':
      return value ? '1' : ''
    default:
      return value === null ? '' : numberText(value, 14, 'E')
  }
}

/** A kept number: an integer token as it was sent, whatever its size (ADR 0012), everything else as a float. */
function numberText(number: JsonNumber, digits: 14 | 17, mark: 'E' | 'e'): string {
  if (number.isInteger) return number.text
  const double = number.double
  return Number.isFinite(double) ? formatFloat(double, digits, mark) : number.text
}

/** PHP's `%.<digits>G`: trailing zeros cut, exponent form below 1e-4 and from 1e<digits> on, its mantissa always with a point. */
export function formatFloat(value: number, digits: 14 | 17, mark: 'E' | 'e'): string {
  return formatShort(value, digits) ?? formatAny(value, digits, mark)
}

/** The common decimals, where a native conversion already gives the digits. */
function formatShort(value: number, digits: 14 | 17): string | undefined {
  const size = Math.abs(value)
  if (!(size >= 1e-4 && size < 1e13)) return undefined
  const shortest = String(value)
  // Up to 14 digits (and a point) the shortest text is the rounded text; with few binary places it is the exact one too.
  if (shortest.length <= 15 && (digits === 14 || (size < 1e7 && Number.isInteger(value * 256)))) return shortest
  if (digits === 14 || canBeTie(value)) return undefined
  const text = value.toPrecision(digits)
  let end = text.length
  while (text.charCodeAt(end - 1) === 0x30) end--
  return text.slice(0, end)
}

function formatAny(value: number, digits: number, mark: 'E' | 'e'): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa, exponentText] = roundedHalfEven(value, digits).split('e') as [string, string]
  const exponent = Number(exponentText)
  const sign = mantissa.startsWith('-') ? '-' : ''
  const figures = mantissa.replace(/[-.]/g, '').replace(/0+$/, '')
  if (exponent < -4 || exponent >= digits) {
    return `${sign}${figures[0]}.${figures.slice(1) || '0'}${mark}${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${figures}`
  const whole = figures.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  const fraction = figures.slice(exponent + 1)
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

/** `toExponential` rounds an exact tie up, PHP to the even digit: 12345678901234.5 has the 14 digits 12345678901234. */
function roundedHalfEven(value: number, digits: number): string {
  const rounded = value.toExponential(digits - 1)
  if (!canBeTie(value)) return rounded
  const exact = value.toExponential(100)
  const end = exact.indexOf('.') + digits
  const isTie = /^50*e/.test(exact.slice(end))
  const isEven = '02468'.includes(exact[end - 1]!)
  return isTie && isEven ? exact.slice(0, end) + exact.slice(exact.indexOf('e')) : rounded
}

/** A value halfway between two texts of 17 digits has at most 18 digits, and each binary place costs 0.7 of them. */
function canBeTie(value: number): boolean {
  return Number.isInteger(value * 2 ** 26) || !Number.isFinite(value * 2 ** 26)
}

/** Compact JSON with `/` and everything outside ASCII escaped, and floats with 17 significant digits. */
export function serialize(value: JsonValue, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RangeError(`A value nested more than ${MAX_DEPTH} levels deep cannot be written as JSON.`)
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : formatFloat(value, 17, 'e')
  }
  if (value instanceof JsonNumber) return numberText(value, 17, 'e')
  if (Array.isArray(value)) return `[${value.map((element) => serialize(element, depth + 1)).join(',')}]`
  const members: string[] = []
  for (const [key, member] of value instanceof Map ? value : Object.entries(value)) {
    members.push(`${quote(key)}:${serialize(member, depth + 1)}`)
  }
  return `{${members.join(',')}}`
}

function quote(text: string): string {
  const json = JSON.stringify(text)
  return /[/\u0080-\uffff]/.test(json)
    ? json.replace(/[/\u0080-\uffff]/g, (char) =>
        char === '/' ? '\\/' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    : json
}

/** JSON that `parseJson` reads back as the same value: key order, spelling of numbers, everything. For spooling. */
export function exactJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : JSON.stringify(value)
  if (value instanceof JsonNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`
  const members: string[] = []
  for (const [key, member] of value instanceof Map ? value : Object.entries(value)) {
    members.push(`${JSON.stringify(key)}:${exactJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** PHP's `serialize()` of a decoded JSON value, objects as stdClass. */
export function phpSerialize(value: JsonValue): string {
  if (value === null) return 'N;'
  switch (typeof value) {
    case 'string':
      return `s:${byteLength(value)}:"${value}";`
    case 'boolean':
      return value ? 'b:1;' : 'b:0;'
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? `i:${value};` : `d:${formatFloat(value, 17, 'E')};`
  }
  if (value instanceof JsonNumber) return phpNumber(value)
  let out = ''
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) out += `i:${i};${phpSerialize(value[i]!)}`
    return `a:${value.length}:{${out}}`
  }
  let keys = 0
  if (value instanceof Map) {
    keys = value.size
    for (const [key, member] of value) out += `s:${byteLength(key)}:"${key}";${phpSerialize(member)}`
  } else {
    for (const key in value) {
      keys++
      out += `s:${byteLength(key)}:"${key}";${phpSerialize(value[key]!)}`
    }
  }
  return `O:8:"stdClass":${keys}:{${out}}`
}

/** Length in UTF-8; short texts are counted here, which is faster than a call out of JavaScript. */
export function byteLength(text: string): number {
  const { length } = text
  if (length > 64) return Buffer.byteLength(text)
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) > 0x7f) return Buffer.byteLength(text)
  return length
}

/** An integer token beyond 64 bits is a float in PHP, so it is one in the ids too. */
function phpNumber(number: JsonNumber): string {
  if (number.isInteger) {
    const integer = BigInt(number.text)
    if (integer >= INT64_MIN && integer <= INT64_MAX) return `i:${integer};`
  }
  const double = number.double
  if (!Number.isFinite(double)) return double > 0 ? 'd:INF;' : 'd:-INF;'
  return `d:${formatFloat(double, 17, 'E')};`
}

/** PHP's `serialize()` of an associative array: what user data is to the ids of a mapping (spec extractor 14). */
export function phpSerializeAssociative(entries: readonly (readonly [string, JsonValue])[]): string {
  const key = (name: string) => (/^(?:0|-?[1-9]\d{0,17})$/.test(name) ? `i:${name};` : `s:${Buffer.byteLength(name)}:"${name}";`)
  return `a:${entries.length}:{${entries.map(([name, value]) => key(name) + phpSerialize(value)).join('')}}`
}
