// One statement over tables of a project, and its result as a stream. The session lives as long as the result is read.

import { withHistory } from '../../../engines/sql/history.ts'
import type { SqlColumn, SqlEngine, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { singleStatement, type TableName, tablesNamed } from '../../../engines/sql/statements.ts'
import { defined } from '../../../kit/defined.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import { readerOf, type Scope } from '../../../model/scope.ts'

export interface QueriesDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly findTable: (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>
  /** Every table the asker may read. */
  readonly listTables: (scope: Scope) => Promise<readonly TableName[]>
  /** A session of the project has ended. */
  readonly onSession: (projectId: number, ms: number) => void
}

export interface Query {
  readonly sql: string
  readonly format: 'json' | 'csv' | 'parquet'
  /** At most so many rows; json has a limit of its own. */
  readonly limit?: number | undefined
}

export const DEFAULT_JSON_ROWS = 10_000

export type Queries = ReturnType<typeof createQueries>

/** The list of tables, as a table that a session can bind; no bucket has such a name. */
const LIST = { schema: 'sys.project', name: 'tables' }

export function createQueries({ engine, findTable, listTables, onSession }: QueriesDeps) {
  async function find(scope: Scope, schema: string, name: string): Promise<SqlTable | undefined> {
    if (schema !== LIST.schema || name !== LIST.name) return findTable(scope, schema, name)
    const select = selectOf(await listTables(scope))
    return { version: select, keys: [], select: () => select }
  }

  /** Resolves when the first bytes are there: what fails before is thrown, what fails later ends the stream. */
  async function run(scope: Scope, { sql, format, limit }: Query, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const session = await engine.open({
      mode: 'read',
      reader: readerOf(scope),
      owner: scope.actor,
      findTable: (schema, name) => find(scope, schema, name),
      signal,
      onClosed: (ms) => onSession(scope.actor.projectId, ms),
    })
    try {
      const rows = format === 'json' ? (limit ?? DEFAULT_JSON_ROWS) : limit
      // One more than is shown, to detect whether there are more.
      const asked = format === 'json' && rows !== undefined ? rows + 1 : rows
      const { columns, bytes } = await session.copy(await readable(sql), format, { signal, ...defined({ limit: asked }) })
      const body = format === 'json' ? jsonBody(columns, bytes, rows ?? DEFAULT_JSON_ROWS) : bytes
      return await startedWith(body, () => session.close())
    } catch (error) {
      await session.close()
      throw error
    }
  }

  /** The states of the tables that a query would read now; undefined if the caller cannot read one of them. Equal states: an equal result. */
  async function statesRead(scope: Scope, sql: string): Promise<readonly string[] | undefined> {
    const { statement } = await withHistory(await singleStatement(await readable(sql)))
    const versions: string[] = []
    for (const { schema, name } of await tablesNamed(statement)) {
      const table = await find(scope, schema, name)
      if (!table) return undefined
      versions.push(table.version)
    }
    return versions
  }

  return { run, statesRead }
}

/** `SHOW TABLES [FROM "in.c-bucket"]` and `DESCRIBE` alone, which DuckDB would answer for itself, as a query over the list of tables. */
async function readable(sql: string): Promise<string> {
  const { tokens } = await singleStatement(sql)
  if (tokens.length > 4) return sql
  const words = [0, 1, 2]
    .map((i) => tokens.lower(i))
    .join(' ')
    .trim()
  const list = `SELECT * FROM "${LIST.schema}"."${LIST.name}"`
  if (tokens.length < 4 && /^(show (all )?tables|desc(ribe)?)$/.test(words)) return `${list} ORDER BY ALL`
  if (tokens.length === 4 && /^show tables (from|in)$/.test(words))
    return `${list} WHERE "schema" = ${singleQuoted(tokens.text(3))} ORDER BY ALL`
  return sql
}

function selectOf(tables: readonly TableName[]): string {
  const rows = tables.map(({ schema, name }) => `(${singleQuoted(schema)}, ${singleQuoted(name)})`)
  const values = rows.length > 0 ? `VALUES ${rows.join(', ')}` : `SELECT '', '' WHERE false`
  return `SELECT "schema", "name" FROM (${values}) t("schema", "name")`
}

/** `{"columns": [...], "rows": [[...], ...], "rowCount": 2, "isTruncated": false}` from an array per line. */
async function* jsonBody(columns: readonly SqlColumn[], lines: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer> {
  let text = `{"columns":${JSON.stringify(columns)},"rows":[`
  let open = ''
  let rows = 0
  let isTruncated = false
  for await (const chunk of lines) {
    // One character per byte: lines end at a byte that is in no other character.
    const parts = (open + chunk.toString('latin1')).split('\n')
    open = parts.pop() ?? ''
    const shown = parts.slice(0, limit - rows)
    isTruncated ||= shown.length < parts.length
    if (shown.length === 0) continue
    const separator = rows > 0 ? ',\n' : '\n'
    if (text !== '') yield Buffer.from(text)
    text = ''
    rows += shown.length
    yield Buffer.from(separator + shown.join(',\n'), 'latin1')
  }
  yield Buffer.from(`${text}],"rowCount":${rows},"isTruncated":${isTruncated}}\n`)
}

/** The stream, once its first piece is there. `close` runs when it ends, however that is. */
async function startedWith(stream: AsyncIterable<Buffer>, close: () => Promise<void>): Promise<AsyncIterable<Buffer>> {
  const pieces = stream[Symbol.asyncIterator]()
  const first = await pieces.next()
  return (async function* () {
    try {
      for (let piece = first; !piece.done; piece = await pieces.next()) yield piece.value
    } finally {
      await pieces.return?.()
      await close()
    }
  })()
}
