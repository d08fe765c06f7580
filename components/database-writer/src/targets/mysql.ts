// MySQL and MariaDB: rows are inserted many at a time. Definitions of tables end a transaction there.

import mysql, { type ResultSetHeader, type RowDataPacket } from 'mysql2'
import { mysqlOptions } from '../../../connector-kit/src/database/clients.ts'
import type { Way } from '../../../connector-kit/src/database/connect.ts'
import type { ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { batchesOf, type InputColumn } from '../../../connector-kit/src/input-table.ts'
import { cellsFor } from './cells.ts'
import { NUMBER, type TableName, type Target } from './target.ts'

const BATCH_ROWS = 1000
const BATCH_CHARACTERS = 2 ** 19

/** With `hasScripts` the server takes several statements in one text, as preSql and postSql need it. */
export async function openMysql(settings: ServerSettings, way: Way, lockSeconds: number, hasScripts: boolean): Promise<Target> {
  const connection = mysql.createConnection({
    ...mysqlOptions(settings, way),
    multipleStatements: hasScripts,
    dateStrings: true,
  })
  connection.on('error', () => {}) // the statement that runs fails with it
  const send = (sql: string, values: readonly unknown[] = []): Promise<unknown> =>
    new Promise((done, fail) => {
      connection.query<RowDataPacket[][] | ResultSetHeader>({ sql, values: [...values] }, (error, result) =>
        error ? fail(error) : done(result),
      )
    })
  const execute = async (sql: string): Promise<number> => ((await send(sql)) as ResultSetHeader).affectedRows ?? 0 // not a question
  const ask = async (sql: string, values: readonly unknown[] = []): Promise<(string | null)[][]> =>
    ((await send(sql, values)) as unknown[][]).map((row) => row.map((value) => (value === null ? null : String(value)))) // a question
  try {
    await new Promise<void>((done, fail) => connection.connect((error) => (error ? fail(error) : done())))
    await send(
      `set session time_zone = '+00:00', sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE', innodb_lock_wait_timeout = ${lockSeconds}, lock_wait_timeout = ${lockSeconds}`,
    )
  } catch (error) {
    way.close()
    throw error
  }
  const nameOf = ({ schema, name }: TableName) => `${schema === '' ? '' : `${quoted(schema)}.`}${quoted(name)}`

  return {
    nameOf,
    ask,
    execute,
    commitsDefinitions: true,
    hasSavepoints: true,
    stages: { ask, execute },
    script: async (sql) => void (await send(sql)),
    begin: async () => void (await send('start transaction')),
    commit: async () => void (await send('commit')),
    rollback: async () => void (await send('rollback')),
    async describe({ schema, name }) {
      const rows = await ask(
        'select column_name, column_type, is_nullable, column_default, extra from information_schema.columns where table_schema = coalesce(?, database()) and table_name = ? order by ordinal_position',
        [schema || null, name],
      )
      if (rows.length === 0) return undefined
      return rows.map(([column, native, nullable, fallback, extra]) => ({
        name: column ?? '',
        native: (native ?? '').toLowerCase(),
        isText: /char|text|blob|binary/i.test(native ?? ''),
        isOptional: nullable === 'YES' || fallback !== null || /auto_increment|generated/i.test(extra ?? ''),
      }))
    },
    typeFor: ({ base, length }: InputColumn, isKey) => {
      if (base === 'STRING') return isKey ? 'varchar(255)' : 'longtext'
      return base === 'NUMERIC' && length ? `decimal(${length})` : TYPES[base]
    },
    async makeStage(name, columns, from, isNumbered) {
      const texts = columns.filter(({ like }) => like === undefined).map(({ name: column }) => `${column} longtext`)
      const number = isNumbered ? [`${NUMBER} bigint auto_increment primary key`] : []
      const defined = [...number, ...texts]
      const selected = columns.flatMap(({ name: column, like }) => (like === undefined ? [] : [`t.${quoted(like)} as ${column}`]))
      const as = selected.length > 0 ? ` as select ${selected.join(', ')} from ${from} as t limit 0` : ''
      await send(`create temporary table ${name}${defined.length > 0 ? ` (${defined.join(', ')})` : ''}${as}`)
    },
    async load(input, table, places) {
      const used = places.flatMap((place) => (place ? [quoted(place.column)] : []))
      // The driver would replace a question mark in a quoted name too, so no placeholder goes with names.
      const insert = `insert into ${table} (${used.join(', ')}) values `
      const toCells = cellsFor(places)
      let count = 0
      for await (const rows of batchesOf(input)) {
        let batch: (string | null)[][] = []
        let size = 0
        const flush = async () => {
          if (batch.length > 0) await send(insert + mysql.escape(batch))
          count += batch.length
          batch = []
          size = 0
        }
        for (const row of rows) {
          const cells = toCells(row)
          batch.push(cells)
          for (const cell of cells) size += cell?.length ?? 4
          if (batch.length >= BATCH_ROWS || size >= BATCH_CHARACTERS) await flush()
        }
        await flush()
      }
      return count
    },
    lock: async () => {}, // InnoDB locks the rows; LOCK TABLES would end the transaction
    empty: async (table) => void (await execute(`delete from ${table}`)),
    differ: (a, b) => `not (${a} <=> ${b})`,
    converted: (value) => value,
    update: ({ target, stage, match, assignments, where }) =>
      `update ${target} as t join ${stage} as s on ${match} set ${assignments.map(({ column, value }) => `t.${column} = ${value}`).join(', ')} where ${where}`,
    remove: (table, where) => `delete t from ${table} as t where ${where}`,
    analyze: async () => {},
    async close() {
      connection.destroy()
      way.close()
    },
  }
}

const TYPES = {
  STRING: 'longtext',
  INTEGER: 'bigint',
  NUMERIC: 'decimal(38,9)',
  FLOAT: 'double',
  BOOLEAN: 'tinyint(1)',
  DATE: 'date',
  TIMESTAMP: 'datetime(6)',
} as const satisfies Record<InputColumn['base'], string>
