// MySQL and MariaDB: rows stream in the text protocol, so that every number arrives as the server writes it.

import mysql, { type FieldPacket, type RowDataPacket } from 'mysql2'
import { createCsvFile } from '../../../connector-kit/src/csv-file.ts'
import { mysqlOptions } from '../../../connector-kit/src/database/clients.ts'
import type { Way } from '../../../connector-kit/src/database/connect.ts'
import type { ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { mysqlDialect } from '../compare/mysql-dialect.ts'
import type { BaseType, Source, SourceColumn } from './columns.ts'
import type { Database, Description, ListedTable, ReadRequest } from './database.ts'
import { isBinary, selected } from './mysql-values.ts'
import { NUMBERS, numberText, numericType } from './numeric-type.ts'
import { chosen, conditionOf, incrementOf, relation, tableOf } from './statements.ts'

type Bytes = (Buffer | null)[]
type Cells = (string | null)[]

export async function openMysql(settings: ServerSettings, way: Way): Promise<Database> {
  const connection = mysql.createConnection({
    ...mysqlOptions(settings, way),
    typeCast: (field) => field.buffer(), // decoded by what is known of the column
  })
  connection.on('error', () => {}) // the statement that runs fails with it
  const send = (sql: string, values: readonly unknown[]): Promise<{ rows: Bytes[]; fields: readonly FieldPacket[] }> =>
    new Promise((done, fail) => {
      connection.query<RowDataPacket[][]>(
        { sql, values: [...values] },
        (error, rows, fields) =>
          error ? fail(error) : done({ rows: (Array.isArray(rows) ? rows : []) as unknown as Bytes[], fields: fields ?? [] }), // by rowsAsArray and typeCast
      )
    })
  const ask = async (
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<{ rows: Cells[]; fields: readonly FieldPacket[] }> => {
    const { rows, fields } = await send(sql, values)
    return { rows: rows.map((row) => row.map(textOf)), fields }
  }
  try {
    await new Promise<void>((done, fail) => connection.connect((error) => (error ? fail(error) : done())))
    await ask("set session time_zone = '+00:00', sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', sql_select_limit = default")
    await ask('start transaction with consistent snapshot, read only')
  } catch (error) {
    way.close()
    throw error
  }

  async function describe(source: Source): Promise<Description> {
    if (source.kind === 'query') {
      const { fields } = await ask(`select * from ${relation(source)} limit 0`)
      return { columns: fields.map(columnOfResult), primaryKey: [] }
    }
    const { schema, name } = source.table
    const { rows } = await ask(
      'select column_name, column_type, column_key from information_schema.columns where table_schema = coalesce(?, database()) and table_name = ? order by ordinal_position',
      [schema || null, name],
    )
    if (rows.length === 0) throw new UserError(`The table ${tableOf(source)} does not exist, or the user may not read it.`)
    const columns = rows.map(([column, native]) => columnOf(column ?? '', (native ?? '').toLowerCase()))
    return {
      columns: chosen(source, columns),
      primaryKey: rows.filter(([, , key]) => key === 'PRI').map(([column]) => column ?? ''),
    }
  }

  return {
    describe,
    async listSchemas() {
      const { rows } = await ask(
        "select schema_name from information_schema.schemata where schema_name not in ('information_schema', 'mysql', 'performance_schema', 'sys') order by 1",
      )
      return rows.map(([name]) => name ?? '')
    },
    async listTables(schema) {
      const { rows } = await ask(
        'select table_schema, table_name, table_type, table_rows from information_schema.tables where table_schema = coalesce(?, database()) order by 1, 2',
        [schema ?? null],
      )
      return rows.map(
        ([owner, name, kind, estimate]): ListedTable => ({
          schema: owner ?? '',
          name: name ?? '',
          kind: kind?.endsWith('VIEW') ? 'view' : 'table',
          ...(estimate !== null && estimate !== undefined && { estimatedRows: Number(estimate) }),
        }),
      )
    },
    async greatest(source, column) {
      return (await ask(`select max(${quoted(column.name)}) from ${relation(source)}`)).rows[0]?.[0] ?? undefined
    },
    textStatement(request) {
      const dialect = mysqlDialect(request.invalidAsNull)
      // A whole number or a floating-point one as the server writes it.
      const fields = request.columns.map((column) =>
        column.base === 'FLOAT' ? `convert(${selected(column)} using utf8mb4)` : dialect.text(column),
      )
      return rowsOf(request, fields)
    },
    async read(request) {
      const { columns, path, nullMarker, invalidAsNull, constants = [], isAppended } = request
      const csv = await createCsvFile(path, nullMarker, { isAppended })
      const readers = columns.map((column) => readerOf(column, invalidAsNull))
      let count = 0
      try {
        const sql = rowsOf(request, columns.map(selected))
        for await (const row of connection.query({ sql }).stream({ highWaterMark: 1000 }) as AsyncIterable<Bytes>) {
          await csv.write([...row.map((value, at) => readers[at]?.(value) ?? null), ...constants])
          count++
        }
      } finally {
        await csv.close()
      }
      return count
    },
    async preview(source, columns, limit) {
      const { rows } = await send(`select ${columns.map(selected).join(', ')} from ${relation(source)} limit ${limit}`, [])
      const readers = columns.map((column) => readerOf(column, false))
      return rows.map((row) => row.map((value, at) => readers[at]?.(value) ?? null))
    },
    ask: async (sql) => (await ask(sql)).rows,
    relation,
    dialect: mysqlDialect,
    async close() {
      connection.destroy()
      way.close()
    },
  }
}

const textOf = (bytes: Buffer | null): string | null => bytes?.toString('utf8') ?? null
const hexOf = (bytes: Buffer | null): string | null => (bytes === null ? null : `0x${bytes.toString('hex')}`)

const LITERALS = {
  // As a text a number would be compared as a floating-point one.
  value: ({ base }: SourceColumn, text: string) => (NUMBERS.has(base) ? numberText : textLiteral)(text),
  back: ({ base }: SourceColumn, lookback: number) =>
    base === 'TIMESTAMP' || base === 'DATE' ? `- interval ${lookback} second` : `- ${lookback}`,
}

const rowsOf = ({ source, increment, where }: ReadRequest, fields: readonly string[]): string =>
  `select ${fields.join(', ')} from ${relation(source)}${conditionOf(incrementOf(increment, LITERALS), where)}`

type Reader = (bytes: Buffer | null) => string | null

/** A date of zeros is no date. */
function readerOf(column: SourceColumn, invalidAsNull: boolean): Reader {
  if (isBinary(column)) return hexOf
  if (!invalidAsNull || (column.base !== 'DATE' && column.base !== 'TIMESTAMP')) return textOf
  return (bytes) => {
    const text = textOf(bytes)
    return text !== null && /^(0000|\d{4}-00|\d{4}-\d\d-00)/.test(text) ? null : text
  }
}

const BASE: Readonly<Record<string, BaseType>> = {
  ...{ tinyint: 'INTEGER', smallint: 'INTEGER', mediumint: 'INTEGER', int: 'INTEGER', integer: 'INTEGER' },
  ...{ float: 'FLOAT', double: 'FLOAT', date: 'DATE', datetime: 'TIMESTAMP', timestamp: 'TIMESTAMP', year: 'INTEGER' },
}

function columnOf(name: string, native: string): SourceColumn {
  const word = /^[a-z]+/.exec(native)?.[0] ?? ''
  if (Object.hasOwn(BASE, word)) return { name, native, base: BASE[word]! } // just looked up
  // Unsigned ones reach beyond the INTEGER of a table.
  if (word === 'bigint') return { name, native, ...(native.includes('unsigned') ? numericType('(20,0)') : { base: 'INTEGER' }) }
  if (word === 'decimal') return { name, native, ...numericType(native.includes('(') ? native : '(10,0)') }
  const isText = /^(char|varchar|tinytext|text|mediumtext|longtext)\b/.test(native)
  return { name, native, base: 'STRING', ...(!isText && { asText: 'tables have no such type' }) }
}

/** Names of the wire's type numbers, for results of queries, which have no declared types. */
const WIRE: Readonly<Record<number, string>> = {
  ...{
    0: 'decimal',
    1: 'tinyint',
    2: 'smallint',
    3: 'int',
    4: 'float',
    5: 'double',
    7: 'timestamp',
    8: 'bigint',
    9: 'mediumint',
  },
  ...{ 10: 'date', 11: 'time', 12: 'datetime', 13: 'year', 15: 'varchar', 16: 'bit', 245: 'json', 246: 'decimal' },
  ...{
    247: 'enum',
    248: 'set',
    249: 'tinytext',
    250: 'mediumtext',
    251: 'longtext',
    252: 'text',
    253: 'varchar',
    254: 'char',
    255: 'geometry',
  },
}
const UNSIGNED = 32
const BINARY_CHARSET = 63

function columnOfResult({ name, columnType, columnLength, decimals, flags, characterSet }: FieldPacket): SourceColumn {
  const wire = WIRE[columnType ?? 253] ?? 'varchar'
  const word = characterSet === BINARY_CHARSET && /text|char/.test(wire) ? 'blob' : wire
  const isUnsigned = ((flags as number) & UNSIGNED) !== 0
  if (word !== 'decimal') return columnOf(name, isUnsigned ? `${word} unsigned` : word)
  // The length counts the sign and the point.
  const precision = (columnLength ?? 0) - (isUnsigned ? 0 : 1) - (decimals > 0 ? 1 : 0)
  return columnOf(name, `decimal(${precision},${decimals})`)
}
