// The last statements used on a connection, prepared. A statement is never held across an await, so sharing one is safe.
//
// Rows are read as arrays and made into objects here: node:sqlite creates the column names again for every row and returns objects that V8
// keeps as dictionaries, which takes twice the time for a wide row and makes each later look at it slower.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'

const STATEMENTS_KEPT = 500
const CHANGES_SCHEMA = /^\s*(create|alter|drop)\b/i

type Row = Record<string, unknown>

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  /** Made after the first run: before it, a connection that has not seen a change of the schema still reports the old names. */
  rowOf?: (values: readonly unknown[]) => Row
}

export interface Statements {
  run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R>
  /** After a change of the schema: the same text may have other columns now. */
  clear(): void
}

export const changesSchema = (sql: string): boolean => CHANGES_SCHEMA.test(sql)

export function createStatements(db: DatabaseSync): Statements {
  const kept = new Map<string, Prepared>()

  function prepare(sql: string): Prepared {
    const found = kept.get(sql)
    if (found) return found
    const statement = db.prepare(sql)
    const returnsRows = statement.columns().length > 0
    if (returnsRows) statement.setReturnArrays(true)
    const prepared = { statement, returnsRows }
    if (kept.size >= STATEMENTS_KEPT) kept.delete(kept.keys().next().value!)
    kept.set(sql, prepared)
    return prepared
  }

  return {
    run<R>(sql: string, parameters: readonly unknown[]) {
      const prepared = prepare(sql)
      const { statement, returnsRows } = prepared
      if (returnsRows) {
        const rows = statement.all(...bindable(parameters)) as unknown as unknown[][] // arrays, as prepare() requested
        prepared.rowOf ??= rowMaker(statement.columns().map(({ name }) => name))
        return { rows: rows.map(prepared.rowOf) as R[] } // guaranteed by Kysely: R is what the compiled query returns
      }
      const { changes, lastInsertRowid } = statement.run(...bindable(parameters))
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    },
    clear: () => kept.clear(),
  }
}

/** Every row begins as a copy of one object, so that all of them have one shape. */
function rowMaker(names: readonly string[]): (values: readonly unknown[]) => Row {
  const empty: Row = Object.fromEntries(names.map((name) => [name, null]))
  return (values) => {
    const row = { ...empty }
    for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]
    return row
  }
}

/** node:sqlite refuses what it cannot bind (undefined, Date, boolean) with a TypeError; stores bind numbers, texts, null and bytes. */
export const bindable = (parameters: readonly unknown[]) => parameters as Parameters<StatementSync['run']>
