// Editing rows by hand: each edit is a load of one row, found by its key, and undone by a load of the row as it was.

import { ApiError } from '../../../../../client/src/client.ts'
import type { Table } from '../../../../../client/src/operations.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { count } from '../../../format.ts'
import { api } from '../../../session.ts'
import { uploadText } from '../../../upload/load-file.ts'
import { rowCsv } from './row-csv.ts'

/** Values by column; null where a typed column has none. */
export type Row = Readonly<Record<string, string | null>>

/** A load rewrites what it replaces: larger tables get files. */
const MAX_ROWS = 100_000
/** As many as the API gives of each of several cells. */
const MAX_CELL_CHARS = 16_384

/** Why the rows of a table cannot be edited by hand; undefined if they can. */
export function whyFixed(table: Table, at: string | undefined): string | undefined {
  if (at) return 'These are rows of the past. Show those of now to edit them.'
  if (table.isAlias) return 'An alias shows the rows of another table. Edit them there.'
  if (table.primaryKey.length === 0) return 'Rows are found by the primary key, and this table has none. Add one in Schema.'
  if ((table.rowsCount ?? 0) > MAX_ROWS)
    return `Tables of up to ${count(MAX_ROWS)} rows are edited by hand. Load a file into this one.`
  return undefined
}

/** The filters that find one row. */
export const byKey = ({ primaryKey }: Table, row: Row): Readonly<Record<string, string>> =>
  Object.fromEntries(
    primaryKey.flatMap((column, index) => [
      [`whereFilters[${index}][column]`, column],
      [`whereFilters[${index}][operator]`, 'eq'],
      [`whereFilters[${index}][values][0]`, row[column] ?? ''],
    ]),
  )

/** The whole row with a key, as it is now. */
export async function readRow(table: Table, key: Row): Promise<Row | undefined> {
  const { columns, rows, cut } = await api.call('tables.rows', {
    path: { tableId: table.id },
    query: { ...byKey(table, key), limit: 1, cellChars: MAX_CELL_CHARS },
  })
  if (cut.length > 0)
    throw problem(`A value of the row has more than ${count(MAX_CELL_CHARS)} characters. Load a file to change the row.`)
  const [found] = rows
  return found && Object.fromEntries(columns.map(({ name }, index) => [name, found[index] ?? null]))
}

const problem = (error: string): ApiError => new ApiError(400, { error, code: 'console.rowEdit', exceptionId: '' })

const isSame = (one: Row, other: Row | undefined): boolean =>
  other !== undefined && Object.keys(one).every((column) => one[column] === other[column])

async function load(table: Table, row: Row): Promise<void> {
  const { csv, nullText } = rowCsv(table.columns ?? [], row)
  const dataFileId = await uploadText(`${table.name}-edit.csv`, csv)
  await finishStorageJob(
    await api.call('tables.importAsync', {
      path: { tableId: table.id },
      body: { dataFileId, incremental: true, treatValuesAsNull: nullText },
    }),
  )
}

const remove = async (table: Table, row: Row): Promise<unknown> =>
  finishStorageJob(await api.call('tables.deleteRows', { path: { tableId: table.id }, query: byKey(table, row) }))

type Undo = () => Promise<unknown>

/** Refused when the row is not as it was shown: another person or a run may have changed it. */
export async function changeRow(table: Table, before: Row, after: Row): Promise<Undo> {
  if (!isSame(before, await readRow(table, before)))
    throw problem('The row was changed meanwhile. Close this and open the row again.')
  await load(table, after)
  return () => load(table, before)
}

export async function addRow(table: Table, row: Row): Promise<Undo> {
  if (table.primaryKey.some((column) => (row[column] ?? '') === ''))
    throw problem(`Fill in the key: ${table.primaryKey.join(', ')}.`)
  if (await readRow(table, row)) throw problem('A row with this key already exists. Choose another key, or edit that row.')
  await load(table, row)
  return () => remove(table, row)
}

export async function deleteRow(table: Table, before: Row): Promise<Undo> {
  if (!isSame(before, await readRow(table, before)))
    throw problem('The row was changed meanwhile. Close this and open the row again.')
  await remove(table, before)
  return () => load(table, before)
}
