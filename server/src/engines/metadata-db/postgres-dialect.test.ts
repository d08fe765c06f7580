import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { freshPostgres } from '../../../../tests/support/on-both-databases.ts'
import { openMetadataDb } from './metadata-db.ts'

test('a connection that is lost inside a transaction fails that transaction and nothing else', async (t) => {
  const database = await freshPostgres()
  let lost = () => {}
  const noticed = new Promise<void>((resolve) => {
    lost = resolve
  })
  const metadata = await openMetadataDb({ ...database.location, maxConnections: 2, log: { warn: lost } })
  t.after(async () => {
    await metadata.close()
    await database.remove()
  })
  const work = metadata.inTransaction(async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(metadata.db)
    await Promise.race([noticed, once(process, 'uncaughtException'), sleep(5000)])
    await sql`select 1`.execute(trx)
  })
  await assert.rejects(work)
  assert.deepEqual(await metadata.check(), [])
})
