import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keptDatabase, openCatalogDatabase } from './catalog-database.ts'

test('a damaged database is made anew, and kept for the next time', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-catalog-'))
  t.after(() => rm(folder, { recursive: true }))
  const tables = async () => {
    const database = await openCatalogDatabase(folder, () => openCatalogDatabase()) // made once for all tests
    t.after(() => database.close())
    const { rows } = await database.query<{ tables: number }>('select count(*)::int as tables from pg_class')
    return rows[0]!.tables
  }
  await writeFile(keptDatabase(folder), 'damaged'.repeat(1000))
  const made = await tables()
  assert.ok(made > 100)
  const { ino, size } = await stat(keptDatabase(folder))
  assert.ok(size > 1 << 20)
  assert.equal(await tables(), made)
  assert.equal((await stat(keptDatabase(folder))).ino, ino, 'it was made a second time')
  assert.equal((await readdir(folder)).length, 1)
})
