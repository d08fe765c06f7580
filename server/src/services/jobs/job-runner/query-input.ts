// Inputs that are no table as it is: the rows of a query, and what changed of a table since the last run that succeeded. Both are SQL over
// tables that the token may read; their result is a CSV file with a manifest, like a table.

import { join } from 'node:path'
import { type DataFolder, writeDataFile } from '../../../engines/runner/data-folder.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import type { RunScope, RunSql, SqlDryRunColumn, TableInfo } from '../../../model/run-ports.ts'

/** The first column of changes: insert, update or delete. */
const CHANGE = '_change'

export interface QueryRun {
  readonly scope: RunScope
  readonly folder: DataFolder
  readonly signal: AbortSignal
  /** Of the file in in/tables; the name of the database beside it, too. */
  readonly fileName: string
  readonly limit: number | undefined
}

/** Answers the tables that the query read. */
export async function writeQuery(
  sql: RunSql,
  run: QueryRun,
  { query, name, pointer }: { readonly query: string; readonly name: string; readonly pointer: string },
): Promise<readonly string[]> {
  const { columns, namedTables } = await writeRows(sql, run, { query, name, pointer })
  const manifest = {
    ...{ id: name, name, primary_key: [], indexed_columns: [], columns: columns.map((column) => column.name) },
    ...{ metadata: [], column_metadata: {}, is_alias: false, attributes: [] },
    schema: columns.map(schemaOf),
  }
  await writeDataFile(`${join(run.folder.data, 'in/tables', run.fileName)}.manifest`, JSON.stringify(manifest))
  return namedTables
}

interface Changes {
  readonly table: TableInfo
  readonly columns: readonly string[] | undefined
  /** The state that was read last; undefined: none yet, every row is new. */
  readonly since: string | undefined
  readonly manifest: string
}

export async function writeChanges(sql: RunSql, run: QueryRun, { table, columns, since, manifest }: Changes): Promise<void> {
  const list = (columns ?? table.columns).map(doubleQuoted).join(', ')
  const id = quoted(table.id)
  const now = quoted(stateName(table))
  const query =
    since === undefined
      ? `SELECT 'insert' AS ${CHANGE}, ${list} FROM table_as_of(${id}, ${now})`
      : `SELECT CASE ${CHANGE} WHEN 'update_after' THEN 'update' ELSE ${CHANGE} END AS ${CHANGE}, ${list} ` +
        `FROM table_changes(${id}, ${quoted(since)}, ${now}) WHERE ${CHANGE} <> 'update_before'`
  try {
    await writeRows(sql, run, { query, name: table.id, pointer: '' })
  } catch (error) {
    if (!(error instanceof PlatformError) || !isTooOld(error)) throw error
    throw new PlatformError('jobRunner.changesTooOld', { table: table.id })
  }
  const known = JSON.parse(manifest) as { columns: string[]; schema?: object[] } // of this module
  await writeDataFile(
    `${join(run.folder.data, 'in/tables', run.fileName)}.manifest`,
    JSON.stringify({
      ...known,
      columns: [CHANGE, ...known.columns],
      ...(known.schema && { schema: [schemaOf({ name: CHANGE, type: 'VARCHAR' }), ...known.schema] }),
    }),
  )
}

/** Names a state of a table in SQL, exactly. */
export const stateName = ({ stateId }: Pick<TableInfo, 'stateId'>): string => `state:${stateId}`

const isTooOld = (error: PlatformError): boolean =>
  error.code === 'sql.noState' || (error.cause instanceof PlatformError && error.cause.code === 'sql.noState')

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const MEMORY_MB = 512
const TIMEOUT_MS = 3_600_000

async function writeRows(
  sql: RunSql,
  { scope, folder, signal, fileName, limit }: QueryRun,
  { query, name, pointer }: { readonly query: string; readonly name: string; readonly pointer: string },
): Promise<{ readonly columns: readonly SqlDryRunColumn[]; readonly namedTables: readonly string[] }> {
  const table = 'rows_of_input'
  const whole = query.replace(/[;\s]+$/, '')
  const script = [`CREATE VIEW ${table} AS ${limit === undefined ? whole : `SELECT * FROM (\n${whole}\n) LIMIT ${limit}`}`]
  const end = await sql.run(
    {
      scope,
      database: join(folder.root, `${fileName}.duckdb`),
      inputs: [],
      parts: [{ block: 'Input mapping', code: name, script, pointer }],
      outputs: [{ table, path: join(folder.data, 'in/tables', fileName) }],
      ...{ memoryMb: MEMORY_MB, threads: 2, timeoutMs: TIMEOUT_MS },
      withTypes: true,
      say: () => {},
    },
    signal,
  )
  return { columns: end.types[table] ?? [], namedTables: end.namedTables }
}

function schemaOf({ name, type }: SqlDryRunColumn) {
  const [, length] = /^DECIMAL\((\d+,\d+)\)$/.exec(type) ?? []
  return { name, data_type: { base: { type: baseOf(type), ...(length !== undefined && { length }) } }, nullable: true }
}

function baseOf(type: string): string {
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'INTEGER'
  if (type.startsWith('DECIMAL(') && !type.endsWith(']')) return 'NUMERIC'
  if (type === 'DOUBLE' || type === 'FLOAT') return 'FLOAT'
  if (type === 'BOOLEAN' || type === 'DATE') return type
  return /^TIMESTAMP(_S|_MS|_NS)?$/.test(type) ? 'TIMESTAMP' : 'STRING'
}
