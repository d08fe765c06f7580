import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { openSqlite } from './sqlite-dialect.ts'

async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-statements-'))
  const sqlite = openSqlite<Record<string, Record<string, unknown>>>(join(folder, 'test.db'))
  t.after(async () => {
    await sqlite.db.destroy()
    rmSync(folder, { recursive: true })
  })
  await sqlite.db.schema.createTable('item').addColumn('id', 'integer').addColumn('name', 'text').execute()
  await sqlite.db
    .insertInto('item')
    .values([
      { id: 1, name: 'one' },
      { id: 2, name: null },
    ])
    .execute()
  return sqlite
}

test('rows are plain objects with a member for every column, also for those that are null', async (t) => {
  const { db } = await start(t)
  assert.deepEqual(await db.selectFrom('item').selectAll().orderBy('id').execute(), [
    { id: 1, name: 'one' },
    { id: 2, name: null },
  ])
  assert.deepEqual(await db.selectFrom('item').selectAll().where('id', '=', 3).execute(), [])
})

test('of columns with one name the last one counts', async (t) => {
  const { db } = await start(t)
  const { rows } = await sql`select id as x, name, id + 10 as x from item where id = 1`.execute(db)
  assert.deepEqual(rows, [{ x: 11, name: 'one' }])
})

test('a column that has another name since is read by that name, inside and outside a transaction', async (t) => {
  const { db, inTransaction } = await start(t)
  const read = (from: typeof db) => from.selectFrom('item').selectAll().where('id', '=', 1).execute()
  await inTransaction(read)
  await read(db)
  await db.schema.alterTable('item').renameColumn('name', 'title').execute()
  assert.deepEqual(await read(db), [{ id: 1, title: 'one' }])
  assert.deepEqual(await inTransaction(read), [{ id: 1, title: 'one' }])
  await db.schema.alterTable('item').addColumn('size', 'integer').execute()
  assert.deepEqual(await read(db), [{ id: 1, title: 'one', size: null }])
})
