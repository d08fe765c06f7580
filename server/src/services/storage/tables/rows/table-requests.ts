// Requests to create, import and export: parameters in all the forms clients send them, read into the inputs of the jobs.

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import { checkDialect } from '../../../../engines/table-engine/csv/csv-dialect.ts'
import type { TableFormat } from '../../../../engines/table-engine/table-engine.ts'
import { toBoolean } from '../../../../http/scalars.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { firstRepeated } from '../../../../kit/first-repeated.ts'
import { parseMoment } from '../../../../kit/relative-time.ts'
import type { CsvOptions, ImportInput } from './table-load.ts'
import { namesFrom, type QueryInput, readTableQuery, type TableQuery } from './table-query.ts'

export interface ExportOptions {
  readonly query: TableQuery
  readonly limit?: number
  readonly gzip: boolean
  readonly fileType: TableFormat
  readonly includeInternalTimestamp: boolean
  /** One file instead of slices, CSV with a header: for people. */
  readonly merged: boolean
}

export type Fields = Readonly<Record<string, unknown>>

const MAX_IGNORED_LINES = 1_000_000

/** Delimiter, enclosure, escape, header or no header: checked at once, so that a wrong one never becomes a job. */
function readCsvOptions(fields: Fields): CsvOptions {
  const character = (name: string): string | undefined => {
    const value = fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') throw invalid(name, 'This value should be of type string.')
    return value === '\\t' ? '\t' : value
  }
  const delimiter = character('delimiter') || undefined
  const escapedBy = character('escapedBy') || undefined
  // PHP and Python clients always send the enclosure, also beside an escape character: the explicit one of the two counts.
  const enclosure = character('enclosure')
  if (delimiter !== undefined && delimiter.length !== 1)
    throw new PlatformError('invalidCsv', {
      reason: `The delimiter "${delimiter.slice(0, 20)}" is not allowed: it must be exactly one character. A tab is written \\t.`,
    })
  const dialect = {
    ...defined({ delimiter, enclosure, escapedBy }),
  }
  checkDialect(dialect)
  const columns = namesFrom('columns', fields.columns)
  return {
    ...dialect,
    ...(columns.length > 0 && { columns }),
    ...(flag(fields, 'withoutHeaders') && { withoutHeaders: true }),
    ...(isSet(fields.ignoredLinesCount) && {
      ignoredLinesCount: whole('ignoredLinesCount', fields.ignoredLinesCount, MAX_IGNORED_LINES),
    }),
  }
}

export interface CreateRequest {
  readonly name: string
  readonly displayName: string
  readonly primaryKey: readonly string[]
  readonly csv: CsvOptions
  readonly source:
    | { readonly type: 'file'; readonly fileId: number }
    | { readonly type: 'snapshot'; readonly snapshotId: number }
    | { readonly type: 'timeTravel'; readonly sourceTableId: string; readonly timestamp: number }
    | WorkspaceTable
}

/** A table or view of a workspace. */
export interface WorkspaceTable {
  readonly type: 'workspace'
  readonly workspaceId: number
  readonly tableName: string
}

export function readCreateRequest(fields: Fields, now: Date, fileId = fileIdFrom(fields)): CreateRequest {
  const name = nameFrom(fields)
  const displayName = isSet(fields.displayName) ? String(fields.displayName) : name
  const csv = readCsvOptions(fields)
  const primaryKey = primaryKeyFrom(fields.primaryKey)
  const rest = { name, displayName, primaryKey, csv }
  if (fileId !== undefined) return { ...rest, source: { type: 'file', fileId } }
  if (isSet(fields.snapshotId))
    return { ...rest, source: { type: 'snapshot', snapshotId: whole('snapshotId', fields.snapshotId) } }
  if (isSet(fields.sourceTableId)) return { ...rest, source: timeTravelFrom(fields, now) }
  const workspaceTable = workspaceTableFrom(fields)
  if (workspaceTable) return { ...rest, source: workspaceTable }
  throw noSource(
    fields,
    'One of dataFileId, dataWorkspaceId with dataObject, snapshotId and sourceTableId with timestamp is required: the source of the rows.',
  )
}

/** Missing or empty: the text that clients expect. */
export function nameFrom(fields: Fields): string {
  const { name } = fields
  if (typeof name === 'number') return String(name)
  if (typeof name === 'string' && name !== '') return name
  throw new PlatformError('storage.tables.validation', { reason: 'Table create option "name" is required and cannot be empty.' })
}

const timeTravelFrom = (fields: Fields, now: Date): CreateRequest['source'] => ({
  type: 'timeTravel',
  sourceTableId: String(fields.sourceTableId),
  timestamp: pastMoment(fields.timestamp, now).getTime(),
})

/** The time of an earlier state. */
export function pastMoment(given: unknown, now: Date): Date {
  const moment = isSet(given) ? parseMoment(String(given), now) : undefined
  if (!moment) throw new PlatformError('storage.timetravel.invalid')
  return moment
}

export type ImportRequest = Omit<ImportInput, 'tableKey' | 'source'> & {
  readonly source: { readonly type: 'file'; readonly fileId: number } | WorkspaceTable
}

export function readImportRequest(fields: Fields, fileId = fileIdFrom(fields)): ImportRequest {
  const workspaceTable = fileId === undefined ? workspaceTableFrom(fields) : undefined
  if (fileId === undefined && !workspaceTable)
    throw noSource(
      fields,
      isSet(fields.snapshotId) || isSet(fields.sourceTableId)
        ? 'A snapshot or an earlier state becomes a table of its own: create one from it with tables-async. An import takes dataFileId.'
        : 'The parameter dataFileId is required: the file to load. A table of a workspace is dataWorkspaceId with dataObject.',
    )
  const nullValues = nullValuesFrom(fields.treatValuesAsNull)
  if (isSet(fields.deduplicationStrategy) && fields.deduplicationStrategy !== 'upsert')
    throw invalid('deduplicationStrategy', 'Files are loaded with "upsert": the last row of a key wins. Omit the parameter.')
  return {
    source: workspaceTable ?? { type: 'file', fileId: fileId ?? 0 }, // one of the two, by the check above
    incremental: flag(fields, 'incremental'),
    csv: readCsvOptions(fields),
    ...(nullValues && { nullValues }),
    ...(flag(fields, 'useTimestampFromDataFile') && { useTimestampFromDataFile: true }),
  }
}

function fileIdFrom(fields: Fields): number | undefined {
  return isSet(fields.dataFileId) ? whole('dataFileId', fields.dataFileId) : undefined
}

/** `dataObject`, or the older `dataTableName`. */
function workspaceTableFrom(fields: Fields): WorkspaceTable | undefined {
  if (!isSet(fields.dataWorkspaceId)) return undefined
  const tableName = isSet(fields.dataObject) ? fields.dataObject : fields.dataTableName
  if (!isSet(tableName)) throw invalid('dataObject', 'Name the table of the workspace.')
  return { type: 'workspace', workspaceId: whole('dataWorkspaceId', fields.dataWorkspaceId), tableName: String(tableName) }
}

function noSource(fields: Fields, reason: string): PlatformError {
  if (isSet(fields.dataUrl))
    return new PlatformError('notImplemented', {
      what: 'Tables are not loaded from an address. Upload the file and send its id as dataFileId.',
    })
  return new PlatformError('storage.tables.validation', { reason }, { errors: [{ key: 'dataFileId', message: reason }] })
}

function nullValuesFrom(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined
  const values = Array.isArray(value) ? value : value === '' ? [''] : [value]
  if (values.length > 1) throw invalid('treatValuesAsNull', 'This collection should contain 1 element or less.')
  return values.map(String)
}

/** `id,name`, `["id","name"]`, `primaryKey[]=id`; names as they will be in the table. */
export function primaryKeyFrom(value: unknown): readonly string[] {
  const names = namesFrom('primaryKey', value).map(columnNameFrom)
  const twice = firstRepeated(names)
  if (twice !== undefined)
    throw new PlatformError('storage.validation.primaryKey', { reason: `The column "${twice}" is in the primary key twice.` })
  return names
}

/** A new table takes one text, and clients rely on the refusal (corrections-2, A24). */
export function refuseKeyList({ primaryKey }: Fields): void {
  if (typeof primaryKey === 'object' && primaryKey !== null)
    throw new PlatformError('storage.validation.primaryKey', {
      reason: 'The parameter "primaryKey" should be a string: the names of the columns, with commas between them.',
    })
}

const MAX_LIMIT = 10 ** 12

export function readExportOptions(fields: Fields, columns: readonly string[], now: Date): ExportOptions {
  checkExportFormat(fields)
  const fileType = formatFrom(fields.fileType)
  return {
    query: readTableQuery(fields as QueryInput, columns, now), // every member of it is unknown
    ...(isSet(fields.limit) && { limit: whole('limit', fields.limit, MAX_LIMIT) }),
    gzip: fileType !== 'parquet' && flag(fields, 'gzip'),
    fileType,
    includeInternalTimestamp: flag(fields, 'includeInternalTimestamp'),
    merged: flag(fields, 'merged'),
  }
}

function formatFrom(value: unknown): TableFormat {
  const format = isSet(value) ? String(value) : 'csv'
  if (format === 'csv' || format === 'parquet' || format === 'jsonl') return format
  throw new PlatformError('storage.tables.validation.invalidFormat', {
    format: format.slice(0, 40),
    known: 'csv, parquet or jsonl',
  })
}

/** What the original API names but does not describe is refused: a file in the wrong format is worse than none (spec storage 2.5.6). */
function checkExportFormat({ format, timezone }: Fields): void {
  if (isSet(format) && format !== 'rfc')
    throw new PlatformError('storage.tables.validation.invalidFormat', {
      format: String(format).slice(0, 40),
      known: 'rfc, or fileType=parquet or jsonl (data-preview has format=json)',
    })
  if (isSet(timezone) && !['UTC', 'ETC/UTC', 'GMT'].includes(String(timezone).toUpperCase()))
    throw invalid(
      'timezone',
      `Times are exported in UTC, "${String(timezone).slice(0, 60)}" is not supported. Omit the parameter.`,
    )
}

/** A branch named by a field, as `default` or by its number; undefined: the one of the address. */
export function branchFrom(fields: Fields, field: 'sourceBranchId' | 'branchId'): string | undefined {
  if (!isSet(fields[field])) return undefined
  return fields[field] === 'default' ? 'default' : String(whole(field, fields[field]))
}

/** Yes or no in every form clients send it (spec storage 1.6). Anything else is refused: a misspelt `incremental` must not replace a table. */
export function flag(fields: Fields, name: string): boolean {
  const value = toBoolean(fields[name] ?? false)
  if (typeof value === 'boolean') return value
  throw invalid(name, 'This value should be of type bool.')
}

export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

export function whole(field: string, value: unknown, max = Number.MAX_SAFE_INTEGER): number {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > max)
    throw invalid(field, `This value should be a whole number from 0 to ${max}.`)
  return number
}

const invalid = (field: string, reason: string) =>
  new PlatformError(
    'storage.tables.validation',
    { reason: `Invalid request:\n - ${field}: "${reason}"` },
    { errors: [{ key: field, message: reason }] },
  )
