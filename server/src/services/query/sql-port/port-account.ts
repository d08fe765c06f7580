// Commands of Snowflake about the login and the session, which its clients send: DESC USER, SHOW PARAMETERS, ALTER SESSION.

import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { Statement } from '../../../engines/sql/statements.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import { between, nameAt, stringOf } from './port-commands.ts'
import type { PortSettings } from './port-settings.ts'

/** How a user of the port logs in, and for how long a statement of it may run. */
export interface PortUser {
  readonly type: 'LEGACY_SERVICE' | 'PERSON' | 'SERVICE'
  readonly hasPassword: boolean
  /** Fingerprints of the keys, in the two slots of Snowflake; undefined if a slot is free. */
  readonly keys: readonly [first: string | undefined, second: string | undefined]
  readonly timeoutSeconds: number
}

export interface Account {
  readonly user: string
  readonly database: string
  readonly settings: PortSettings
  readonly describeUser: () => Promise<PortUser>
}

/** The query that DESC USER or SHOW PARAMETERS stands for; undefined for another statement. */
export async function accountQuery(statement: Statement, account: Account): Promise<string | undefined> {
  const { user, database, settings, describeUser } = account
  if (statement.keyword === 'show') {
    const pattern = parametersPattern(statement)
    return pattern === undefined ? undefined : parametersQuery(pattern, settings, await describeUser())
  }
  const name = describedUser(statement)
  if (name === undefined) return undefined
  if (name.toLowerCase() !== user.toLowerCase())
    throw new WireError('42704', `User "${name.slice(0, 60)}" does not exist, or is not the user of this connection.`)
  return userQuery(user, await describeUser(), database)
}

/** The name in `DESC USER name`; undefined for another statement. */
function describedUser(statement: Statement): string | undefined {
  const { tokens } = statement
  return tokens.lower(1) === 'user' && tokens.length === 3 && tokens.isName(2) ? nameAt(statement, 2) : undefined
}

/** Snowflake writes a value that is not set as the word null. */
const userQuery = (name: string, { type, hasPassword, keys }: PortUser, database: string): string =>
  rowsQuery(
    ['property', 'value', 'default', 'description'],
    [
      ['NAME', name, 'null', 'Name'],
      ['LOGIN_NAME', name, 'null', 'Login name of the user'],
      ['TYPE', type, 'null', 'User type'],
      ['DISABLED', 'false', 'false', 'Whether the user is disabled'],
      ['PASSWORD', hasPassword ? '********' : 'null', 'null', 'Password of the user'],
      ['DEFAULT_NAMESPACE', database, 'null', 'Database of the user'],
      ['RSA_PUBLIC_KEY_FP', keys[0] ?? 'null', 'null', 'Fingerprint of the public key'],
      ['RSA_PUBLIC_KEY_2_FP', keys[1] ?? 'null', 'null', 'Fingerprint of the second public key'],
    ],
  )

interface Parameter {
  /** The setting of PostgreSQL with the same meaning; undefined for a parameter with one value. */
  readonly setting?: string
  readonly value: string
  readonly type: string
  readonly description: string
}

const TIMEOUT = 'STATEMENT_TIMEOUT_IN_SECONDS'
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  AUTOCOMMIT: { value: 'true', type: 'BOOLEAN', description: 'Statements outside of a transaction are committed' },
  LOCK_TIMEOUT: { setting: 'lock_timeout', value: '0', type: 'NUMBER', description: 'No effect' },
  QUERY_TAG: { setting: 'application_name', value: '', type: 'STRING', description: 'Name of the client' },
  QUOTED_IDENTIFIERS_IGNORE_CASE: { value: 'true', type: 'BOOLEAN', description: 'Names in quotes are not case-sensitive' },
  [TIMEOUT]: { setting: 'statement_timeout', value: '0', type: 'NUMBER', description: 'Maximum duration of a statement' },
  TIMEZONE: { setting: 'timezone', value: 'UTC', type: 'STRING', description: 'Time zone' },
}

/** The pattern in `SHOW PARAMETERS [LIKE 'x'] [IN | FOR place]`; undefined for another statement. */
function parametersPattern(statement: Statement): string | undefined {
  const { tokens } = statement
  if (tokens.lower(1) !== 'parameters') return undefined
  const isLike = tokens.lower(2) === 'like' && tokens.kind(3) === 'string'
  const after = isLike ? 4 : 2
  if (tokens.length > after && !['in', 'for'].includes(tokens.lower(after)))
    throw new WireError('42601', 'SHOW PARAMETERS has the form SHOW PARAMETERS [LIKE pattern] [IN SESSION].')
  return isLike ? stringOf(statement, 3) : '%'
}

function parametersQuery(pattern: string, settings: PortSettings, { timeoutSeconds }: PortUser): string {
  const rows = Object.entries(PARAMETERS).map(([key, { setting, value: fixed, type, description }]) => {
    const usual = key === TIMEOUT ? String(timeoutSeconds) : fixed
    const shown = setting === undefined ? usual : settings.show(setting)
    const value = key === TIMEOUT ? String(Math.ceil((settings.timeoutMs() ?? timeoutSeconds * 1000) / 1000)) : shown
    return [key, value, usual, value === usual ? '' : 'SESSION', description, type]
  })
  const query = rowsQuery(['key', 'value', 'default', 'level', 'description', 'type'], rows)
  return `${query} WHERE key ILIKE ${singleQuoted(pattern)} ORDER BY key`
}

const rowsQuery = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  `SELECT * FROM (VALUES ${rows.map((row) => `(${row.map(singleQuoted).join()})`).join()}) t("${columns.join('","')}")`

/** What `ALTER SESSION SET name = value [, ...]` and `ALTER SESSION UNSET name [, ...]` set; undefined for another ALTER. */
export function sessionChanges(
  statement: Statement,
): readonly (readonly [setting: string, value: string | undefined])[] | undefined {
  const { tokens } = statement
  if (tokens.lower(1) !== 'session') return undefined
  const isSet = tokens.lower(2) === 'set'
  if (tokens.length < 4 || (!isSet && tokens.lower(2) !== 'unset')) throw malformed()
  const changes: (readonly [string, string | undefined])[] = []
  for (let at = 3; at < tokens.length; at += isSet ? 3 : 1) {
    if (at > 3 && tokens.isSymbol(at, ',')) at++
    if (!tokens.isName(at) || (isSet && (!tokens.isSymbol(at + 1, '=') || at + 2 >= tokens.length))) throw malformed()
    const isText = tokens.kind(at + 2) === 'string'
    const value = isText ? stringOf(statement, at + 2) : between(statement, at + 2, at + 3)
    const change = changeOf(tokens.text(at).toUpperCase(), isSet ? value : undefined)
    if (change) changes.push(change)
  }
  return changes
}

function changeOf(name: string, value: string | undefined): readonly [setting: string, value: string | undefined] | undefined {
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
  if (!parameter) throw new WireError('42704', `The parameter "${name.slice(0, 60)}" is not supported.`)
  if (parameter.setting) return [parameter.setting, name === TIMEOUT && value !== undefined ? `${value}s` : value]
  if (value !== undefined && value.toLowerCase() !== parameter.value)
    throw new WireError('0A000', `The parameter "${name}" is always ${parameter.value} here.`)
  return undefined
}

const malformed = () => new WireError('42601', 'ALTER SESSION has the form ALTER SESSION SET name = value.')
