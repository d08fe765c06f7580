// Rows that the source has deleted, found by their keys alone: checksums of key ranges, then the keys of ranges that differ.

import { columnNameFrom } from '../../../../contract/column-name.ts'
import { counted, wasOrWere } from '../../../../contract/counted.ts'
import { createCsvFile } from '../../../connector-kit/src/csv-file.ts'
import { textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Log } from '../../../http-extractor/src/log.ts'
import type { RowSettings } from '../configuration.ts'
import type { SourceColumn } from '../databases/columns.ts'
import type { Database } from '../databases/database.ts'
import { findDifferences } from './differences.ts'
import { type Here, type HereTable, hereDialect, hereName, type Rows } from './here.ts'
import { searchOf } from './sides.ts'

/** The column that marks deleted rows that stay in the table. */
export const DELETED_FLAG: SourceColumn = { name: 'deleted_in_source', native: 'boolean', base: 'BOOLEAN' }
/** The column of the file that marks rows that leave the table. */
export const DELETED_MARK = 'millrace_deleted_row'

/** A source that is empty by mistake must not empty the table. */
export function refuseMassDelete(tableId: string, gone: number, rows: number, limitPercent: number): void {
  if (rows === 0 || gone * 100 <= rows * limitPercent) return
  throw new UserError(
    `${gone} of ${rows} rows of ${tableId} would be removed, more than ${limitPercent} percent (deletesLimitPercent). Check the source; if it is right, raise deletesLimitPercent.`,
  )
}

export interface DeleteRun {
  readonly database: Database
  readonly row: RowSettings
  readonly here: Here
  readonly tableId: string
  readonly columns: readonly SourceColumn[]
  /** Columns that only the table has. */
  readonly dropped: readonly SourceColumn[]
  readonly primaryKey: readonly string[]
  /** The file with the rows that were read, in the same state of the source. */
  readonly path: string
  readonly nullMarker: string
  readonly rowsRead: number
  readonly log: Log
}

/** Adds rows that were deleted to the file: with a mark that removes them, or with their values and a flag. */
export async function addDeletedRows(run: DeleteRun): Promise<void> {
  const { row, here, tableId, log, rowsRead } = run
  const table = await here.findTable(tableId)
  if (!table || table.rowsCount === 0) return
  if (row.deletes === 'remove' && !row.incremental)
    return refuseMassDelete(tableId, table.rowsCount - rowsRead, table.rowsCount, row.deletesLimitPercent)
  const key = run.primaryKey.map((name) => run.columns.find((column) => column.name === name)).filter((one) => one !== undefined)
  if (key.length === 0) throw new UserError(`deletes "${row.deletes}" needs a primary key: rows are found by it. Set primaryKey.`)
  const gone = await keysOfDeleted(run, table, key)
  const at = run.columns.length
  const flagged = row.deletes === 'flag' ? await storedRows(run, table, key, gone) : undefined
  // Of a table that is replaced, rows that were flagged before have to be written again.
  const fresh = flagged ? flagged.filter((cells) => cells[at] !== 'true').length : gone.length
  refuseMassDelete(tableId, fresh, table.rowsCount, row.deletesLimitPercent)
  const csv = await createCsvFile(run.path, run.nullMarker, { isAppended: true })
  for (const cells of flagged ?? []) await csv.write(cells.with(at, 'true'))
  if (!flagged)
    for (const values of gone)
      await csv.write([
        ...run.columns.map((column) => values[key.indexOf(column)] ?? null),
        ...run.dropped.map(() => null),
        'true',
      ])
  await csv.close()
  log.info(
    `${counted(fresh, 'row')} of ${tableId} ${wasOrWere(fresh)} deleted in the source and ${fresh === 1 ? 'is' : 'are'} ${flagged ? 'flagged' : 'removed'}.`,
  )
}

async function keysOfDeleted(
  { database, row, here, tableId }: DeleteRun,
  table: HereTable,
  key: readonly SourceColumn[],
): Promise<readonly (readonly string[])[]> {
  const hasFlag = table.columns.some(({ name }) => name === DELETED_FLAG.name)
  const hereOnly = row.incremental && hasFlag ? `${hereName(DELETED_FLAG)} is distinct from true` : undefined
  const compared = { database, source: row.source, here, table, key, columns: key, invalidAsNull: row.invalidValues === 'null' }
  const { search } = await searchOf({ ...compared, hereOnly })
  const { differences } = await findDifferences({ ...search, maxListed: Number.POSITIVE_INFINITY })
  return differences.flatMap(({ keys, hereRows, sourceRows }) => {
    if (!keys && sourceRows === 0 && hereRows === 0) return []
    if (!keys)
      throw new UserError(
        `The keys of ${tableId} differ so much from those of the source that deleted rows cannot be told (${hereRows} rows of one key value here, ${sourceRows} in the source). Read the whole table once.`,
      )
    return keys.extra
  })
}

const KEYS_AT_ONCE = 1_000

/** Rows as the table has them: the columns that are read, the flag, and the others. */
async function storedRows(
  { here, columns, dropped }: DeleteRun,
  table: HereTable,
  key: readonly SourceColumn[],
  keys: readonly (readonly string[])[],
): Promise<Rows> {
  const dialect = hereDialect(table)
  const has = ({ name }: SourceColumn) => table.columns.some((column) => column.name === columnNameFrom(name))
  const flag = has(DELETED_FLAG) ? `${hereName(DELETED_FLAG)}::varchar` : 'null'
  const fieldOf = (column: SourceColumn) => (has(column) ? dialect.text(column) : 'null')
  const fields = [...columns.map(fieldOf), flag, ...dropped.map(fieldOf)]
  const rows: (readonly (string | null)[])[] = []
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE).map((values) => `(${values.map(textLiteral).join(', ')})`)
    const names = key.map((column) => dialect.text(column)).join(', ')
    rows.push(...(await here.ask(`select ${fields.join(', ')} from ${table.relation} where (${names}) in (${some.join(', ')})`)))
  }
  return rows
}
