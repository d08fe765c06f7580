// MySQL and MariaDB: DuckDB connects by itself, to the address that the egress guard has looked up. One statement reads a table, so it shows one state.
// Every value is a text that the server has written, so DuckDB changes none. DuckDB keeps no settings of a session, so names are quoted in the way
// of MySQL, and no text of a user is in the statement.

import { isIP } from 'node:net'
import { DATABASE_PORTS } from '../../../connector-kit/src/database/connect.ts'
import type { ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { ReadRequest } from '../databases/database.ts'
import { writeCsv } from './csv-of-duckdb.ts'
import type { Reader, ReaderContext } from './reader.ts'

export function mysqlReader({ settings, database, row, guard }: ReaderContext): Reader {
  const server = settings as ServerSettings // by its type
  return {
    unfit({ source, columns, increment, where }: ReadRequest) {
      if (server.ssh) return 'DuckDB does not connect through SSH'
      if (server.tls)
        return 'DuckDB compares certificates with the name of the host, and connects to the address that was permitted'
      if (row.deletes !== 'ignore') return 'deleted rows are looked for in the state that the driver sees'
      if (source.kind === 'query' || source.filter !== undefined) return 'queries and filters are run by the driver'
      if (where !== undefined) return 'the table has more rows than partRows, and only the driver reads parts in one state'
      if (increment?.columns.some(({ column }) => column.base === 'STRING')) return 'texts are compared by the driver'
      const names = [source.table.schema, source.table.name, ...columns.map(({ name }) => name)]
      return names.some((name) => /["`\\]/.test(name)) ? 'a name has a quotation mark' : undefined
    },
    async open(duckdb) {
      setEnvironment(server, await permittedAddress(server, guard))
      for (const setting of ['mysql_query_timeout_enabled', 'mysql_sql_buffer_result']) await duckdb.run(`set ${setting} = false`)
      await duckdb.run("set mysql_session_time_zone = '+00:00'")
      await duckdb.run("attach '' as source (type mysql)")
      const [[zone, mode] = []] = await duckdb.ask(`from ${query('select @@session.time_zone, @@session.sql_mode')}`)
      if (zone !== '+00:00' || String(mode).includes('PAD_CHAR'))
        throw new Error('the session has other settings than the driver')
    },
    read(request, duckdb) {
      const names = request.columns.map((_, at) => `f${at}`)
      const statement = withBackticks(request, database.textStatement?.(request) ?? '')
      return writeCsv(duckdb.copy, request, names, `${query(statement)} as t(${names.join(', ')})`)
    },
  }
}

/** The statement quotes names as standard SQL does, and has double quotes nowhere else. */
const withBackticks = ({ source, columns }: ReadRequest, statement: string): string =>
  [...(source.kind === 'table' ? [source.table.schema, source.table.name] : []), ...columns.map(({ name }) => name)].reduce(
    (sql, name) => sql.replaceAll(quoted(name), () => `\`${name}\``),
    statement,
  )

const query = (sql: string): string => `mysql_query('source', ${textLiteral(sql)}, stream_results = true)`

/** Of this process only, and not in what other processes see of it. */
function setEnvironment({ port, user, password, database }: ServerSettings, address: string): void {
  Object.assign(process.env, {
    ...{ MYSQL_HOST: address, MYSQL_TCP_PORT: String(port), MYSQL_USER: user, MYSQL_PWD: password, MYSQL_DATABASE: database },
  })
}

async function permittedAddress({ host, port }: ServerSettings, guard: ReaderContext['guard']): Promise<string> {
  guard.check(host, port, DATABASE_PORTS)
  if (isIP(host) !== 0) return host
  const [first] = await guard.resolve(host, port, DATABASE_PORTS)
  return first?.address ?? host
}
