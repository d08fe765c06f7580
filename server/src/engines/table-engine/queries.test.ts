// Reading, exporting, deleting, profiling.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { countRows, setPrimaryKey, type TableSnapshot, truncate } from './snapshot.ts'
import { startTables, type TestTables, URI_PREFIX } from './table-engine.fixture.ts'

let tables: TestTables
let people: TableSnapshot
before(async () => {
  tables = await startTables()
  const first = await tables.load('id,name,age\n1,Anna,30\n2,Jiří,9\n3,"O\'Neil, ""Bob""",100\n4,,\n', { loadedAt: 1_000 })
  people = (await tables.load('id,name,age\n5,Eve,30\n', { snapshot: first.snapshot, mode: 'incremental', loadedAt: 2_000 }))
    .snapshot
})
after(async () => {
  assert.equal(tables.objects.open(), 0)
  assert.deepEqual(await tables.scratch(), [])
  await tables[Symbol.asyncDispose]()
})

const ids = async (query: Parameters<TestTables['rows']>[1]) =>
  (await tables.rows(people, { ...query, columns: ['id'] })).map(([id]) => id).join()

test('filters compare as text, or as numbers where a data type says so', async () => {
  assert.equal(await ids({ filters: [{ column: 'name', operator: 'eq', values: ['Anna', 'O\'Neil, "Bob"'] }] }), '1,3')
  assert.equal(await ids({ filters: [{ column: 'name', operator: 'ne', values: ['Anna', 'Eve'] }] }), '2,3,4')
  assert.equal(await ids({ filters: [{ column: 'age', operator: 'gt', values: ['20'] }] }), '1,2,5', 'text: 9 > 20 > 100')
  assert.equal(await ids({ filters: [{ column: 'age', operator: 'gt', values: ['20'], dataType: 'INTEGER' }] }), '1,3,5')
  assert.equal(await ids({ filters: [{ column: 'age', operator: 'le', values: ['30.0'], dataType: 'DOUBLE' }] }), '1,2,5')
  assert.equal(
    await ids({
      filters: [
        { column: 'age', operator: 'ge', values: ['30'], dataType: 'DECIMAL' },
        { column: 'id', operator: 'lt', values: ['4'] },
      ],
    }),
    '1,3',
  )
  assert.equal(await ids({ filters: [{ column: 'name', operator: 'eq', values: [''] }] }), '4')
  assert.equal(await ids({ filters: [{ column: 'name', operator: 'ne', values: ["'; DROP TABLE t; --", 'a\0b'] }] }), '1,2,3,4,5')
  assert.equal(await ids({ search: 'JIŘÍ' }), '2')
  await assert.rejects(ids({ filters: [{ column: 'age', operator: 'lt', values: ['1', '2'] }] }), {
    code: 'storage.tables.filterValues',
  })
  await assert.rejects(ids({ filters: [{ column: 'nope', operator: 'eq', values: ['1'] }] }), {
    code: 'storage.tables.columnNotExists',
  })
})

test('orders, limits and load times select rows', async () => {
  assert.equal(await ids({ orderBy: [{ column: 'age', order: 'DESC', dataType: 'INTEGER' }], limit: 3 }), '3,1,5')
  assert.equal(
    await ids({
      orderBy: [
        { column: 'age', order: 'ASC' },
        { column: 'id', order: 'DESC' },
      ],
    }),
    '4,3,5,1,2',
  )
  assert.equal(await ids({ changedSince: 2_000 }), '5')
  assert.equal(await ids({ changedUntil: 2_000, limit: 2 }), '1,2')
  assert.equal(await ids({ limit: 0 }), '')
  assert.equal(await tables.engine.count({ snapshot: people, changedSince: 1_500 }), 1)
  assert.equal(await tables.engine.count({ snapshot: people }), 5)
})

test('a preview cuts long values and says so', async () => {
  const { snapshot } = await tables.load(`a\n${'ž'.repeat(50)}\nshort\n`)
  const { rows, columns } = await tables.engine.preview({ snapshot, limit: 10, maxCellChars: 20 })
  assert.deepEqual(columns, ['a'])
  assert.deepEqual(rows, [[{ value: 'ž'.repeat(20), isTruncated: true }], [{ value: 'short', isTruncated: false }]])
})

test('an export has every value quoted, LF, no header, columns in the order asked for', async () => {
  const text = await tables.unloadText({ snapshot: people, format: 'csv', columns: ['name', 'id'] })
  assert.equal(text, '"Anna","1"\n"Jiří","2"\n"O\'Neil, ""Bob""","3"\n"","4"\n"Eve","5"\n')
  assert.equal(await tables.unloadText({ snapshot: people, format: 'csv', columns: ['name', 'id'], gzip: true }), text)
})

test('a merged export is one file with a header, packed or not', async () => {
  for (const gzip of [false, true]) {
    const { slices } = await tables.engine.unload({
      snapshot: people,
      format: 'csv',
      merged: true,
      gzip,
      limit: 1,
      keyPrefix: `exports/merged-${gzip}`,
    })
    assert.deepEqual(
      slices.map((s) => s.key),
      [`exports/merged-${gzip}`],
    )
    const bytes = await readFile(join(tables.root, 'objects', slices[0]!.key))
    assert.equal((gzip ? gunzipSync(bytes) : bytes).toString(), '"id","name","age"\n"1","Anna","30"\n')
  }
})

test('slices joined in their order are the rows in their order, packed or not', async () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i},${(i * 7919) % 60_000}`)
  const { snapshot } = await tables.load(`a,b\n${rows.join('\n')}\n`)
  for (const gzip of [false, true]) {
    const text = await tables.unloadText({ snapshot, format: 'csv', gzip, sliceBytes: 100_000 })
    assert.deepEqual(text.replaceAll('"', '').trimEnd().split('\n'), rows)
    const sorted = await tables.unloadText({
      snapshot,
      format: 'csv',
      gzip,
      sliceBytes: 100_000,
      orderBy: [{ column: 'b', order: 'DESC', dataType: 'INTEGER' }],
      columns: ['b'],
    })
    assert.deepEqual(
      sorted.replaceAll('"', '').trimEnd().split('\n').map(Number),
      rows.map((_, i) => 59_999 - i),
    )
    const { slices } = await tables.engine.unload({
      snapshot,
      format: 'csv',
      gzip,
      sliceBytes: 100_000,
      keyPrefix: `exports/many-${gzip}/`,
    })
    assert.ok(slices.length >= 3, `${slices.length} slices`)
  }
})

test('an export can carry the load time', async () => {
  const text = await tables.unloadText({
    snapshot: people,
    format: 'csv',
    columns: ['id'],
    includeLoadTime: true,
    changedSince: 2_000,
  })
  assert.equal(text, '"5","1970-01-01 00:00:02"\n')
})

test('an empty export is one empty slice', async () => {
  for (const gzip of [false, true])
    for (const snapshot of [people, truncate(people)]) {
      const { slices, rows } = await tables.engine.unload({
        snapshot,
        format: 'csv',
        gzip,
        changedSince: 9_000,
        keyPrefix: 'exports/none/',
      })
      assert.equal(rows, 0)
      assert.equal(slices.length, 1)
      assert.equal(await tables.unloadText({ snapshot, format: 'csv', gzip, changedSince: 9_000 }), '')
    }
})

test('a Parquet export reads back in another engine under the names people gave', async () => {
  const { slices } = await tables.engine.unload({ snapshot: people, format: 'parquet', keyPrefix: 'exports/parquet/' })
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const read = await db.runAndReadAll(
    `SELECT name FROM '${join(tables.root, 'objects', slices[0]!.key)}' WHERE age = '30' ORDER BY id`,
  )
  assert.deepEqual(read.getRows(), [['Anna'], ['Eve']])
})

test('segments and delete files have the shape Iceberg v2 readers expect', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `${i},x`).join('\n')
  const first = await tables.load(`id,v\n${rows}\n`, { primaryKey: ['id'] })
  const { snapshot } = await tables.load('id,v\n5,y\n3,y\n', { snapshot: first.snapshot, mode: 'incremental' })
  const segment = snapshot.segments[0]!
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const path = (key: string) => join(tables.root, 'objects', key)
  const ids = await db.runAndReadAll(
    `SELECT name, field_id FROM parquet_schema('${path(segment.key)}') WHERE field_id IS NOT NULL`,
  )
  assert.deepEqual(ids.getRowsJson(), [
    ['id', '2'],
    ['v', '3'],
    ['_timestamp', '1'],
  ])
  const deletes = await db.runAndReadAll(`SELECT * FROM '${path(segment.deletes!.key)}'`)
  assert.deepEqual(
    deletes.getRowsJson(),
    [
      [`${URI_PREFIX}${segment.key}`, '3'],
      [`${URI_PREFIX}${segment.key}`, '5'],
    ],
    'sorted by position',
  )
  const deleteIds = await db.runAndReadAll(
    `SELECT name, field_id FROM parquet_schema('${path(segment.deletes!.key)}') WHERE field_id IS NOT NULL`,
  )
  assert.deepEqual(deleteIds.getRowsJson(), [
    ['file_path', '2147483546'],
    ['pos', '2147483545'],
  ])
})

test('rows deleted by a filter are gone, others stay, and a second deletion adds to the first', async () => {
  const one = await tables.engine.deleteRows({
    snapshot: people,
    filters: [{ column: 'age', operator: 'eq', values: ['30'] }],
    keyPrefix: 'tables/t/',
  })
  assert.equal(one.deletedRows, 2)
  assert.equal(countRows(one.snapshot), 3)
  assert.equal(one.snapshot.segments.length, 1, 'a segment without living rows is left out')
  const two = await tables.engine.deleteRows({
    snapshot: one.snapshot,
    filters: [{ column: 'name', operator: 'eq', values: ['Jiří', 'Anna'] }],
    keyPrefix: 'tables/t/',
  })
  assert.equal(two.deletedRows, 1)
  assert.deepEqual((await tables.rows(two.snapshot, { columns: ['id'] })).flat(), ['3', '4'])
  const all = await tables.engine.deleteRows({ snapshot: two.snapshot, keyPrefix: 'tables/t/' })
  assert.deepEqual([all.deletedRows, all.snapshot.segments.length], [2, 0])
  assert.equal(countRows(people), 5, 'the table as it was is untouched')
})

test('a filter becomes a table of its own', async () => {
  const copy = await tables.engine.materialise({
    snapshot: people,
    columns: ['age', 'name'],
    filters: [{ column: 'age', operator: 'eq', values: ['30'] }],
    keyPrefix: 'tables/copy/',
  })
  assert.deepEqual(
    copy.columns.map((c) => c.name),
    ['age', 'name'],
  )
  assert.deepEqual(await tables.rows(copy), [
    ['30', 'Anna'],
    ['30', 'Eve'],
  ])
  assert.deepEqual(await tables.rows(copy, { changedSince: 2_000 }), [['30', 'Eve']], 'load times are kept')
})

test('a key that repeats is found before it becomes a primary key', async () => {
  assert.equal(await tables.engine.findDuplicateKey({ snapshot: people, columns: ['id'] }), null)
  assert.deepEqual(await tables.engine.findDuplicateKey({ snapshot: people, columns: ['age'] }), { values: ['30'], rows: 2 })
  assert.equal(await tables.engine.findDuplicateKey({ snapshot: people, columns: ['age', 'name'] }), null)
  const keyed = setPrimaryKey(people, ['id'])
  const { snapshot } = await tables.load('id,name,age\n1,Anne,31\n', { snapshot: keyed, mode: 'incremental' })
  assert.equal(countRows(snapshot), 5)
})

test('a profile counts nulls, empty, distinct and most frequent values', async () => {
  const profile = await tables.engine.profile({ snapshot: people })
  assert.equal(profile.rows, 5)
  assert.ok(profile.bytes !== null && profile.bytes > 0)
  const age = profile.columns[2]!
  assert.deepEqual(
    { ...age, top: age.top.slice(0, 1) },
    {
      name: 'age',
      type: 'STRING',
      nulls: 0,
      empty: 1,
      distinct: 4,
      duplicates: 1,
      min: '',
      max: '9',
      top: [{ value: '30', rows: 2 }],
      histogram: null,
    },
  )
  assert.deepEqual((await tables.engine.profile({ snapshot: people, columns: ['age'], topValues: 0 })).columns[0]?.top, [])
  const empty = await tables.engine.profile({ snapshot: truncate(people), columns: ['id'] })
  assert.deepEqual(empty.columns, [
    {
      name: 'id',
      type: 'STRING',
      nulls: 0,
      empty: 0,
      distinct: 0,
      duplicates: 0,
      min: null,
      max: null,
      top: [],
      histogram: null,
    },
  ])
})
