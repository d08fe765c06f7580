// A DuckDB file in a folder that the operator has named. It is made when it does not exist. A failed statement ends a transaction of DuckDB,
// so stages are in a database in memory and are filled by a connection of their own. Native code is not held by Node's permission model:
// the path is checked here, and DuckDB itself opens no other file and no connection.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { InputColumn, InputTable } from '../../../connector-kit/src/input-table.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { NUMBER, type Place, type Places, type TableName, type Target } from './target.ts'

const RETRY_MS = 500
/** Of a component with 512 MB; the rest is for Node and for the pages that DuckDB does not count. */
const MEMORY = '256MiB'
const THREADS = '2'
/** The longest line of the input, which one buffer has to hold twice. */
const LINE_BYTES = 16 * 2 ** 20

interface Opened {
  readonly path: string
  readonly dataDir: string
  /** A dry run makes no file. */
  readonly isDry: boolean
  readonly lockSeconds: number
}

export async function openDuckdb({ path, dataDir, isDry, lockSeconds }: Opened): Promise<Target> {
  const instance = await DuckDBInstance.create(':memory:', {
    ...{ threads: THREADS, memory_limit: MEMORY, temp_directory: join(dataDir, 'duckdb-tmp') },
    ...{ autoinstall_known_extensions: 'false', autoload_known_extensions: 'false', preserve_insertion_order: 'true' },
  })
  const [own, aside] = [await instance.connect(), await instance.connect()]
  const close = async () => {
    for (const connection of [own, aside]) connection.closeSync()
    instance.closeSync() // writes the changes of the log to the file
  }
  try {
    await attach(own, isDry && !existsSync(path) ? ':memory:' : path, lockSeconds)
    await run(own, `set allowed_directories = [${textLiteral(`${join(dataDir, 'in', 'tables')}/`)}]`)
    await run(own, 'set enable_external_access = false')
    await run(own, 'set lock_configuration = true')
    for (const connection of [own, aside]) await run(connection, `set search_path = '${TARGET}.main,memory.main'`)
  } catch (error) {
    await close()
    throw error
  }
  const nameOf = ({ schema, name }: TableName) => `${TARGET}.${quoted(schema || 'main')}.${quoted(name)}`
  const stages = new Set<string>()

  return {
    nameOf,
    ask: (sql) => ask(own, sql),
    execute: (sql) => run(own, sql),
    stages: { ask: (sql) => ask(aside, sql), execute: (sql) => run(aside, sql) },
    commitsDefinitions: false,
    hasSavepoints: false,
    script: async (sql) => void (await run(own, sql)),
    begin: async () => void (await run(own, 'begin')),
    commit: async () => void (await run(own, 'commit')),
    rollback: async () => void (await run(own, 'rollback')),
    async describe({ schema, name }) {
      const rows = await ask(
        own,
        `select column_name, data_type, is_nullable, column_default from duckdb_columns()
         where database_name = '${TARGET}' and schema_name = ${textLiteral(schema || 'main')} and table_name = ${textLiteral(name)}
         order by column_index`,
      )
      if (rows.length === 0) return undefined
      return rows.map(([column, native, nullable, fallback]) => ({
        name: column ?? '',
        native: native ?? '',
        isText: native === 'VARCHAR' || native === 'BLOB',
        isOptional: nullable === 'true' || fallback !== null,
      }))
    },
    typeFor: ({ base, length }: InputColumn) => (base === 'NUMERIC' && length ? `decimal(${length})` : TYPES[base]),
    async makeStage(name, columns, from, isNumbered) {
      // The transaction may have made the table; the other connection does not see it yet.
      const selected = columns.map(({ name: column, like }) => `${like === undefined ? "''" : `t.${quoted(like)}`} as ${column}`)
      const typed = await ask(own, `describe select ${selected.join(', ')} from ${from} as t`)
      const definitions = typed.map(([column, type]) => `${column} ${type}`)
      stages.add(name)
      await run(
        aside,
        `create or replace table memory.main.${name} (${[...(isNumbered ? [`${NUMBER} bigint`] : []), ...definitions].join(', ')})`,
      )
    },
    async load(input, table, places, isNumbered) {
      const used = places.flatMap((place: Place | undefined, at) => (place ? [{ ...place, at }] : []))
      const columns = [...(isNumbered ? [NUMBER] : []), ...used.map(({ column }) => quoted(column))]
      const values = used.map(({ at, emptyIsNull }) => (emptyIsNull ? `nullif(f${at}, '')` : `f${at}`))
      const selected = [...(isNumbered ? ['row_number() over ()'] : []), ...values]
      return run(
        stages.has(table) ? aside : own,
        `insert into ${stages.has(table) ? `memory.main.${table}` : table} (${columns.join(', ')}) select ${selected.join(', ')} from ${linesOf(input, places)}`,
      )
    },
    lock: async () => {}, // the file is open in one program only
    empty: async (table) => void (await run(own, `delete from ${table}`)),
    differ: (a, b) => `${a} is distinct from ${b}`,
    converted: (value, { native }) => `cast(${value} as ${native})`,
    update: ({ target, stage, match, assignments, where }) =>
      `update ${target} as t set ${assignments.map(({ column, value }) => `${column} = ${value}`).join(', ')} from ${stage} as s where ${match} and ${where}`,
    remove: (table, where) => `delete from ${table} as t where ${where}`,
    analyze: async () => {},
    close,
  }
}

const TARGET = 'target'

/** Another program that has the file open is waited for. */
async function attach(connection: DuckDBConnection, path: string, lockSeconds: number): Promise<void> {
  const last = Date.now() + lockSeconds * 1000
  for (;;)
    try {
      await connection.run(`attach ${textLiteral(path)} as ${TARGET} (type duckdb)`)
      return
    } catch (error) {
      const { message } = error as Error // of the driver
      const isLocked = /lock on file/i.test(message)
      if (isLocked && Date.now() < last) await wait(RETRY_MS)
      else if (isLocked)
        throw new UserError(
          `The DuckDB file is open in another program for more than ${lockSeconds} s, so nothing was written. Close it there and run the job again.`,
          {},
          error,
        )
      else throw new UserError(`The file is not a DuckDB database that can be written: ${firstLine(message)}`, {}, error)
    }
}

/** Lines of the file of the input mapping: nothing is NULL, `""` is an empty text. */
function linesOf({ path }: InputTable, places: Places): string {
  const options = [
    ...['auto_detect=false', 'header=true', "delim=','", `quote='"'`, `escape='"'`, "nullstr=''", 'allow_quoted_nulls=false'],
    ...["new_line='\\n'", "compression='none'", 'parallel=false', `max_line_size=${LINE_BYTES}`, `buffer_size=${2 * LINE_BYTES}`],
    `columns={${places.map((_, at) => `'f${at}': 'VARCHAR'`).join(', ')}}`,
  ]
  return `read_csv(${textLiteral(path)}, ${options.join(', ')})`
}

/** For INSERT, UPDATE and DELETE the number of rows. */
async function run(connection: DuckDBConnection, sql: string): Promise<number> {
  const rows = await named(async () => (await connection.run(sql)).getRows())
  const count = rows[0]?.[0]
  return typeof count === 'bigint' ? Number(count) : 0
}

const ask = (connection: DuckDBConnection, sql: string): Promise<(string | null)[][]> =>
  named(async () => {
    const rows = await (await connection.run(sql)).getRows()
    return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
  })

/** The kind of error, which DuckDB writes before its text, as a code. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { message } = error as Error // of the driver
    const [, kind = 'Other'] = /^([A-Za-z ]+?) Error: /.exec(message) ?? []
    throw Object.assign(new Error(firstLine(message), { cause: error }), {
      code: `DUCKDB_${kind.toUpperCase().replaceAll(' ', '_')}`,
    })
  }
}

/** What follows shows the statement. */
const firstLine = (message: string): string => message.split('\n', 1)[0] ?? ''

const TYPES = {
  STRING: 'varchar',
  INTEGER: 'bigint',
  NUMERIC: 'decimal(38,9)',
  FLOAT: 'double',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
} as const satisfies Record<InputColumn['base'], string>
