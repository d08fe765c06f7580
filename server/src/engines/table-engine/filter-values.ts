// Checks the values of filters. A value that cannot have the column's type is an error of the caller, not a filter that finds
// nothing; the caller that starts a job checks before, so that the mistake is refused instead of failing the job.

import { calendarDay } from '../../kit/calendar-day.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type BaseType, columnNamed, type TableSnapshot } from './snapshot.ts'
import type { Filter } from './table-engine.ts'

/** Whether a text can be a value of the type. */
export const fitsType = (type: BaseType, text: string): boolean => FITS[type](text)

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i

const FITS: Readonly<Record<BaseType, (text: string) => boolean>> = {
  STRING: () => true,
  INTEGER: (text) => /^\s*[+-]?\d{1,19}\s*$/.test(text),
  NUMERIC: (text) => NUMBER.test(text),
  FLOAT: (text) => NUMBER.test(text) || /^\s*[+-]?(nan|inf(inity)?)\s*$/i.test(text),
  BOOLEAN: (text) => /^\s*(true|t|1|yes|y|false|f|0|no|n)\s*$/i.test(text),
  DATE: startsWithDay,
  TIMESTAMP: startsWithDay,
}

export const isListOperator = (operator: Filter['operator']): operator is 'eq' | 'ne' => operator === 'eq' || operator === 'ne'

export const isEmptyOperator = (operator: Filter['operator']): operator is 'isEmpty' | 'isNotEmpty' =>
  operator === 'isEmpty' || operator === 'isNotEmpty'

/** Compares the text that a value is shown as, whatever the type of its column. */
export const isTextOperator = (operator: Filter['operator']): operator is 'contains' | 'startsWith' =>
  operator === 'contains' || operator === 'startsWith'

/** In a typed table the empty value means null: that is how exports write it. */
export const asksForNulls = (snapshot: TableSnapshot, { operator, values }: Filter): boolean =>
  snapshot.typed && isListOperator(operator) && values.includes('')

/** The values of a filter that are compared; the empty one that means null is not. */
export function comparedValues(snapshot: TableSnapshot, filter: Filter): readonly string[] {
  if (!asksForNulls(snapshot, filter)) return filter.values
  const isText = !filter.dataType && columnNamed(snapshot, filter.column).type === 'STRING'
  return isText ? filter.values : filter.values.filter((value) => value !== '')
}

/** Throws what is wrong with a filter, if something is. */
export function checkFilter(snapshot: TableSnapshot, filter: Filter): void {
  const { operator, dataType, values } = filter
  const { name, type } = columnNamed(snapshot, filter.column)
  if (isEmptyOperator(operator)) return
  if (!isListOperator(operator) && values.length !== 1)
    throw new PlatformError('storage.tables.filterValues', { operator, column: name, count: values.length })
  if (isTextOperator(operator)) return
  const fits = dataType === 'TIMESTAMP' ? FITS.TIMESTAMP : dataType ? FITS.NUMERIC : FITS[type]
  const wrong = comparedValues(snapshot, filter).find((value) => !fits(value))
  if (wrong !== undefined)
    throw new PlatformError('storage.tables.filterValue', { column: name, value: wrong.slice(0, 80), type: dataType ?? type })
}

/** A day of the calendar; DuckDB reads the rest. */
function startsWithDay(text: string): boolean {
  const [, year, month, day] = /^\s*(\d{4,6})-(\d{1,2})-(\d{1,2})(?!\d)/.exec(text) ?? []
  return calendarDay(Number(year), Number(month), Number(day)) !== undefined
}
