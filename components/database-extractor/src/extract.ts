// One row of the configuration: a table or query becomes one table of the project, whole or from where the last run ended.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted, wasOrWere } from '../../../contract/counted.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Log } from '../../http-extractor/src/log.ts'
import { addDeletedRows, DELETED_FLAG, DELETED_MARK } from './compare/deletes.ts'
import { settleDrift } from './compare/drift.ts'
import type { Here } from './compare/here.ts'
import type { RowSettings } from './configuration.ts'
import type { SourceColumn } from './databases/columns.ts'
import type { Bounds, Database, Description, Increment } from './databases/database.ts'
import { newProgress, type Progress, planParts, readParts } from './parts.ts'

/** Saved after a run that succeeded, with the tables. */
export interface State {
  /** Columns of the source. */
  readonly columns?: readonly string[]
  /** Greatest values by column; null: no row had one. States of older runs have one column and its value. */
  readonly incremental?:
    | { readonly values: Readonly<Record<string, string | null>> }
    | { readonly column: string; readonly value: string }
  /** Of a row with several tables, by the name of the table of the project. */
  readonly tables?: Readonly<Record<string, State>>
}

export interface ExtractRun {
  readonly database: Database
  readonly row: RowSettings
  readonly dataDir: string
  readonly log: Log
  readonly before: State
  /** Of the attempts before this one. */
  readonly progress: Progress
  /** The table that the row writes; undefined: unknown, or there is no stack. */
  readonly openTable: () => { readonly here: Here; readonly tableId: string } | undefined
}

/** Answers the state after the run. */
export async function extract({ database, row, dataDir, log, before, openTable, progress }: ExtractRun): Promise<State> {
  const { columns: found, primaryKey } = await readColumns(database, row)
  if (found.some(({ name }) => name === DELETED_FLAG.name) && row.deletes === 'flag')
    throw new UserError(
      `The source has a column "${DELETED_FLAG.name}", which deletes "flag" adds. Choose another setting of deletes.`,
    )
  for (const { name, native, asText } of found)
    if (asText !== undefined) log.info(`Column "${name}" of type ${native} is kept as text: ${asText}.`)
  const opened = openTable()
  const table = await opened?.here.findTable(opened.tableId)
  const whole = { columns: found, types: found, dropped: [] }
  const { columns, types, dropped } =
    opened && table ? await settleDrift(row, found, { here: opened.here, table, log, lastColumns: before.columns ?? [] }) : whole
  const shape = JSON.stringify([columns, dropped])
  if (progress.plan && progress.plan.shape !== shape) {
    if (progress.done > 0)
      log.warning('The columns of the source have changed since the connection was lost; the table is read again.')
    Object.assign(progress, newProgress(progress.nullMarker))
  }
  if (!progress.plan) {
    const key = columns.find(({ name }) => name === primaryKey[0])
    const increment = await incrementOf(database, row, columns, primaryKey, before)
    progress.plan = { shape, increment, key, parts: await planParts(database, row.source, key, row.partRows) }
    if (progress.plan.parts.length > 1) log.info(`The table is read in ${progress.plan.parts.length} parts of its key.`)
  } else if (progress.done > 0 && progress.done < progress.plan.parts.length)
    log.warning(
      `${counted(progress.done, 'part')} ${wasOrWere(progress.done)} read before the connection was lost; the others show a later state of the source.`,
    )
  const { increment } = progress.plan
  const tables = join(dataDir, 'out', 'tables')
  mkdirSync(tables, { recursive: true })
  const path = join(tables, `${row.outputTable}.csv`)
  const { nullMarker } = progress
  const isNothingNew = increment?.columns.every(({ upTo }) => upTo === undefined) ?? false
  const hasMark = row.deletes === 'remove' && row.incremental
  const hasFlag = row.deletes === 'flag'
  const constants = [...(hasFlag ? ['false'] : []), ...dropped.map(() => null), ...(hasMark ? ['false'] : [])]
  const invalidAsNull = row.invalidValues === 'null'
  const rows = isNothingNew
    ? 0
    : await readParts(database, { source: row.source, columns, increment, path, nullMarker, invalidAsNull, constants }, progress)
  if (isNothingNew) writeFileSync(path, '')
  if (row.deletes !== 'ignore') {
    if (!opened)
      throw new UserError(`deletes "${row.deletes}" needs a stored configuration or an output mapping, which names the table.`)
    await addDeletedRows({ database, row, ...opened, columns, dropped, primaryKey, path, nullMarker, rowsRead: rows, log })
  }
  writeManifest(path, {
    columns: [...types, ...(hasFlag ? [DELETED_FLAG] : []), ...dropped],
    ...{ primaryKey, incremental: row.incremental, nullMarker },
    ...(hasMark && { deletedColumn: DELETED_MARK }),
  })
  const reached = increment?.columns.flatMap(({ column, upTo }) => (upTo === undefined ? [] : [`${column.name} = ${upTo}`])) ?? []
  log.info(
    `Read ${rows} ${rows === 1 ? 'row' : 'rows'} into ${row.outputTable}${reached.length > 0 ? `, up to ${reached.join(', ')}` : ''}.`,
  )
  return {
    ...before,
    ...(increment && !isNothingNew && { incremental: { values: reachedBy(increment) } }),
    columns: found.map(({ name }) => name),
  }
}

/** Columns and key as configured in the row. */
export async function readColumns(database: Database, row: RowSettings): Promise<Description> {
  const { columns: found, primaryKey: ownKey } = await database.describe(row.source)
  const columns = row.invalidValues === 'text' ? found.map(withoutRange) : found
  refuseRepeated(columns)
  const primaryKey = row.primaryKey ?? ownKey.filter((name) => columns.some((column) => column.name === name))
  const unknown = primaryKey.find((name) => !columns.some((column) => column.name === name))
  if (unknown !== undefined) throw new UserError(`primaryKey names "${unknown}", which is not a column that is read.`)
  return { columns, primaryKey }
}

/** Types that some values of the database do not fit. */
export const withoutRange = (column: SourceColumn): SourceColumn =>
  ['DATE', 'TIMESTAMP', 'NUMERIC'].includes(column.base)
    ? { name: column.name, native: column.native, base: 'STRING', asText: 'invalidValues is "text"' }
    : column

/** Undefined: everything. */
async function incrementOf(
  database: Database,
  { source, incrementalColumns, lookback, incremental }: RowSettings,
  columns: readonly SourceColumn[],
  primaryKey: readonly string[],
  before: State,
): Promise<Increment | undefined> {
  if (incrementalColumns.length === 0) return undefined
  const chosen = incrementalColumns.map((wanted) => {
    const column = columns.find(({ name }) => name === wanted)
    if (!column) throw new UserError(`incrementalFetchingColumn "${wanted}" is not a column that is read.`)
    return column
  })
  if (!incremental)
    throw new UserError('incrementalFetchingColumn needs "incremental": true, or each run would replace what the last one read.')
  if (primaryKey.length === 0)
    throw new UserError(
      'incrementalFetchingColumn needs a primary key: rows with the last value are read again, so that none with the same value is missed.',
    )
  const last = lastValues(before)
  // What is new by a column that the last run did not look at is unknown.
  const isFirst = !chosen.every(({ name }) => Object.hasOwn(last, name))
  const bounds: Bounds[] = []
  for (const column of chosen)
    bounds.push({
      column,
      from: isFirst ? undefined : (last[column.name] ?? undefined),
      upTo: await database.greatest(source, column),
      lookback,
    })
  return { columns: bounds, isFirst }
}

function lastValues({ incremental }: State): Readonly<Record<string, string | null>> {
  if (!incremental) return {}
  return 'values' in incremental ? incremental.values : { [incremental.column]: incremental.value }
}

/** A column whose values are all gone keeps its place. */
const reachedBy = ({ columns }: Increment): Record<string, string | null> =>
  Object.fromEntries(columns.map(({ column, from, upTo }) => [column.name, upTo ?? from ?? null]))

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
  /** Id of the table in the project; default: by the mapping or the default bucket. */
  readonly destination?: string
}

/** `deletedColumn`: the last field of the file, which marks rows that leave the table. */
export function writeManifest(
  path: string,
  { columns, primaryKey, incremental, nullMarker, deletedColumn, destination }: Written,
): void {
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
    ...(destination !== undefined && { destination }),
  }
  writeFileSync(`${path}.manifest`, JSON.stringify(manifest))
}

export function readState(dataDir: string): State {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, 'in', 'state.json'), 'utf8')) as State | []
    return Array.isArray(state) ? {} : state
  } catch {
    return {} // the first run
  }
}

/** A run that reads nothing leaves the state as it is. */
export const keepState = (dataDir: string): void => {
  mkdirSync(join(dataDir, 'out'), { recursive: true })
  writeState(dataDir, readState(dataDir))
}

export const writeState = (dataDir: string, state: State): void =>
  writeFileSync(join(dataDir, 'out', 'state.json'), JSON.stringify(state))
