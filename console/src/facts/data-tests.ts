// Data tests for people: what a test requires as a sentence, and the fields of each type, which become its parameters.

type Parameters = Readonly<Record<string, unknown>>

export interface TestField {
  readonly name: string
  readonly label: string
  /** `bound`: a number or a time. `json`: as the API takes it. */
  readonly kind: 'column' | 'columns' | 'values' | 'text' | 'bound' | 'number' | 'measure' | 'table' | 'sql' | 'json'
  readonly isNeeded?: boolean
  readonly hint?: string
}

const COLUMN: TestField = { name: 'column', label: 'Column', kind: 'column', isNeeded: true }
const COLUMNS: TestField = { name: 'columns', label: 'Columns', kind: 'columns', isNeeded: true }

export const MEASURES = ['rows', 'addedRows', 'nulls', 'distinct', 'sum', 'average']

export const TEST_TYPES = {
  notNull: { name: 'Columns have a value', fields: [COLUMNS] },
  unique: { name: 'Rows are unique by columns', fields: [COLUMNS] },
  acceptedValues: {
    name: 'A column has one of these values',
    fields: [COLUMN, { name: 'values', label: 'Accepted values', kind: 'values', isNeeded: true }],
  },
  range: {
    name: 'A column lies in a range',
    fields: [
      COLUMN,
      { name: 'min', label: 'From', kind: 'bound', hint: 'A number, or a date such as 2026-01-31. Empty: no limit.' },
      { name: 'max', label: 'To', kind: 'bound' },
    ],
  },
  pattern: {
    name: 'A column matches a pattern',
    fields: [
      COLUMN,
      { name: 'pattern', label: 'Pattern', kind: 'text', isNeeded: true, hint: 'A regular expression for the whole value.' },
    ],
  },
  relationships: {
    name: 'A column exists in another table',
    fields: [
      COLUMN,
      { name: 'toTable', label: 'Other table', kind: 'table', isNeeded: true },
      { name: 'toColumn', label: 'Its column', kind: 'text', isNeeded: true },
    ],
  },
  rowCount: {
    name: 'The number of rows',
    fields: [
      { name: 'min', label: 'At least', kind: 'number' },
      { name: 'max', label: 'At most', kind: 'number' },
      { name: 'maxChangePercent', label: 'Changes by at most, in percent', kind: 'number' },
    ],
  },
  usual: {
    name: 'A measure is as usual',
    fields: [
      { name: 'measure', label: 'Measure', kind: 'measure', isNeeded: true },
      { ...COLUMN, isNeeded: false, hint: 'For nulls, distinct, sum and average.' },
      {
        name: 'sensitivity',
        label: 'Sensitivity',
        kind: 'number',
        hint: 'Usual distances from the middle that still pass; 3 if empty.',
      },
      { name: 'minLoads', label: 'Loads before it judges', kind: 'number', hint: '5 if empty.' },
    ],
  },
  freshness: {
    name: 'The data is fresh',
    fields: [
      { name: 'maxAgeMinutes', label: 'At most, in minutes', kind: 'number', isNeeded: true },
      { ...COLUMN, label: 'Column with times', isNeeded: false, hint: 'Empty: the time of the last load.' },
    ],
  },
  schema: {
    name: 'The table has these columns',
    fields: [
      {
        name: 'columns',
        label: 'Columns as JSON',
        kind: 'json',
        isNeeded: true,
        hint: '[{"name": "id", "type": "INTEGER", "nullable": false}]',
      },
    ],
  },
  sql: { name: 'A query returns no rows', fields: [{ name: 'sql', label: 'Query', kind: 'sql', isNeeded: true }] },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly fields: readonly TestField[] }>>
export type TestType = keyof typeof TEST_TYPES

/** What people filled in, by name of the field. */
export type Filled = Readonly<Record<string, string | readonly string[]>>

const isEmpty = (value: Filled[string] | undefined): boolean => value === undefined || value.length === 0

/** What is still missing or cannot be read, as a sentence; undefined when the test can be created. */
export function problemOf(type: TestType, filled: Filled): string | undefined {
  const fields: readonly TestField[] = TEST_TYPES[type].fields
  const missing = fields.find((field) => field.isNeeded && isEmpty(filled[field.name]))
  if (missing) return `${missing.label}: not set yet.`
  if (fields.every(({ name }) => isEmpty(filled[name]))) return 'One of the fields is required.'
  if (type === 'range' && isEmpty(filled.min) && isEmpty(filled.max)) return 'From or to is required.'
  const wrong = fields.find(({ name, kind }) => !isEmpty(filled[name]) && readField(kind, filled[name]!) === undefined)
  return wrong && `${wrong.label}: ${wrong.kind === 'json' ? 'this is not JSON.' : 'this is not a number.'}`
}

export const parametersOf = (type: TestType, filled: Filled): Parameters =>
  Object.fromEntries(
    TEST_TYPES[type].fields
      .filter(({ name }: TestField) => !isEmpty(filled[name]))
      .map(({ name, kind }: TestField) => [name, readField(kind, filled[name]!)]),
  )

function readField(kind: TestField['kind'], filled: Filled[string]): unknown {
  if (typeof filled !== 'string') return filled
  if (kind === 'number') return Number.isFinite(Number(filled)) ? Number(filled) : undefined
  if (kind === 'bound') return Number.isFinite(Number(filled)) ? Number(filled) : filled
  if (kind !== 'json') return filled
  try {
    return JSON.parse(filled) as unknown
  } catch {
    return undefined
  }
}

const listed = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : String(value))

const span = (min: unknown, max: unknown): string =>
  max === undefined ? `at least ${min}` : min === undefined ? `at most ${max}` : `from ${min} to ${max}`

const WORDS: { readonly [T in TestType]: (p: Parameters) => string } = {
  notNull: ({ columns }) => `${listed(columns)} ${Array.isArray(columns) && columns.length > 1 ? 'have' : 'has'} a value`,
  unique: ({ columns }) => `Rows are unique by ${listed(columns)}`,
  acceptedValues: ({ column, values }) => `${column} is one of ${listed(values)}`,
  range: ({ column, min, max }) => `${column} is ${span(min, max)}`,
  pattern: ({ column, pattern }) => `${column} matches ${pattern}`,
  relationships: ({ column, toTable, toColumn }) => `${column} exists in ${toTable}, column ${toColumn}`,
  rowCount: ({ min, max, maxChangePercent }) =>
    [
      min === undefined && max === undefined ? '' : `${span(min, max)} rows`,
      maxChangePercent === undefined ? '' : `their number changes by at most ${maxChangePercent} %`,
    ]
      .filter((part) => part !== '')
      .join(', ')
      .replace(/^./, (first) => first.toUpperCase()),
  usual: ({ measure, column }) => `${column === undefined ? measure : `${measure} of ${column}`} as in earlier loads`,
  freshness: ({ column, maxAgeMinutes }) =>
    `${column === undefined ? 'The last load' : `The newest ${column}`} is at most ${maxAgeMinutes} minutes old`,
  schema: ({ columns }) =>
    `Has ${Array.isArray(columns) ? columns.map((one) => (one as { readonly name?: unknown }).name).join(', ') : 'its columns'}`,
  sql: ({ sql }) => `No rows from ${sql}`,
}

/** What must be true of the table. Tests of dbt have a check and a column. */
export function requirement(type: string, parameters: Parameters): string {
  if (type === 'dbt')
    return `${parameters.check ?? 'dbt'}${parameters.column === undefined ? '' : ` of ${parameters.column}`}, by dbt`
  return Object.hasOwn(WORDS, type) ? WORDS[type as TestType](parameters) : `${type} ${JSON.stringify(parameters)}`
}
