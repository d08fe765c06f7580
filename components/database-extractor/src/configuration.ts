// parameters of the configuration: the connection in `db`, and what one row reads. Names are those of the public database extractors.

import { isIP } from 'node:net'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Source } from './databases/database.ts'

export const TYPES = ['postgresql', 'mysql', 'sqlite'] as const
export type DatabaseType = (typeof TYPES)[number]

export interface TlsSettings {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly verify: boolean
}

export interface SshSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly privateKey: string
}

export interface ServerSettings {
  readonly type: 'postgresql' | 'mysql'
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Undefined: without TLS. */
  readonly tls: TlsSettings | undefined
  readonly ssh: SshSettings | undefined
}

/** A file below a folder that the operator has named, or the one file of the input mapping. */
export interface FileSettings {
  readonly type: 'sqlite'
  readonly folder: string | undefined
  readonly path: string
}

export type DatabaseSettings = ServerSettings | FileSettings

export interface RowSettings {
  readonly source: Source
  readonly outputTable: string
  /** Undefined: that of the table. */
  readonly primaryKey: readonly string[] | undefined
  readonly incremental: boolean
  /** Read only rows whose value in this column is new since the last run. */
  readonly incrementalColumn: string | undefined
  readonly lookback: number
  readonly invalidValues: (typeof INVALID_VALUES)[number]
}

type Fields = Readonly<Record<string, unknown>>

const DEFAULT_PORTS = { postgresql: 5432, mysql: 3306 } as const

export function readDatabase(parameters: Fields): DatabaseSettings {
  const db = objectAt(parameters, 'db', 'parameters.db')
  const type = textAt(db, 'type', 'db.type') || 'postgresql'
  if (!isType(type)) throw new UserError(`"${type.slice(0, 40)}" in db.type is not supported. Use ${TYPES.join(', ')}.`)
  if (type === 'sqlite') {
    refuseUnknown(db, ['type', 'folder', 'path'], 'db')
    return { type, folder: textAt(db, 'folder', 'db.folder') || undefined, path: textAt(db, 'path', 'db.path') }
  }
  refuseUnknown(db, ['type', 'host', 'port', 'user', 'password', '#password', 'database', 'ssl', 'ssh'], 'db')
  const host = textAt(db, 'host', 'db.host')
  if (host === '') throw new UserError('db.host is missing: the name or address of the database server.')
  if (isIP(host) === 0 && !/^[A-Za-z0-9_.-]+$/.test(host)) throw new UserError('db.host is not a host name or an address.')
  const user = textAt(db, 'user', 'db.user')
  if (user === '') throw new UserError('db.user is missing.')
  const database = textAt(db, 'database', 'db.database')
  if (database === '') throw new UserError('db.database is missing: the name of the database to read.')
  return {
    type,
    host,
    port: portAt(db, 'port', 'db.port') ?? DEFAULT_PORTS[type],
    user,
    password: textAt(db, '#password', 'db.#password') || textAt(db, 'password', 'db.password'),
    database,
    tls: readTls(db),
    ssh: readSsh(db),
  }
}

const isType = (type: string): type is DatabaseType => (TYPES as readonly string[]).includes(type)

function readTls(db: Fields): TlsSettings | undefined {
  if (db.ssl === undefined || db.ssl === null) return undefined
  const ssl = objectAt(db, 'ssl', 'db.ssl')
  refuseUnknown(ssl, ['enabled', 'ca', 'cert', 'key', '#key', 'verifyServerCert'], 'db.ssl')
  if (!flagAt(ssl, 'enabled', 'db.ssl.enabled', false)) return undefined
  return {
    ca: textAt(ssl, 'ca', 'db.ssl.ca') || undefined,
    cert: textAt(ssl, 'cert', 'db.ssl.cert') || undefined,
    key: textAt(ssl, '#key', 'db.ssl.#key') || textAt(ssl, 'key', 'db.ssl.key') || undefined,
    verify: flagAt(ssl, 'verifyServerCert', 'db.ssl.verifyServerCert', true),
  }
}

function readSsh(db: Fields): SshSettings | undefined {
  if (db.ssh === undefined || db.ssh === null) return undefined
  const ssh = objectAt(db, 'ssh', 'db.ssh')
  refuseUnknown(ssh, ['enabled', 'sshHost', 'sshPort', 'user', 'keys'], 'db.ssh')
  if (!flagAt(ssh, 'enabled', 'db.ssh.enabled', false)) return undefined
  const keys = objectAt(ssh, 'keys', 'db.ssh.keys')
  const settings = {
    host: textAt(ssh, 'sshHost', 'db.ssh.sshHost'),
    port: portAt(ssh, 'sshPort', 'db.ssh.sshPort') ?? 22,
    user: textAt(ssh, 'user', 'db.ssh.user'),
    privateKey: textAt(keys, '#private', 'db.ssh.keys.#private'),
  }
  const missing = Object.entries(settings).find(([, value]) => value === '')
  if (missing) throw new UserError(`db.ssh needs sshHost, user and keys.#private; ${missing[0]} is missing.`)
  return settings
}

const ROW_FIELDS = [
  ...['table', 'query', 'columns', 'filter', 'outputTable', 'primaryKey', 'incremental'],
  ...['incrementalFetchingColumn', 'incrementalFetchingLookback', 'invalidValues'],
]

export function readRow(parameters: Fields): RowSettings {
  refuseUnknown(parameters, ['db', ...ROW_FIELDS], 'parameters')
  const source = readSource(parameters)
  const ownName = source.kind === 'table' ? source.table.name.replace(/[^A-Za-z0-9_-]/g, '_') : ''
  const outputTable = textAt(parameters, 'outputTable', 'outputTable') || ownName
  if (outputTable === '')
    throw new UserError('outputTable is missing: the name of the table that the result of the query becomes.')
  if (!/^[A-Za-z0-9_-]{1,96}$/.test(outputTable))
    throw new UserError('outputTable must have letters, digits, underscores and dashes only, 96 at most.')
  const incrementalColumn = textAt(parameters, 'incrementalFetchingColumn', 'incrementalFetchingColumn') || undefined
  return {
    source,
    outputTable,
    primaryKey: listAt(parameters, 'primaryKey', 'primaryKey'),
    incremental: flagAt(parameters, 'incremental', 'incremental', incrementalColumn !== undefined),
    incrementalColumn,
    invalidValues: readInvalidValues(parameters),
    lookback: numberAt(parameters, 'incrementalFetchingLookback', 'incrementalFetchingLookback') ?? 0,
  }
}

/** What becomes of dates and numbers that no typed column can hold: the load fails, they are absent, or their columns become texts. */
const INVALID_VALUES = ['fail', 'null', 'text'] as const

function readInvalidValues(parameters: Fields): RowSettings['invalidValues'] {
  const value = textAt(parameters, 'invalidValues', 'invalidValues') || 'fail'
  const known = INVALID_VALUES.find((one) => one === value)
  if (!known) throw new UserError(`invalidValues must be ${INVALID_VALUES.join(', ')}.`)
  return known
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
  if (!hasTable) throw new UserError('Nothing to read: set table ({"schema", "tableName"}) or query.')
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

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** A setting that is ignored in silence does not do what its author thinks. */
function refuseUnknown(fields: Fields, known: readonly string[], place: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new UserError(
      `"${unknown.slice(0, 60)}" in ${place} is not known. Use ${known.filter((name) => name !== 'db').join(', ')}.`,
    )
}

function objectAt(fields: Fields, name: string, place: string): Fields {
  const value = fields[name]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UserError(`${place} must be an object.`)
  return value as Fields // just looked at
}

function textAt(fields: Fields, name: string, place: string): string {
  const value = fields[name]
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw new UserError(`${place} must be a text.`)
  return value
}

function listAt(fields: Fields, name: string, place: string): readonly string[] | undefined {
  const value = fields[name]
  if (isEmpty(value)) return undefined
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && one !== ''))
    throw new UserError(`${place} must be a list of names.`)
  return value
}

function flagAt(fields: Fields, name: string, place: string, fallback: boolean): boolean {
  const value = fields[name]
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'boolean') throw new UserError(`${place} must be true or false.`)
  return value
}

function numberAt(fields: Fields, name: string, place: string): number | undefined {
  const value = fields[name]
  if (isEmpty(value)) return undefined
  const number = Number(value)
  if (typeof value === 'boolean' || !Number.isFinite(number) || number < 0)
    throw new UserError(`${place} must be a number of at least 0.`)
  return number
}

function portAt(fields: Fields, name: string, place: string): number | undefined {
  const port = numberAt(fields, name, place)
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw new UserError(`${place} must be a port: a whole number from 1 to 65535.`)
  return port
}
