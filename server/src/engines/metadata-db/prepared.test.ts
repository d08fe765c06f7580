import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../tests/support/on-both-databases.ts'
import { withTables } from './dialects.ts'
import { prepared } from './prepared.ts'

interface Tables {
  ticket: { name: string; last_id: number }
}

await onBothDatabases('prepared queries', ({ db }) => {
  const tables = withTables<Tables>(db)

  test('a prepared query answers for each set of values', async () => {
    await tables
      .insertInto('ticket')
      .values([
        { name: 'a', last_id: 1 },
        { name: 'b', last_id: 2 },
      ])
      .execute()
    const find = prepared(db, (name: string, atLeast: number) =>
      tables.selectFrom('ticket').selectAll().where('name', '=', name).where('last_id', '>=', atLeast),
    )
    assert.deepEqual(
      (await find('a', 0)).map((row) => row.last_id),
      [1],
    )
    assert.deepEqual(
      (await find('b', 0)).map((row) => row.last_id),
      [2],
    )
    assert.deepEqual(await find('b', 3), [])
  })

  test('one that uses its values out of order is found out at once', async () => {
    const wrong = prepared(db, (a: string, b: string) =>
      tables.selectFrom('ticket').selectAll().where('name', '=', b).where('name', '=', a),
    )
    await assert.rejects(wrong('x', 'y'), /in order/)
  })
})
