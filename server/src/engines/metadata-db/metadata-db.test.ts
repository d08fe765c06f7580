import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Generated, sql } from 'kysely'
import { freshSqlite } from '../../../../tests/support/fresh-databases.ts'
import { onBothDatabases } from '../../../../tests/support/on-both-databases.ts'
import { claimRows, type Db, idColumn, lockRows, type Trx, withTables } from './dialects.ts'
import { openMetadataDb } from './metadata-db.ts'
import type { Migration } from './migrations/list.ts'

interface Tables {
  parent: { id: Generated<number>; name: string; size: number }
  child: { id: Generated<number>; parent_id: number }
}

const schema: Migration = {
  name: '0001-parents',
  up: async (trx, dialect) => {
    await trx.schema
      .createTable('parent')
      .$call(idColumn(dialect))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .execute()
    await trx.schema
      .createTable('child')
      .$call(idColumn(dialect))
      .addColumn('parent_id', 'bigint', (column) => column.notNull().references('parent.id'))
      .execute()
  },
}

const add = (db: Db, name: string, size = 0) =>
  withTables<Tables>(db).insertInto('parent').values({ name, size }).returning('id').executeTakeFirstOrThrow()
const named = (db: Db, name: string) => withTables<Tables>(db).selectFrom('parent').selectAll().where('name', '=', name).execute()

await onBothDatabases(
  'the metadata database',
  ({ db, inTransaction }) => {
    test('ids rise and are never given twice, also after the newest row was deleted', async () => {
      const first = await add(db, 'id')
      const second = await add(db, 'id')
      await withTables<Tables>(db).deleteFrom('parent').where('id', '=', second.id).execute()
      const third = await add(db, 'id')
      assert.ok(second.id > first.id)
      assert.ok(third.id > second.id)
    })

    test('whole numbers up to 2^53 come back as numbers, sums too', async () => {
      await add(db, 'big', Number.MAX_SAFE_INTEGER)
      assert.equal((await named(db, 'big'))[0]?.size, Number.MAX_SAFE_INTEGER)
      const { total } = await withTables<Tables>(db)
        .selectFrom('parent')
        .select((eb) => eb.fn.sum<number>('size').as('total'))
        .where('name', '=', 'big')
        .executeTakeFirstOrThrow()
      assert.equal(total, Number.MAX_SAFE_INTEGER)
    })

    test('a transaction that throws leaves nothing', async () => {
      const outcome = inTransaction(async (trx) => {
        await add(trx, 'gone')
        throw new Error('changed my mind')
      })
      await assert.rejects(outcome, /changed my mind/)
      assert.deepEqual(await named(db, 'gone'), [])
    })

    test('a transaction sees its own writes, others see them after the commit', async () => {
      await inTransaction(async (trx) => {
        await add(trx, 'mine')
        assert.equal((await named(trx, 'mine')).length, 1)
        assert.equal((await named(db, 'mine')).length, 0)
      })
      assert.equal((await named(db, 'mine')).length, 1)
    })

    test('a row that refers to a missing row is refused', async () => {
      await assert.rejects(
        withTables<Tables>(db).insertInto('child').values({ parent_id: 999_999_999 }).execute(),
        /foreign key/i,
      )
    })

    test('read-modify-write under lockRows loses no update', async () => {
      const { id } = await add(db, 'counter')
      const increment = () =>
        inTransaction(async (trx) => {
          const tables = withTables<Tables>(trx)
          const row = await tables
            .selectFrom('parent')
            .select('size')
            .where('id', '=', id)
            .$call(lockRows(trx))
            .executeTakeFirstOrThrow()
          await tables
            .updateTable('parent')
            .set({ size: row.size + 1 })
            .where('id', '=', id)
            .execute()
        })
      await Promise.all(Array.from({ length: 30 }, increment))
      assert.equal((await named(db, 'counter'))[0]?.size, 30)
    })

    test('workers that claim at once never get the same row', async () => {
      for (let i = 0; i < 20; i++) await add(db, 'task')
      const claim = () =>
        inTransaction(async (trx) => {
          const tables = withTables<Tables>(trx)
          const row = await tables
            .selectFrom('parent')
            .select('id')
            .where('name', '=', 'task')
            .orderBy('id')
            .limit(1)
            .$call(claimRows(trx))
            .executeTakeFirst()
          if (row) await tables.updateTable('parent').set({ name: 'taken' }).where('id', '=', row.id).execute()
          return row?.id
        })
      const claimed: number[] = []
      for (let round = 0; claimed.length < 20 && round < 20; round++)
        claimed.push(...(await Promise.all(Array.from({ length: 5 }, claim))).filter((id) => id !== undefined))
      assert.equal(new Set(claimed).size, 20)
      assert.equal(claimed.length, 20)
    })

    test('like tells upper and lower case apart', async () => {
      await add(db, 'MiXed')
      const found = (pattern: string) =>
        withTables<Tables>(db).selectFrom('parent').select('id').where('name', 'like', pattern).execute()
      assert.equal((await found('MiX%')).length, 1)
      assert.equal((await found('mix%')).length, 0)
    })

    test('upper case sorts before lower case, on both alike', async () => {
      for (const name of ['sort b', 'sort B', 'sort a']) await add(db, name)
      const rows = await withTables<Tables>(db)
        .selectFrom('parent')
        .select('name')
        .where('name', 'like', 'sort %')
        .orderBy('name')
        .execute()
      assert.deepEqual(
        rows.map((row) => row.name),
        ['sort B', 'sort a', 'sort b'],
      )
    })
  },
  { migrations: [schema] },
)

async function sqliteWithParents() {
  const fresh = await freshSqlite()
  const metadata = await openMetadataDb({ ...fresh.location, migrations: [schema] })
  await metadata.migrate()
  const close = async () => {
    await metadata.close()
    await fresh.remove()
  }
  return { ...metadata, close }
}

test('SQLite commits are synced to disk and survive the process', async () => {
  const { db, close } = await sqliteWithParents()
  const setting = async (name: string) => {
    const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db)
    return Object.values(rows[0] ?? {})[0]
  }
  assert.equal(await setting('journal_mode'), 'wal')
  assert.equal(await setting('synchronous'), 2)
  assert.equal(await setting('foreign_keys'), 1)
  await close()
})

test('on SQLite a read does not wait for an open transaction', async () => {
  const { db, inTransaction, close } = await sqliteWithParents()
  await add(db, 'before')
  await inTransaction(async (trx) => {
    await add(trx, 'before')
    assert.equal((await named(db, 'before')).length, 1)
  })
  await close()
})

test('on SQLite writers take turns in the order they came', async () => {
  const { db, inTransaction, close } = await sqliteWithParents()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      inTransaction(async (trx) => {
        await add(trx, `turn ${n}`)
        order.push(n)
      }),
    ),
  )
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, n) => n),
  )
  assert.equal((await withTables<Tables>(db).selectFrom('parent').selectAll().execute()).length, 20)
  await close()
})

test('a stream on SQLite keeps its snapshot and holds nobody up', async () => {
  const { db, close } = await sqliteWithParents()
  for (let i = 0; i < 10; i++) await add(db, 'streamed')
  let seen = 0
  for await (const _row of withTables<Tables>(db).selectFrom('parent').selectAll().stream(2)) {
    seen++
    await add(db, 'streamed')
    assert.equal((await named(db, 'streamed')).length, 10 + seen)
  }
  assert.equal(seen, 10)
  await close()
})

test('a stream inside a transaction on SQLite reads what the transaction wrote', async () => {
  const { db, inTransaction, close } = await sqliteWithParents()
  const seen = await inTransaction(async (trx) => {
    for (let i = 0; i < 3; i++) await add(trx, 'inside')
    return await Array.fromAsync(withTables<Tables>(trx).selectFrom('parent').selectAll().stream(2))
  })
  assert.equal(seen.length, 3)
  assert.equal((await named(db, 'inside')).length, 3)
  await close()
})

test('a transaction that has ended refuses to work for the next one', async () => {
  const { inTransaction, db, close } = await sqliteWithParents()
  let kept: Trx | undefined
  await inTransaction(async (trx) => {
    kept = trx
  })
  await inTransaction(async () => {
    await assert.rejects(add(kept!, 'late'), /has already ended/)
  })
  assert.equal((await named(db, 'late')).length, 0)
  await close()
})

test('a backup taken while rows are written is a whole database', async () => {
  const { db, inTransaction, backUp, close } = await sqliteWithParents()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  const target = join(folder, 'copy.db')
  let stop = false
  const writing = (async () => {
    while (!stop)
      await inTransaction(async (trx) => {
        const { id } = await add(trx, 'x'.repeat(2000))
        await withTables<Tables>(trx).insertInto('child').values({ parent_id: id }).execute()
      })
  })()
  while ((await named(db, 'x'.repeat(2000))).length < 300) await new Promise(setImmediate)
  await backUp({ file: (write) => write(target), rows: async () => {} })
  stop = true
  await writing
  const copy = await openMetadataDb({ path: target, migrations: [schema] })
  assert.deepEqual(await copy.check(), [])
  const count = async (table: 'parent' | 'child') =>
    (await withTables<Tables>(copy.db).selectFrom(table).select('id').execute()).length
  assert.ok((await count('parent')) >= 300)
  assert.equal(await count('parent'), await count('child'))
  await copy.close()
  await close()
  await rm(folder, { recursive: true })
})

test('check names what is broken', async () => {
  const { db, check, close } = await sqliteWithParents()
  assert.deepEqual(await check(), [])
  await sql`pragma foreign_keys = off`.execute(db)
  await withTables<Tables>(db).insertInto('child').values({ parent_id: 77 }).execute()
  assert.match((await check()).join(), /child refers to a missing row of parent/)
  await close()
})

test('a file that is no database is refused at once', async () => {
  const fresh = await freshSqlite()
  const { path } = fresh.location as { path: string }
  await writeFile(path, 'this is not a database, however long it may be'.repeat(100))
  await assert.rejects(openMetadataDb({ path }), /not a database/)
  await fresh.remove()
})

test('on SQLite the version is another one after a commit, whoever made it, and the same until then', async () => {
  const { db, inTransaction, version, close } = await sqliteWithParents()
  const versionOfNextTurn = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return version()
  }
  const before = await versionOfNextTurn()
  await inTransaction(async (trx) => {
    await add(trx, 'inside')
    assert.equal(await versionOfNextTurn(), before, 'nothing is committed yet')
  })
  const after = await versionOfNextTurn()
  assert.notEqual(after, before)
  await named(db, 'inside')
  assert.equal(await versionOfNextTurn(), after, 'reading changes nothing')
  const { rows } = await sql<{ file: string }>`pragma database_list`.execute(db)
  const other = await openMetadataDb({ path: rows[0]!.file, migrations: [schema] })
  await add(other.db, 'elsewhere')
  await other.close()
  assert.notEqual(await versionOfNextTurn(), after)
  await close()
})
