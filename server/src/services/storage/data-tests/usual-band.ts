// What is usual for a table, from what earlier loads of it measured: the median, and around it the median of the distances from it. Both
// ignore single outliers, which a mean and a deviation do not.

import { identifier } from '../../../engines/table-engine/sql.ts'
import type { TestRule } from './test-rules.ts'

export type UsualRule = Extract<TestRule, { type: 'usual' }>

/** The share of the middle that always counts as usual: a table that has had the same number of rows every day may still get one more. */
const LEAST_SHARE = 0.05
/** Makes the median distance comparable with a standard deviation. */
const OF_DEVIATION = 1.4826

/** What a value was measured of: values of another measure or column are not compared. */
export const measuredOf = ({ measure, column }: Pick<UsualRule, 'measure' | 'column'>): string =>
  column === undefined ? measure : `${measure}(${column})`

/** An aggregate over the rows `t`; undefined where the snapshot has the number. */
export function measureSql({ measure, column }: UsualRule, isTyped: boolean): string | undefined {
  if (column === undefined) return undefined
  const name = `t.${identifier(column)}`
  const isMissing = isTyped ? `${name} IS NULL` : `${name} IS NULL OR ${name} = ''`
  switch (measure) {
    case 'nulls':
      return `100.0 * count(*) FILTER (WHERE ${isMissing}) / greatest(count(*), 1)`
    case 'distinct':
      return `count(DISTINCT ${name}) FILTER (WHERE NOT (${isMissing}))`
    case 'sum':
      return `coalesce(sum(TRY_CAST(${name} AS DOUBLE)), 0)`
    case 'average':
      return `avg(TRY_CAST(${name} AS DOUBLE))`
    default:
      return undefined
  }
}

/** Of fractions as well, and of one value at least. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return ((sorted[Math.floor(at)] ?? 0) + (sorted[Math.ceil(at)] ?? 0)) / 2
}

interface Band {
  readonly low: number
  readonly high: number
  readonly middle: number
  readonly loads: number
}

/** Undefined while there are too few loads for a band. */
function bandOf({ sensitivity, minLoads }: UsualRule, history: readonly number[]): Band | undefined {
  if (history.length < minLoads) return undefined
  const middle = median(history)
  const distance = median(history.map((value) => Math.abs(value - middle)))
  const width = Math.max(sensitivity * OF_DEVIATION * distance, LEAST_SHARE * Math.abs(middle))
  return { low: middle - width, high: middle + width, middle, loads: history.length }
}

/** Undefined if the value is usual, or nothing is known yet. */
export function unusual(rule: UsualRule, value: number | null, history: readonly number[]): string | undefined {
  const band = bandOf(rule, history)
  if (!band) return undefined
  const usual = `usual are ${shown(band.low)} to ${shown(band.high)} (middle ${shown(band.middle)} of ${band.loads} loads)`
  if (value === null) return `${NAMES[rule.measure]}${ofColumn(rule)} has no value; ${usual}.`
  if (value >= band.low && value <= band.high) return undefined
  const side = value < band.low ? 'below' : 'above'
  const far = band.middle === 0 ? '' : `, ${shown(Math.abs((100 * (value - band.middle)) / band.middle))} % ${side} the middle`
  return `${NAMES[rule.measure]}${ofColumn(rule)} is ${shown(value)}${far}; ${usual}.`
}

const NAMES: Readonly<Record<UsualRule['measure'], string>> = {
  rows: 'The number of rows',
  addedRows: 'The number of added rows',
  nulls: 'The percentage of rows without a value',
  distinct: 'The number of different values',
  sum: 'The sum',
  average: 'The average',
}

const ofColumn = ({ column }: UsualRule): string => (column === undefined ? '' : ` of ${column}`)

const shown = (value: number): string => String(Number(value.toPrecision(6)))
