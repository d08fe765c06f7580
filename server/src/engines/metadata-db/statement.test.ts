import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../tests/support/on-both-databases.ts'
import { withTables } from './dialects.ts'
import { statement } from './statement.ts'

interface Tables {
  ticket: { name: string; last_id: number }
}

const insert = statement((db, ticket: Tables['ticket']) =>
  withTables<Tables>(db).insertInto('ticket').values(ticket).returningAll(),
)
const find = statement((db, { name, atLeast }: { name: string; atLeast: number }) =>
  withTables<Tables>(db)
    .selectFrom('ticket')
    .select('last_id')
    .where('last_id', '>=', atLeast)
    .where('last_id', '<', 1000)
    .where('name', '=', name),
)

await onBothDatabases('statements', ({ db, inTransaction }) => {
  test('a statement answers for each set of values, whatever their order', async () => {
    assert.deepEqual({ ...(await insert(db, { name: 'a', last_id: 1 }))[0] }, { name: 'a', last_id: 1 })
    await insert(db, { last_id: 2, name: 'b' })
    const idsOf = async (name: string, atLeast: number) => (await find(db, { name, atLeast })).map((row) => row.last_id)
    assert.deepEqual(await idsOf('a', 0), [1])
    assert.deepEqual(await idsOf('b', 0), [2])
    assert.deepEqual(await idsOf('b', 3), [])
  })

  test('inside a transaction it sees what the transaction wrote, and nobody else does', async () => {
    await inTransaction(async (trx) => {
      await insert(trx, { name: 'inside', last_id: 7 })
      assert.equal((await find(trx, { name: 'inside', atLeast: 7 })).length, 1)
      assert.equal((await find(db, { name: 'inside', atLeast: 7 })).length, 0)
    })
    assert.equal((await find(db, { name: 'inside', atLeast: 7 })).length, 1)
  })
})
