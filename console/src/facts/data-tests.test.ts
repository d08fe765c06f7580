import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRule, TEST_TYPES as SERVER_TYPES } from '../../../server/src/services/storage/data-tests/test-rules.ts'
import { type Filled, parametersOf, problemOf, requirement, TEST_TYPES, type TestType } from './data-tests.ts'

const FILLED: { readonly [T in TestType]: readonly [filled: Filled, words: string] } = {
  notNull: [{ columns: ['id', 'name'] }, 'id, name have a value'],
  unique: [{ columns: ['id'] }, 'Rows are unique by id'],
  acceptedValues: [{ column: 'state', values: ['new', 'paid, later'] }, 'state is one of new, paid, later'],
  range: [{ column: 'total', min: '0', max: '' }, 'total is at least 0'],
  pattern: [{ column: 'zip', pattern: '[0-9]{5}' }, 'zip matches [0-9]{5}'],
  relationships: [
    { column: 'customer', toTable: 'in.c-shop.customers', toColumn: 'id' },
    'customer exists in in.c-shop.customers, column id',
  ],
  rowCount: [{ min: '1', maxChangePercent: '20' }, 'At least 1 rows, their number changes by at most 20 %'],
  usual: [{ measure: 'sum', column: 'total', sensitivity: '3.5' }, 'sum of total as in earlier loads'],
  freshness: [{ maxAgeMinutes: '60' }, 'The last load is at most 60 minutes old'],
  schema: [{ columns: '[{"name": "id"}, {"name": "name"}]' }, 'Has id, name'],
  sql: [{ sql: 'SELECT 1 WHERE false' }, 'No rows from SELECT 1 WHERE false'],
}

test('the form of each type of test makes parameters that the stack takes, and they are said in words', () => {
  assert.deepEqual(Object.keys(TEST_TYPES), [...SERVER_TYPES])
  for (const [type, [filled, words]] of Object.entries(FILLED) as [TestType, (typeof FILLED)[TestType]][]) {
    assert.equal(problemOf(type, filled), undefined, type)
    const parameters = parametersOf(type, filled)
    readRule(type, parameters) // throws what it refuses
    assert.equal(requirement(type, parameters), words)
    assert.notEqual(problemOf(type, {}), undefined, `${type} needs something`)
  }
  assert.equal(requirement('dbt', { check: 'not_null', column: 'id' }), 'not_null of id, by dbt')
})

test('a field that cannot be read is named', () => {
  assert.equal(problemOf('rowCount', { min: 'ten' }), 'At least: this is not a number.')
  assert.equal(problemOf('schema', { columns: '[' }), 'Columns as JSON: this is not JSON.')
  assert.equal(problemOf('range', { column: 'total' }), 'From or to is required.')
  assert.deepEqual(parametersOf('range', { column: 'day', min: '2026-01-31' }), { column: 'day', min: '2026-01-31' })
})
