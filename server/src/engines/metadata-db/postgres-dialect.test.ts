import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { freshPostgres } from '../../../../tests/support/fresh-databases.ts'
import { openMetadataDb } from './metadata-db.ts'

test('a connection that is lost inside a transaction fails that transaction and nothing else', async (t) => {
  const database = await freshPostgres()
  let lost = () => {}
  const noticed = new Promise<void>((resolve) => {
    lost = resolve
  })
  const metadata = await openMetadataDb({ ...database.location, maxConnections: 2, log: { info: () => {}, warn: lost } })
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

test('a database that does not sort by bytes is found out', async (t) => {
  const database = await freshPostgres()
  const home = await openMetadataDb(database.location)
  const name = `${new URL((database.location as { url: string }).url).pathname.slice(1)}_icu`
  await sql`create database ${sql.table(name)} template template0 locale_provider icu icu_locale 'en'`.execute(home.db)
  const url = new URL((database.location as { url: string }).url)
  url.pathname = name
  const metadata = await openMetadataDb({ url: url.href })
  t.after(async () => {
    await metadata.close()
    await sql`drop database ${sql.table(name)}`.execute(home.db)
    await home.close()
    await database.remove()
  })
  assert.deepEqual(await home.check(), [])
  assert.match((await metadata.check()).join(), /not C/)
})
