import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { freshPostgres, freshSqlite } from '../../../../tests/support/fresh-databases.ts'
import { idColumn } from './dialects.ts'
import { openMetadataDb } from './metadata-db.ts'
import { MIGRATIONS, type Migration } from './migrations/list.ts'

const creating = (name: string, table: string): Migration => ({
  name,
  up: async (trx, dialect) => trx.schema.createTable(table).$call(idColumn(dialect)).execute(),
})
const failing = (name: string, table: string): Migration => ({
  name,
  up: async (trx, dialect) => {
    await creating(name, table).up(trx, dialect)
    throw new Error('the disk is full')
  },
})

const logged: object[] = []

for (const [title, make] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshPostgres],
] as const) {
  /** Opens one fresh database as often as the test likes, each time with other migrations. */
  const withDatabase = async (
    work: (open: (...migrations: Migration[]) => ReturnType<typeof openMetadataDb>) => Promise<void>,
  ) => {
    const fresh = await make()
    logged.length = 0
    const opened: Array<Awaited<ReturnType<typeof openMetadataDb>>> = []
    await work(async (...migrations) => {
      const log = { info: (details: object) => void logged.push(details), warn: () => {} }
      opened.push(await openMetadataDb({ ...fresh.location, migrations, log }))
      return opened.at(-1)!
    })
    for (const metadata of opened) await metadata.close()
    await fresh.remove()
  }

  test(`migrations run once, in order, on ${title}`, () =>
    withDatabase(async (open) => {
      const one = creating('0001-one', 'one')
      assert.deepEqual(await (await open(one)).migrate(), ['0001-one'])
      const next = await open(one, creating('0002-two', 'two'))
      assert.deepEqual(await next.migrate(), ['0002-two'])
      assert.deepEqual(await next.migrate(), [])
      assert.deepEqual(logged, [{ migrations: ['0001-one'] }, { migrations: ['0002-two'] }])
    }))

  test(`a migration that fails leaves what those before it made, and runs again at the next start, on ${title}`, () =>
    withDatabase(async (open) => {
      const [one, two] = [creating('0001-one', 'one'), creating('0002-two', 'two')]
      await (await open(one)).migrate()
      await assert.rejects((await open(one, two, failing('0003-three', 'three'))).migrate(), /disk is full/)
      const healed = await open(one, two, creating('0003-three', 'three'))
      assert.deepEqual(await healed.migrate(), ['0003-three'])
    }))

  test(`an empty database gets all migrations or none, on ${title}`, () =>
    withDatabase(async (open) => {
      await assert.rejects((await open(creating('0001-one', 'one'), failing('0002-two', 'two'))).migrate(), /disk is full/)
      const healed = await open(creating('0001-one', 'one'), creating('0002-two', 'two'))
      assert.deepEqual(await healed.migrate(), ['0001-one', '0002-two'])
    }))

  test(`nodes that start together migrate once, on ${title}`, () =>
    withDatabase(async (open) => {
      const list = [creating('0001-one', 'one'), creating('0002-two', 'two'), creating('0003-three', 'three')]
      const nodes = await Promise.all([open(...list), open(...list), open(...list)])
      const ran = await Promise.all(nodes.map((node) => node.migrate()))
      assert.deepEqual(ran.flat().sort(), ['0001-one', '0002-two', '0003-three'])
    }))

  test(`a node of the release before works with what a newer one has added, on ${title}`, () =>
    withDatabase(async (open) => {
      const one = creating('0001-one', 'one')
      await (await open(one, creating('0002-two', 'two'), creating('0003-three', 'three'))).migrate()
      assert.deepEqual(await (await open(one)).migrate(), [])
      assert.deepEqual(await (await open(one, creating('0002-two', 'two'))).migrate(), [])
    }))

  test(`a database that a release without this rule has made is brought along, on ${title}`, () =>
    withDatabase(async (open) => {
      const one = creating('0001-one', 'one')
      const { db, migrate } = await open(one)
      await migrate()
      await db.schema.alterTable('migration').dropColumn('only_adds').execute()
      assert.deepEqual(await (await open(one, creating('0002-two', 'two'))).migrate(), ['0002-two'])
    }))

  test(`a database that a newer version has changed for good is refused, on ${title}`, () =>
    withDatabase(async (open) => {
      const changing: Migration = { ...creating('0002-two', 'two'), changesOld: true }
      await (await open(creating('0001-one', 'one'), changing)).migrate()
      await assert.rejects(
        (await open(creating('0001-one', 'one'))).migrate(),
        /newer Millrace: this version does not have the migrations 0002-two/,
      )
      await assert.rejects(
        (await open(creating('0001-one', 'one'), creating('0002-other', 'x'))).migrate(),
        /does not have the migrations 0002-two/,
      )
    }))
}

test('the list and the folder name the same migrations, in order', async () => {
  const folder = new URL('./migrations/', import.meta.url)
  const files = (await readdir(folder))
    .filter((file) => file !== 'list.ts' && file.endsWith('.ts'))
    .map((file) => file.slice(0, -3))
  assert.deepEqual(
    MIGRATIONS.map((migration) => migration.name),
    files.sort(),
  )
})

/** The first migration of the release that can be replaced node by node. */
const FIRST_SIDE_BY_SIDE = '0950'

test('a migration that renames, drops or rewrites says that it changes what older nodes know', async () => {
  const later = MIGRATIONS.filter(({ name, changesOld }) => name >= FIRST_SIDE_BY_SIDE && !changesOld)
  assert.ok(later.length > 0)
  for (const { name } of later) {
    const text = await readFile(new URL(`./migrations/${name}.ts`, import.meta.url), 'utf8')
    assert.doesNotMatch(text, /renameTo|renameColumn|dropTable|dropColumn|\b(rename|drop|delete from)\b/i, name)
  }
})
