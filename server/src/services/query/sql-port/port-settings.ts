// Settings of a connection: SET, SHOW and RESET in the words of PostgreSQL. What would change results and is not done here is refused;
// what only concerns PostgreSQL's own execution is accepted and has no effect.

import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { Statement } from '../../../engines/sql/statements.ts'

/** Of the PostgreSQL that answers for the catalogue. */
export const SERVER_VERSION = '18.6'

const DEFAULTS: Readonly<Record<string, string>> = {
  application_name: '',
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  client_min_messages: 'notice',
  datestyle: 'ISO, MDY',
  default_transaction_isolation: 'repeatable read',
  default_transaction_read_only: 'off',
  extra_float_digits: '1',
  idle_in_transaction_session_timeout: '0',
  in_hot_standby: 'off',
  integer_datetimes: 'on',
  intervalstyle: 'postgres',
  is_superuser: 'off',
  jit: 'off',
  lock_timeout: '0',
  max_identifier_length: '63',
  max_index_keys: '32',
  row_security: 'on',
  server_encoding: 'UTF8',
  server_version: SERVER_VERSION,
  server_version_num: String(Number(SERVER_VERSION.split('.')[0]) * 10_000 + Number(SERVER_VERSION.split('.')[1])),
  session_authorization: '',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  synchronize_seqscans: 'on',
  timezone: 'UTC',
  transaction_isolation: 'repeatable read',
  'transaction isolation level': 'repeatable read',
  transaction_read_only: 'off',
  work_mem: '4MB',
  xmloption: 'content',
}
/** Values that mean the same as the default; every other one is refused. */
const ONLY: Readonly<Record<string, RegExp>> = {
  client_encoding: /^(utf-?8|unicode)$/i,
  datestyle: /^iso\b/i,
  intervalstyle: /^postgres$/i,
  bytea_output: /^hex$/i,
  standard_conforming_strings: /^(on|true|1)$/i,
  timezone: /^(utc|gmt|z|zulu|etc\/utc|etc\/gmt|universal|\+?0|\+00(:00)?)$/i,
}
const MAX_VALUE_LENGTH = 10_000
const READ_ONLY = /^(server_|in_hot|integer_d|is_super|max_|session_auth)/

/** Parts of the first message that are no settings. */
const NO_SETTINGS = /^(user|database|options|replication|_pq_\..*)$/

/** `-c name=value`, `-cname=value` or `--name=value`, as libpq sends what PGOPTIONS has. A backslash keeps the space behind it. */
function optionsOf(text: string): [name: string, value: string][] {
  const words = (text.match(/(?:\\[\s\S]|[^\s\\])+/g) ?? []).map((word) => word.replaceAll(/\\([\s\S])/g, '$1'))
  const settings: [string, string][] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    const setting = word === '-c' ? (words[++i] ?? '') : word.replace(/^(-c|--)/, '')
    const [, name, value] = /^([\w.-]+)=([\s\S]*)$/.exec(setting) ?? []
    if (name === undefined || value === undefined || !/^(-c|--)/.test(word))
      throw new WireError('42601', `The option "${word.slice(0, 60)}" of the connection is not supported. Use -c name=value.`)
    settings.push([name.replaceAll('-', '_'), value])
  }
  return settings
}

export type PortSettings = ReturnType<typeof createPortSettings>

export function createPortSettings(user: string, startup: Readonly<Record<string, string>>) {
  const values = new Map<string, string>([['session_authorization', user]])
  let searchPath: readonly string[] | undefined
  // JDBC sends the time zone of its machine: what has one value here is reported to the client with the start instead.
  const plain = Object.entries(startup).filter(([name]) => !NO_SETTINGS.test(name) && !ONLY[name.toLowerCase()])
  const given = [...plain, ...optionsOf(startup.options ?? '')]

  function show(name: string): string {
    const key = name.toLowerCase()
    if (key === 'search_path') return searchPath?.map((schema) => `"${schema}"`).join(', ') ?? '"$user", public'
    const value = values.get(key) ?? DEFAULTS[key]
    if (value === undefined) throw unknown(name)
    return value
  }

  function set(name: string, value: string | undefined): void {
    const key = name.toLowerCase()
    if (value !== undefined && value.length > MAX_VALUE_LENGTH)
      throw new WireError('22023', `The value of a setting has at most ${MAX_VALUE_LENGTH} characters.`)
    if (key === 'search_path') {
      searchPath = value === undefined ? undefined : pathFrom(value)
      return
    }
    if (!Object.hasOwn(DEFAULTS, key)) throw unknown(name)
    if (READ_ONLY.test(key)) throw new WireError('55P02', `The setting "${name}" cannot be changed.`)
    if (value !== undefined && ONLY[key]?.test(value) === false)
      throw new WireError(
        '0A000',
        `The setting "${name}" is always ${DEFAULTS[key]} here; "${value.slice(0, 60)}" is not supported.`,
      )
    if (value === undefined || ONLY[key]) values.delete(key)
    else values.set(key, key === 'statement_timeout' ? String(timeoutFrom(value)) : value)
  }

  for (const [name, value] of given) set(name, value)
  const atStart = { values: new Map(values), searchPath }

  return {
    show,
    set,
    reset: () => {
      values.clear()
      for (const [name, value] of atStart.values) values.set(name, value)
      searchPath = atStart.searchPath
    },
    /** Undefined: every schema, in the order of their names. */
    searchPath: () => searchPath,
    /** Milliseconds; undefined for the limit of the stack. */
    timeoutMs: () => Number(values.get('statement_timeout')) || undefined,
    reported: (): Record<string, string> =>
      Object.fromEntries(REPORTED.map((name) => [name, values.get(name.toLowerCase()) ?? DEFAULTS[name.toLowerCase()] ?? ''])),
  }
}

/** What PostgreSQL informs its clients of at the start. */
const REPORTED = [
  'application_name',
  'client_encoding',
  'DateStyle',
  'default_transaction_read_only',
  'in_hot_standby',
  'integer_datetimes',
  'IntervalStyle',
  'is_superuser',
  'server_encoding',
  'server_version',
  'session_authorization',
  'standard_conforming_strings',
  'TimeZone',
]

const unknown = (name: string) => new WireError('42704', `The setting "${name.slice(0, 60)}" is not known.`)

const pathFrom = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"]|"")*)"|[^\s,"']+/g)]
    .map(([whole, quoted]) => quoted?.replaceAll('""', '"') ?? whole)
    .filter((schema) => schema !== '' && schema !== '$user')

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, '': 1 }

function timeoutFrom(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})\s*(ms|s|min|h)?$/.exec(text.trim()) ?? []
  if (count === undefined)
    throw new WireError('22023', `"${text.slice(0, 60)}" is not a valid statement_timeout; 30s and 5000 are.`)
  return Number(count) * (UNITS[unit] ?? 1)
}

/** `SET [SESSION | LOCAL] name {= | TO} value`, `SET TIME ZONE value`; undefined for what only concerns transactions. */
export function readSet({
  tokens,
  text,
  offset,
}: Statement): { readonly name: string; readonly value: string | undefined } | undefined {
  const words = [0, 1, 2, 3, 4, 5].map((i) => (tokens.isQuoted(i) ? tokens.text(i) : tokens.lower(i)))
  let at = 1
  if ((words[at] === 'session' && words[at + 1] !== 'characteristics') || words[at] === 'local') at++
  if (words[at] === 'transaction' || words[at] === 'session') return undefined
  const isZone = words[at] === 'time' && words[at + 1] === 'zone'
  const name = isZone ? 'timezone' : (words[at] ?? '')
  at += isZone ? 2 : 1
  if (words[at] === '=' || words[at] === 'to') at++
  if (at >= tokens.length) throw new WireError('42601', 'SET needs a name and a value: SET name = value.')
  const raw = text.slice(tokens.start(at) - offset).trim()
  const plain = name === 'search_path' ? raw.replaceAll("'", '') : raw.replace(/^'(.*)'$/s, '$1').replace(/^"(.*)"$/s, '$1')
  return { name, value: /^(default|local)$/i.test(plain) ? undefined : plain }
}
