/** Numbers of any size, for cursors, offsets and filters: nothing here passes through a double when it is an integer. */
import { JsonNumber, type JsonValue } from './json.ts'

const NUMERIC = /^[ \t\n\r\v\f]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** PHP's `is_numeric`: a number, or a string that is one. */
export function isNumeric(value: JsonValue | undefined): boolean {
  if (typeof value === 'number' || value instanceof JsonNumber) return true
  return typeof value === 'string' && NUMERIC.test(value)
}

/** The integer part of a numeric value, exactly; undefined when it is not numeric (or not finite). */
export function toInteger(value: JsonValue | undefined): bigint | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined
  if (!isNumeric(value)) return undefined
  const text = String(value).trim()
  const plain = /^[+-]?\d+/.exec(text)?.[0] ?? '0'
  if (!/[eE]/.test(text)) return BigInt(plain.replace('+', ''))
  const double = Math.trunc(Number(text))
  return Number.isFinite(double) ? BigInt(double) : undefined
}

/** A number of any size and precision: its digits without the point, and how many of them stand behind it. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Larger exponents mean numbers that are not used in practice, of more digits than fit in memory. */
const MAX_EXPONENT = 400

/** A numeric value, exactly; undefined when it is not numeric. */
export function toDecimal(value: JsonValue | undefined): Decimal | undefined {
  if (!isNumeric(value)) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(String(value).trim()) ?? []
  const shift = Number(exponent)
  if (Math.abs(shift) > MAX_EXPONENT || whole + fraction === '') return undefined
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`)
  const scale = fraction.length - shift
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

const scaledTo = ({ digits, scale }: Decimal, to: number) => digits * 10n ** BigInt(to - scale)

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const [left, right] = [scaledTo(a, scale), scaledTo(b, scale)]
  return left < right ? -1 : left > right ? 1 : 0
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: scaledTo(a, scale) + scaledTo(b, scale), scale }
}

/** Without a point when nothing but zeros would stand behind it. */
export function decimalText({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? '-' : ''
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0')
  const [whole, fraction] = [text.slice(0, text.length - scale), text.slice(text.length - scale)]
  return /^0*$/.test(fraction) ? sign + whole : `${sign}${whole}.${fraction}`
}

/** Below, equal or above zero; undefined when one of the two texts is not numeric. Integers are compared exactly. */
export function compareNumeric(a: string, b: string): number | undefined {
  if (!NUMERIC.test(a) || !NUMERIC.test(b)) return undefined
  const integer = /^\s*[+-]?\d+$/
  if (integer.test(a) && integer.test(b)) {
    const difference = BigInt(a.trim().replace('+', '')) - BigInt(b.trim().replace('+', ''))
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  }
  return Number(a) - Number(b)
}
