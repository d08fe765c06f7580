// A SQLite file. Node's permission model does not hold for files that SQLite opens, so the path is checked here and ATTACH is refused.

import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { createCsvFile } from '../../../connector-kit/src/csv-file.ts'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { addCompareFunctions, sqliteDialect } from '../compare/sqlite-dialect.ts'
import type { BaseType, Source, SourceColumn } from './columns.ts'
import type { Database, Description, ListedTable } from './database.ts'
import { NUMBERS, numberText } from './numeric-type.ts'
import { chosen, conditionOf, incrementOf, relation } from './statements.ts'

/** Writes are made by the file's owner: a busy one is waited for. */
const BUSY_MS = 20_000

export function openSqlite(path: string): Database {
  const db = open(path)
  db.exec(`pragma busy_timeout = ${BUSY_MS}`)
  addCompareFunctions(db, textOf)
  db.exec('begin') // one state of the file for everything that is read
  const prepare = (sql: string): StatementSync => {
    const statement = db.prepare(sql)
    // SQLite leaves out in silence what comes after the first statement.
    if (statement.sourceSQL.length < sql.length)
      throw new UserError('The query must be one statement, without a semicolon in it.')
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    return statement
  }
  const ask = (sql: string, ...values: string[]): Value[][] => prepare(sql).all(...values) as unknown as Value[][] // by setReturnArrays

  /** Any column may hold any kind of value: the type is that of the values that are there. */
  function describe(source: Source): Description {
    const statement = prepare(`select * from ${from(source)} limit 0`)
    const all = statement.columns().map(({ name, type }) => ({ name, declared: type ?? '' }))
    const columns = chosen(source, all)
    const kinds = columns.map(({ name }) =>
      ['integer', 'real', 'text', 'blob'].map((kind) => `max(typeof(${quoted(name)}) = '${kind}')`),
    )
    const [found = []] = columns.length === 0 ? [] : ask(`select ${kinds.flat().join(', ')} from ${from(source)}`)
    return {
      columns: columns.map(({ name, declared }, at) => columnOf(name, declared, found.slice(at * 4, at * 4 + 4).map(Boolean))),
      primaryKey: source.kind === 'table' ? keyOf(source.table.name) : [],
    }
  }

  const keyOf = (table: string): string[] =>
    ask('select name from pragma_table_info(?) where pk > 0 order by pk', table).map(([name]) => String(name))

  return {
    describe: async (source) => describe(source),
    listSchemas: async () => ['main'],
    listTables: async () =>
      ask("select name, type from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%' order by 1").map(
        ([name, kind]): ListedTable => ({ schema: 'main', name: String(name), kind: kind === 'view' ? 'view' : 'table' }),
      ),
    greatest: async (source, column) =>
      textOf(ask(`select max(${quoted(column.name)}) from ${from(source)}`)[0]?.[0]) ?? undefined,
    async read({ source, columns, increment, path: target, nullMarker, where, constants = [], isAppended }) {
      const csv = await createCsvFile(target, nullMarker, { isAppended })
      let count = 0
      try {
        const sql = `select ${namesOf(columns)} from ${from(source)}${conditionOf(incrementOf(increment, LITERALS), where)}`
        for (const row of prepare(sql).iterate() as unknown as Iterable<Value[]>) {
          await csv.write([...row.map(textOf), ...constants])
          count++
        }
      } finally {
        await csv.close()
      }
      return count
    },
    preview: async (source, columns, limit) =>
      ask(`select ${namesOf(columns)} from ${from(source)} limit ${limit}`).map((row) => row.map(textOf)),
    ask: async (sql) => ask(sql).map((row) => row.map(textOf)),
    relation: from,
    dialect: () => sqliteDialect,
    close: async () => db.close(),
  }
}

type Value = bigint | number | string | null | Uint8Array

function open(path: string): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { readOnly: true, allowExtension: false })
    db.setAuthorizer((action) => (action === constants.SQLITE_ATTACH ? constants.SQLITE_DENY : constants.SQLITE_OK))
    db.prepare('select count(*) from sqlite_schema').get()
    return db
  } catch (error) {
    throw new UserError(`The file is not a SQLite database that can be read: ${(error as Error).message}.`, {}, error)
  }
}

function textOf(value: Value | undefined): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return Object.is(value, -0) ? '-0' : String(value)
}

function columnOf(name: string, declared: string, [integer, real, text, blob]: readonly boolean[]): SourceColumn {
  const native = declared === '' ? 'any' : declared
  if (text || blob) return { name, native, base: 'STRING', ...(blob && { asText: 'bytes are written as hexadecimal digits' }) }
  if (real) return { name, native, base: 'FLOAT' }
  if (integer) return { name, native, base: 'INTEGER' }
  return { name, native, base: declaredType(declared) } // no value is there yet
}

const declaredType = (declared: string): BaseType =>
  /INT/i.test(declared) ? 'INTEGER' : /REAL|FLOA|DOUB/i.test(declared) ? 'FLOAT' : 'STRING'

const namesOf = (columns: readonly SourceColumn[]): string => columns.map(({ name }) => quoted(name)).join(', ')

/** A file has one schema, whatever the row sets. */
const from = (source: Source): string => relation(source, ({ table }) => quoted(table.name))

const LITERALS = {
  value: ({ base }: SourceColumn, text: string) => (NUMBERS.has(base) ? numberText : textLiteral)(text),
  back({ base }: SourceColumn, lookback: number) {
    if (!NUMBERS.has(base)) throw new UserError('incrementalFetchingLookback needs columns of numbers in SQLite.')
    return `- ${lookback}`
  },
}
