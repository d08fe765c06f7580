import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completionAt, idsNamed, type SqlTable, wantedAt } from './sql-completion.ts'

const TABLES: readonly SqlTable[] = [
  { bucket: 'in.c-shop', name: 'orders', columns: ['id', 'price', 'Paid at'] },
  { bucket: 'out.c-shop', name: 'sums', columns: ['day', 'total'] },
]

/** `|` is the cursor. */
function at(marked: string) {
  const place = marked.indexOf('|')
  const found = completionAt(marked.replace('|', ''), place, TABLES)
  return found && { from: found.from, labels: found.options.map(({ label }) => label), options: found.options }
}

test('after FROM and JOIN a bare table name becomes its bucket and table', () => {
  const found = at('select * from ord|')!
  assert.equal(found.from, 14)
  assert.deepEqual(found.options[0], { label: 'orders', apply: '"in.c-shop"."orders"', detail: 'in.c-shop', type: 'table' })
  assert.deepEqual(at('select 1 from |')!.labels, ['orders', '"in.c-shop"."orders"', 'sums', '"out.c-shop"."sums"'])
  assert.ok(at('select * from "|')!.labels.includes('"in.c-shop"."orders"'), 'no part of a bucket')
  assert.equal(at('select * from "in.c-sh|')!.from, 14)
  assert.ok(at('select * from "in.c-shop"."orders" o join su|')!.labels.includes('sums'))
})

test('columns come from the tables that the statement reads, by alias or bare', () => {
  const text = 'select o.| from "in.c-shop"."orders" as o'
  assert.deepEqual(at(text)!.labels, ['id', 'price', 'Paid at'])
  assert.equal(at(text)!.from, 9)
  assert.equal(at(text)!.options[2]!.apply, '"Paid at"')
  assert.deepEqual(at('select orders.pr| from "in.c-shop"."orders" where true')!.labels, ['id', 'price', 'Paid at'])
  assert.deepEqual(at('select "in.c-shop"."orders".p| from "in.c-shop"."orders"')!.labels, ['id', 'price', 'Paid at'])
  assert.ok(at('select pri| from "in.c-shop"."orders"')!.labels.includes('price'))
  assert.ok(!at('select 1 from "in.c-shop"."orders"; select pri|')!.labels.includes('price'), 'of another statement')
})

test('functions and words of DuckDB are offered, and nothing in an empty place', () => {
  assert.ok(at('select date_t|')!.labels.includes('date_trunc'))
  assert.ok(at('select * from "in.c-shop"."orders" qual|')!.labels.includes('qualify'))
  assert.equal(at('select |'), undefined)
  assert.equal(at("select 'cou|"), undefined, 'nor in a text')
})

test('only the tables that a place needs are searched for', () => {
  const wanted = (marked: string) => wantedAt(marked.replace('|', ''), marked.indexOf('|'))
  assert.deepEqual(wanted('select * from ord|'), { ids: [], name: 'ord' })
  assert.deepEqual(wanted('select 1 from |'), { ids: [], name: '' })
  assert.deepEqual(wanted('select * from "in.c-shop"."or|'), { ids: [], name: 'in.c-shop.or' })
  assert.deepEqual(wanted('select o.| from "in.c-shop"."orders" as o'), { ids: ['in.c-shop.orders'], name: undefined })
  assert.deepEqual(wanted("select 'from ord|"), { ids: [], name: undefined })
  assert.deepEqual(wanted('select 1 from "in.c-shop"."orders"; select pri|').ids, [], 'of another statement')
  assert.deepEqual(idsNamed('select 1 from "a"."b" join "a"."b" on true; select 2 from "a"."c""d"'), ['a.b', 'a.c"d'])
})

test('a long text is completed in linear time', () => {
  const rows = `${'select "a"."b" "c" . '.repeat(20_000)}|`
  const begun = performance.now()
  at(rows)
  assert.ok(performance.now() - begun < 5000)
})
