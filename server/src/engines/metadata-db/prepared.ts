// Queries that are asked all the time: built and compiled by Kysely once, then only their values change.

import assert from 'node:assert/strict'
import type { Compilable, CompiledQuery } from 'kysely'
import type { Db, Trx } from './dialects.ts'

type Value = string | number | null

/**
 * `build` must use each parameter once, in order, as a value: the first call proves it.
 *
 *     const byProject = prepared(db, (projectId: number) => tables.selectFrom('bucket').select('bucket_id').where('project_id', '=', projectId))
 *     const rows = await byProject(7)
 */
export function prepared<Row, Values extends readonly Value[]>(
  db: Db,
  build: (...values: Values) => Compilable<Row>,
): (...values: Values) => Promise<Row[]> {
  const ask = preparedIn(build)
  return (...values) => ask(db, ...values)
}

/** The same, asked inside a transaction: `await ask(trx, 7)`. */
export function preparedIn<Row, Values extends readonly Value[]>(
  build: (...values: Values) => Compilable<Row>,
): (trx: Db | Trx, ...values: Values) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (trx, ...values) => {
    compiled ??= proven(build(...values).compile(), values)
    return (await trx.executeQuery<Row>({ ...compiled, parameters: values })).rows
  }
}

/**
 * One row at a time into one table. Every row has the columns of the first one.
 *
 *     const insert = preparedInsert((row: NewRow) => tables.insertInto('event').values(row).returningAll())
 *     const stored = await insert(trx, row)
 */
export function preparedInsert<NewRow extends { readonly [column in keyof NewRow]: Value | undefined }, Row>(
  build: (row: NewRow) => Compilable<Row>,
): (trx: Trx, row: NewRow) => Promise<Row> {
  let compiled: CompiledQuery<Row> | undefined
  let columns: readonly (keyof NewRow)[] = []
  return async (trx, row) => {
    if (!compiled) {
      columns = Object.keys(row) as (keyof NewRow)[] // the keys of a plain row are its columns
      compiled = proven(build(row).compile(), Object.values(row))
    }
    const { rows } = await trx.executeQuery<Row>({ ...compiled, parameters: columns.map((column) => row[column]) })
    return rows[0]! // an insert that returns nothing has thrown
  }
}

function proven<Row>(compiled: CompiledQuery<Row>, values: readonly unknown[]): CompiledQuery<Row> {
  assert.deepEqual([...compiled.parameters], [...values], 'a prepared query takes its values in order, each once')
  return compiled
}
