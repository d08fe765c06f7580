import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullNamesOf, withFullName } from './sql-full-names.ts'

const TABLES = [
  { bucket: 'in.c-shop', name: 'orders', columns: [] },
  { bucket: 'in.c-items', name: 'orders', columns: [] },
  { bucket: 'in.c-shop', name: 'customers', columns: [] },
]
const ERROR =
  'Catalog Error: Table with name orders does not exist! Did you mean "pg_prepared_statements"? (line 1, character 15)'

test('a table without its bucket has its full names, and other mistakes have none', () => {
  assert.deepEqual(
    fullNamesOf(ERROR, TABLES).map(({ name }) => name),
    ['"in.c-shop"."orders"', '"in.c-items"."orders"'],
  )
  assert.deepEqual(fullNamesOf(ERROR.replace('orders', 'nope'), TABLES), [])
  assert.deepEqual(fullNamesOf('Parser Error: syntax error at or near "orders"', TABLES), [])
})

test('the full name is written where the table stands, not where a column is called the same', () => {
  const name = '"in.c-shop"."orders"'
  for (const [sql, full] of [
    ['select * from orders', `select * from ${name}`],
    ['SELECT id, orders FROM Orders o', `SELECT id, orders FROM ${name} o`],
    ['select * from "orders" join orders on true', `select * from ${name} join ${name} on true`],
    ['select * from orders_items', 'select * from orders_items'],
    [`select * from ${name}`, `select * from ${name}`],
  ] as const)
    assert.equal(withFullName(sql, 'orders', name), full)
})
