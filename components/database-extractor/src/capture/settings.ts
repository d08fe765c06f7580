// parameters of the change capture: the connection, the tables, and what becomes of deletes and of a lost position.

import { createHash } from 'node:crypto'
import { readDatabase, type ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { choiceAt, type Fields, isEmpty, numberAt, refuseUnknown, textAt } from '../../../connector-kit/src/settings.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { INVALID_VALUES, MODES, readOutputTable } from '../configuration.ts'
import type { TableName } from '../databases/columns.ts'

export interface CapturedTable extends TableName {
  readonly outputTable: string
}

export interface CaptureSettings {
  readonly db: ServerSettings
  readonly tables: readonly CapturedTable[]
  readonly deletes: 'remove' | 'flag' | 'ignore'
  readonly invalidValues: (typeof INVALID_VALUES)[number]
  /** Empty: unknown, because there is no stored configuration. */
  readonly slot: string
  /** Its name is made here, so that no other program has one of that name. */
  readonly isOwnSlot: boolean
  /** Undefined: one that is made and kept here. */
  readonly publication: string | undefined
  readonly onLostPosition: 'fail' | 'snapshot'
  readonly mode: (typeof MODES)[number]
  /** Undefined: the run ends when it has read what is there. */
  readonly continuousMinutes: number | undefined
  /** How often a continuous run reads. */
  readonly batchSeconds: number
  readonly walWarningMb: number
  /** Undefined: no limit. */
  readonly walLimitMb: number | undefined
}

const FIELDS = [
  ...['tables', 'deletes', 'invalidValues', 'slotName', 'publication', 'onLostPosition'],
  ...['walWarningMb', 'walLimitMb', 'mode', 'continuousMinutes', 'batchSeconds'],
]

const WAL_WARNING_MB = 1024
/** A run may take six hours. */
const MAX_MINUTES = 350
const MAX_BATCH_SECONDS = 300

function limitedAt(parameters: Fields, name: string, most: number): number | undefined {
  const value = numberAt(parameters, name, name)
  if (value !== undefined && value > most) throw new UserError(`${name} must be a number from 0 to ${most}.`)
  return value
}

/** `wantsTables`: false for actions of a form that has none yet. */
export function readCapture(
  parameters: Fields,
  environment: Readonly<Record<string, string | undefined>>,
  { wantsTables = true } = {},
): CaptureSettings {
  refuseUnknown(parameters, ['db', ...FIELDS], 'parameters')
  const db = readServer(parameters)
  const slotName = textAt(parameters, 'slotName', 'slotName')
  const publication = textAt(parameters, 'publication', 'publication')
  for (const [place, name] of Object.entries({ slotName, publication }))
    if (name !== '' && !/^[a-z0-9_]{1,63}$/.test(name))
      throw new UserError(`${place} must have small letters, digits and underscores only, 63 at most.`)
  return {
    db,
    tables: readTables(parameters.tables, wantsTables, db.type === 'postgresql' ? 'public' : db.database),
    deletes: choiceAt(parameters, 'deletes', ['remove', 'flag', 'ignore']),
    invalidValues: choiceAt(parameters, 'invalidValues', INVALID_VALUES),
    slot: slotName || slotOf(environment),
    isOwnSlot: slotName === '',
    publication: publication || undefined,
    onLostPosition: choiceAt(parameters, 'onLostPosition', ['fail', 'snapshot']),
    mode: choiceAt(parameters, 'mode', MODES),
    continuousMinutes: limitedAt(parameters, 'continuousMinutes', MAX_MINUTES) || undefined,
    batchSeconds: limitedAt(parameters, 'batchSeconds', MAX_BATCH_SECONDS) ?? 1,
    walWarningMb: numberAt(parameters, 'walWarningMb', 'walWarningMb') ?? WAL_WARNING_MB,
    walLimitMb: numberAt(parameters, 'walLimitMb', 'walLimitMb') || undefined,
  }
}

function readServer(parameters: Fields): ServerSettings {
  const db = readDatabase(parameters)
  if ('folder' in db)
    throw new UserError(
      `Changes of ${db.type} cannot be captured. Use db.type "postgresql" or "mysql", or the database extractor.`,
    )
  if (db.type === 'postgresql') return db
  const foreign = OF_POSTGRESQL.find((name) => !isEmpty(parameters[name]))
  if (foreign !== undefined) throw new UserError(`${foreign} is for PostgreSQL. Remove it for db.type "mysql".`)
  if (parameters.deletes === 'flag')
    throw new UserError('deletes "flag" is for PostgreSQL: the log of MySQL need not have the deleted row. Use remove or ignore.')
  return db
}

const OF_POSTGRESQL = ['slotName', 'publication', 'walWarningMb', 'walLimitMb']

/** One for each configuration, branch, project and stack, so that no two of them read from the same slot. */
function slotOf({
  KBC_STACKID,
  KBC_PROJECTID,
  KBC_BRANCHID,
  KBC_CONFIGID,
}: Readonly<Record<string, string | undefined>>): string {
  if (!KBC_CONFIGID) return '' // an action, or a job without a stored configuration
  const name = KBC_CONFIGID.toLowerCase()
    .replace(/[^a-z0-9]/g, '_')
    .slice(0, 30)
  const whole = [KBC_STACKID, KBC_PROJECTID, KBC_BRANCHID, KBC_CONFIGID].join('\n')
  return `millrace_${name}_${createHash('sha256').update(whole).digest('hex').slice(0, 12)}`
}

function readTables(value: unknown, isNeeded: boolean, defaultSchema: string): readonly CapturedTable[] {
  if (isEmpty(value) && !isNeeded) return []
  if (isEmpty(value)) throw new UserError('tables is missing: the tables whose changes are captured.')
  if (!Array.isArray(value)) throw new UserError('tables must be a list of {"schema", "tableName"}.')
  const tables = value.map((one: unknown, at): CapturedTable => {
    const place = `tables[${at}]`
    if (typeof one !== 'object' || one === null || Array.isArray(one)) throw new UserError(`${place} must be an object.`)
    const table = one as Fields // just looked at
    refuseUnknown(table, ['schema', 'tableName', 'outputTable'], place)
    const name = textAt(table, 'tableName', `${place}.tableName`)
    if (name === '') throw new UserError(`${place}.tableName is missing.`)
    const schema = textAt(table, 'schema', `${place}.schema`) || defaultSchema
    return { schema, name, outputTable: readOutputTable(table, name, `${place}.outputTable`) }
  })
  for (const [what, of] of Object.entries({
    'captured twice': (table: CapturedTable) => `${table.schema}.${table.name}`,
    'the outputTable of two tables': (table: CapturedTable) => table.outputTable.toLowerCase(),
  })) {
    const names = tables.map(of)
    const repeated = names.find((name, at) => names.indexOf(name) !== at)
    if (repeated !== undefined) throw new UserError(`"${repeated}" in tables is ${what}.`)
  }
  return tables
}
