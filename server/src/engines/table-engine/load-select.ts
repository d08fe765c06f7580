// From the fields of a file (f0, f1, ... as text) to the columns of a table. Untyped tables take text as it is; typed ones convert,
// and a value that cannot be converted stops the load with its row and column.

import { join } from 'node:path'
import { dictionaryBytes } from '../../kit/dictionary-bytes.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Database } from './database.ts'
import { LOAD_TIME } from './relation.ts'
import { type Column, columnIndex, LOAD_TIME_COLUMN } from './snapshot.ts'
import { identifier, literal, sqlType, timestamp, tryConvert } from './sql.ts'
import type { LoadSlicesJob } from './worker-protocol.ts'

const BAD_VALUE = 'millrace: bad value'
const FAIL = `error('${BAD_VALUE}')`

export const isBadValue = (error: unknown): boolean => error instanceof Error && error.message.includes(BAD_VALUE)

/** `SELECT f0 AS "id", ... , epoch_ms(...) AS "_timestamp" FROM <csv>` */
export function loadSelect(job: LoadSlicesJob, csv: string): string {
  const columns = job.snapshot.columns.map((column) => `${columnValue(job, column)} AS ${identifier(column.name)}`)
  const time = job.fileColumns.indexOf(LOAD_TIME_COLUMN)
  const loadTime = time === -1 ? timestamp(job.loadedAt) : `coalesce(${tryConvert(LOAD_TIME, `f${time}`)}, ${FAIL})`
  return `SELECT ${columns.join(', ')}, ${loadTime} AS "_timestamp" FROM ${csv}`
}

function columnValue(job: LoadSlicesJob, column: Column): string {
  const field = job.fileColumns.indexOf(column.name)
  if (!job.snapshot.typed) return field === -1 ? "''" : untypedText(job, field)
  if (field === -1) return absentValue(column)
  const text = nullableText(job, column, field)
  if (column.type === 'STRING' && column.length === undefined) return column.nullable ? text : `coalesce(${text}, ${FAIL})`
  const value = `coalesce(${tryConvert(column, text)}, ${FAIL})`
  return column.nullable ? `CASE WHEN ${text} IS NULL THEN NULL ELSE ${value} END` : value
}

/** Untyped tables hold no nulls: what counts as absent is the empty text there. */
function untypedText(job: LoadSlicesJob, field: number): string {
  const absent = job.nullValues.filter((value) => value !== '')
  return absent.length === 0
    ? `f${field}`
    : `CASE WHEN f${field} IN (${absent.map(literal).join(', ')}) THEN '' ELSE f${field} END`
}

/** The text of a field, null where the request defines it. A STRING that may not be null keeps its empty strings. */
function nullableText(job: LoadSlicesJob, column: Column, field: number): string {
  const nulls = column.type === 'STRING' && !column.nullable ? job.nullValues.filter((value) => value !== '') : job.nullValues
  return nulls.reduce((text, value) => `nullif(${text}, ${literal(value)})`, `f${field}`)
}

function absentValue(column: Column): string {
  if (column.default !== undefined) return `CAST(${tryConvert(column, literal(column.default))} AS ${sqlType(column)})`
  return column.nullable ? `NULL::${sqlType(column)}` : column.type === 'STRING' ? "''" : FAIL
}

/** The load has failed on a value: find the first one, in the order of rows. The file is staged as text once, then searched. */
export async function findBadValue(
  db: Database,
  job: LoadSlicesJob,
  csv: string,
  rowsPerSlice: readonly number[],
  groupRows: number,
): Promise<PlatformError> {
  const stage = join(job.workDir, 'stage.parquet')
  const options = ['FORMAT parquet', `ROW_GROUP_SIZE ${groupRows}`, dictionaryBytes(job.fileColumns.length)]
  await db.run(`COPY (SELECT * FROM ${csv}) TO ${literal(stage)} (${options.join(', ')})`)
  const suspects = job.fileColumns.flatMap((name, field) => {
    const column = name === LOAD_TIME_COLUMN ? LOAD_TIME : columnIndex(job.snapshot).get(name ?? '')
    return column ? [{ column, field, text: nullableText(job, column, field) }] : []
  })
  const isBad = suspects.map(({ column, text }) => {
    const wrong = `(${text} IS NOT NULL AND (${tryConvert(column, text)}) IS NULL)`
    return column.nullable ? wrong : `(${wrong} OR ${text} IS NULL)`
  })
  const firsts = isBad.map((bad, i) => `min(CASE WHEN ${bad} THEN file_row_number END) AS b${i}`)
  const [found = []] = await db.rows(`SELECT ${firsts.join(', ')} FROM read_parquet(${literal(stage)})`)
  const worst = found.flatMap((row, i) => (typeof row === 'number' ? [{ row, i }] : [])).sort((a, b) => a.row - b.row)[0]
  const suspect = worst && suspects[worst.i]
  if (!worst || !suspect)
    return new PlatformError('tableEngine.failed', { reason: 'a value could not be converted, but none was found' })

  const [value] = await db.rows(
    `SELECT left(${suspect.text}, 80) FROM read_parquet(${literal(stage)}) WHERE file_row_number = ${worst.row}`,
  )
  const place = { ...locate(job, worst.row, rowsPerSlice), column: suspect.column.name }
  const text = value?.[0]
  if (typeof text !== 'string') return new PlatformError('storage.tables.nullValue', place, { params: place })
  const { type, length } = suspect.column
  const details = { ...place, value: text, type: length === undefined ? type : `${type}(${length})` }
  return new PlatformError('storage.tables.invalidValue', details, { params: details })
}

/** A position in the segment as file and row, counted from 1 without the header. */
function locate(job: LoadSlicesJob, position: number, rowsPerSlice: readonly number[]): { file: string; row: number } {
  let before = 0
  for (const [i, rows] of rowsPerSlice.entries()) {
    if (position < before + rows) return { file: job.slices[i]?.name ?? '', row: position - before + 1 }
    before += rows
  }
  return { file: job.slices[0]?.name ?? '', row: position + 1 }
}
