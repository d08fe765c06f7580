// Files that another engine wrote, as segments of a table.

import assert from 'node:assert/strict'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { emptySnapshot, type Segment, type TableSnapshot } from './snapshot.ts'
import { startTables, type TestTables } from './table-engine.fixture.ts'
import type { StoredFile } from './table-engine.ts'

let tables: TestTables
before(async () => {
  tables = await startTables()
})
after(async () => {
  assert.equal(tables.objects.open(), 0)
  assert.deepEqual(await tables.scratch(), [])
  await tables[Symbol.asyncDispose]()
})

let files = 0

/** A Parquet file in the store that lacks the hidden load time. */
async function written(select: string, ids: string, options = ''): Promise<string> {
  const key = `foreign/${files++}.parquet`
  const path = join(tables.root, 'objects', key)
  await mkdir(dirname(path), { recursive: true })
  const db = await (await DuckDBInstance.create()).connect()
  if (options) await db.run(`SET force_mbedtls_unsafe = 'true'; PRAGMA add_parquet_key('k', '0123456789abcdef')`) // no extension is loaded for it
  await db.run(`COPY (${select}) TO '${path}' (FORMAT parquet, FIELD_IDS {${ids}}${options})`)
  db.closeSync()
  return key
}

const segmentOf = async (key: string, rows: number, fieldIds: readonly number[], loadedAt: number): Promise<Segment> => ({
  key,
  rows,
  bytes: (await stat(join(tables.root, 'objects', key))).size,
  fieldIds,
  minLoadedAt: loadedAt,
  maxLoadedAt: loadedAt,
  deletes: null,
  loadedAt,
})

const check = (snapshot: TableSnapshot, key: string, rows: number) =>
  tables.engine.checkFiles({ snapshot, files: [{ key, rows, name: 'the file' }] })

test('rows of such a file have the time of its commit, whatever reads them, and keep it through compaction and deletes', async () => {
  const { snapshot } = await tables.load('id,v\n1,a\n2,b\n', { loadedAt: 1_000 })
  const keys = [
    await written(`SELECT '3' AS "i d", 'c' AS v`, '"i d": 2, v: 3'),
    await written(`SELECT 'd' AS v, '4' AS id`, 'id: 2, v: 3'),
  ]
  const added = [await segmentOf(keys[0]!, 1, [2, 3], 5_000), await segmentOf(keys[1]!, 1, [2, 3], 9_000)]
  const mixed: TableSnapshot = { ...snapshot, segments: [...snapshot.segments, ...added] }
  const all = [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
    ['4', 'd'],
  ]
  const ids = async (of: TableSnapshot, changedSince: number) =>
    (await tables.rows(of, { changedSince, columns: ['id'] })).flat().join()
  const compacted = await tables.engine.compact({ snapshot: mixed, keyPrefix: 'compacted/', force: true })
  assert.ok(compacted)
  assert.equal(compacted.segments.length, 1)
  const { snapshot: fewer } = await tables.engine.deleteRows({
    snapshot: mixed,
    filters: [{ column: 'id', operator: 'eq', values: ['2'] }],
    keyPrefix: 'deleted/',
  })
  for (const [one, rows] of [
    [mixed, all],
    [compacted, all],
    [fewer, all.filter(([id]) => id !== '2')],
  ] as const) {
    assert.deepEqual(await tables.rows(one), rows)
    assert.equal(await ids(one, 4_000), '3,4')
    assert.equal(await ids(one, 6_000), '4')
    assert.equal(await tables.engine.count({ snapshot: one, changedSince: 9_001 }), 0)
  }
  const text = await tables.unloadText({ snapshot: mixed, format: 'csv', includeLoadTime: true })
  assert.match(text, /"3","c","1970-01-01 00:00:05"/)
})

test('what a load would refuse is refused of a file too', async () => {
  const typed = emptySnapshot(
    [
      { name: 'id', type: 'INTEGER', nullable: false },
      { name: 'code', type: 'STRING', length: '3' },
      { name: 'price', type: 'NUMERIC', length: '9,2' },
    ],
    { typed: true },
  )
  const ids = 'id: 2, code: 3, price: 4'
  const good = `SELECT 1::BIGINT AS id, NULL::VARCHAR AS code, 2.5::DECIMAL(9,2) AS price`
  await check(typed, await written(good, ids), 1)
  const cases: readonly [reason: RegExp, select: string, options?: string][] = [
    [/1 nulls in "id", which takes none/, good.replace('1::BIGINT', 'NULL::BIGINT')],
    [/a value of 4 characters in "code", which takes 3/, good.replace('NULL::VARCHAR', `'four'`)],
    [/"price" as DECIMAL\(18,2\); the table keeps it as DECIMAL\(9,2\)/, good.replace('DECIMAL(9,2)', 'DECIMAL(18,2)')],
    [/"id" as INTEGER/, good.replace('1::BIGINT', '1::INTEGER')],
    [/is encrypted/, good, `, ENCRYPTION_CONFIG {footer_key: 'k'}`],
  ]
  for (const [reason, select, options] of cases) {
    const key = await written(select, ids, options)
    await assert.rejects(check(typed, key, 1), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'iceberg.fileRefused')
      assert.match(error.message, reason)
      return true
    })
  }
})

const storedFile = async (key: string, rows: number) => ({
  key,
  rows,
  bytes: (await stat(join(tables.root, 'objects', key))).size,
  name: 'the file',
})

const loadStored = (snapshot: TableSnapshot, files: readonly StoredFile[], mode: 'full' | 'incremental', loadedAt = 5_000) =>
  tables.engine.load({
    snapshot,
    mode,
    source: { stored: files },
    fileColumns: snapshot.columns.map(({ name }) => name),
    skipLines: 0,
    loadedAt,
    keyPrefix: 'stored/',
  })

test('files that lie in the store become segments where they are, without a byte written', async () => {
  const { snapshot } = await tables.load('id,v\n1,a\n', { loadedAt: 1_000 })
  const file = await storedFile(await written(`SELECT '2' AS id, 'b' AS v`, 'id: 2, v: 3'), 1)
  const empty = await storedFile(await written(`SELECT '2' AS id, 'b' AS v WHERE false`, 'id: 2, v: 3'), 0)
  const appended = await loadStored(snapshot, [file, empty], 'incremental')
  assert.deepEqual(
    appended.snapshot.segments.map(({ key }) => key),
    [snapshot.segments[0]!.key, file.key],
  )
  assert.deepEqual([appended.rowsInFile, appended.rowsWritten, appended.bytesInFile], [1, 1, file.bytes + empty.bytes])
  const replaced = await loadStored(snapshot, [file], 'full')
  assert.deepEqual(await tables.rows(appended.snapshot), [
    ['1', 'a'],
    ['2', 'b'],
  ])
  assert.deepEqual(await tables.rows(replaced.snapshot, { changedSince: 5_000 }), [['2', 'b']])
  assert.deepEqual(await tables.keys('stored/'), [])
})

test('many files are looked into a few at a time: each is a download where the store is elsewhere', async () => {
  const snapshot = emptySnapshot([{ name: 'id' }, { name: 'v' }], { typed: false })
  const keys = await Promise.all(Array.from({ length: 20 }, (_, i) => written(`SELECT '${i}' AS id, 'b' AS v`, 'id: 2, v: 3')))
  const files = await Promise.all(keys.map((key) => storedFile(key, 1)))
  tables.objects.max()
  const { rowsInFile, snapshot: after } = await loadStored(snapshot, files, 'full')
  await tables.engine.checkFiles({ snapshot, files })
  assert.deepEqual([rowsInFile, after.segments.length, tables.objects.max(), tables.objects.open()], [20, 20, 8, 0])
  await assert.rejects(loadStored(snapshot, [...files.slice(0, 19), { ...files[19]!, bytes: 7 }], 'full'), /its manifest has 7/)
  await assert.rejects(tables.engine.checkFiles({ snapshot, files: [...files, { key: 'none', rows: 1, name: 'none' }] }))
  assert.equal(tables.objects.open(), 0)
})

test('stored files go through the resolution of keys; what is written anew leaves the file of its writer alone', async () => {
  const { snapshot } = await tables.load('id,v\n1,a\n2,b\n3,c\n', { primaryKey: ['id'], loadedAt: 1_000 })
  const select = `FROM (VALUES ('2', 'B'), ('3', 'c'), ('4', 'x'), ('4', 'd')) t(id, v)`
  const file = await storedFile(await written(select, 'id: 2, v: 3'), 4)
  const loaded = await loadStored(snapshot, [file], 'incremental')
  assert.deepEqual(await tables.rows(loaded.snapshot), [
    ['1', 'a'],
    ['3', 'c'],
    ['2', 'B'],
    ['4', 'd'],
  ])
  assert.deepEqual([loaded.rowsReplaced, loaded.rowsUnchanged, loaded.rowsDuplicate, loaded.rowsWritten], [1, 1, 1, 2])
  assert.deepEqual((await tables.rows(loaded.snapshot, { changedSince: 5_000, columns: ['id'] })).flat(), ['2', '4'])
  const fresh = loaded.snapshot.segments.at(-1)!
  assert.match(fresh.key, /^stored\//)
  assert.equal((await stat(join(tables.root, 'objects', file.key))).size, file.bytes)

  const many = `SELECT i::VARCHAR AS id, 'n' AS v FROM range(10, 20) t(i) UNION ALL SELECT '10', 'last'`
  const next = await storedFile(await written(many, 'id: 2, v: 3'), 11)
  const marked = await loadStored(loaded.snapshot, [next], 'incremental', 9_000)
  const segment = marked.snapshot.segments.at(-1)!
  assert.deepEqual([segment.key, segment.rows, segment.deletes?.rows, segment.loadedAt], [next.key, 11, 1, 9_000])
  assert.deepEqual(await tables.rows(marked.snapshot, { filters: [{ column: 'id', operator: 'eq', values: ['10'] }] }), [
    ['10', 'last'],
  ])
  const again = await tables.load('id,v\n11,new\n', { snapshot: marked.snapshot, mode: 'incremental', loadedAt: 10_000 })
  assert.equal(await tables.engine.count({ snapshot: again.snapshot, changedSince: 9_000 }), 10)
})

test('stored files that are not what they are said to be are refused, and nothing is loaded', async () => {
  const { snapshot } = await tables.load('id,v\n1,a\n')
  const right = await storedFile(await written(`SELECT '2' AS id, 'b' AS v`, 'id: 2, v: 3'), 1)
  const others = await storedFile(await written(`SELECT '2' AS id, 'b' AS v`, 'id: 2, v: 9'), 1)
  for (const [file, reason] of [
    [{ ...right, rows: 2 }, /has 1 rows, but its manifest has 2/],
    [{ ...right, bytes: 7 }, /bytes, but its manifest has 7/],
    [others, /has the field id 9/],
  ] as const)
    await assert.rejects(loadStored(snapshot, [right, file], 'full'), reason)
  await assert.rejects(loadStored(snapshot, [{ ...right, key: 'foreign/none.parquet' }], 'full'), {
    code: 'tableEngine.objectMissing',
  })
})
