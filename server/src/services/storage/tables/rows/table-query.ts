// Which rows and columns an export, a preview or a deletion means: every form clients send, read into one query of the engine.

import { isEmptyOperator } from '../../../../engines/table-engine/filter-values.ts'
import {
  FILTER_DATA_TYPES,
  type Filter,
  type FilterDataType,
  type FilterOperator,
  type OrderBy,
} from '../../../../engines/table-engine/table-engine.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { parseMoment } from '../../../../kit/relative-time.ts'

/** The parameters as they arrived. `unknown` ones come in several shapes. */
export interface QueryInput {
  readonly columns?: unknown
  readonly changedSince?: unknown
  readonly changedUntil?: unknown
  readonly days?: unknown
  readonly whereColumn?: unknown
  readonly whereValues?: unknown
  readonly whereOperator?: unknown
  readonly whereFilters?: unknown
  readonly orderBy?: unknown
  readonly fulltextSearch?: unknown
}

export interface TableQuery {
  readonly columns?: readonly string[]
  readonly filters: readonly Filter[]
  readonly changedSince?: number
  readonly changedUntil?: number
  readonly orderBy: readonly OrderBy[]
  readonly search?: string
}

const OPERATORS: Readonly<Record<string, FilterOperator>> = {
  eq: 'eq',
  ne: 'ne',
  neq: 'ne',
  gt: 'gt',
  ge: 'ge',
  lt: 'lt',
  le: 'le',
  contains: 'contains',
  startsWith: 'startsWith',
  isEmpty: 'isEmpty',
  isNotEmpty: 'isNotEmpty',
}
const MAX_VALUES = 10_000
const DAY_MS = 86_400_000

export function readTableQuery(input: QueryInput, columns: readonly string[], now: Date): TableQuery {
  const chosen = readColumns(input.columns, columns)
  const filters = [...readWhereColumn(input, columns), ...readWhereFilters(input.whereFilters, columns, now)]
  const search = isAbsent(input.fulltextSearch) ? undefined : textOf('fulltextSearch', input.fulltextSearch)
  if (search !== undefined && filters.length > 0) throw refusal('Cannot use fulltextSearch and whereFilters at the same time')
  const since = isAbsent(input.changedSince) ? daysAgo(input.days, now) : momentOf('changedSince', input.changedSince, now)
  const until = isAbsent(input.changedUntil) ? undefined : momentOf('changedUntil', input.changedUntil, now)
  return {
    filters,
    orderBy: readOrderBy(input.orderBy, columns),
    ...(chosen && { columns: chosen }),
    ...defined({ changedSince: since, changedUntil: until, search }),
  }
}

/** The filters of a deletion; an unknown column has a code of its own there (spec storage 2.5.7). */
export function readDeletion(input: QueryInput, columns: readonly string[], now: Date): TableQuery {
  try {
    return readTableQuery({ ...input, columns: undefined, orderBy: undefined }, columns, now)
  } catch (error) {
    const column = error instanceof PlatformError ? error.details.column : undefined
    throw column === undefined ? error : cannotFilterBy('storage.tables.columnNotExists', String(column))
  }
}

/** A filter whose values are those of a column of a table in a workspace, when the job runs. */
export interface WorkspaceFilter {
  readonly filter: Filter
  readonly by: { readonly workspaceId: number; readonly table: string; readonly column: string }
}

/** The filters of a deletion that name a table of a workspace, and the other parameters without them. */
export function splitWorkspaceFilters(
  input: QueryInput,
  columns: readonly string[],
  now: Date,
): { readonly rest: QueryInput; readonly workspaceFilters: readonly WorkspaceFilter[] } {
  const items = itemsFrom('whereFilters', input.whereFilters)
  const isByWorkspace = (item: Readonly<Record<string, unknown>>) => !isAbsent(item.valuesByTableInWorkspace)
  const workspaceFilters = items.flatMap((item, i) => (isByWorkspace(item) ? [workspaceFilter(item, i, columns, now)] : []))
  if (workspaceFilters.length === 0) return { rest: input, workspaceFilters }
  return { rest: { ...input, whereFilters: items.filter((item) => !isByWorkspace(item)) }, workspaceFilters }
}

function workspaceFilter(
  item: Readonly<Record<string, unknown>>,
  i: number,
  columns: readonly string[],
  now: Date,
): WorkspaceFilter {
  const { values, valuesByTableInWorkspace: by, ...rest } = item
  const field = `whereFilters[${i}][valuesByTableInWorkspace]`
  if (!isAbsent(values)) throw refusal(`Send either whereFilters[${i}][values] or ${field}, not both.`)
  const given = (typeof by === 'object' ? by : {}) as Readonly<Record<string, unknown>> // isAbsent has ruled out null
  const lacking = ['workspaceId', 'table', 'column'].find((name) => isAbsent(given[name]))
  if (lacking !== undefined) throw missing(`${field}[${lacking}]`)
  if (!/^\d{1,15}$/.test(String(given.workspaceId))) throw refusal(`${field}[workspaceId] should be the id of a workspace.`)
  const filter = readFilter({ ...rest, values: ['any'] }, i, columns, now)
  if (filter.operator !== 'eq' && filter.operator !== 'ne') throw refusal(`With ${field} use the operator eq or ne.`)
  const table = textOf(`${field}[table]`, given.table)
  const column = textOf(`${field}[column]`, given.column)
  return { filter, by: { workspaceId: Number(given.workspaceId), table, column } }
}

export const hasNoFilter = (query: TableQuery): boolean =>
  query.filters.length === 0 && query.changedSince === undefined && query.changedUntil === undefined && query.search === undefined

/** A comma-joined string or a list; undefined when all columns are meant. */
function readColumns(value: unknown, columns: readonly string[]): readonly string[] | undefined {
  const names = namesFrom('columns', value)
  if (names.length === 0) return undefined
  const unknown = names.find((name) => !columns.includes(name))
  if (unknown !== undefined)
    throw new PlatformError('storage.tables.validation.columnNotExists', { column: unknown.slice(0, 100) })
  return [...new Set(names)]
}

/** `a,b`, `["a","b"]` or `{"0":"a"}` of a form. */
export function namesFrom(field: string, value: unknown): string[] {
  if (isAbsent(value)) return []
  const list = typeof value === 'string' ? value.split(',') : listOf(value)
  if (!list?.every((name) => typeof name === 'string' || typeof name === 'number'))
    throw refusal(`The parameter "${field}" should be a list of names, or one string with commas between them.`)
  return list.map((name) => String(name).trim()).filter((name) => name !== '')
}

/** The older form: whereColumn, whereValues, whereOperator. */
function readWhereColumn({ whereColumn, whereValues, whereOperator }: QueryInput, columns: readonly string[]): Filter[] {
  if (isAbsent(whereColumn)) {
    if (!isAbsent(whereValues)) throw missing('whereColumn')
    return []
  }
  const column = textOf('whereColumn', whereColumn)
  if (isAbsent(whereValues)) throw valuesMissing()
  const values = typeof whereValues === 'string' ? [whereValues] : valuesFrom('whereValues', whereValues)
  const operator = operatorFrom(isAbsent(whereOperator) ? 'eq' : whereOperator)
  if (operator !== 'eq' && operator !== 'ne')
    throw refusal(
      `Invalid where operator ${String(whereOperator).slice(0, 40)}. With whereColumn use eq or ne; whereFilters has more.`,
    )
  if (!columns.includes(column)) throw cannotFilterBy('storage.tables.validation.columnNotExists', column)
  return [{ column, operator, values }]
}

function readWhereFilters(value: unknown, columns: readonly string[], now: Date): Filter[] {
  return itemsFrom('whereFilters', value).map((item, i) => readFilter(item, i, columns, now))
}

/** A list of objects, also as JSON text; the texts are those that clients compare (a PHP array is a list or an object). */
function itemsFrom(field: 'whereFilters' | 'orderBy', value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (isAbsent(value)) return []
  const parsed = typeof value === 'string' ? jsonOf(value) : value
  if (typeof parsed !== 'object' || parsed === null)
    throw refusal(`Parameter "${field}" should be an array, but parameter contains:\n${shortJson(parsed)}`)
  return Object.values(parsed).map((item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      throw refusal(`All items in param "${field}" should be an arrays, but parameter contains:\n${shortJson(parsed)}`)
    return item as Readonly<Record<string, unknown>> // an object, by the line above
  })
}

function readFilter(item: Readonly<Record<string, unknown>>, i: number, columns: readonly string[], now: Date): Filter {
  if (isAbsent(item.column)) throw missing(`whereFilters[${i}][column]`)
  if (!isAbsent(item.valuesByTableInWorkspace))
    throw refusal(`whereFilters[${i}][valuesByTableInWorkspace] chooses rows to delete only. Send "values".`)
  const operator = operatorFrom(isAbsent(item.operator) ? 'eq' : item.operator)
  const column = textOf(`whereFilters[${i}][column]`, item.column)
  if (isEmptyOperator(operator)) {
    checkColumn(column, columns)
    return { column, operator, values: [] }
  }
  if (item.values === undefined || item.values === null) throw missing(`whereFilters[${i}][values]`, 'storage.tables.validation')
  const dataType = isAbsent(item.dataType) ? undefined : dataTypeFrom(item.dataType)
  const given = valuesFrom(`whereFilters[${i}][values]`, item.values)
  const values = isMoment(item.type) ? given.map((value) => momentText(`whereFilters[${i}][values]`, value, now)) : given
  if (values.length !== 1 && operator !== 'eq' && operator !== 'ne')
    throw new PlatformError('storage.tables.filterValues', { operator, column, count: values.length })
  checkColumn(column, columns)
  return { column, operator, values, ...(dataType && { dataType }) }
}

function readOrderBy(value: unknown, columns: readonly string[]): OrderBy[] {
  return itemsFrom('orderBy', value).map((order, i) => {
    if (isAbsent(order.column)) throw missing(`orderBy[${i}][column]`)
    const column = textOf(`orderBy[${i}][column]`, order.column)
    const given = isAbsent(order.order) ? 'ASC' : textOf(`orderBy[${i}][order]`, order.order)
    const direction = given.toUpperCase()
    if (direction !== 'ASC' && direction !== 'DESC')
      throw refusal(`Invalid sort order ${given.slice(0, 40)}. Available orders are [DESC|ASC]`)
    checkColumn(column, columns)
    const dataType = isAbsent(order.dataType) ? undefined : dataTypeFrom(order.dataType)
    return { column, order: direction, ...(dataType && { dataType }) }
  })
}

function checkColumn(column: string, columns: readonly string[]): void {
  const shown = column.slice(0, 100)
  if (!columns.includes(column))
    throw new PlatformError('storage.tables.validation', {
      reason: `Can't filter by column ${shown}, column does not exist`,
      column: shown,
    })
}

/** SCALAR compares as it is; TIME_STRING with the moment the words mean now, written as tables write times. */
function isMoment(type: unknown): boolean {
  const name = isAbsent(type) ? 'SCALAR' : String(type).toUpperCase()
  if (name !== 'SCALAR' && name !== 'TIME_STRING')
    throw refusal(`Filter type ${String(type).slice(0, 40)} not recognized. Possible types are [SCALAR|TIME_STRING]`)
  return name === 'TIME_STRING'
}

const momentText = (field: string, value: string, now: Date): string =>
  new Date(momentOf(field, value, now)).toISOString().replace('T', ' ').slice(0, 19)

function operatorFrom(value: unknown): FilterOperator {
  const operator = typeof value === 'string' && Object.hasOwn(OPERATORS, value) ? OPERATORS[value] : undefined
  if (!operator) throw refusal(`Invalid where operator ${String(value).slice(0, 40)}`)
  return operator
}

function dataTypeFrom(value: unknown): FilterDataType {
  const type = FILTER_DATA_TYPES.find((known) => known === String(value).toUpperCase())
  if (!type) throw refusal(`Data type ${String(value).slice(0, 40)} not recognized. Possible datatypes are [INTEGER|DOUBLE]`)
  return type
}

function valuesFrom(field: string, value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'object' && value !== null ? Object.values(value) : [value]
  if (list.length > MAX_VALUES)
    throw refusal(`The parameter "${field}" has ${list.length} values; at most ${MAX_VALUES} are allowed.`)
  return list.map((one: unknown) => {
    if (typeof one === 'string') return one
    if (typeof one === 'number' || typeof one === 'boolean') return String(one)
    if (one === null) return ''
    throw refusal(`The parameter "${field}" should be a list of strings.`)
  })
}

const daysAgo = (days: unknown, now: Date): number | undefined => {
  if (isAbsent(days)) return undefined
  const count = Number(days)
  if (!Number.isInteger(count) || count < 0 || count > 100_000) throw refusal('The parameter "days" should be a whole number.')
  return now.getTime() - count * DAY_MS
}

function momentOf(field: string, value: unknown, now: Date): number {
  const moment = parseMoment(textOf(field, value), now)
  if (moment) return moment.getTime()
  throw refusal(
    `Invalid "${field}" parameter: "${String(value).slice(0, 60)}" is not a time. Use unix seconds, an ISO date or a phrase such as "-2 days".`,
  )
}

function textOf(field: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw refusal(`The parameter "${field}" should be a string.`)
}

/** Lists arrive as lists, or, from forms, as objects with digits for names. */
function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || value === null) return undefined
  const entries = Object.entries(value)
  return entries.every(([key]) => /^\d+$/.test(key)) ? entries.map(([, item]) => item as unknown) : undefined
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Filters by one column, of exports and of aliases, in the words clients compare. */
export function cannotFilterBy(
  code: 'storage.tables.validation.columnNotExists' | 'storage.tables.columnNotExists' | 'storage.buckets.invalidAlias',
  given: string,
): PlatformError {
  const column = given.slice(0, 100)
  const text = `Filter validation: Cannot filter by column "${column}", column does not exist`
  return new PlatformError(code, { column }, { text })
}

function valuesMissing(): PlatformError {
  const text = 'To use "whereColumn" specify "whereValues".'
  const errors = [{ key: 'whereValues', message: text }]
  return new PlatformError('validation.failed', { field: 'whereValues', reason: text }, { errors, text })
}

const isAbsent = (value: unknown): value is undefined | null | '' => value === undefined || value === null || value === ''
const shortJson = (value: unknown): string => (JSON.stringify(value) ?? 'null').slice(0, 500)
const refusal = (reason: string) => new PlatformError('storage.tables.validation', { reason })

function missing(field: string, code: 'validation.failed' | 'storage.tables.validation' = 'validation.failed'): PlatformError {
  const message = 'This field is missing.'
  const errors = [{ key: field, message }]
  return code === 'validation.failed'
    ? new PlatformError(code, { field, reason: message }, { errors })
    : new PlatformError(code, { reason: `Invalid request:\n - ${field}: "${message}"` }, { errors })
}
