// Values that ClickHouse would change in silence, and scripts of several statements. Deliveries to real servers are in tests/engines/clickhouse.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkOf } from '../src/clickhouse/fit.ts'
import { statementsOf } from '../src/clickhouse/script.ts'
import type { PlannedColumn } from '../src/plan.ts'

const fits = (native: string, value: string | null): boolean =>
  checkOf([
    { at: 0, target: { name: 'c', native, isText: false, isOptional: true } } as PlannedColumn, // all that is looked at
  ])([value]) === undefined

test('values that a column cannot hold are found', () => {
  const cases: readonly (readonly [type: string, good: readonly string[], bad: readonly string[]])[] = [
    ['Int8', ['-128', '127', '0'], ['-129', '128', '1.5', '', 'a']],
    ['UInt64', ['18446744073709551615', '0'], ['18446744073709551616', '-1']],
    ['LowCardinality(Nullable(Int64))', ['9223372036854775807', '-9223372036854775808'], ['9223372036854775808']],
    ['Int256', [`${2n ** 255n - 1n}`], [`${2n ** 255n}`]],
    ['Decimal(4, 2)', ['12.34', '-0.5', '00012.3400', '0', '.5'], ['123.4', '1.234', '', '.', '1e2']],
    ['Decimal(38, 0)', ['9'.repeat(38), '1.0'], ['9'.repeat(39), '0.1']],
    ['Float64', ['1e-7', '-1.5', 'nan', 'Infinity', '1e308'], ['x', '1.2.3', '1e309']],
    ['Float32', ['3.4e38', '-inf', '0.1'], ['1e39', '-1e300']],
    ['Bool', ['1', 'true'], ['yes', '2']],
    ['Date', ['1970-01-01', '2105-12-31'], ['1969-12-31', '2106-01-01', '2026-02-29', '2026-2-1']],
    ['Date32', ['1900-01-01', '2299-12-31'], ['1899-12-31', '2300-01-01']],
    [
      "DateTime('Europe/Prague')",
      ['1970-01-01 00:00:00', '2026-01-01 00:00:00.000'],
      ['1969-12-31 23:59:59', '2026-01-01 00:00:00.5', '2026-01-01', '2026-01-01 24:00:00'],
    ],
    [
      "DateTime64(3, 'UTC')",
      ['1900-01-01 00:00:00', '2026-01-01 00:00:00.123000'],
      ['2026-01-01 00:00:00.1234', '1899-12-31 23:59:59'],
    ],
    ['FixedString(3)', ['', 'abc', 'ž'], ['abcd', 'žž']],
    ["Enum8('a' = 1, 'it\\'s' = 2)", ['a', "it's"], ['b', '']],
    ['String', ['', 'anything'], []],
    ['Array(Int8)', ['[1,2]'], []],
  ]
  for (const [type, good, bad] of cases) {
    for (const value of good) assert.equal(fits(type, value), true, `${value} fits ${type}`)
    for (const value of bad) assert.equal(fits(type, value), false, `${value} does not fit ${type}`)
  }
  assert.equal(fits('String', null), false)
  for (const type of ['Nullable(String)', 'LowCardinality(Nullable(String))']) assert.equal(fits(type, null), true, type)
  for (const type of ['Array(Nullable(Int8))', 'Map(String, Nullable(Int8))']) assert.equal(fits(type, null), false, type)
})

test('a script is split at its semicolons, not at those of texts, names and comments, which are removed', () => {
  assert.deepEqual(statementsOf(''), [])
  assert.deepEqual(statementsOf('select 1--;\n+ 1; -- end\n/* really */'), ['select 1 \n+ 1'])
  assert.deepEqual(statementsOf("insert into t values ('a;\\';b');\n\n-- c;\nselect \";\", `;` /* ; */ ; "), [
    "insert into t values ('a;\\';b')",
    'select ";", `;`',
  ])
})
