// A SQLite file in a folder that the operator has named. It is made when it does not exist. Node's permission model does not hold for
// files that SQLite opens, so the path is checked here and ATTACH is refused.

import { existsSync } from 'node:fs'
import { constants, DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { batchesOf, type InputColumn } from '../../../connector-kit/src/input-table.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { cellsFor } from './cells.ts'
import { NUMBER, type TableName, type Target } from './target.ts'

/** A dry run makes no file. */
export function openSqlite(path: string, isDry: boolean, lockSeconds: number): Target {
  const db = open(isDry && !existsSync(path) ? ':memory:' : path, lockSeconds * 1000)
  const ask = async (sql: string): Promise<(string | null)[][]> => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    statement.setReadBigInts(true)
    return (statement.all() as unknown as unknown[][]).map((row) => row.map((value) => (value === null ? null : String(value)))) // by setReturnArrays
  }
  const execute = async (sql: string): Promise<number> => Number(db.prepare(sql).run().changes)
  const nameOf = ({ name }: TableName) => `main.${quoted(name)}`

  return {
    nameOf,
    ask,
    execute,
    commitsDefinitions: false,
    hasSavepoints: true,
    stages: { ask, execute },
    script: async (sql) => db.exec(sql),
    begin: async () => db.exec('begin immediate'),
    commit: async () => db.exec('commit'),
    rollback: async () => void (db.isTransaction && db.exec('rollback')),
    async describe({ name }) {
      const rows = await ask(
        `select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(${textLiteral(name)}) order by cid`,
      )
      if (rows.length === 0) return undefined
      return rows.map(([column, native, notNull, fallback, key, hidden]) => ({
        name: column ?? '',
        native: native ?? '',
        isText: native === '' || /CHAR|CLOB|TEXT|BLOB/i.test(native ?? ''),
        isOptional: notNull === '0' || fallback !== null || (key !== '0' && /^INTEGER$/i.test(native ?? '')) || hidden !== '0',
      }))
    },
    typeFor: ({ base }: InputColumn) => TYPES[base],
    async makeStage(name, columns, from, isNumbered) {
      const selected = columns.map(
        ({ name: column, like }) => `${like === undefined ? "cast('' as text)" : `t.${quoted(like)}`} as ${column}`,
      )
      db.exec(
        `create temp table ${name} as select ${[...(isNumbered ? [`0 as ${NUMBER}`] : []), ...selected].join(', ')} from ${from} as t limit 0`,
      )
    },
    async load(input, table, places, isNumbered) {
      const used = places.flatMap((place) => (place ? [quoted(place.column)] : []))
      const columns = isNumbered ? [NUMBER, ...used] : used
      const insert = db.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`)
      const toCells = cellsFor(places)
      let count = 0
      for await (const rows of batchesOf(input))
        for (const row of rows) {
          count++
          const cells: SQLInputValue[] = toCells(row)
          insert.run(...(isNumbered ? [count, ...cells] : cells))
        }
      return count
    },
    lock: async () => {}, // the transaction holds the file
    empty: async (table) => void (await execute(`delete from ${table}`)),
    differ: (a, b) => `${a} is not ${b}`,
    converted: (value) => value,
    update: ({ target, stage, match, assignments, where }) =>
      `update ${target} as t set ${assignments.map(({ column, value }) => `${column} = ${value}`).join(', ')} from ${stage} as s where ${match} and ${where}`,
    remove: (table, where) => `delete from ${table} as t where ${where}`,
    analyze: async () => {},
    close: async () => db.close(),
  }
}

function open(path: string, busyMs: number): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { allowExtension: false })
    db.setAuthorizer((action) => (action === constants.SQLITE_ATTACH ? constants.SQLITE_DENY : constants.SQLITE_OK))
    db.exec(`pragma busy_timeout = ${busyMs}; pragma temp_store = file; pragma foreign_keys = on`)
    db.prepare('select count(*) from sqlite_schema').get()
    return db
  } catch (error) {
    throw new UserError(`The file is not a SQLite database that can be written: ${(error as Error).message}.`, {}, error)
  }
}

const TYPES = {
  ...{ STRING: 'TEXT', INTEGER: 'INTEGER', NUMERIC: 'NUMERIC', FLOAT: 'REAL' },
  ...{ BOOLEAN: 'INTEGER', DATE: 'TEXT', TIMESTAMP: 'TEXT' },
} as const satisfies Record<InputColumn['base'], string>
