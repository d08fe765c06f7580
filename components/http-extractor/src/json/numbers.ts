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
