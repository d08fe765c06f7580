import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEdits } from './text-edits.ts'

test('edits are applied once, and every place leads back to the text before', async () => {
  const before = 'SELECT $1, jsonb FROM "db"."t"'
  const { text, originalPosition } = await applyEdits(before, [
    { start: 22, end: 27, text: '' },
    { start: 7, end: 9, text: "'a long literal'" },
    { start: 8, end: 9, text: 'overlaps and is left out' },
  ])
  assert.equal(text, `SELECT 'a long literal', jsonb FROM "t"`)
  assert.equal(originalPosition(text.indexOf('SELECT')), 0)
  assert.equal(originalPosition(text.indexOf('literal')), 7)
  assert.equal(originalPosition(text.indexOf('jsonb')), before.indexOf('jsonb'))
  assert.equal(originalPosition(text.indexOf('"t"')), before.indexOf('"t"'))
  assert.equal((await applyEdits(before, [])).text, before)
})
