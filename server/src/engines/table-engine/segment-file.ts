// Writing the two kinds of Parquet files a table is made of.

import { dictionaryBytes } from '../../kit/dictionary-bytes.ts'
import type { Database } from './database.ts'
import { type Column, LOAD_TIME_FIELD_ID } from './snapshot.ts'
import { identifier, literal } from './sql.ts'

/** Field ids that the Iceberg v2 specification reserves for positional delete files. */
const DELETE_FIELD_IDS = '{file_path: 2147483546, pos: 2147483545}'

/**
 * Less than DuckDB's default of 122,880: as small on disk and as fast to write and scan, but a preview unpacks less. Smaller still and
 * the footer of a table of ten million rows costs a preview more than it saves.
 */
const MAX_ROW_GROUP_ROWS = 49_152
const VECTOR_ROWS = 2048
/** What the rows of one row group may take in the writer's memory. */
const ROW_GROUP_BYTES = 32 << 20

/**
 * A column gets a dictionary where its values come this often each. DuckDB's own answer is five, and it looks for the dictionary by hashing, also in
 * columns of ids and names, which never have one. With twenty, dates of seven years had none: files were a fifth larger, and some queries
 * took half as long again (docs/performance.md).
 * Wide rows, which have small row groups, keep DuckDB's answer: 4,000 columns without dictionaries do not fit into a worker.
 */
const ROWS_PER_DICTIONARY_ENTRY = 10

const dictionaryLimit = (groupRows: number): string[] =>
  groupRows < MAX_ROW_GROUP_ROWS ? [] : [`DICTIONARY_SIZE_LIMIT ${Math.ceil(groupRows / ROWS_PER_DICTIONARY_ENTRY)}`]

/**
 * Rows per row group. The writer holds a whole group in memory, so that wide rows need small groups: with 4,000 columns the default
 * of 122,880 rows would be gigabytes.
 */
export function rowGroupRows(bytesPerRow: number, columns: number): number {
  const footprint = Math.max(1, bytesPerRow) + 16 * columns
  const rows = Math.floor(ROW_GROUP_BYTES / footprint / VECTOR_ROWS) * VECTOR_ROWS
  return Math.min(MAX_ROW_GROUP_ROWS, Math.max(VECTOR_ROWS, rows))
}

/** The lowest level: as small as DuckDB's own choice, the third, for a tenth to a quarter less time (docs/performance.md). */
export const ZSTD = ['COMPRESSION zstd', 'COMPRESSION_LEVEL 1']

/**
 * Writes a segment; the number of its rows. `select` must yield the columns under their names, then `_timestamp`.
 * A dictionary has one entry for 0 and -0, since they are equal, so the file would have the one that came first. Where a -0 is met, which is
 * rare, the file is written again without dictionaries.
 */
export async function writeToSegment(
  db: Database,
  select: string,
  columns: readonly Column[],
  path: string,
  groupRows: number,
): Promise<number> {
  const floats = columns.filter(({ type }) => type === 'FLOAT').map(({ name }) => identifier(name))
  if (floats.length === 0) return db.run(copyToSegment(select, columns, path, groupRows, dictionaryLimit(groupRows)))
  const watched = floats.map((name) => `CASE WHEN ${name} = 0 AND signbit(${name}) THEN ${STOP} ELSE ${name} END AS ${name}`)
  const guarded = `SELECT * REPLACE (${watched.join(', ')}) FROM (${select})`
  try {
    return await db.run(copyToSegment(guarded, columns, path, groupRows, dictionaryLimit(groupRows)))
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(MINUS_ZERO))) throw error
    return db.run(copyToSegment(select, columns, path, groupRows, ['DICTIONARY_SIZE_LIMIT 0']))
  }
}

const MINUS_ZERO = 'millrace: minus zero'
const STOP = `error('${MINUS_ZERO}')`

function copyToSegment(
  select: string,
  columns: readonly Column[],
  path: string,
  groupRows: number,
  dictionaries: readonly string[],
): string {
  const ids = [...columns.map((c) => `${identifier(c.name)}: ${c.fieldId}`), `"_timestamp": ${LOAD_TIME_FIELD_ID}`]
  const options = [
    'FORMAT parquet',
    ...ZSTD,
    `ROW_GROUP_SIZE ${groupRows}`,
    ...dictionaries,
    dictionaryBytes(columns.length),
    // DuckDB makes them for columns with a dictionary, whose few values are in nearly every row group: they would rule nothing out.
    'WRITE_BLOOM_FILTER false',
    `FIELD_IDS {${ids.join(', ')}}`,
  ]
  return `COPY (${select}) TO ${literal(path)} (${options.join(', ')})`
}

/** `positions` must yield `pos` of dead rows of the segment, each once. Sorted, as required by Iceberg, which compares `segmentUri` as text. */
export function copyToDeleteFile(positions: string, segmentUri: string, path: string): string {
  const select = `SELECT ${literal(segmentUri)} AS file_path, pos FROM (${positions}) ORDER BY pos`
  return `COPY (${select}) TO ${literal(path)} (FORMAT parquet, ${ZSTD.join(', ')}, FIELD_IDS ${DELETE_FIELD_IDS})`
}
