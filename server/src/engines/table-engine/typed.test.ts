// Typed tables: values keep their type, and the error of a value that does not fit names row and column.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import {
  addColumn,
  type Column,
  columnNamed,
  emptySnapshot,
  type NewColumn,
  retypeColumn,
  type TableSnapshot,
} from './snapshot.ts'
import { type LoadOptions, startTables, type TestTables } from './table-engine.fixture.ts'

let tables: TestTables
before(async () => {
  tables = await startTables()
})
after(() => tables[Symbol.asyncDispose]())

const COLUMNS: NewColumn[] = [
  { name: 'id', type: 'INTEGER', nullable: false },
  { name: 'name', type: 'STRING' },
  { name: 'price', type: 'NUMERIC', length: '10,2' },
  { name: 'score', type: 'FLOAT' },
  { name: 'ok', type: 'BOOLEAN' },
  { name: 'day', type: 'DATE' },
  { name: 'at', type: 'TIMESTAMP' },
]
const table = (columns = COLUMNS) => emptySnapshot(columns, { typed: true, primaryKey: ['id'] })
const header = `${COLUMNS.map((c) => c.name).join()}\n`
const load = (rows: string, options: LoadOptions = {}) => tables.load(header + rows, { snapshot: table(), ...options })

test('values of every base type are converted and come out as text again', async () => {
  const { snapshot } = await load('9007199254740993,x,1.50,1e3,true,2026-01-31,2026-01-31T10:00:00+02:00\n2,,,,,,\n')
  assert.deepEqual(await tables.rows(snapshot), [
    ['9007199254740993', 'x', '1.50', '1000', 'true', '2026-01-31', '2026-01-31 08:00:00'],
    ['2', null, null, null, null, null, null],
  ])
  const text = await tables.unloadText({ snapshot, format: 'csv', columns: ['id', 'name', 'ok'] })
  assert.equal(text, '"9007199254740993","x","true"\n"2","",""\n', 'nulls leave as empty, quoted values')
  const again = await tables.load(text, { snapshot: table(), fileColumns: ['id', 'name', 'ok'] })
  assert.deepEqual(await tables.rows(again.snapshot, { columns: ['name', 'ok'] }), [
    ['x', 'true'],
    [null, null],
  ])
})

test('0 and -0 stay what they are among equal values, in loads, changes, rewrites and Parquet exports', async () => {
  const columns: NewColumn[] = [
    { name: 'id', type: 'INTEGER', nullable: false },
    { name: 'zero', type: 'FLOAT' },
  ]
  const zeros = Array.from({ length: 300 }, (_, id) => (id % 3 === 1 ? '-0' : '0'))
  const csvOf = (values: readonly string[]) => `id,zero\n${values.map((value, id) => `${id},${value}\n`).join('')}`
  const stored = async (snapshot: TableSnapshot) => (await tables.rows(snapshot, { columns: ['zero'] })).flat()
  const { snapshot } = await tables.load(csvOf(zeros), {
    snapshot: emptySnapshot(columns, { typed: true, primaryKey: ['id'] }),
  })
  assert.deepEqual(await stored(snapshot), zeros)
  const turned = zeros.map((zero, id) => (id === 0 ? '-0' : id === 1 ? '0' : zero))
  const later = await tables.load(csvOf(turned), { snapshot, mode: 'incremental' })
  const sorted = { columns: ['zero'], orderBy: [{ column: 'id', order: 'ASC' as const }] }
  assert.deepEqual((await tables.rows(later.snapshot, sorted)).flat(), turned, 'a zero with another sign is another value')
  const { slices } = await tables.engine.unload({ snapshot: later.snapshot, format: 'parquet', keyPrefix: 'zeros/', ...sorted })
  const path = join(tables.root, 'objects', slices[0]?.key ?? '')
  const connection = await (await DuckDBInstance.create()).connect()
  const exported = (await connection.runAndReadAll(`select zero::varchar from read_parquet('${path}')`)).getRows().flat()
  connection.closeSync()
  assert.deepEqual(
    exported,
    turned.map((zero) => `${zero}.0`),
  )
})

test('typed columns filter and sort by value', async () => {
  const { snapshot } = await load('10,a,,,,,\n9,b,,,,,\n100,c,,,,,\n')
  assert.deepEqual(
    (
      await tables.rows(snapshot, {
        columns: ['id'],
        filters: [{ column: 'id', operator: 'ge', values: ['10'] }],
        orderBy: [{ column: 'id', order: 'DESC' }],
      })
    ).flat(),
    ['100', '10'],
  )
})

const BAD_VALUES: [column: string, row: string][] = [
  ['id', '1.5,x,1,1,1,2026-01-01,2026-01-01'],
  ['id', '99999999999999999999,x,1,1,1,2026-01-01,2026-01-01'],
  ['price', '1,x,abc,1,1,2026-01-01,2026-01-01'],
  ['score', '1,x,1,?,1,2026-01-01,2026-01-01'],
  ['ok', '1,x,1,1,maybe,2026-01-01,2026-01-01'],
  ['day', '1,x,1,1,1,31.1.2026,2026-01-01'],
  ['day', '1,x,1,1,1,2026-02-30,2026-01-01'],
  ['at', '1,x,1,1,1,2026-01-01,infinity'],
]
for (const [column, row] of BAD_VALUES)
  test(`${row.split(',')[COLUMNS.findIndex((c) => c.name === column)]} is no ${column}: the error names row and column`, async () => {
    await assert.rejects(
      load(`5,x,1,1,1,2026-01-01,2026-01-01\n${row}\n`),
      (error: Error & { code?: string; details?: Record<string, unknown> }) => {
        assert.equal(error.code, 'storage.tables.invalidValue', error.message)
        assert.equal(error.details?.row, 2)
        assert.equal(error.details?.column, column)
        return true
      },
    )
  })

test('a value may be absent only where the column allows it', async () => {
  await assert.rejects(load('1,x,,,,,\n,x,,,,,\n'), {
    code: 'storage.tables.nullValue',
    message: /Row 2 of file\.csv has no value in column "id"/,
  })
  const kept = (csv: string) =>
    load(csv, { nullValues: [], bareEmptyIsNull: true }).then(
      () => 'loaded',
      (e: { code: string }) => e.code,
    )
  assert.equal(await kept('1,x,"",,,,\n'), 'storage.tables.invalidValue', 'without null values an empty string is no number')
  assert.equal(await kept('1,x,,,,,\n'), 'loaded', 'an empty field without quotes is null')
})

test('a column added later has its default in older rows', async () => {
  const { snapshot } = await load('1,x,,,,,\n')
  const wider = addColumn(addColumn(snapshot, { name: 'n', type: 'INTEGER', default: '7' }), { name: 'm', type: 'DATE' })
  assert.deepEqual(await tables.rows(wider, { columns: ['n', 'm'] }), [['7', null]])
  const strict = addColumn(wider, { name: 's', type: 'STRING', nullable: false })
  assert.equal(await tables.unloadText({ snapshot: strict, format: 'csv', columns: ['id', 's', 'm'] }), '"1","",""\n')
})

test('an upsert compares nulls as equal', async () => {
  const first = await load('1,x,,,,,\n2,y,,,,,\n')
  const { rowsUnchanged, rowsReplaced } = await load('1,x,,,,,\n2,,,,,,\n', { snapshot: first.snapshot, mode: 'incremental' })
  assert.deepEqual({ rowsUnchanged, rowsReplaced }, { rowsUnchanged: 1, rowsReplaced: 1 })
})

const retyped = async (snapshot: TableSnapshot, column: string, to: Pick<Column, 'type' | 'length'>) => {
  const shape = retypeColumn(snapshot, column, to)
  const unfit = await tables.engine.findUnfit({ snapshot, column, to: columnNamed(shape, column) })
  const after = await tables.engine.rewriteAs({ snapshot, shape, keyPrefix: 'retyped/' })
  return { unfit, after, values: (await tables.rows(after, { columns: [column] })).map(([value]) => value) }
}

test('text becomes another type as a load reads it; what is not of the type is counted', async () => {
  const { snapshot } = await tables.load('id,v\n1,10\n2,\n3,ten\n4, 7\n5,1.5\n')
  const { unfit, after, values } = await retyped(snapshot, 'v', { type: 'INTEGER' })
  assert.deepEqual(unfit, { rows: 2, examples: ['1.5', 'ten'] })
  assert.deepEqual(values, ['10', null, null, '7', null])
  assert.equal(after.typed, true)
  assert.deepEqual(
    after.columns.map(({ name, type, nullable }) => [name, type, nullable]),
    [
      ['id', 'STRING', false],
      ['v', 'INTEGER', true],
    ],
  )
  assert.notEqual(
    columnNamed(after, 'v').fieldId,
    columnNamed(snapshot, 'v').fieldId,
    'older files have the old type under their id',
  )
  assert.deepEqual(
    after.segments.map(({ minLoadedAt, rows }) => [minLoadedAt, rows]),
    snapshot.segments.map(({ minLoadedAt, rows }) => [minLoadedAt, rows]),
  )
})

const CONVERSIONS: readonly [Partial<Column>, string, Pick<Column, 'type' | 'length'>, string | null][] = [
  [{ type: 'NUMERIC', length: '10,2' }, '3.00', { type: 'INTEGER' }, '3'],
  [{ type: 'NUMERIC', length: '10,2' }, '2.50', { type: 'INTEGER' }, null],
  [{ type: 'NUMERIC', length: '10,4' }, '2.5678', { type: 'NUMERIC', length: '10,2' }, null],
  [{ type: 'FLOAT' }, '0.1', { type: 'NUMERIC' }, '0.100000000'],
  [{ type: 'INTEGER' }, '9007199254740993', { type: 'FLOAT' }, null],
  [{ type: 'INTEGER' }, '1', { type: 'BOOLEAN' }, 'true'],
  [{ type: 'INTEGER' }, '2', { type: 'BOOLEAN' }, null],
  [{ type: 'INTEGER' }, '20260101', { type: 'DATE' }, null],
  [{ type: 'TIMESTAMP' }, '2026-01-01 00:00:00', { type: 'DATE' }, '2026-01-01'],
  [{ type: 'TIMESTAMP' }, '2026-01-01 10:00:00', { type: 'DATE' }, null],
  [{ type: 'DATE' }, '2026-01-01', { type: 'TIMESTAMP' }, '2026-01-01 00:00:00'],
  [{ type: 'DATE' }, '2026-01-01', { type: 'STRING' }, '2026-01-01'],
  [{ type: 'STRING' }, 'abcdef', { type: 'STRING', length: '3' }, null],
]
test('a value changes its type only without loss', async () => {
  for (const [from, value, to, expected] of CONVERSIONS) {
    const empty = emptySnapshot([{ name: 'v', ...from }], { typed: true })
    const { snapshot } = await tables.load(`v\n${value}\n`, { snapshot: empty })
    const { unfit, values } = await retyped(snapshot, 'v', to)
    const name = `${value} of ${from.type} as ${to.type}`
    assert.deepEqual(values, [expected], name)
    assert.deepEqual([unfit.rows, unfit.examples.length], expected === null ? [1, 1] : [0, 0], name)
  }
})
