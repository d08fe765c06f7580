// What one row of the configuration delivers, and how.

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
import type { TableName } from './targets/target.ts'

/** full: the table is replaced. The others change it, by key where they need one. */
const MODES = ['upsert', 'insert', 'full', 'delete'] as const
export type Mode = (typeof MODES)[number]

export interface ColumnChoice {
  readonly source: string
  readonly target: string
  /** For a table that is created; undefined: by the type of the source. */
  readonly type: string | undefined
}

export interface Delivery {
  readonly table: TableName
  readonly mode: Mode
  /** Undefined: all, under their own names. */
  readonly columns: readonly ColumnChoice[] | undefined
  /** Names in the target. Undefined: the primary key of the table of the project. */
  readonly primaryKey: readonly string[] | undefined
  /** Rows with a true value in this column of the table are deleted in the target. */
  readonly deletedColumn: string | undefined
  readonly create: boolean
  /** Of `full`: rows are loaded into the emptied table at once, and readers wait for as long as that takes. */
  readonly direct: boolean
  readonly emptyAsNull: boolean
  /** What becomes of rows that the database refuses. */
  readonly invalidRows: 'fail' | 'reject'
  /** Per cent of the rows. */
  readonly maxRejected: number
  readonly preSql: string
  readonly postSql: string
  readonly dryRun: boolean
  /** How long other users of the table are waited for. */
  readonly lockSeconds: number
}

export const LOCK_SECONDS = 60

const FIELDS = [
  ...['table', 'mode', 'columns', 'primaryKey', 'deletedColumn', 'create', 'emptyAsNull'],
  ...['invalidRows', 'maxRejectedPercent', 'preSql', 'postSql', 'dryRun', 'direct', 'lockSeconds'],
]

export function readDelivery(parameters: Fields): Delivery {
  refuseUnknown(parameters, ['db', ...FIELDS], 'parameters')
  const table = objectAt(parameters, 'table', 'table')
  refuseUnknown(table, ['schema', 'tableName'], 'table')
  const name = textAt(table, 'tableName', 'table.tableName')
  if (name === '') throw new UserError('table.tableName is missing: the name of the table in the database.')
  const mode = choiceAt(parameters, 'mode', MODES)
  const deletedColumn = textAt(parameters, 'deletedColumn', 'deletedColumn') || undefined
  if (deletedColumn !== undefined && mode !== 'upsert') throw new UserError('deletedColumn is for the mode "upsert".')
  const direct = flagAt(parameters, 'direct', 'direct', false)
  if (direct && mode !== 'full') throw new UserError('direct is for the mode "full".')
  const maxRejected = numberAt(parameters, 'maxRejectedPercent', 'maxRejectedPercent') ?? 5
  if (maxRejected > 100) throw new UserError('maxRejectedPercent must be at most 100.')
  const lockSeconds = numberAt(parameters, 'lockSeconds', 'lockSeconds') ?? LOCK_SECONDS
  if (!Number.isInteger(lockSeconds) || lockSeconds < 1 || lockSeconds > 3600)
    throw new UserError('lockSeconds must be a whole number from 1 to 3600.')
  return {
    table: { schema: textAt(table, 'schema', 'table.schema'), name },
    mode,
    columns: readColumns(parameters),
    primaryKey: listAt(parameters, 'primaryKey', 'primaryKey'),
    deletedColumn,
    create: flagAt(parameters, 'create', 'create', true),
    direct,
    emptyAsNull: flagAt(parameters, 'emptyAsNull', 'emptyAsNull', false),
    invalidRows: choiceAt(parameters, 'invalidRows', ['fail', 'reject']),
    maxRejected,
    preSql: textAt(parameters, 'preSql', 'preSql').trim(),
    postSql: textAt(parameters, 'postSql', 'postSql').trim(),
    dryRun: flagAt(parameters, 'dryRun', 'dryRun', false),
    lockSeconds,
  }
}

function readColumns(parameters: Fields): readonly ColumnChoice[] | undefined {
  const { columns } = parameters
  if (isEmpty(columns)) return undefined
  if (!Array.isArray(columns)) throw new UserError('columns must be a list.')
  const read = columns.map((entry: unknown, at): ColumnChoice => {
    const place = `columns[${at}]`
    const column = objectAt({ entry }, 'entry', place)
    refuseUnknown(column, ['source', 'target', 'type'], place)
    const source = textAt(column, 'source', `${place}.source`)
    if (source === '') throw new UserError(`${place}.source is missing: the name of a column of the table.`)
    return {
      source,
      target: textAt(column, 'target', `${place}.target`) || source,
      type: textAt(column, 'type', `${place}.type`) || undefined,
    }
  })
  const targets = read.map(({ target }) => target)
  const repeated = targets.find((name, at) => targets.indexOf(name) !== at)
  if (repeated !== undefined) throw new UserError(`Two entries of columns have the target "${repeated}".`)
  const sources = read.map(({ source }) => source)
  const twice = sources.find((name, at) => sources.indexOf(name) !== at)
  if (twice !== undefined) throw new UserError(`Two entries of columns have the source "${twice}".`)
  const badType = read.find(({ type }) => type !== undefined && !/^\w[\w ,'/()]*$/.test(type))
  if (badType) throw new UserError(`"${badType.type?.slice(0, 60)}" in columns is not a type such as varchar(20).`)
  return read
}
