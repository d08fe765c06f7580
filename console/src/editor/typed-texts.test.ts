import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTypedTexts } from './typed-texts.ts'

test('what was typed is known when it comes back, also late and with some left out; anything else is from elsewhere', () => {
  const typed = createTypedTexts()
  for (const text of ['', 's', 'se', 'sel']) typed.add(text)
  assert.deepEqual(['', 'se', 'sel', 'sel', 'other'].map(typed.isOwn), [true, true, true, false, false])
  typed.add('a')
  typed.clear()
  assert.equal(typed.isOwn('a'), false)
})
