// Statements that run with every read or change: built and compiled by Kysely once, then only their values change.

import type { Compilable, CompiledQuery } from 'kysely'
import { type Db, type DialectName, dialectOf } from './dialects.ts'

interface Compiled<Row> {
  readonly query: CompiledQuery<Row>
  /** Where each parameter comes from: a `Named` value, or a constant of the statement. */
  readonly sources: readonly unknown[]
}

class Named {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * `build` sees a stand-in for each value, so it must not inspect them, and the names must be the same in every call.
 *
 *     const rowsOf = statement((db, { ownerId }: { ownerId: number }) => tables(db).selectFrom('row').selectAll().where('owner_id', '=', ownerId))
 *     const rows = await rowsOf(trx, { ownerId: 7 })
 */
export function statement<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): (db: Db, values: Values) => Promise<readonly Row[]> {
  const compiled: { [dialect in DialectName]?: Compiled<Row> } = {}

  function compile(db: Db, values: Values): Compiled<Row> {
    const standIns = Object.fromEntries(Object.keys(values).map((name) => [name, new Named(name)]))
    const query = build(db, standIns as Values).compile() // Kysely takes any object for a value
    return { query, sources: query.parameters }
  }

  return async (db, values) => {
    const dialect = dialectOf(db)
    compiled[dialect] ??= compile(db, values)
    const { query, sources } = compiled[dialect]
    const parameters = sources.map((source) => (source instanceof Named ? values[source.name as keyof Values] : source))
    return (await db.executeQuery<Row>({ ...query, parameters })).rows
  }
}
