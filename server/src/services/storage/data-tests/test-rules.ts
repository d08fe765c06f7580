// What a test on data can require, and how its parameters are read. Every problem has a sentence that names the parameter.

import { PlatformError } from '../../../kit/errors.ts'

export const TEST_TYPES = [
  'notNull',
  'unique',
  'acceptedValues',
  'range',
  'pattern',
  'relationships',
  'rowCount',
  'usual',
  'freshness',
  'schema',
  'sql',
] as const
/** What people write and the stack runs; `dbt` is what dbt runs and reports. */
export type OwnTestType = (typeof TEST_TYPES)[number]
export type TestType = OwnTestType | 'dbt'

export type Bound = number | string

/** What is compared with earlier loads of the table. */
const MEASURES = ['rows', 'addedRows', 'nulls', 'distinct', 'sum', 'average'] as const
export type Measure = (typeof MEASURES)[number]

export interface ContractColumn {
  readonly name: string
  readonly type?: string
  readonly nullable?: boolean
}

export type TestRule =
  | { readonly type: 'notNull'; readonly columns: readonly string[] }
  | { readonly type: 'unique'; readonly columns: readonly string[] }
  | { readonly type: 'acceptedValues'; readonly column: string; readonly values: readonly string[] }
  /** Numbers, or dates and times as text; one of them at least. */
  | { readonly type: 'range'; readonly column: string; readonly min?: Bound; readonly max?: Bound }
  | { readonly type: 'pattern'; readonly column: string; readonly pattern: string }
  | { readonly type: 'relationships'; readonly column: string; readonly toTable: string; readonly toColumn: string }
  | { readonly type: 'rowCount'; readonly min?: number; readonly max?: number; readonly maxChangePercent?: number }
  /** `sensitivity`: how many usual deviations from the middle of the history are still usual. */
  | {
      readonly type: 'usual'
      readonly measure: Measure
      readonly column?: string
      readonly sensitivity: number
      readonly minLoads: number
    }
  | { readonly type: 'freshness'; readonly column?: string; readonly maxAgeMinutes: number }
  | {
      readonly type: 'schema'
      readonly columns: readonly ContractColumn[]
      readonly primaryKey?: readonly string[]
      readonly allowsOtherColumns?: boolean
    }
  | { readonly type: 'sql'; readonly sql: string }
  /** `uniqueId` and `check` (not_null, unique ...) are those of dbt. */
  | { readonly type: 'dbt'; readonly uniqueId: string; readonly check: string; readonly column?: string }

const MAX_COLUMNS = 100
const MAX_CONTRACT_COLUMNS = 4096
const MAX_VALUES = 1000
/** Of all parameters as JSON. */
const MAX_PARAMETERS = 65_536
export const BASE_TYPES = ['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP']
const TIME = /^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$/

type Parameters = Readonly<Record<string, unknown>>

const KNOWN: Record<OwnTestType, readonly string[]> = {
  notNull: ['columns'],
  unique: ['columns'],
  acceptedValues: ['column', 'values'],
  range: ['column', 'min', 'max'],
  pattern: ['column', 'pattern'],
  relationships: ['column', 'toTable', 'toColumn'],
  rowCount: ['min', 'max', 'maxChangePercent'],
  usual: ['measure', 'column', 'sensitivity', 'minLoads'],
  freshness: ['column', 'maxAgeMinutes'],
  schema: ['columns', 'primaryKey', 'allowsOtherColumns'],
  sql: ['sql'],
}

export function readRule(type: OwnTestType, parameters: Parameters): TestRule {
  const known = KNOWN[type]
  const stranger = Object.keys(parameters).find((name) => !known.includes(name))
  if (stranger !== undefined) throw wrong(stranger.slice(0, 60), `is not a parameter of ${type} tests. Use ${known.join(', ')}`)
  if (JSON.stringify(parameters).length > MAX_PARAMETERS)
    throw new PlatformError('storage.dataTests.invalid', {
      reason: `The parameters have more than ${MAX_PARAMETERS} characters. Shorten them`,
    })
  return READERS[type](parameters)
}

const READERS: { readonly [T in OwnTestType]: (parameters: Parameters) => TestRule } = {
  notNull: (p) => ({ type: 'notNull', columns: texts(p, 'columns', MAX_COLUMNS) }),
  unique: (p) => ({ type: 'unique', columns: texts(p, 'columns', MAX_COLUMNS) }),
  acceptedValues: (p) => ({ type: 'acceptedValues', column: text(p, 'column'), values: values(p) }),
  range: (p) => {
    const [min, max] = [bound(p, 'min'), bound(p, 'max')]
    if (min === undefined && max === undefined) throw wrong('min', 'or max is required')
    if (min !== undefined && max !== undefined && typeof min !== typeof max)
      throw wrong('min', 'and max must both be numbers or both be times')
    if (min !== undefined && max !== undefined && min > max) throw wrong('min', 'must not be larger than max')
    return { type: 'range', column: text(p, 'column'), ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  },
  pattern: (p) => ({ type: 'pattern', column: text(p, 'column'), pattern: text(p, 'pattern', 1000) }),
  relationships: (p) => ({
    type: 'relationships',
    column: text(p, 'column'),
    toTable: text(p, 'toTable'),
    toColumn: text(p, 'toColumn'),
  }),
  rowCount: (p) => {
    const [min, max, maxChangePercent] = [count(p, 'min'), count(p, 'max'), count(p, 'maxChangePercent')]
    if (min === undefined && max === undefined && maxChangePercent === undefined)
      throw wrong('min', 'or max or maxChangePercent is required')
    if (min !== undefined && max !== undefined && min > max) throw wrong('min', 'must not be larger than max')
    return {
      type: 'rowCount',
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(maxChangePercent !== undefined && { maxChangePercent }),
    }
  },
  usual: (p) => {
    const measure = MEASURES.find((one) => one === p.measure)
    if (!measure) throw wrong('measure', `must be one of ${MEASURES.join(', ')}`)
    const hasColumn = measure !== 'rows' && measure !== 'addedRows'
    if (!hasColumn && p.column !== undefined) throw wrong('column', `is not used with the measure ${measure}`)
    const { sensitivity = 3 } = p
    if (typeof sensitivity !== 'number' || !(sensitivity >= 0.5 && sensitivity <= 100))
      throw wrong('sensitivity', 'must be a number from 0.5 to 100')
    const minLoads = count(p, 'minLoads') ?? 5
    if (minLoads < 3 || minLoads > 100) throw wrong('minLoads', 'must be a whole number from 3 to 100')
    return { type: 'usual', measure, sensitivity, minLoads, ...(hasColumn && { column: text(p, 'column') }) }
  },
  freshness: (p) => {
    const maxAgeMinutes = count(p, 'maxAgeMinutes')
    if (!maxAgeMinutes) throw wrong('maxAgeMinutes', 'must be a whole number of minutes, at least 1')
    return { type: 'freshness', maxAgeMinutes, ...(p.column !== undefined && { column: text(p, 'column') }) }
  },
  schema: (p) => {
    const { allowsOtherColumns } = p
    if (allowsOtherColumns !== undefined && typeof allowsOtherColumns !== 'boolean')
      throw wrong('allowsOtherColumns', 'must be true or false')
    return {
      type: 'schema',
      columns: contractColumns(p.columns),
      ...(p.primaryKey !== undefined && { primaryKey: texts(p, 'primaryKey', MAX_COLUMNS, 0) }),
      ...(allowsOtherColumns !== undefined && { allowsOtherColumns }),
    }
  },
  sql: (p) => ({ type: 'sql', sql: text(p, 'sql', MAX_PARAMETERS) }),
}

/** As clients see them: without the type, which is a field of its own. */
export function parametersOf({ type: _, ...parameters }: TestRule): Record<string, unknown> {
  return parameters
}

/** Columns of the tested table that a rule names. Not for contracts: they name columns that must exist, which their run checks. */
export function columnsNamed(rule: TestRule): readonly string[] {
  if (rule.type === 'notNull' || rule.type === 'unique') return rule.columns
  if (rule.type === 'dbt') return [] // dbt has them
  return 'column' in rule && rule.column !== undefined ? [rule.column] : []
}

const wrong = (name: string, reason: string) =>
  new PlatformError('storage.dataTests.invalid', { reason: `The parameter ${name} ${reason}` })

function text(p: Parameters, name: string, max = 255): string {
  const value = p[name]
  if (typeof value !== 'string' || value === '' || value.length > max || value.includes('\0'))
    throw wrong(name, `must be a text of 1 to ${max} characters`)
  return value
}

function texts(p: Parameters, name: string, max: number, min = 1): readonly string[] {
  const value = p[name]
  const isList = Array.isArray(value) && value.length >= min && value.length <= max
  if (!isList || !value.every((one) => typeof one === 'string' && one !== '' && one.length <= 255))
    throw wrong(name, `must be a list of ${min} to ${max} names of columns`)
  if (new Set(value).size < value.length) throw wrong(name, 'names a column twice')
  return value as string[] // checked above
}

function values(p: Parameters): readonly string[] {
  const given = p.values
  const isList = Array.isArray(given) && given.length >= 1 && given.length <= MAX_VALUES
  if (!isList || !given.every((one) => ['string', 'number', 'boolean'].includes(typeof one)))
    throw wrong('values', `must be a list of 1 to ${MAX_VALUES} texts or numbers`)
  return given.map(String)
}

function bound(p: Parameters, name: string): Bound | undefined {
  const value = p[name]
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
  if (typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value))) return value
  throw wrong(name, 'must be a number, or a date or time such as "2026-01-31" or "2026-01-31 12:00:00"')
}

function count(p: Parameters, name: string): number | undefined {
  const value = p[name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1e15) return value
  throw wrong(name, 'must be a whole number, at least 0')
}

function contractColumns(given: unknown): readonly ContractColumn[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_CONTRACT_COLUMNS)
    throw wrong('columns', `must be a list of 1 to ${MAX_CONTRACT_COLUMNS} objects with a name`)
  return given.map((one: unknown) => {
    const { name, type, nullable } = (typeof one === 'object' && one !== null ? one : {}) as Parameters
    if (typeof name !== 'string' || name === '') throw wrong('columns', 'must be a list of objects with a name')
    if (type !== undefined && !(typeof type === 'string' && BASE_TYPES.includes(type)))
      throw wrong('columns', `has an unknown type for ${name.slice(0, 60)}. Use one of ${BASE_TYPES.join(', ')}`)
    if (nullable !== undefined && typeof nullable !== 'boolean')
      throw wrong('columns', `has a nullable for ${name.slice(0, 60)} that is not true or false`)
    return { name, ...(type !== undefined && { type: String(type) }), ...(nullable !== undefined && { nullable }) }
  })
}
