// Parquet files that another engine wrote, before a table adopts them. Everything that the snapshot contains about a file, and all that a
// load guarantees for values is read from the file itself: the statements of its writer are not trusted.

import { PlatformError } from '../../kit/errors.ts'
import type { Database, SqlValue } from './database.ts'
import { nameDuckDbError } from './load-slices.ts'
import { pathOf } from './relation.ts'
import type { Column, TableSnapshot } from './snapshot.ts'
import { fieldName, literal, sqlType } from './sql.ts'
import type { ForeignFile } from './table-engine.ts'
import type { CheckFilesJob } from './worker-protocol.ts'

export async function checkFiles(db: Database, { request, local }: CheckFilesJob): Promise<null> {
  for (const file of request.files) {
    const path = pathOf(local, file.key)
    await checkColumns(db, request.snapshot, file, path)
    await checkValues(db, request.snapshot, file, path)
  }
  return null
}

/** Exactly the columns of the table, by field id, in the type that the table keeps them in. */
async function checkColumns(db: Database, { columns }: TableSnapshot, file: ForeignFile, path: string): Promise<void> {
  const query = `SELECT name, field_id, duckdb_type, num_children FROM parquet_schema(${literal(path)}) ORDER BY column_id OFFSET 1`
  const found = await readable(file, db.rows(query))
  const nested = found.find(([, , , children]) => children !== null)
  if (nested) throw refused(file, `has the nested column ${quote(nested[0])}. Columns hold single values`)
  const byId = new Map(columns.map((column) => [column.fieldId, column]))
  const seen = new Set<number>()
  for (const [name, id, type] of found) {
    const column = typeof id === 'number' ? byId.get(id) : undefined
    if (typeof id !== 'number') throw refused(file, `has no field id for the column ${quote(name)}`)
    if (!column) throw refused(file, `has the field id ${id} (${quote(name)}), which is not one of the table`)
    if (seen.has(id)) throw refused(file, `has the field id ${id} twice`)
    if (type !== sqlType(column))
      throw refused(file, `has ${quote(column.name)} as ${type}; the table keeps it as ${sqlType(column)}`)
    seen.add(id)
  }
  const missing = columns.find(({ fieldId }) => !seen.has(fieldId))
  if (missing) throw refused(file, `lacks the field id ${missing.fieldId} (${quote(missing.name)})`)
}

/** Columns looked at in one scan: a table of 4,000 must not be in memory as a whole. */
const COLUMNS_AT_ONCE = 100

async function checkValues(db: Database, { columns, typed }: TableSnapshot, file: ForeignFile, path: string): Promise<void> {
  for (let i = 0; i < columns.length; i += COLUMNS_AT_ONCE) {
    const some = columns.slice(i, i + COLUMNS_AT_ONCE)
    const fields = some.map(
      (c) => `${c.fieldId}: {name: '${fieldName(c.fieldId)}', type: '${sqlType(c)}', default_value: NULL::VARCHAR}`,
    )
    const figures = some.map((c) => `count(${fieldName(c.fieldId)}), ${longest(c)}`)
    const query = `SELECT count(*), ${figures.join(', ')} FROM read_parquet(${literal(path)}, schema = MAP {${fields.join(', ')}})`
    const [[rows, ...counts] = []] = await readable(file, db.rows(query))
    if (rows !== file.rows) throw refused(file, `has ${rows} rows, but its manifest has ${file.rows}`)
    for (const [at, column] of some.entries()) {
      const nulls = Number(rows) - Number(counts[2 * at])
      if (nulls > 0 && !(typed && column.nullable)) throw refused(file, nullsIn(column, nulls, typed))
      const max = Number(counts[2 * at + 1] ?? 0)
      if (max > lengthOf(column))
        throw refused(file, `has a value of ${max} characters in ${quote(column.name)}, which takes ${column.length}`)
    }
  }
}

const longest = (column: Column): string => (column.type === 'STRING' ? `max(length(${fieldName(column.fieldId)}))` : 'NULL')

const lengthOf = ({ type, length }: Column): number =>
  type === 'STRING' && length !== undefined ? Number(length) : Number.POSITIVE_INFINITY

const nullsIn = ({ name }: Column, nulls: number, typed: boolean): string =>
  `has ${nulls} nulls in ${quote(name)}, which takes none${typed ? '' : ': columns without a type hold texts. Write the empty text'}`

/** What DuckDB cannot read is not a Parquet file, is damaged, or is encrypted. */
async function readable<T>(file: ForeignFile, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof Error) || nameDuckDbError(error, 0) !== error) throw error
    const isEncrypted = /encrypt|PARE/.test(error.message)
    throw refused(file, isEncrypted ? 'is encrypted' : 'cannot be read as a Parquet file')
  }
}

const quote = (name: SqlValue | undefined): string => `"${String(name).slice(0, 100)}"`

const refused = ({ name }: ForeignFile, reason: string): PlatformError =>
  new PlatformError('iceberg.fileRefused', { file: name, reason })
