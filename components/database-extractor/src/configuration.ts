// What one row of the configuration reads. Names are those of the public database extractors.

import {
  choiceAt,
  type Fields,
  flagAt,
  isEmpty,
  listAt,
  numberAt,
  objectAt,
  refuseUnknown,
  textAt,
} from '../../connector-kit/src/settings.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Source } from './databases/columns.ts'

export interface RowSettings {
  readonly source: Source
  readonly outputTable: string
  /** Undefined: that of the table. */
  readonly primaryKey: readonly string[] | undefined
  readonly incremental: boolean
  /** Read only rows whose value in one of these columns is new since the last run. */
  readonly incrementalColumns: readonly string[]
  readonly lookback: number
  readonly invalidValues: (typeof INVALID_VALUES)[number]
  readonly mode: (typeof MODES)[number]
  /** The table that is compared; undefined: the one that the row writes. */
  readonly verifyTable: string | undefined
  readonly deletes: (typeof DELETES)[number]
  readonly deletesLimitPercent: number
  /** What becomes of columns that the source has changed since the table was made. */
  readonly newColumns: (typeof NEW_COLUMNS)[number]
  readonly changedTypes: (typeof CHANGED_TYPES)[number]
  readonly droppedColumns: (typeof DROPPED_COLUMNS)[number]
  /** A table with more rows is read in parts. */
  readonly partRows: number
  readonly reader: (typeof READERS)[number]
}

const ROW_FIELDS = [
  ...['table', 'query', 'columns', 'filter', 'outputTable', 'primaryKey', 'incremental'],
  ...['incrementalFetchingColumn', 'incrementalFetchingColumns', 'incrementalFetchingLookback', 'invalidValues'],
  ...['mode', 'verifyTable', 'deletes', 'deletesLimitPercent'],
  ...['newColumns', 'changedTypes', 'droppedColumns', 'partRows', 'reader', 'tables'],
]

/** What each table of `tables` has of its own; everything else holds for all of them. */
const OWN_FIELDS = ['table', 'query', 'columns', 'filter', 'outputTable', 'primaryKey', 'verifyTable'] as const
const MAX_TABLES = 1000

/** One for each table of a row that reads several in one state of the database; undefined: the row has no such list. */
export function readTables(parameters: Fields): readonly RowSettings[] | undefined {
  const { tables, ...shared } = parameters
  if (isEmpty(tables)) return undefined
  if (!Array.isArray(tables)) throw new UserError('tables must be a list.')
  if (tables.length > MAX_TABLES) throw new UserError(`tables has ${tables.length} entries; ${MAX_TABLES} are possible.`)
  const own = OWN_FIELDS.find((name) => !isEmpty(shared[name]))
  if (own !== undefined) throw new UserError(`Use either tables or ${own}, not both.`)
  const rows = tables.map((entry: unknown, at) => {
    const place = `tables[${at}]`
    const fields = objectAt({ entry }, 'entry', place)
    refuseUnknown(fields, ['schema', 'tableName', 'outputTable', 'columns', 'filter', 'primaryKey', 'verifyTable'], place)
    const { schema, tableName, ...others } = fields
    try {
      return readRow({ ...shared, ...others, table: { schema, tableName } })
    } catch (error) {
      throw error instanceof UserError ? new UserError(`${place}: ${error.message}`) : error
    }
  })
  const names = rows.map(({ outputTable }) => outputTable)
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined)
    throw new UserError(`Two entries of tables become the table "${repeated}". Give one of them another outputTable.`)
  return rows
}

export function readRow(parameters: Fields): RowSettings {
  refuseUnknown(parameters, ['db', ...ROW_FIELDS], 'parameters')
  const source = readSource(parameters)
  const outputTable = readOutputTable(parameters, source.kind === 'table' ? source.table.name : '', 'outputTable')
  const incrementalColumns = readIncrementalColumns(parameters)
  return {
    source,
    outputTable,
    primaryKey: listAt(parameters, 'primaryKey', 'primaryKey'),
    incremental: flagAt(parameters, 'incremental', 'incremental', incrementalColumns.length > 0),
    incrementalColumns,
    invalidValues: choiceAt(parameters, 'invalidValues', INVALID_VALUES),
    mode: choiceAt(parameters, 'mode', MODES),
    verifyTable: readVerifyTable(parameters),
    deletes: choiceAt(parameters, 'deletes', DELETES),
    deletesLimitPercent: readPercent(parameters),
    newColumns: choiceAt(parameters, 'newColumns', NEW_COLUMNS),
    changedTypes: choiceAt(parameters, 'changedTypes', CHANGED_TYPES),
    partRows: Math.max(1, Math.ceil(numberAt(parameters, 'partRows', 'partRows') ?? PART_ROWS)),
    droppedColumns: choiceAt(parameters, 'droppedColumns', DROPPED_COLUMNS),
    reader: choiceAt(parameters, 'reader', READERS),
    lookback: numberAt(parameters, 'incrementalFetchingLookback', 'incrementalFetchingLookback') ?? 0,
  }
}

/** One column, or several of which one is enough. */
function readIncrementalColumns(parameters: Fields): readonly string[] {
  const one = textAt(parameters, 'incrementalFetchingColumn', 'incrementalFetchingColumn')
  const several = listAt(parameters, 'incrementalFetchingColumns', 'incrementalFetchingColumns') ?? []
  if (one !== '' && several.length > 0)
    throw new UserError('Use either incrementalFetchingColumn or incrementalFetchingColumns, not both.')
  return one === '' ? [...new Set(several)] : [one]
}

/** Read the source; prove that the table is equal to it; or read again where it is not. */
export const MODES = ['read', 'verify', 'repair'] as const

/** What becomes of rows that the source has deleted. */
const DELETES = ['ignore', 'remove', 'flag'] as const

const NEW_COLUMNS = ['add', 'ignore', 'stop'] as const
const CHANGED_TYPES = ['widen', 'ignore', 'stop'] as const
const DROPPED_COLUMNS = ['keep', 'stop'] as const

/** Who reads the rows: the driver of the database, or DuckDB by an extension that the operator has added. */
const READERS = ['auto', 'driver', 'duckdb'] as const

const PART_ROWS = 500_000
const DELETES_LIMIT_PERCENT = 20

function readPercent(parameters: Fields): number {
  const percent = numberAt(parameters, 'deletesLimitPercent', 'deletesLimitPercent') ?? DELETES_LIMIT_PERCENT
  if (percent > 100) throw new UserError('deletesLimitPercent must be a number from 0 to 100.')
  return percent
}

function readVerifyTable(parameters: Fields): string | undefined {
  const id = textAt(parameters, 'verifyTable', 'verifyTable')
  if (id !== '' && !/^(in|out)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(id))
    throw new UserError('verifyTable must be the id of a table, such as in.c-main.orders.')
  return id || undefined
}

/** What becomes of dates and numbers that no typed column can hold: the load fails, they are absent, or their columns become texts. */
export const INVALID_VALUES = ['fail', 'null', 'text'] as const

/** The name of the table in the project; default that of the table that is read. */
export function readOutputTable(fields: Fields, ownName: string, place: string): string {
  const outputTable = textAt(fields, 'outputTable', place) || ownName.replace(/[^A-Za-z0-9_-]/g, '_')
  if (outputTable === '') throw new UserError(`${place} is missing: the name of the table that the result of the query becomes.`)
  if (!/^[A-Za-z0-9_-]{1,96}$/.test(outputTable))
    throw new UserError(`${place} must have letters, digits, underscores and dashes only, 96 at most.`)
  return outputTable
}

/** Also for actions, which show a table before a row is saved. */
export function readSource(parameters: Fields): Source {
  const query = textAt(parameters, 'query', 'query').trim().replace(/;\s*$/, '')
  const hasTable = parameters.table !== undefined && parameters.table !== null
  if (query !== '' && hasTable) throw new UserError('Use either table or query, not both.')
  if (query !== '') {
    for (const name of ['columns', 'filter'])
      if (!isEmpty(parameters[name])) throw new UserError(`${name} is for a table. Write it into the query.`)
    return { kind: 'query', text: query }
  }
  if (!isEmpty(parameters.tables)) throw new UserError('This is for one table; the row has several in tables.')
  if (!hasTable) throw new UserError('Nothing to read: set table ({"schema", "tableName"}), tables or query.')
  const table = objectAt(parameters, 'table', 'table')
  refuseUnknown(table, ['schema', 'tableName'], 'table')
  const name = textAt(table, 'tableName', 'table.tableName')
  if (name === '') throw new UserError('table.tableName is missing.')
  return {
    kind: 'table',
    table: { schema: textAt(table, 'schema', 'table.schema'), name },
    columns: listAt(parameters, 'columns', 'columns'),
    filter: textAt(parameters, 'filter', 'filter') || undefined,
  }
}
