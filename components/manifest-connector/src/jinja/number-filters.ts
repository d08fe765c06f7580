// Jinja's filters of numbers.

import { ConnectorError } from '../errors.ts'
import { fixed, floatOf, integerOf, roundedFloat, roundedInteger, truncated } from '../python/numbers.ts'
import { asNumber, isFloat, isInt, isNumber, toFloat } from '../python/values.ts'
import { Timedelta } from '../time/datetime.ts'
import { whole } from './arguments.ts'
import type { Filters } from './filter.ts'
import { binary } from './operators.ts'
import { PyTypeError, type Run, typeName, Undefined } from './runtime.ts'

/** float() of what is no text; undefined when Python refuses it. */
function floatValue(value: unknown): number | undefined {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'boolean' && !isNumber(value)) return undefined
  const number = asNumber(value)
  if (isInt(value) && !Number.isFinite(number)) throw new ConnectorError('OverflowError: int too large to convert to float')
  return number
}

function toFloatOr(value: unknown, otherwise: unknown): unknown {
  const number = typeof value === 'string' ? floatOf(value) : floatValue(value)
  return number === undefined ? otherwise : toFloat(number)
}

function toIntOr(value: unknown, otherwise: unknown, base: unknown): unknown {
  if (typeof value === 'string') {
    const integer = isInt(base) ? wholeText(value, Number(base)) : undefined
    const number = integer === undefined ? floatOf(value) : undefined
    if (integer !== undefined) return integer
    return number === undefined || !Number.isFinite(number) ? otherwise : truncated(number)
  }
  if (isInt(value)) return value
  const number = floatValue(value)
  return number === undefined || Number.isNaN(number) ? otherwise : truncated(number)
}

/** A base that Python does not have leaves the text to float(). */
const wholeText = (text: string, base: number) => (base === 0 || (base >= 2 && base <= 36) ? integerOf(text, base) : undefined)

const METHODS = new Set<unknown>(['common', 'ceil', 'floor'])

function rounded(value: unknown, precision: unknown, method: unknown, run: Run): unknown {
  if (!METHODS.has(method)) throw new ConnectorError('FilterArgumentError: method must be common, ceil or floor')
  if (method !== 'common') {
    const factor = binary('**', 10, precision, run)
    const scaled = binary('*', value, factor, run)
    if (!isNumber(scaled)) throw new PyTypeError(`must be real number, not ${typeName(scaled)}`)
    const limit = isInt(scaled)
      ? scaled
      : truncated(method === 'ceil' ? Math.ceil(asNumber(scaled)) : Math.floor(asNumber(scaled)))
    return binary('/', limit, factor, run)
  }
  if (typeof value !== 'boolean' && !isNumber(value))
    throw new PyTypeError(`type ${typeName(value)} doesn't define __round__ method`)
  if (precision === null) return isFloat(value) ? truncated(roundedFloat(asNumber(value), 0)) : asInteger(value)
  const digits = whole(precision)
  return isFloat(value) ? toFloat(roundedFloat(asNumber(value), digits)) : roundedInteger(asInteger(value), digits)
}

const asInteger = (value: unknown) => (typeof value === 'boolean' ? Number(value) : (value as number | bigint))

function absolute(value: unknown): unknown {
  if (value instanceof Timedelta) return value.inMicroseconds < 0n ? value.negated() : value
  if (typeof value === 'bigint') return value < 0n ? -value : value
  if (typeof value !== 'boolean' && !isNumber(value)) throw new PyTypeError(`bad operand type for abs(): '${typeName(value)}'`)
  return isFloat(value) ? toFloat(Math.abs(asNumber(value))) : Math.abs(asNumber(value))
}

const UNITS = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']

function fileSize(value: unknown, isBinary: boolean): string {
  const bytes = typeof value === 'string' ? floatOf(value) : floatValue(value)
  if (bytes === undefined) {
    if (typeof value === 'string') throw new ConnectorError(`ValueError: could not convert string to float: '${value}'`)
    throw new PyTypeError(`float() argument must be a string or a real number, not '${typeName(value)}'`)
  }
  const base = isBinary ? 1024 : 1000
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${truncated(bytes)} Bytes`
  let at = 0
  while (at < UNITS.length - 1 && !(bytes < base ** (at + 2))) at++
  return `${fixed((base * bytes) / base ** (at + 2), 1)} ${isBinary ? `${UNITS[at]!.toUpperCase()}i` : UNITS[at]}B`
}

export const NUMBER_FILTERS: Filters = {
  abs: ['', absolute],
  filesizeformat: ['binary?', (v, [binary = false]) => fileSize(v, Boolean(binary))],
  float: ['default?', (v, [otherwise = toFloat(0)]) => toFloatOr(v, otherwise)],
  int: ['default? base?', (v, [otherwise = 0, base = 10]) => toIntOr(v, otherwise, base)],
  round: ['precision? method?', (v, [precision = 0, method = 'common'], run) => rounded(v, precision, method, run)],
}
