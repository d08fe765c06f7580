// The filter of an alias: one column, equal or not to one of some values (spec storage 2.5.8).

import { PlatformError } from '../../kit/errors.ts'
import type { AliasFilter } from './tables.store.ts'

export function readAliasFilter(value: unknown, columns: readonly string[]): AliasFilter | undefined {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) return undefined
  const refuse = (reason: string) => new PlatformError('storage.buckets.invalidAlias', { reason })
  if (typeof value !== 'object' || Array.isArray(value))
    throw refuse('The parameter "aliasFilter" should be an object with column, operator and values.')
  const { column, operator = 'eq', values } = value as Readonly<Record<string, unknown>> // an object, by the line above
  if (typeof column !== 'string' || !columns.includes(column))
    throw refuse(`The table has no column "${String(column).slice(0, 100)}" to filter by.`)
  if (operator !== 'eq' && operator !== 'ne')
    throw refuse(`The operator "${String(operator).slice(0, 40)}" is not known. Operators: eq, ne.`)
  const list = Array.isArray(values) ? values : typeof values === 'object' && values !== null ? Object.values(values) : [values]
  if (list.length === 0 || !list.every((one) => typeof one === 'string' || typeof one === 'number'))
    throw refuse('The parameter "values" should be a list of strings.')
  return { column, operator, values: list.map(String) }
}
