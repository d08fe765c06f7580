// A DuckDB file. DuckDB opens files by itself, past Node's permission model: it gets the one file, read-only, and may write nothing but the folder
// of the result. Everything else of the disk and the network is closed to statements, and its settings are locked.

import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { duckdbDialect } from '../compare/duckdb-dialect.ts'
import { writeCsv } from '../readers/csv-of-duckdb.ts'
import type { BaseType, Source, SourceColumn } from './columns.ts'
import type { Database, Description, ListedTable } from './database.ts'
import { selected } from './duckdb-values.ts'
import { numericType } from './numeric-type.ts'
import { chosen, conditionOf, incrementOf, relation } from './statements.ts'

const MEMORY = '256MiB'

/** `outFolder`: where results are written. */
export async function openDuckdb(path: string, outFolder: string): Promise<Database> {
  mkdirSync(outFolder, { recursive: true })
  const { instance, connection } = await open(path, outFolder)

  const run = async (sql: string) => {
    try {
      if ((await connection.extractStatements(sql)).count !== 1)
        throw new UserError('The query must be one statement, without a semicolon in it.')
      return await connection.runAndReadAll(sql)
    } catch (error) {
      throw explained(error)
    }
  }
  const ask = async (sql: string): Promise<(string | null)[][]> =>
    (await run(sql)).getRowsJson().map((row) => row.map((value) => (value === null ? null : String(value))))

  async function describe(source: Source): Promise<Description> {
    const result = await run(`select * from ${relation(source)} limit 0`)
    const types = result.columnTypes()
    const columns = result.columnNames().map((name, at) => columnOf(name, String(types[at])))
    return { columns: chosen(source, columns), primaryKey: source.kind === 'table' ? await keyOf(source) : [] }
  }

  async function keyOf({ table }: Source & { kind: 'table' }): Promise<readonly string[]> {
    const rows = await ask(
      `select unnest(constraint_column_names) from duckdb_constraints() where constraint_type = 'PRIMARY KEY' and database_name = current_database()
       and schema_name = ${textLiteral(table.schema || 'main')} and table_name = ${textLiteral(table.name)}`,
    )
    return rows.map(([name]) => name ?? '')
  }

  return {
    describe,
    async listSchemas() {
      const rows = await ask(
        'select schema_name from duckdb_schemas() where database_name = current_database() and not internal order by 1',
      )
      return [...new Set(['main', ...rows.map(([name]) => name ?? '')])]
    },
    async listTables(schema) {
      const rows = await ask(
        `select schema_name, name, kind, size from (
           select schema_name, table_name as name, 'table' as kind, estimated_size as size from duckdb_tables() where database_name = current_database() and not internal
           union all select schema_name, view_name, 'view', null from duckdb_views() where database_name = current_database() and not internal)
         ${schema === undefined ? '' : `where schema_name = ${textLiteral(schema)}`} order by 1, 2`,
      )
      return rows.map(
        ([owner, name, kind, size]): ListedTable => ({
          schema: owner ?? '',
          name: name ?? '',
          kind: kind === 'view' ? 'view' : 'table',
          ...(size !== null && size !== undefined && { estimatedRows: Number(size) }),
        }),
      )
    },
    async greatest(source, column) {
      return (await ask(`select max(${quoted(column.name)})::varchar from ${relation(source)}`))[0]?.[0] ?? undefined
    },
    async read(request) {
      const fields = request.columns.map((column) => selected(column, request.invalidAsNull))
      const from = `${relation(request.source)}${conditionOf(incrementOf(request.increment, LITERALS), request.where)}`
      return writeCsv(async (sql) => Number((await run(sql)).getRowsJson()[0]?.[0] ?? 0), request, fields, from)
    },
    preview: (source, columns, limit) =>
      ask(`select ${columns.map((column) => selected(column, false)).join(', ')} from ${relation(source)} limit ${limit}`),
    ask,
    relation,
    dialect: duckdbDialect,
    async close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function open(path: string, outFolder: string): Promise<{ instance: DuckDBInstance; connection: DuckDBConnection }> {
  try {
    const instance = await DuckDBInstance.create(path, {
      access_mode: 'READ_ONLY',
      memory_limit: MEMORY,
      temp_directory: tmpdir(),
      preserve_insertion_order: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    })
    const connection = await instance.connect()
    await connection.run("set timezone = 'UTC'")
    await connection.run(`set allowed_directories = [${textLiteral(`${outFolder}/`)}]`)
    await connection.run('set enable_external_access = false')
    await connection.run('set lock_configuration = true')
    return { instance, connection }
  } catch (error) {
    const { message } = error as Error
    if (/could not set lock|conflicting lock/i.test(message))
      throw new UserError(
        'Another program has the DuckDB file open for writing. Run the job again when it has closed it.',
        {},
        error,
      )
    throw new UserError(
      `The file is not a DuckDB database that can be read: ${firstLine(message).replaceAll(path, 'the file')}`,
      {},
      error,
    )
  }
}

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? ''

function explained(error: unknown): UserError {
  if (error instanceof UserError) return error
  const line = firstLine(error instanceof Error ? error.message : String(error))
  return new UserError(
    `DuckDB answered: ${/[.!?]$/.test(line) ? line : `${line}.`} Check the table, the query and the filter.`,
    {},
    error,
  )
}

const isTime = ({ native }: SourceColumn): boolean => /^(DATE|TIMESTAMP)/.test(native)

const LITERALS = {
  value: ({ native }: SourceColumn, text: string) => `cast(${textLiteral(text)} as ${native})`,
  back: (column: SourceColumn, lookback: number) =>
    isTime(column) ? `- to_microseconds(${Math.round(lookback * 1_000_000)})` : `- ${lookback}`,
}

const BASE: Readonly<Record<string, BaseType>> = {
  ...{ TINYINT: 'INTEGER', SMALLINT: 'INTEGER', INTEGER: 'INTEGER', BIGINT: 'INTEGER' },
  ...{ UTINYINT: 'INTEGER', USMALLINT: 'INTEGER', UINTEGER: 'INTEGER' },
  ...{ FLOAT: 'FLOAT', DOUBLE: 'FLOAT', BOOLEAN: 'BOOLEAN', DATE: 'DATE' },
  ...{ TIMESTAMP: 'TIMESTAMP', TIMESTAMP_S: 'TIMESTAMP', TIMESTAMP_MS: 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP' },
  VARCHAR: 'STRING',
}

function columnOf(name: string, native: string): SourceColumn {
  if (Object.hasOwn(BASE, native)) return { name, native, base: BASE[native]! } // just looked up
  if (native === 'UBIGINT') return { name, native, ...numericType('(20,0)') }
  if (/^DECIMAL\([\d,]+\)$/.test(native)) return { name, native, ...numericType(native) }
  const why = /^U?HUGEINT$|^BIGNUM$/.test(native)
    ? 'it has more than 38 digits'
    : native === 'TIMESTAMP_NS'
      ? 'tables have microseconds'
      : 'tables have no such type'
  return { name, native, base: 'STRING', asText: why }
}
