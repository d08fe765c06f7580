// What one row of the configuration sends, and how.

import { getHeapStatistics } from 'node:v8'
import type { InputColumn, InputTable } from '../../connector-kit/src/input-table.ts'
import {
  choiceAt,
  type Fields,
  flagAt,
  isEmpty,
  listAt,
  numberAt,
  objectAt,
  refuseUnknown,
  textAt,
} from '../../connector-kit/src/settings.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { JsonValue } from '../../http-extractor/src/json/json.ts'
import { parseTemplate, type Template } from './template.ts'

const OPERATIONS = ['upsert', 'create', 'update', 'delete'] as const
export type Operation = (typeof OPERATIONS)[number]

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
const BODIES = ['json', 'form', 'text', 'none'] as const
const FIELD_TYPES = ['auto', 'string', 'number', 'boolean', 'json'] as const

/** A text with columns in it, or an expression of the extractor's functions. */
export type Value = Template | { readonly expression: JsonValue }

export interface FieldTemplate {
  /** Members of objects, joined by dots. */
  readonly path: readonly string[]
  readonly value: Value
  readonly type: (typeof FIELD_TYPES)[number]
}

export interface RequestTemplate {
  readonly method: (typeof METHODS)[number]
  readonly path: Template
  readonly query: readonly FieldTemplate[]
  readonly headers: readonly FieldTemplate[]
  readonly body: (typeof BODIES)[number]
  readonly fields: readonly FieldTemplate[]
  readonly text: Template
  /** Around the texts of all rows, such as the root of an XML document. */
  readonly before: Template
  readonly after: Template
  readonly contentType: string | undefined
  /** Where in the body the list of rows is, of requests with many rows. */
  readonly listPath: readonly string[]
}

/** A request that finds a record: what is found is not created again. */
export interface Lookup {
  readonly path: Template
  readonly query: readonly FieldTemplate[]
  /** Where the answer has the records. */
  readonly resultsPath: string
  /** Before every request that creates; else only before those whose first attempt had no answer. */
  readonly always: boolean
}

export interface Delivery {
  /** Columns by their places. */
  readonly key: readonly number[]
  readonly operationAt: number | undefined
  readonly requests: ReadonlyMap<Operation, RequestTemplate>
  readonly rowsPerRequest: number
  readonly groupBy: readonly number[]
  readonly idempotencyHeader: string | undefined
  readonly lookup: Lookup | undefined
  readonly answerFields: readonly { readonly column: string; readonly path: string }[]
  /** Where the answer to a request with many rows has one element for each. */
  readonly resultsPath: string | undefined
  /** In such an element: what is not empty is the reason of a rejection. */
  readonly resultErrorPath: string | undefined
  readonly maxFailedPercent: number
  readonly resend: 'failed' | 'all' | 'none'
  readonly concurrency: number
  readonly perSecond: number | undefined
  readonly receiptsTable: string
  readonly dryRun: boolean
}

const SHARED = ['api', 'config', 'aws', 'sshProxy', 'testPath', '#bearerToken']
const FIELDS = [
  ...['primaryKey', 'operationColumn', 'requests', 'rowsPerRequest', 'groupBy', 'idempotencyHeader', 'answerFields'],
  ...['resultsPath', 'resultErrorPath', 'maxFailedPercent', 'resend', 'concurrency', 'maxRequestsPerSecond'],
  ...['receiptsTable', 'dryRun', 'lookup'],
]

/** What the input mapping calls the kind of change: insert, update or delete. */
const CHANGE_COLUMN = '_change'
const MAX_CONCURRENCY = 100
const MAX_ROWS = Math.min(10_000, Math.floor(getHeapStatistics().heap_size_limit / 2 ** 15))

export function readDelivery(parameters: Fields, input: InputTable): Delivery {
  refuseUnknown(parameters, [...SHARED, ...FIELDS], 'parameters')
  const placeOf = (name: string, place: string): number => {
    const at = input.columns.findIndex((column) => column.name === name)
    if (at === -1)
      throw new UserError(
        `${place} names "${name.slice(0, 60)}", which is not a column of ${input.id}. It has ${input.columns.map((column) => column.name).join(', ')}.`,
      )
    return at
  }
  const changes = input.columns.some(({ name }) => name === CHANGE_COLUMN) ? CHANGE_COLUMN : ''
  const operationColumn = textAt(parameters, 'operationColumn', 'operationColumn') || changes
  const rowsPerRequest = wholeAt(parameters, 'rowsPerRequest', 1, MAX_ROWS)
  const receiptsTable = textAt(parameters, 'receiptsTable', 'receiptsTable') || 'receipts'
  if (!/^[A-Za-z0-9_-]{1,96}$/.test(receiptsTable))
    throw new UserError('receiptsTable must have letters, digits, underscores and dashes only, 96 at most.')
  const idempotencyHeader = textAt(parameters, 'idempotencyHeader', 'idempotencyHeader') || undefined
  if (idempotencyHeader !== undefined && !/^[A-Za-z0-9-]+$/.test(idempotencyHeader))
    throw new UserError('idempotencyHeader must be the name of a header, such as Idempotency-Key.')
  const maxFailedPercent = numberAt(parameters, 'maxFailedPercent', 'maxFailedPercent') ?? 10
  if (maxFailedPercent > 100) throw new UserError('maxFailedPercent must be at most 100.')
  const rate = numberAt(parameters, 'maxRequestsPerSecond', 'maxRequestsPerSecond')
  if (rate === 0) throw new UserError('maxRequestsPerSecond must be above 0.')
  return {
    key: (listAt(parameters, 'primaryKey', 'primaryKey') ?? input.primaryKey).map((name) => placeOf(name, 'primaryKey')),
    operationAt: operationColumn === '' ? undefined : placeOf(operationColumn, 'operationColumn'),
    requests: readRequests(parameters, input, operationColumn, rowsPerRequest),
    rowsPerRequest,
    groupBy: (listAt(parameters, 'groupBy', 'groupBy') ?? []).map((name) => placeOf(name, 'groupBy')),
    idempotencyHeader,
    lookup: readLookup(parameters, input, rowsPerRequest),
    answerFields: readAnswerFields(parameters),
    resultsPath: textAt(parameters, 'resultsPath', 'resultsPath') || undefined,
    resultErrorPath: textAt(parameters, 'resultErrorPath', 'resultErrorPath') || undefined,
    maxFailedPercent,
    resend: choiceAt(parameters, 'resend', ['failed', 'all', 'none']),
    concurrency: wholeAt(parameters, 'concurrency', 4, MAX_CONCURRENCY),
    perSecond: rate,
    receiptsTable,
    dryRun: flagAt(parameters, 'dryRun', 'dryRun', false),
  }
}

function readRequests(
  parameters: Fields,
  input: InputTable,
  operationColumn: string,
  rowsPerRequest: number,
): ReadonlyMap<Operation, RequestTemplate> {
  if (isEmpty(parameters.requests)) throw new UserError(`requests is missing: what is sent for ${OPERATIONS.join(', ')}.`)
  const given = objectAt(parameters, 'requests', 'requests')
  refuseUnknown(given, OPERATIONS, 'requests')
  const requests = new Map<Operation, RequestTemplate>()
  for (const operation of OPERATIONS)
    if (!isEmpty(given[operation]))
      requests.set(
        operation,
        readRequest(objectAt(given, operation, `requests.${operation}`), operation, input, { operationColumn, rowsPerRequest }),
      )
  if (requests.size === 0) throw new UserError(`requests is empty: set at least one of ${OPERATIONS.join(', ')}.`)
  if (operationColumn === '' && requests.size > 1)
    throw new UserError('requests has more than one operation: name the column that says which in operationColumn.')
  if (operationColumn === CHANGE_COLUMN) {
    const missing = (['create', 'update', 'delete'] as const).find(
      (operation) => !requests.has(operation) && (operation === 'delete' || !requests.has('upsert')),
    )
    if (missing)
      throw new UserError(
        `requests.${missing} is missing: the changes of ${input.id} have inserted, updated and deleted rows, and each kind needs a request (upsert stands for create and update).`,
      )
  }
  return requests
}

function readLookup(parameters: Fields, input: InputTable, rowsPerRequest: number): Lookup | undefined {
  if (isEmpty(parameters.lookup)) return undefined
  const given = objectAt(parameters, 'lookup', 'lookup')
  refuseUnknown(given, ['path', 'query', 'resultsPath', 'always'], 'lookup')
  const path = textAt(given, 'path', 'lookup.path')
  const query = readFields(given, 'query', 'lookup', input)
  const always = flagAt(given, 'always', 'lookup.always', false)
  const resultsPath = textAt(given, 'resultsPath', 'lookup.resultsPath') || '.'
  if (path === '' && query.length === 0 && !always) return undefined // a form that was left empty
  if (path === '') throw new UserError('lookup.path is missing: the address that finds a record, such as contacts/{{id}}.')
  if (rowsPerRequest > 1) throw new UserError('lookup is for one row per request: set rowsPerRequest to 1.')
  return { path: parseTemplate(path, input, 'lookup.path'), query, resultsPath, always }
}

interface Around {
  readonly operationColumn: string
  readonly rowsPerRequest: number
}

function readRequest(
  given: Fields,
  operation: Operation,
  input: InputTable,
  { operationColumn, rowsPerRequest }: Around,
): RequestTemplate {
  const place = `requests.${operation}`
  refuseUnknown(
    given,
    ['method', 'path', 'query', 'headers', 'body', 'fields', 'text', 'textBefore', 'textAfter', 'contentType', 'listPath'],
    place,
  )
  const body = choiceAt(given, 'body', BODIES, `${place}.body`, operation === 'delete' ? 'none' : 'json')
  if (body === 'form' && rowsPerRequest > 1) throw new UserError(`${place}.body "form" is for one row per request.`)
  const text = textAt(given, 'text', `${place}.text`)
  if ((body === 'text') !== (text !== '')) throw new UserError(`${place}: text and the body "text" belong together.`)
  if (body !== 'text' && (textAt(given, 'textBefore', place) || textAt(given, 'textAfter', place)))
    throw new UserError(`${place}: textBefore and textAfter are for the body "text".`)
  const fields = readFields(given, 'fields', place, input)
  const contentType = textAt(given, 'contentType', `${place}.contentType`) || undefined
  if (contentType !== undefined && !/^[\x20-\x7e]+$/.test(contentType))
    throw new UserError(`${place}.contentType is not a content type.`)
  return {
    method: choiceAt(
      given,
      'method',
      METHODS,
      `${place}.method`,
      operation === 'delete' ? 'DELETE' : operation === 'create' ? 'POST' : 'PUT',
    ),
    path: parseTemplate(textAt(given, 'path', `${place}.path`), input, `${place}.path`),
    query: readFields(given, 'query', place, input),
    headers: readFields(given, 'headers', place, input),
    body,
    fields:
      fields.length > 0
        ? fields
        : input.columns.flatMap((column, at) => (column.name === operationColumn ? [] : [ownField(column, at)])),
    text: parseTemplate(text, input, `${place}.text`),
    before: parseTemplate(textAt(given, 'textBefore', `${place}.textBefore`), input, `${place}.textBefore`),
    after: parseTemplate(textAt(given, 'textAfter', `${place}.textAfter`), input, `${place}.textAfter`),
    contentType,
    listPath: pathOf(textAt(given, 'listPath', `${place}.listPath`)),
  }
}

const ownField = ({ name }: InputColumn, at: number): FieldTemplate => ({
  path: [name],
  value: { parts: [{ at, write: (value) => value }], column: at },
  type: 'auto',
})

const pathOf = (text: string): readonly string[] => (text === '' ? [] : text.split('.'))

function readFields(given: Fields, name: string, place: string, input: InputTable): readonly FieldTemplate[] {
  const list = given[name]
  if (isEmpty(list)) return []
  if (!Array.isArray(list)) throw new UserError(`${place}.${name} must be a list.`)
  return list.map((entry: unknown, at) => {
    const where = `${place}.${name}[${at}]`
    const field = objectAt({ entry }, 'entry', where)
    refuseUnknown(field, ['name', 'value', 'type'], where)
    const path = textAt(field, 'name', `${where}.name`)
    if (path === '') throw new UserError(`${where}.name is missing.`)
    const isExpression = typeof field.value === 'object' && field.value !== null
    return {
      path: name === 'fields' ? pathOf(path) : [path],
      value: isExpression
        ? { expression: field.value as JsonValue } // by its parser
        : parseTemplate(textAt(field, 'value', `${where}.value`), input, `${where}.value`),
      type: choiceAt(field, 'type', FIELD_TYPES, `${where}.type`),
    }
  })
}

const OWN_COLUMNS = ['delivery', 'seq', 'key', 'operation', 'status', 'http_status', 'message', 'attempts', 'repeated', 'sent_at']

function readAnswerFields(parameters: Fields): Delivery['answerFields'] {
  const { answerFields } = parameters
  if (isEmpty(answerFields)) return []
  if (!Array.isArray(answerFields)) throw new UserError('answerFields must be a list.')
  const read = answerFields.map((entry: unknown, at) => {
    const where = `answerFields[${at}]`
    const field = objectAt({ entry }, 'entry', where)
    refuseUnknown(field, ['column', 'path'], where)
    const [column, path] = [textAt(field, 'column', `${where}.column`), textAt(field, 'path', `${where}.path`)]
    if (!/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(column) || OWN_COLUMNS.includes(column))
      throw new UserError(
        `${where}.column must be a name of letters, digits and underscores, other than ${OWN_COLUMNS.join(', ')}.`,
      )
    if (path === '') throw new UserError(`${where}.path is missing: where the value is in the answer.`)
    return { column, path }
  })
  const names = read.map(({ column }) => column)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw new UserError(`Two entries of answerFields have the column "${repeated}".`)
  return read
}

function wholeAt(fields: Fields, name: string, fallback: number, most: number): number {
  const value = numberAt(fields, name, name) ?? fallback
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new UserError(`${name} must be a whole number from 1 to ${most}.`)
  return value
}
