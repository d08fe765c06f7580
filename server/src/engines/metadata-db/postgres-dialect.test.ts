import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { freshPostgres } from '../../../../tests/support/fresh-databases.ts'
import { frozenProxy } from '../../../../tests/support/servers/frozen-proxy.ts'
import type { Trx } from './dialects.ts'
import { openMetadataDb } from './metadata-db.ts'

/** A database with a table, and a second connection to end those of the first. */
async function lossyDatabase(t: TestContext) {
  const database = await freshPostgres()
  let lost = () => {}
  const metadata = await openMetadataDb({ ...database.location, maxConnections: 2, log: { info: () => {}, warn: () => lost() } })
  const other = await openMetadataDb(database.location)
  t.after(async () => {
    await metadata.close()
    await other.close()
    await database.remove()
  })
  await sql`create table number (value integer)`.execute(other.db)
  return {
    metadata,
    other,
    values: async () => (await sql<{ value: number }>`select value from number`.execute(other.db)).rows.map(({ value }) => value),
    /** Ends the connection of a transaction and waits until its client has noticed. */
    async end(trx: Trx): Promise<void> {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      const noticed = new Promise<void>((resolve) => {
        lost = resolve
      })
      await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(other.db)
      await noticed
    },
  }
}

test('a transaction that loses its connection between two statements is begun again', async (t) => {
  const { metadata, values, end } = await lossyDatabase(t)
  let attempts = 0
  await metadata.inTransaction(async (trx) => {
    await sql`insert into number values (1)`.execute(trx)
    if (++attempts === 1) await end(trx)
    await sql`insert into number values (2)`.execute(trx)
  })
  assert.deepEqual([attempts, await values()], [2, [1, 2]])
  assert.deepEqual(await metadata.check(), [])
})

test('a transaction whose connection is lost with the answer to its commit is done exactly once', async (t) => {
  const database = await freshPostgres()
  const way = await frozenProxy((database.location as { url: string }).url) // of PostgreSQL
  const metadata = await openMetadataDb({ url: way.url, maxConnections: 2 })
  const other = await openMetadataDb(database.location)
  t.after(async () => {
    await metadata.close()
    await way.close()
    await other.close()
    await database.remove()
  })
  await sql`create table number (value integer)`.execute(other.db)
  const values = async () =>
    (await sql<{ value: number }>`select value from number order by value`.execute(other.db)).rows.map(({ value }) => value)
  for (const [value, isSent] of [
    [1, true],
    [2, false],
  ] as const) {
    let attempts = 0
    const done = await metadata.inTransaction(async (trx) => {
      await sql`insert into number values (${value})`.execute(trx)
      if (++attempts === 1) way.loseNext('commit', { isSent })
      return `done ${value}`
    })
    assert.deepEqual([done, attempts], [`done ${value}`, isSent ? 1 : 2])
  }
  assert.deepEqual(await values(), [1, 2])
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
