// Filters of a subscription (spec platform 6.7): dotted paths into the payload, all of which must hold.

import { PlatformError } from '../../../kit/errors.ts'

export const OPERATORS = ['==', '!=', '<', '>', '<=', '>='] as const
export type Operator = (typeof OPERATORS)[number]

export interface Filter {
  readonly field: string
  readonly operator: Operator
  readonly value: string | number | boolean
}

/** Names are looked up when a message is sent; when an event is matched only ids are known. */
const BY_ID_INSTEAD = new Set(['job.component.name', 'job.configuration.name', 'project.name'])

function checkFilter({ field, operator, value }: Filter, index: number): void {
  const at = `filters[${index}]`
  if (BY_ID_INSTEAD.has(field))
    throw invalid(`${at}.field`, `"${field}" cannot be filtered by. Use "${field.replace(/\.name$/, '.id')}".`)
  if (operator !== '==' && operator !== '!=' && !isNumeric(value))
    throw invalid(`${at}.value`, `"${operator}" compares numbers, and "${String(value).slice(0, 60)}" is not one.`)
}

const OVER_AVERAGE: Filter = { field: 'durationOvertimePercentage', operator: '>=', value: 20 }

/** Where an event begins for a subscription that does not define it. */
const IMPLIED: Readonly<Record<string, Filter>> = {
  'job-processing-long': OVER_AVERAGE,
  'phase-job-processing-long': OVER_AVERAGE,
  'storage-nearly-full': { field: 'usedPercentage', operator: '>=', value: 90 },
}

export function withImplied(event: string, filters: readonly Filter[]): readonly Filter[] {
  const implied = IMPLIED[event]
  return implied === undefined || filters.some(({ field }) => field === implied.field) ? filters : [...filters, implied]
}

/** A subscription to jobs without filters is for those of the default branch, and shows it (corrections-2, G12). */
export const withDefaultBranch = (event: string, filters: readonly Filter[], branchId: number): readonly Filter[] =>
  filters.length === 0 && /^(phase-)?job-/.test(event)
    ? [{ field: 'branch.id', operator: '==', value: String(branchId) }]
    : filters

/** After how many hours a subscription to `table-not-updated` reports a table; undefined when it does not define it. */
export function minHours(filters: readonly Filter[]): number | undefined {
  const hours = filters.flatMap(({ field, operator, value }) =>
    field === 'hoursSinceUpdate' && (operator === '>=' || operator === '>') && Number(value) > 0 ? [Number(value)] : [],
  )
  return hours.length === 0 ? undefined : Math.max(...hours)
}

/** Rules for the filters of one event, besides those of each filter. */
export function checkFilters(event: string, filters: readonly Filter[]): void {
  filters.forEach(checkFilter)
  if (event === 'table-not-updated' && minHours(filters) === undefined)
    throw invalid(
      'filters',
      'Set the number of hours: {"field": "hoursSinceUpdate", "operator": ">=", "value": 24}. Add {"field": "table.id", "value": "in.c-shop.orders"} for one table.',
    )
}

export const invalid = (field: string, reason: string) => new PlatformError('notification.invalid', { field, reason })

const isNumeric = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value))

/** `same` compares two ids of components, which may be written as aliases. */
export const matches = (filters: readonly Filter[], payload: object, same: (a: string, b: string) => boolean): boolean =>
  filters.every((filter) => holds(filter, valueAt(payload, filter.field), same))

function holds({ field, operator, value }: Filter, actual: unknown, same: (a: string, b: string) => boolean): boolean {
  if (operator === '==' || operator === '!=') {
    const isSame = field === 'job.component.id' ? same(textOf(actual), String(value)) : isEqual(actual, value)
    return isSame === (operator === '==')
  }
  if (!isNumeric(actual) || !isNumeric(value)) return false
  const [left, right] = [Number(actual), Number(value)]
  if (operator === '<') return left < right
  if (operator === '>') return left > right
  return operator === '<=' ? left <= right : left >= right
}

/** Ids come as numbers or texts, from clients and from us. */
const isEqual = (actual: unknown, wanted: string | number | boolean): boolean =>
  isNumeric(actual) && isNumeric(wanted) ? Number(actual) === Number(wanted) : textOf(actual) === String(wanted)

export const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

export function valueAt(payload: object, path: string): unknown {
  let value: unknown = payload
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name] // an object, by the line above
  }
  return value
}
