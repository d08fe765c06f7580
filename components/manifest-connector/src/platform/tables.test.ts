// Records as files of tables: fields that are new, rows that are deleted, and objects that become tables of their own.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createNestedTables } from './nested.ts'
import { createTable, type TableOptions } from './table.ts'

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tables-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const options = (more: Partial<TableOptions> = {}): TableOptions => ({
    name: 'orders',
    outDir: join(folder, 'out'),
    workDir: join(folder, 'work'),
    schema: { properties: { id: { type: 'integer' }, name: { type: 'string' } } },
    primaryKey: ['id'],
    incremental: true,
    knownFields: [],
    ...more,
  })
  return {
    options,
    files: () => readdirSync(join(folder, 'out')).sort(),
    rows: (name: string) =>
      readFileSync(join(folder, 'out', `${name}.csv`), 'utf8')
        .trim()
        .split('\n'),
    manifest: (name: string) =>
      JSON.parse(readFileSync(join(folder, 'out', `${name}.csv.manifest`), 'utf8')) as {
        incremental: boolean
        deleted_rows_column?: string
        schema: { name: string; primary_key?: boolean }[]
      }, // written by the table
  }
}

test('a field that the schema does not name extends the table, is left out, or fails', async (t) => {
  const extend = place(t)
  const table = createTable(extend.options())
  table.write([
    { id: 1, name: 'a' },
    { id: 2, more: 'x' },
  ])
  await table.publish()
  assert.deepEqual(extend.rows('orders'), ['1,a,', '2,,x'])

  const ignore = place(t)
  const plain = createTable(ignore.options({ drift: 'ignore' }))
  plain.write([{ id: 2, more: 'x' }])
  await plain.publish()
  assert.deepEqual(ignore.rows('orders'), ['2,'])

  const strict = createTable(place(t).options({ drift: 'fail' }))
  assert.throws(() => strict.write([{ id: 1, more: 2 }]), /no column for the field 'more', and 'schemaDrift' is fail/)
})

test('deleted records are marked for the platform; a table without a key refuses them', async (t) => {
  const { options, rows, manifest } = place(t)
  const table = createTable(options({ isDeleted: (record) => record.gone === true }))
  table.write([{ id: 1 }, { id: 2, gone: true }])
  await table.publish()
  assert.deepEqual(rows('orders'), ['0,1,,', '1,2,,true'])
  assert.equal(manifest('orders').deleted_rows_column, '_deleted')
  const bare = createTable(place(t).options({ primaryKey: [], isDeleted: () => false }))
  await assert.rejects(() => bare.publish(), /cannot be deleted without a primary key/)
})

test('a schema that grows during a run adds typed columns; rows can be forgotten and the table replaced', async (t) => {
  const { options, rows, manifest } = place(t)
  const table = createTable(options())
  table.write([{ id: 1 }])
  table.clear()
  table.extend({ properties: { price: { type: 'number' } } })
  table.write([{ id: 2, price: 1.5 }])
  await table.publish(true)
  assert.deepEqual(rows('orders'), ['2,,1.5'])
  assert.equal(manifest('orders').incremental, false)
})

test('objects and lists of objects are tables with the key of their record, at every depth', async (t) => {
  const { options, rows, manifest, files } = place(t)
  const schema = {
    properties: { id: { type: 'integer' }, lines: { type: 'array', items: { type: 'object' } }, tags: { type: 'array' } },
  }
  const tables = createNestedTables(options({ schema }), () => [])
  tables.write([
    { id: 1, tags: ['a'], buyer: { name: 'Ann' }, lines: [{ sku: 'x', parts: [{ p: 1 }, { p: 2 }] }, { sku: 'y' }] },
    { id: 2, tags: [], lines: [] },
  ])
  await tables.publish()
  assert.deepEqual(
    files().filter((name) => name.endsWith('.csv')),
    ['orders.csv', 'orders_buyer.csv', 'orders_lines.csv', 'orders_lines_parts.csv'],
  )
  assert.deepEqual(rows('orders'), ['1,"[""a""]"', '2,"[]"'])
  assert.deepEqual(rows('orders_buyer'), ['1,0,Ann'])
  assert.deepEqual(rows('orders_lines'), ['1,0,x', '1,1,y'])
  assert.deepEqual(rows('orders_lines_parts'), ['1,0,0,1', '1,0,1,2'])
  assert.deepEqual(
    manifest('orders_lines_parts').schema.map(({ name, primary_key }) => [name, primary_key ?? false]),
    [
      ['parent_id_up', true],
      ['parent_position', true],
      ['position', true],
      ['p', false],
    ],
  )
  assert.deepEqual([...tables.childFields().keys()].sort(), ['buyer', 'lines', 'lines/parts'])
  assert.throws(
    () => createNestedTables(place(t).options({ primaryKey: [] }), () => []),
    /has no primary key, so its objects cannot be tables/,
  )
})
