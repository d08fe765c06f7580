// The columns of a sink (spec platform 7.1): what each takes from a record.

import { PlatformError } from '../../../kit/errors.ts'

/** A record as it waits on disk. */
export interface StreamRecord {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly ip: string
  readonly headers: Readonly<Record<string, string>>
  /** As it was sent. */
  readonly body: string
  readonly isForm: boolean
}

export type ColumnType = 'uuid' | 'datetime' | 'ip' | 'body' | 'headers' | 'path' | 'template'

export interface Column {
  readonly type: ColumnType
  readonly name: string
  readonly path?: string | undefined
  readonly defaultValue?: string | undefined
  /** Texts without quotes; other values are JSON either way. */
  readonly rawString?: boolean | undefined
  readonly template?: { readonly language: string; readonly content: string } | undefined
}

export const invalidStream = (field: string, reason: string) => new PlatformError('stream.invalid', { field, reason })

export function checkColumn(column: Column, index: number): void {
  const at = `table.mapping.columns[${index}]`
  if (column.type === 'path' && stepsOf(column.path ?? '').length === 0)
    throw invalidStream(`${at}.path`, 'A path column needs a path into the body, such as order.items[0].price.')
  if (column.type !== 'template') return
  if (!column.template) throw invalidStream(`${at}.template`, 'A template column needs a template.')
  if (column.template.language !== 'text')
    throw invalidStream(
      `${at}.template.language`,
      `"${column.template.language.slice(0, 40)}" templates are not run here. Use "text", with {{ body.path }}, {{ header.Name }}, {{ ip }}, {{ datetime }} or {{ uuid }}.`,
    )
}

/** One value for each column, in order. The body is parsed once. */
export function rowOf(columns: readonly Column[], record: StreamRecord): string[] {
  let parsed: unknown
  const body = () => {
    parsed ??= parsedBody(record)
    return parsed
  }
  return columns.map((column) => columnValue(column, record, body))
}

function columnValue(column: Column, record: StreamRecord, body: () => unknown): string {
  switch (column.type) {
    case 'uuid':
      return record.id
    case 'datetime':
      return new Date(record.at).toISOString()
    case 'ip':
      return record.ip
    case 'body':
      return record.body
    case 'headers':
      return JSON.stringify(record.headers)
    case 'path':
      return textAt(body(), column.path ?? '', column.rawString ?? false) ?? column.defaultValue ?? ''
    case 'template':
      return (column.template?.content ?? '').replace(PLACEHOLDER, (_, name: string) => placeholder(name, record, body))
  }
}

const PLACEHOLDER = /\{\{\s*([^{}]{1,200}?)\s*\}\}/g

function placeholder(name: string, record: StreamRecord, body: () => unknown): string {
  if (name === 'uuid') return record.id
  if (name === 'datetime') return new Date(record.at).toISOString()
  if (name === 'ip') return record.ip
  if (name === 'body') return record.body
  if (name.startsWith('header.')) return record.headers[name.slice('header.'.length).toLowerCase()] ?? ''
  return name.startsWith('body.') ? (textAt(body(), name.slice('body.'.length), true) ?? '') : ''
}

/** `a.b[0].c`, `a["b.c"]`; undefined when there is nothing. */
function textAt(body: unknown, path: string, isRaw: boolean): string | undefined {
  let value = body
  for (const step of stepsOf(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step] // an object or a list, by the line above
  }
  return isRaw && typeof value === 'string' ? value : JSON.stringify(value)
}

/** A name, a number or a quoted name in brackets. */
const STEP = /\[\s*"([^"]*)"\s*\]|\[\s*'([^']*)'\s*\]|([^.[\]]+)/g

const stepsOf = (path: string): string[] => [...path.matchAll(STEP)].map(([, double, single, name]) => double ?? single ?? name!)

/** Undefined when the body is neither JSON nor a form: then it has no paths. */
function parsedBody({ body, isForm }: StreamRecord): unknown {
  if (isForm) return Object.fromEntries(new URLSearchParams(body))
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
