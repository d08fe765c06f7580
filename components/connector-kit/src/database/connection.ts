// The connection to a database: `db` of the parameters. Names are those of the public database extractors.

import { isIP } from 'node:net'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { hostKeyAt } from '../host-key.ts'
import { type Fields, flagAt, objectAt, portAt, refuseUnknown, textAt } from '../settings.ts'

const TYPES = ['postgresql', 'mysql', 'sqlite'] as const
/** With those that have no changes to capture. */
export const ALL_TYPES = [...TYPES, 'clickhouse', 'duckdb'] as const
export type DatabaseType = (typeof ALL_TYPES)[number]

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
  /** Fingerprint; empty: any server. */
  readonly hostKey: string
}

export interface ServerSettings {
  readonly type: 'postgresql' | 'mysql' | 'clickhouse'
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
  readonly type: 'sqlite' | 'duckdb'
  readonly folder: string | undefined
  readonly path: string
}

export type DatabaseSettings = ServerSettings | FileSettings

const DEFAULT_PORTS = { postgresql: 5432, mysql: 3306, clickhouse: 8123 } as const
/** HTTP with TLS. */
const CLICKHOUSE_TLS_PORT = 8443

export function readDatabase(parameters: Fields, types: readonly DatabaseType[] = TYPES): DatabaseSettings {
  const db = objectAt(parameters, 'db', 'parameters.db')
  const type = textAt(db, 'type', 'db.type') || 'postgresql'
  const isType = (one: string): one is DatabaseType => (types as readonly string[]).includes(one)
  if (!isType(type)) throw new UserError(`"${type.slice(0, 40)}" in db.type is not supported. Use ${types.join(', ')}.`)
  if (type === 'sqlite' || type === 'duckdb') {
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
  const tls = readTls(db)
  const defaultPort = type === 'clickhouse' && tls ? CLICKHOUSE_TLS_PORT : DEFAULT_PORTS[type]
  return {
    type,
    host,
    port: portAt(db, 'port', 'db.port') ?? defaultPort,
    user,
    password: textAt(db, '#password', 'db.#password') || textAt(db, 'password', 'db.password'),
    database,
    tls,
    ssh: readSsh(db),
  }
}

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
  refuseUnknown(ssh, ['enabled', 'sshHost', 'sshPort', 'user', 'keys', 'hostKey'], 'db.ssh')
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
  return { ...settings, hostKey: hostKeyAt(ssh, 'db.ssh.hostKey') }
}
