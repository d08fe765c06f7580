// Queries that are asked all the time: built and compiled by Kysely once, then only their values change.

import assert from 'node:assert/strict'
import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './dialects.ts'

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
  let compiled: CompiledQuery<Row> | undefined
  return async (...values) => {
    if (!compiled) {
      compiled = build(...values).compile()
      assert.deepEqual([...compiled.parameters], [...values], 'a prepared query takes its values in order, each once')
    }
    return (await db.executeQuery<Row>({ ...compiled, parameters: values })).rows
  }
}
