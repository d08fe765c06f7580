import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../tests/support/on-both-databases.ts'
import { withTables } from './dialects.ts'
import { prepared, preparedIn, preparedInsert } from './prepared.ts'

interface Tables {
  ticket: { name: string; last_id: number }
}

await onBothDatabases('prepared queries', ({ db, inTransaction }) => {
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

  test('inside a transaction it sees what the transaction wrote', async () => {
    const insert = preparedInsert((row: Tables['ticket']) => tables.insertInto('ticket').values(row).returningAll())
    const find = preparedIn((name: string) => tables.selectFrom('ticket').select('last_id').where('name', '=', name))
    await inTransaction(async (trx) => {
      assert.deepEqual({ ...(await insert(trx, { name: 'first', last_id: 1 })) }, { name: 'first', last_id: 1 })
      await insert(trx, { last_id: 2, name: 'second' })
      assert.deepEqual(
        (await find(trx, 'second')).map((row) => row.last_id),
        [2],
      )
    })
    assert.equal((await find(db, 'first')).length, 1)
  })

  test('one that uses its values out of order is found out at once', async () => {
    const wrong = prepared(db, (a: string, b: string) =>
      tables.selectFrom('ticket').selectAll().where('name', '=', b).where('name', '=', a),
    )
    await assert.rejects(wrong('x', 'y'), /in order/)
  })
})
