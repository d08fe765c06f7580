import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { findAlive, replaceComponents } from './worker-components.store.ts'

await onBothDatabases('components of workers', ({ db, inTransaction }) => {
  test('only what a worker that is alive has now is found', async () => {
    await sql`insert into worker_lease (worker, alive_until) values ('here', 100), ('gone', 10)`.execute(db)
    const say = (worker: string, ...ids: string[]) => inTransaction((trx) => replaceComponents(trx, worker, ids))
    const found = async () => [...(await inTransaction((trx) => findAlive(trx, ['a', 'b', 'c', 'd'], 50)))].sort()
    await say('gone', 'c')
    await say('here', 'a', 'b', 'a')
    assert.deepEqual(await found(), ['a', 'b'])
    await say('here', 'b', 'd')
    assert.deepEqual(await found(), ['b', 'd'])
    await sql`delete from worker_lease where worker = 'gone'`.execute(db)
    await say('here')
    assert.deepEqual(await found(), [])
    const { rows } = await sql`select worker from worker_component`.execute(db)
    assert.deepEqual(rows, [], 'rows of workers that are gone go too')
  })
})
