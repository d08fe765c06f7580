// From rows and their template to a request.

import type { Cells, InputTable } from '../../connector-kit/src/input-table.ts'
import { JSON_NUMBER, rawJSON } from '../../connector-kit/src/json-number.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { evaluate, type Scope } from '../../http-extractor/src/functions/evaluate.ts'
import { type Address, resolveAddress, sameOrigin, withQuery } from '../../http-extractor/src/http/address.ts'
import type { HttpRequest } from '../../http-extractor/src/http/exchange.ts'
import { headersOf, underHeaders } from '../../http-extractor/src/http/headers.ts'
import { isScalar, type JsonValue } from '../../http-extractor/src/json/json.ts'
import { exactJson, toText } from '../../http-extractor/src/json/text.ts'
import { formEncode } from '../../http-extractor/src/percent.ts'
import type { FieldTemplate, Lookup, RequestTemplate, Value } from './configuration.ts'
import { fill, fillPath, RowError, type Template } from './template.ts'

export interface RequestParts {
  readonly base: Address
  readonly headers: readonly (readonly [string, string])[]
  readonly scope: Scope
  readonly input: InputTable
}

const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded', text: 'text/plain; charset=utf-8' } as const

export function lookupOf({ path, query }: Lookup, row: Cells, parts: RequestParts): HttpRequest {
  return { method: 'GET', address: addressOf(path, query, row, parts), headers: underHeaders(headersOf([]), parts.headers) }
}

function addressOf(path: Template, fields: readonly FieldTemplate[], row: Cells, parts: RequestParts): Address {
  const address = resolveAddress(parts.base, fillPath(path, row))
  if (!sameOrigin(address, parts.base)) throw new UserError('The path of a request leads to another host than api.baseUrl.')
  const pairs = fields.map((field): [string, string] => [field.path.join('.'), textOf(field.value, row, parts)])
  const query = [
    ...(address.query === undefined ? [] : [address.query]),
    ...pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`),
  ].join('&')
  return query === '' ? address : withQuery(address, query)
}

/** `isList`: the body is a list, also of one row. */
export function requestOf(template: RequestTemplate, rows: readonly Cells[], parts: RequestParts, isList: boolean): HttpRequest {
  const [first = []] = rows
  const address = addressOf(template.path, template.query, first, parts)
  const own = template.headers.map((field): [string, string] => [field.path.join('.'), textOf(field.value, first, parts)])
  const broken = own.find(([, value]) => /[\r\n\0]/.test(value))
  if (broken) throw new RowError(`The value for the header ${broken[0]} has a line break.`)
  const body = bodyOf(template, rows, parts, isList)
  const type: [string, string][] =
    template.body === 'none' ? [] : [['Content-Type', template.contentType ?? TYPES[template.body]]]
  return {
    method: template.method,
    address,
    headers: underHeaders(headersOf(type, own), parts.headers),
    ...(body !== undefined && { body }),
  }
}

function bodyOf(template: RequestTemplate, rows: readonly Cells[], parts: RequestParts, isList: boolean): string | undefined {
  const [first = []] = rows
  if (template.body === 'none') return undefined
  if (template.body === 'text') {
    const lines = [fill(template.before, first), ...rows.map((row) => fill(template.text, row)), fill(template.after, first)]
    return lines.filter((line, at) => line !== '' || (at > 0 && at <= rows.length)).join('\n')
  }
  if (template.body === 'form')
    return template.fields
      .map(({ path, value }) => `${formEncode(path.join('.'))}=${formEncode(textOf(value, first, parts))}`)
      .join('&')
  if (!isList) return JSON.stringify(objectFrom(template.fields, first, parts))
  const list = rows.map((row) => objectFrom(template.fields, row, parts))
  return JSON.stringify(template.listPath.reduceRight<unknown>((inner, name) => ({ [name]: inner }), list))
}

type Members = { [name: string]: unknown }

function objectFrom(fields: readonly FieldTemplate[], row: Cells, parts: RequestParts): Members {
  const object = emptyObject()
  for (const field of fields) {
    let place = object
    for (const name of field.path.slice(0, -1)) {
      const inner = place[name]
      const next = isMembers(inner) ? inner : emptyObject()
      place[name] = next
      place = next
    }
    place[field.path.at(-1) ?? ''] = typedValue(field, row, parts)
  }
  return object
}

/** Without a prototype: a member may have any name. */
const emptyObject = (): Members => Object.create(null) as Members
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null

const BY_BASE = {
  INTEGER: 'number',
  NUMERIC: 'number',
  FLOAT: 'number',
  BOOLEAN: 'boolean',
  STRING: 'string',
  DATE: 'string',
  TIMESTAMP: 'string',
} as const

function typedValue({ value, type, path }: FieldTemplate, row: Cells, parts: RequestParts): unknown {
  if ('expression' in value) {
    const found = evaluated(value.expression, row, parts)
    return type === 'auto'
      ? JSON.parse(exactJson(found))
      : converted(isScalar(found) ? toText(found) : exactJson(found), type, path)
  }
  const { column } = value
  if (column === undefined) return converted(fill(value, row), type === 'auto' ? 'string' : type, path)
  const cell = row[column] ?? null
  if (cell === null) return null
  return converted(cell, type === 'auto' ? BY_BASE[parts.input.columns[column]!.base] : type, path) // a column of the table
}

function converted(text: string, type: Exclude<FieldTemplate['type'], 'auto'>, path: readonly string[]): unknown {
  if (type === 'string') return text
  if (text === '') return null
  if (type === 'number') {
    if (!JSON_NUMBER.test(text)) throw new RowError(`"${text.slice(0, 60)}" for ${path.join('.')} is not a number.`)
    return rawJSON(text) // digit by digit
  }
  if (type === 'boolean') {
    if (/^(true|t|1|yes|y)$/i.test(text)) return true
    if (/^(false|f|0|no|n)$/i.test(text)) return false
    throw new RowError(`"${text.slice(0, 60)}" for ${path.join('.')} is neither true nor false.`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new RowError(`The value for ${path.join('.')} is not JSON.`)
  }
}

function textOf(value: Value, row: Cells, parts: RequestParts): string {
  if (!('expression' in value)) return fill(value, row)
  const found = evaluated(value.expression, row, parts)
  return found === null ? '' : isScalar(found) ? toText(found) : exactJson(found)
}

function evaluated(expression: JsonValue, row: Cells, { scope, input }: RequestParts): JsonValue {
  const col = Object.fromEntries(input.columns.map(({ name }, at) => [name, row[at] ?? '']))
  return evaluate(expression, { ...scope, references: { ...scope.references, col } })
}
