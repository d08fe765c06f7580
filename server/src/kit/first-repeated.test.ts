import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstRepeated } from './first-repeated.ts'

test('the first value that comes a second time is found, in a list of a million too', () => {
  assert.equal(firstRepeated([]), undefined)
  assert.equal(firstRepeated(['a', 'B', 'b', 'a']), 'a')
  assert.equal(
    firstRepeated(['a', 'B', 'b', 'a'], (text) => text.toLowerCase()),
    'b',
  )
  const many = Array.from({ length: 1_000_000 }, (_, i) => i)
  assert.equal(firstRepeated(many), undefined)
  assert.equal(firstRepeated([...many, 7]), 7)
})
