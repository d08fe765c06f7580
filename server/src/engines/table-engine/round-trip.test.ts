// Whatever text a table holds, exporting and importing it gives the same table: the property that catches what examples miss.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { startTables, type TestTables } from './table-engine.fixture.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 2000 : 30

let tables: TestTables
before(async () => {
  tables = await startTables()
})
after(() => tables[Symbol.asyncDispose]())

/** Text that CSV can carry: all of Unicode but NUL and lone surrogates, with a liking for what breaks parsers. */
const text = fc.oneof(
  anyText(20).map((s) => s.replaceAll('\0', '')),
  fc.string({
    unit: fc.constantFrom('"', ',', '\n', '\r', '\r\n', "'", '\\', ';', '\t', ' ', 'a', 'ž', '💥', '\ufeff', 'NULL', '\u2028'),
    maxLength: 12,
  }),
)
const quote = (value: string) => `"${value.replaceAll('"', '""')}"`
const table = fc
  .integer({ min: 1, max: 5 })
  .chain((columns) => fc.array(fc.array(text, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 12 }))

test(`any table of any text survives export and import, packed or not (${ROUNDS} tables)`, async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.boolean(), fc.constantFrom('\n', '\r\n'), async (rows, gzip, lineEnd) => {
      const columns = rows[0]!.map((_, i) => `c${i}`)
      const csv = rows.map((row) => row.map(quote).join(',') + lineEnd).join('')
      const { snapshot } = await tables.load(csv, { columns, gzip })
      const exported = await tables.unloadText({ snapshot, format: 'csv', gzip })
      const again = await tables.load(exported, { columns })
      assert.deepEqual(await tables.rows(again.snapshot), rows)
    }),
    { numRuns: ROUNDS },
  )
})

/** Values as a careless program writes them: quoted only where RFC 4180 demands it. */
const sparing = (value: string) => (/[",\r\n]/.test(value) ? quote(value) : value)

test(`sparing quotes and any mix of line ends read the same (${ROUNDS} tables)`, async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 12, maxLength: 12 }), async (rows, lineEnds) => {
      const columns = rows[0]!.map((_, i) => `c${i}`)
      // A byte order mark at the very start would be taken for one; that is what it means there.
      const csv = `${columns.join()}\n${rows.map((row, i) => row.map(sparing).join(',') + lineEnds[i]).join('')}`
      const { snapshot } = await tables.load(csv)
      assert.deepEqual(await tables.rows(snapshot), rows)
    }),
    { numRuns: ROUNDS },
  )
})
