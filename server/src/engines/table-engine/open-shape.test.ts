// Files that other engines read right: what is checked here by name, the optional suite tests/engines checks with those engines.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { foreignKeys, MAX_FOREIGN_FILES, planOpenShape } from './open-shape.ts'
import { addColumn, countRows, dropColumn, emptySnapshot, type Segment, type TableSnapshot } from './snapshot.ts'
import { startTables, type TestTables, URI_PREFIX } from './table-engine.fixture.ts'

const KEY_PREFIX = 'tables/t/'
const SHAPE = { keyPrefix: KEY_PREFIX, uriPrefix: URI_PREFIX }

let tables: TestTables
before(async () => {
  tables = await startTables()
})
after(async () => {
  assert.equal(tables.objects.open(), 0)
  await tables[Symbol.asyncDispose]()
})

/** Three rows of which the second is dead, and two rows that came later. */
async function upserted(): Promise<TableSnapshot> {
  const first = await tables.load('id,name\n1,a\n2,b\n3,c\n', { primaryKey: ['id'] })
  return (await tables.load('id,name\n2,B\n4,d\n', { snapshot: first.snapshot, mode: 'incremental' })).snapshot
}

async function deletedPaths(snapshot: TableSnapshot): Promise<string[]> {
  const db = await (await DuckDBInstance.create()).connect()
  const keys = snapshot.segments.flatMap(({ deletes }) => (deletes ? [deletes.key] : []))
  const paths = keys.map((key) => `'${join(tables.root, 'objects', key)}'`).join()
  const found = await db.runAndReadAll(`SELECT file_path || ' ' || pos FROM read_parquet([${paths}]) ORDER BY 1`)
  db.closeSync()
  return found.getRows().map(([text]) => String(text))
}

/** As versions before wrote them: the bare key. */
const asBefore = (snapshot: TableSnapshot): TableSnapshot => ({
  ...snapshot,
  segments: snapshot.segments.map((segment) => {
    if (!segment.deletes) return segment
    const { uriPrefix: _, ...deletes } = segment.deletes
    return { ...segment, deletes }
  }),
})

test('a delete file names its segment by the address that other engines use, by upserts and by deletes', async () => {
  const table = await upserted()
  assert.deepEqual(await deletedPaths(table), [`${URI_PREFIX}${table.segments[0]?.key} 1`])
  assert.equal(planOpenShape(table, SHAPE), null)
  assert.equal(await tables.engine.inOpenShape({ snapshot: table, keyPrefix: KEY_PREFIX }), null)
  const filters = [{ column: 'id', operator: 'eq' as const, values: ['1', '4'] }]
  const { snapshot } = await tables.engine.deleteRows({ snapshot: table, filters, keyPrefix: KEY_PREFIX })
  const [old, late] = snapshot.segments
  assert.deepEqual(
    await deletedPaths(snapshot),
    [`${URI_PREFIX}${old?.key} 0`, `${URI_PREFIX}${old?.key} 1`, `${URI_PREFIX}${late?.key} 1`].sort(),
  )
})

test('delete files of the version before, or of another bucket, are written anew and nothing else is', async () => {
  const table = await upserted()
  for (const snapshot of [asBefore(table), renamedBucket(table)]) {
    const after = await tables.engine.inOpenShape({ snapshot, keyPrefix: KEY_PREFIX })
    assert.ok(after)
    assert.deepEqual(
      after.segments.map(({ key }) => key),
      table.segments.map(({ key }) => key),
    )
    assert.deepEqual(await deletedPaths(after), [`${URI_PREFIX}${table.segments[0]?.key} 1`])
    assert.deepEqual(await tables.rows(after), await tables.rows(table))
    assert.equal(planOpenShape(after, SHAPE), null)
  }
})

const renamedBucket = (snapshot: TableSnapshot): TableSnapshot => ({
  ...snapshot,
  segments: snapshot.segments.map((segment) =>
    segment.deletes ? { ...segment, deletes: { ...segment.deletes, uriPrefix: 's3://elsewhere/' } } : segment,
  ),
})

test('segments that lack a column which this engine fills are rewritten, with rows, order and load times as before', async () => {
  const table = addColumn(await upserted(), { name: 'note' })
  const wide = (await tables.load('id,name,note\n5,e,x\n', { snapshot: table, mode: 'incremental' })).snapshot
  const rows = await tables.rows(wide)
  const after = await tables.engine.inOpenShape({ snapshot: wide, keyPrefix: KEY_PREFIX })
  assert.ok(after)
  assert.deepEqual(await tables.rows(after), rows)
  assert.equal(after.segments.length, 2, 'the two that lack it became one, the one that has it stays')
  assert.equal(after.segments.at(-1)?.key, wide.segments.at(-1)?.key)
  assert.ok(after.segments.every(({ fieldIds }) => after.columns.every(({ fieldId }) => fieldIds.includes(fieldId))))
  assert.equal(after.segments[0]?.minLoadedAt, wide.segments[0]?.minLoadedAt)
  assert.equal(planOpenShape(dropColumn(after, 'note'), SHAPE), null, 'a file may have more columns than the table')
})

test('a typed column without a default is null everywhere, so its files stay; one with a default is filled', () => {
  const segment: Segment = {
    key: `${KEY_PREFIX}a`,
    rows: 1,
    bytes: 1,
    fieldIds: [2],
    minLoadedAt: 0,
    maxLoadedAt: 0,
    deletes: null,
  }
  const typed = { ...emptySnapshot([{ name: 'id', type: 'INTEGER' }], { typed: true }), segments: [segment] }
  assert.equal(planOpenShape(addColumn(typed, { name: 'n', type: 'INTEGER' }), SHAPE), null)
  assert.deepEqual(planOpenShape(addColumn(typed, { name: 'n', type: 'INTEGER', default: '7' }), SHAPE)?.rewrites, [[0, 1]])
})

test('few files of other tables stay where they are, many are brought into the folder of the table', async () => {
  const { snapshot: other } = await tables.load('id\n1\n', { keyPrefix: 'tables/1/17/' })
  const [segment] = other.segments
  assert.ok(segment)
  const clone = (files: number): TableSnapshot => ({ ...other, segments: Array.from({ length: files }, () => segment) })
  assert.equal(foreignKeys(clone(3), KEY_PREFIX).length, 3)
  assert.equal(planOpenShape(clone(MAX_FOREIGN_FILES), SHAPE), null)
  const after = await tables.engine.inOpenShape({ snapshot: clone(MAX_FOREIGN_FILES + 1), keyPrefix: KEY_PREFIX })
  assert.ok(after)
  assert.deepEqual([foreignKeys(after, KEY_PREFIX), countRows(after)], [[], MAX_FOREIGN_FILES + 1])
  const firstLoad = { ...other, segments: [{ ...segment, key: 'tables/1/new-5/x.parquet' }] }
  assert.deepEqual(foreignKeys(firstLoad, KEY_PREFIX), [])
})
