// Any table of any Unicode text, quotes and line breaks, exported and imported again through the API, is equal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../support/any-text.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const CASES = process.env.MILLRACE_LONG ? 10_000 : 2_000
const ROWS = 400

/** NUL is no text (the import refuses it); everything else is. */
const hostile = fc.constantFrom(
  '',
  '"',
  '""',
  ',',
  '\n',
  '\r\n',
  '\r',
  '\t',
  ';',
  '\\',
  '\\N',
  'NULL',
  'null',
  '\ufeff',
  '\u2028',
  ' ',
  "'",
  '=1+1',
  '0',
  '-0',
  '1e5',
  'true',
  '🏳️‍🌈',
  'e\u0301',
)
const cell = fc
  .array(fc.oneof({ weight: 2, arbitrary: anyText(12) }, { weight: 1, arbitrary: hostile }), {
    maxLength: 4,
  })
  .map((parts) => parts.join('').replaceAll('\u0000', '').toWellFormed())
const row = fc.tuple(cell, cell, cell)

const csv = (rows: readonly (readonly string[])[]) =>
  rows.map((cells) => `${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')}\n`).join('')

test(`${CASES} rows of any text come back as they were, twice around`, async (t) => {
  const stack = await startTestStack(t)
  const { bucket, create, exported, rows: preview } = tableClient(stack)
  const id = await bucket()
  const seed = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000_000)
  t.diagnostic(`seed ${seed}; repeat with MILLRACE_SEED=${seed}`)
  const all = fc.sample(row, { seed, numRuns: CASES })
  for (let at = 0; at < all.length; at += ROWS) {
    const sent = csv(all.slice(at, at + ROWS))
    await create(id, `first${at}`, `"a","b","c"\n${sent}`)
    const once = await exported(`${id}.first${at}`, { gzip: at % 800 === 0 })
    assert.equal(once, sent, `rows ${at} to ${at + ROWS}`)
    await create(id, `second${at}`, once, { columns: ['a', 'b', 'c'] })
    assert.equal(await exported(`${id}.second${at}`), sent)
    assert.deepEqual(await preview(`${id}.second${at}`, 'limit=1000'), all.slice(at, at + ROWS))
  }
})
