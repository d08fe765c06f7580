// Whether a value fits a column. ClickHouse itself changes what does not: 300 becomes 44 in an Int8, a date of 1900 another day, a missing value 0.

import { fractionOf, plainType } from '../../../connector-kit/src/database/clickhouse.ts'
import type { Cells } from '../../../connector-kit/src/input-table.ts'
import type { PlannedColumn } from '../plan.ts'

/** Answers what is wrong with a value. */
type Check = (value: string) => string | undefined

/** Of rows of the input; undefined: the row fits. */
export function checkOf(columns: readonly PlannedColumn[]): (row: Cells) => string | undefined {
  const checks = columns.map(({ target: { name, native }, at }) => {
    const plain = plainType(native)
    return { at, name, plain, isNullable: isNullable(native), check: checkFor(plain) }
  })
  return (row) => {
    for (const { at, name, plain, isNullable, check } of checks) {
      const value = row[at] ?? null
      const problem =
        value === null ? (isNullable ? undefined : 'a value is missing, and the column has no NULL') : check?.(value)
      if (problem !== undefined)
        return `column "${name}" (${plain}): ${value === null ? '' : `"${value.slice(0, 100)}" `}${problem}`
    }
    return undefined
  }
}

/** Not of the values in a list. */
export const isNullable = (native: string): boolean => /^(LowCardinality\()?Nullable\(/.test(native)

/** Undefined: any text, or a type that the server checks. */
function checkFor(native: string): Check | undefined {
  const [, unsigned, bits] = /^(U?)Int(\d+)$/.exec(native) ?? []
  if (bits !== undefined) return wholeNumber(Number(bits), unsigned === 'U')
  if (native.startsWith('Float')) return float(native === 'Float32')
  const [, precision, scale] = /^Decimal\((\d+), (\d+)\)$/.exec(native) ?? []
  if (precision !== undefined) return decimal(Number(precision), Number(scale))
  if (native === 'Bool') return (value) => (/^(0|1|true|false)$/.test(value) ? undefined : 'is neither true nor false')
  if (native === 'Date') return date('1970-01-01', '2105-12-31') // older versions change later ones
  if (native === 'Date32') return date('1900-01-01', '2299-12-31')
  const fraction = fractionOf(native)
  if (fraction !== undefined) return time(fraction, native.startsWith('DateTime64'))
  const [, length] = /^FixedString\((\d+)\)$/.exec(native) ?? []
  if (length !== undefined)
    return (value) => (Buffer.byteLength(value) <= Number(length) ? undefined : `has more than ${length} bytes`)
  if (!native.startsWith('Enum')) return undefined
  const words = new Set([...native.matchAll(/'((?:[^'\\]|\\.)*)' = /g)].map(([, word = '']) => word.replace(/\\(.)/g, '$1')))
  return (value) => (words.has(value) ? undefined : 'is not one of its values')
}

/** Such numbers are within 53 bits. */
const SHORT = 15

function wholeNumber(bits: number, isUnsigned: boolean): Check {
  const [least, most] = isUnsigned ? [0n, 2n ** BigInt(bits) - 1n] : [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
  const [low, high] = [Number(least), Number(most)]
  return (value) => {
    if (!/^-?\d+$/.test(value)) return 'is not a whole number'
    const fits =
      value.length <= SHORT ? Number(value) >= low && Number(value) <= high : BigInt(value) >= least && BigInt(value) <= most
    return fits ? undefined : `is not within ${least} and ${most}`
  }
}

/** A number that is too large would become infinite. */
function float(isSingle: boolean): Check {
  return (value) => {
    if (/^-?(inf(inity)?|nan)$/i.test(value)) return undefined
    if (!/^-?\d+\.?\d*([eE][+-]?\d+)?$/.test(value)) return 'is not a number'
    const number = Number(value)
    return Number.isFinite(isSingle ? Math.fround(number) : number) ? undefined : 'is too large'
  }
}

function decimal(precision: number, scale: number): Check {
  return (value) => {
    const [, whole, fraction = ''] = /^-?0*(\d*)(?:\.(\d*?)0*)?$/.exec(value) ?? []
    if (whole === undefined || !/\d/.test(value)) return 'is not a decimal number'
    if (whole.length > precision - scale) return `has more than ${precision - scale} digits before the point`
    return fraction.length > scale ? `has more than ${scale} digits after the point` : undefined
  }
}

const isDay = (value: string): boolean => {
  const time = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}

/** Dates have the order of their texts. */
const date =
  (first: string, last: string): Check =>
  (value) => {
    if (!isDay(value)) return 'is not a date'
    return value >= first && value <= last ? undefined : `is not within ${first} and ${last}`
  }

function time(digits: number, isWide: boolean): Check {
  const [first, last] = isWide ? ['1900-01-01 00:00:00', '2261-12-31 23:59:59'] : ['1970-01-01 00:00:00', '2106-02-07 06:28:15']
  return (value) => {
    const [, day = '', clock = '', fraction = ''] =
      /^(\d{4}-\d\d-\d\d) ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d*?)0*)?$/.exec(value) ?? []
    if (!isDay(day)) return 'is not a time'
    if (fraction.length > digits) return `has more than ${digits} digits of a second`
    const seconds = `${day} ${clock}`
    return seconds >= first && seconds <= last ? undefined : `is not within ${first} and ${last}`
  }
}
