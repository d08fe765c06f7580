// One row of the configuration: a table or query becomes one table of the project, whole or from where the last run ended.

import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Log } from '../../http-extractor/src/log.ts'
import type { RowSettings } from './configuration.ts'
import type { Database, Range, SourceColumn } from './databases/database.ts'

/** Saved after a run that succeeded, with the tables. */
interface State {
  readonly incremental?: { readonly column: string; readonly value: string }
}

export async function extract(database: Database, row: RowSettings, dataDir: string, log: Log): Promise<void> {
  const { columns: found, primaryKey: ownKey } = await database.describe(row.source)
  const columns = row.invalidValues === 'text' ? found.map(withoutRange) : found
  refuseRepeated(columns)
  for (const { name, native, asText } of columns)
    if (asText !== undefined) log.info(`Column "${name}" of type ${native} is kept as text: ${asText}.`)
  const primaryKey = row.primaryKey ?? ownKey.filter((name) => columns.some((column) => column.name === name))
  const unknown = primaryKey.find((name) => !columns.some((column) => column.name === name))
  if (unknown !== undefined) throw new UserError(`primaryKey names "${unknown}", which is not a column that is read.`)
  const before = readState(dataDir)
  const range = await rangeOf(database, row, columns, primaryKey, before)
  const tables = join(dataDir, 'out', 'tables')
  mkdirSync(tables, { recursive: true })
  const path = join(tables, `${row.outputTable}.csv`)
  const nullMarker = `\\N${randomBytes(3).toString('hex')}`
  rmSync(path, { force: true }) // of an attempt that lost its connection
  const isNothingNew = row.incrementalColumn !== undefined && range === undefined
  const rows = isNothingNew
    ? 0
    : await database.read({ source: row.source, columns, range, path, nullMarker, invalidAsNull: row.invalidValues === 'null' })
  if (isNothingNew) writeFileSync(path, '')
  writeManifest(path, { columns, primaryKey, incremental: row.incremental, nullMarker })
  writeState(dataDir, range ? { incremental: { column: range.column.name, value: range.upTo } } : before)
  log.info(
    `Read ${rows} ${rows === 1 ? 'row' : 'rows'} into ${row.outputTable}${range ? `, up to ${range.column.name} = ${range.upTo}` : ''}.`,
  )
}

/** Types that some values of the database do not fit. */
export const withoutRange = (column: SourceColumn): SourceColumn =>
  ['DATE', 'TIMESTAMP', 'NUMERIC'].includes(column.base)
    ? { name: column.name, native: column.native, base: 'STRING', asText: 'invalidValues is "text"' }
    : column

/** Undefined: everything, or nothing when no row has a value in the column. */
async function rangeOf(
  database: Database,
  { source, incrementalColumn, lookback, incremental }: RowSettings,
  columns: readonly SourceColumn[],
  primaryKey: readonly string[],
  { incremental: last }: State,
): Promise<Range | undefined> {
  if (incrementalColumn === undefined) return undefined
  const column = columns.find(({ name }) => name === incrementalColumn)
  if (!column) throw new UserError(`incrementalFetchingColumn "${incrementalColumn}" is not a column that is read.`)
  if (!incremental)
    throw new UserError('incrementalFetchingColumn needs "incremental": true, or each run would replace what the last one read.')
  if (primaryKey.length === 0)
    throw new UserError(
      'incrementalFetchingColumn needs a primary key: rows with the last value are read again, so that none with the same value is missed.',
    )
  const upTo = await database.greatest(source, column)
  if (upTo === undefined) return undefined
  const from = last?.column === incrementalColumn ? last.value : undefined
  return { column, from, upTo, lookback: from === undefined ? 0 : lookback }
}

/** The result of a join may have a name twice; a table may not. */
function refuseRepeated(columns: readonly SourceColumn[]): void {
  const names = columns.map(({ name }) => name)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw new UserError(`Two columns are named "${repeated}". Give them different names in the query.`)
  if (names.length === 0) throw new UserError('The table has no columns.')
}

interface Written {
  readonly columns: readonly SourceColumn[]
  readonly primaryKey: readonly string[]
  readonly incremental: boolean
  readonly nullMarker: string
  readonly deletedColumn?: string
}

/** `deletedColumn`: the last field of the file, which marks rows that leave the table. */
export function writeManifest(path: string, { columns, primaryKey, incremental, nullMarker, deletedColumn }: Written): void {
  const schema = columns.map(({ name, base, length }) => {
    const isKey = primaryKey.includes(name)
    return {
      name,
      data_type: { base: { type: base, ...(length !== undefined && { length }) } },
      nullable: !isKey,
      ...(isKey && { primary_key: true }),
    }
  })
  const mark = deletedColumn === undefined ? [] : [{ name: deletedColumn, data_type: { base: { type: 'BOOLEAN' } } }]
  const manifest = {
    schema: [...schema, ...mark],
    has_header: false,
    incremental,
    treat_values_as_null: [nullMarker],
    ...(deletedColumn !== undefined && { deleted_rows_column: deletedColumn }),
  }
  writeFileSync(`${path}.manifest`, JSON.stringify(manifest))
}

function readState(dataDir: string): State {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, 'in', 'state.json'), 'utf8')) as State | []
    return Array.isArray(state) ? {} : state
  } catch {
    return {} // the first run
  }
}

const writeState = (dataDir: string, state: State): void =>
  writeFileSync(join(dataDir, 'out', 'state.json'), JSON.stringify(state))
