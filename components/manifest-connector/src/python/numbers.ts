// Python's arithmetic of floats where JavaScript's differs: texts of a given precision, rounding half to even on the exact binary value,
// remainders, and the reading of texts.

import { ConnectorError, ValueError } from '../errors.ts'
import { trimmed } from './text.ts'
import { floatText, type PyFloat, pyRepr, toFloat } from './values.ts'

const MAX_DIGITS = 10_000
const bits = new DataView(new ArrayBuffer(8))

/** |value| · 10^digits, rounded half to even. */
function scaled(value: number, digits: number): bigint {
  if (digits > MAX_DIGITS) throw new ConnectorError(`The precision ${digits} is too large.`)
  bits.setFloat64(0, Math.abs(value))
  const raw = bits.getBigUint64(0)
  const exponent = Number(raw >> 52n)
  const fraction = raw & 0xfffffffffffffn
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n)
  const shift = Math.max(exponent, 1) - 1075
  const over = mantissa * (digits > 0 ? 10n ** BigInt(digits) : 1n) * (shift > 0 ? 1n << BigInt(shift) : 1n)
  const under = (digits < 0 ? 10n ** BigInt(-digits) : 1n) * (shift < 0 ? 1n << BigInt(-shift) : 1n)
  return halfEven(over, under)
}

/** Of two positive numbers. */
function halfEven(over: bigint, under: bigint): bigint {
  const quotient = over / under
  const twice = (over % under) * 2n
  return twice > under || (twice === under && quotient % 2n === 1n) ? quotient + 1n : quotient
}

const isNegative = (value: number) => value < 0 || Object.is(value, -0)
const special = (value: number): string | undefined => (Number.isFinite(value) ? undefined : floatText(value))

/** `%.3f`. */
export function fixed(value: number, digits: number): string {
  const text = scaled(value, digits)
    .toString()
    .padStart(digits + 1, '0')
  const point = text.length - digits
  return special(value) ?? `${isNegative(value) ? '-' : ''}${text.slice(0, point)}${digits > 0 ? `.${text.slice(point)}` : ''}`
}

/** The digits, and the power of ten of the first of them. */
function significant(value: number, count: number): { digits: string; power: number } {
  if (value === 0) return { digits: '0'.repeat(count), power: 0 }
  let power = Number(value.toExponential().split('e')[1])
  let digits = scaled(value, count - 1 - power).toString()
  if (digits.length < count) digits = scaled(value, count - 1 - --power).toString()
  return digits.length > count ? { digits: digits.slice(0, count), power: power + 1 } : { digits, power }
}

const withExponent = (digits: string, power: number) =>
  `${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`

/** `%.3e`. */
export function exponential(value: number, precision: number): string {
  if (!Number.isFinite(value)) return floatText(value)
  const { digits, power } = significant(value, precision + 1)
  return `${isNegative(value) ? '-' : ''}${withExponent(digits, power)}`
}

/** `%.3g`; `isShort` is the format without a letter, which keeps one digit after the point. */
export function general(value: number, precision: number, keepsZeros = false, isShort = false): string {
  if (!Number.isFinite(value)) return floatText(value)
  const count = precision || 1
  const { digits: all, power } = significant(value, count)
  const digits = keepsZeros ? all : all.replace(/0+$/, '') || '0'
  const sign = isNegative(value) ? '-' : ''
  if (power < -4 || power >= count - (isShort ? 1 : 0)) {
    const text = withExponent(digits, power)
    return sign + (keepsZeros && digits.length === 1 ? text.replace('e', '.e') : text)
  }
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0')
  const rest = digits.slice(power + 1)
  return sign + whole + (rest !== '' || keepsZeros ? `.${rest}` : isShort ? '.0' : '')
}

/** round() of a float; of a whole number of digits. */
export function roundedFloat(value: number, digits: number): number {
  if (!Number.isFinite(value) || digits > 323) return value
  if (digits < -308) return isNegative(value) ? -0 : 0
  const text = scaled(value, digits).toString()
  const rounded = Number(`${text}e${-digits}`)
  if (!Number.isFinite(rounded)) throw new ConnectorError('OverflowError: rounded value too large to represent')
  return isNegative(value) ? -rounded : rounded
}

/** round() of an integer. */
export function roundedInteger(value: number | bigint, digits: number): number | bigint {
  if (digits >= 0) return value
  if (-digits > MAX_DIGITS) return 0
  const unit = 10n ** BigInt(-digits)
  const [size, sign] = value < 0 ? [-BigInt(value), -1n] : [BigInt(value), 1n]
  return smallest(sign * halfEven(size, unit) * unit)
}

/** An integer as a number where that is exact. */
export const smallest = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value

/** int() of a float. */
export function truncated(value: number): number | bigint {
  if (Number.isNaN(value)) throw new ValueError('cannot convert float NaN to integer')
  if (!Number.isFinite(value)) throw new ConnectorError('OverflowError: cannot convert float infinity to integer')
  const whole = Math.trunc(value)
  return Number.isSafeInteger(whole) ? whole + 0 : smallest(BigInt(whole))
}

/** Of integers that are no exact floats: rounded once. */
export function quotient(over: bigint, under: bigint): number {
  const [a, b] = [over < 0n ? -over : over, under < 0n ? -under : under]
  const shift = Math.max(0, b.toString(2).length - a.toString(2).length + 66)
  const shifted = a << BigInt(shift)
  const exact = shifted / b
  const value = Number(shifted % b === 0n ? exact : exact | 1n) / 2 ** shift
  if (!Number.isFinite(value)) throw new ConnectorError('OverflowError: integer division result too large for a float')
  return over < 0n !== under < 0n ? -value : value
}

export const flooredModulo = (a: number, b: number): number => {
  const rest = a % b
  if (rest === 0) return isNegative(b) ? -0 : 0
  return rest < 0 !== b < 0 ? rest + b : rest
}

export function flooredQuotient(a: number, b: number): number {
  const rest = a % b
  let quotient = (a - rest) / b
  if (rest !== 0 && rest < 0 !== b < 0) quotient -= 1
  if (quotient === 0) return isNegative(a / b) ? -0 : 0
  const floor = Math.floor(quotient)
  return quotient - floor > 0.5 ? floor + 1 : floor
}

const DIGITS = /\p{Nd}/gu
/** Decimal digits of other scripts as ASCII. */
const asciiDigits = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII
  /[^\x00-\x7f]/.test(text) ? text.replace(DIGITS, (digit) => String(digitValue(digit))) : text

/** Digits of a script stand in a row of ten. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!
  let zero = code
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return code - zero
}

const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/

/** float() of a text; undefined when it is none. */
export function floatOf(given: string): number | undefined {
  const text = asciiDigits(trimmed(given))
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^[+-]?nan$/i.test(text)) return Number.NaN
  return FLOAT.test(text) ? Number(text.replaceAll('_', '')) : undefined
}

const PREFIX: Readonly<Record<number, RegExp>> = { 2: /^0b_?/i, 8: /^0o_?/i, 16: /^0x_?/i }
const MAX_INTEGER_DIGITS = 4300

/** int() of a text; undefined when it is none. Base 0 reads the prefix. */
export function integerOf(given: string, base = 10): number | bigint | undefined {
  if (base !== 0 && !(base >= 2 && base <= 36)) throw new ValueError('int() base must be >= 2 and <= 36, or 0')
  const text = asciiDigits(trimmed(given)).toLowerCase()
  const sign = /^[+-]/.exec(text)?.[0] ?? ''
  let digits = text.slice(sign.length)
  let radix = base
  if (base === 0) {
    const prefix = { '0b': 2, '0o': 8, '0x': 16 }[digits.slice(0, 2)]
    radix = prefix ?? 10
    if (prefix === undefined && /^0[0_]*[1-9]/.test(digits)) return undefined
  }
  digits = digits.replace(PREFIX[radix] ?? /(?!)/, '')
  if (!/^[\da-z]+(?:_[\da-z]+)*$/.test(digits)) return undefined
  digits = digits.replaceAll('_', '')
  if (digits.length > MAX_INTEGER_DIGITS) return undefined
  let value = 0n
  if (radix === 10) {
    if (!/^\d+$/.test(digits)) return undefined
    value = BigInt(digits)
  } else
    for (const digit of digits) {
      const each = Number.parseInt(digit, 36)
      if (each >= radix) return undefined
      value = value * BigInt(radix) + BigInt(each)
    }
  return smallest(sign === '-' ? -value : value)
}

export function power(a: number, b: number): number | PyFloat {
  if (a === 0 && b < 0) throw new ConnectorError('ZeroDivisionError: 0.0 cannot be raised to a negative power')
  const value = a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b
  if (Number.isNaN(value) && !Number.isNaN(a) && !Number.isNaN(b))
    throw new ConnectorError(`${pyRepr(a)} ** ${pyRepr(b)} is a complex number, which is not supported.`)
  if (!Number.isFinite(value) && Number.isFinite(a) && Number.isFinite(b))
    throw new ConnectorError('OverflowError: Numerical result out of range')
  return toFloat(value)
}
