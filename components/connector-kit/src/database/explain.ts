// Errors of drivers, as messages.

import { UserError } from '../../../http-extractor/src/errors.ts'
import type { DatabaseSettings } from './connection.ts'

/** What to do, by codes of PostgreSQL, MySQL and ClickHouse; the first that fits counts. */
export type Advice = readonly (readonly [codes: RegExp, advice: string])[]

/** Codes of PostgreSQL, MySQL and ClickHouse for what the user can put right. */
const ADVICE: Advice = [
  [/^(28P01|28000|ER_ACCESS_DENIED_ERROR|ER_ACCESS_DENIED_NO_PASSWORD_ERROR)$/, 'Check db.user and db.#password.'],
  [/^(3D000|ER_BAD_DB_ERROR|ER_DBACCESS_DENIED_ERROR)$/, 'Check db.database, and whether the user may use it.'],
  [/^(42P01|3F000|ER_NO_SUCH_TABLE)$/, 'Check the schema and the name of the table.'],
  [/^(42501|ER_TABLEACCESS_DENIED_ERROR|ER_COLUMNACCESS_DENIED_ERROR)$/, 'Grant SELECT on it to the user.'],
  [/^(42\w{3}|22\w{3}|ER_PARSE_ERROR|ER_BAD_FIELD_ERROR)$/, 'Check the query and the filter.'],
  [/^CLICKHOUSE_(19[234]|516)$/, 'Check db.user and db.#password.'],
  [/^CLICKHOUSE_81$/, 'Check db.database, and whether the user may use it.'],
  [/^CLICKHOUSE_60$/, 'Check the schema and the name of the table.'],
  [/^CLICKHOUSE_(291|497)$/, 'Grant SELECT on it to the user.'],
  [/^CLICKHOUSE_(159|202|209|241)$/, 'Run the job again later.'],
  [/^CLICKHOUSE_(43|46|47|53|62)$/, 'Check the query and the filter.'],
  [/^(55P03|57014|40001|40P01|ER_LOCK_WAIT_TIMEOUT|ER_QUERY_INTERRUPTED|ER_QUERY_TIMEOUT)$/, 'Run the job again later.'],
]

/** A connection that was lost: worth another try. */
const LOST =
  /^(08\w{3}|57P0\d|53300|ECONNRESET|EPIPE|ETIMEDOUT|PROTOCOL_CONNECTION_LOST|ER_SERVER_SHUTDOWN|ER_CON_COUNT_ERROR|ER_CONNECTION_KILLED|1053)$/

const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? '')

export const isLostConnection = (error: unknown): boolean =>
  LOST.test(codeOf(error)) ||
  (error instanceof Error &&
    /^(Connection terminated|Connection lost|Can't add new command when connection is in closed state|.*is not queryable$|.* due to conflict with recovery$)/.test(
      error.message,
    ))

/** Nothing listens there: worth another try where something did before, since a server may restart. */
export const isRefusedConnection = (error: unknown): boolean => codeOf(error) === 'ECONNREFUSED'

const TLS_ERROR = /^(ERR_TLS|ERR_OSSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HANDSHAKE_SSL|ERR_SSL)|certificate/i

/** What a driver throws, as an error of the user: the words of the database, and what to do. */
export function explained(error: unknown, settings: DatabaseSettings, own: Advice = []): Error {
  if (error instanceof UserError || !(error instanceof Error)) return error instanceof Error ? error : new Error(String(error))
  const code = codeOf(error)
  const where =
    'host' in settings ? `The database ${settings.host}` : `The ${settings.type === 'sqlite' ? 'SQLite' : 'DuckDB'} file`
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) || /^(ER|CLICKHOUSE)_/.test(code) // the database has answered, so the connection is good
  if (!isAnswer && (TLS_ERROR.test(code) || TLS_ERROR.test(error.message) || /SSL/.test(error.message)))
    return new UserError(`${where} could not be reached over TLS: ${sentence(error.message)} Check db.ssl.`, {}, error).withFacts(
      {
        kind: 'network.tls',
      },
    )
  if (isLostConnection(error))
    return new UserError(`${where} closed the connection: ${sentence(error.message)} Run the job again.`, {}, error).withFacts({
      kind: 'network.interrupted',
    })
  if (code === '' && !/sqlite/i.test(error.name)) return error
  const advice = [...own, ...ADVICE].find(([codes]) => codes.test(code))?.[1] ?? ''
  return new UserError(`${where} answered: ${sentence(error.message)} ${advice}`.trim(), { code }, error)
}

const sentence = (text: string): string => (/[.!?]\s*$/.test(text) ? text.trim() : `${text.trim()}.`)
