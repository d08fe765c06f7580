import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWeightedCache } from './weighted-cache.ts'

const always = () => true

test('an answer is handed out while it holds, and the newest for a key is the one that counts', () => {
  const answers = createWeightedCache<string, { readonly version: number }>(100)
  answers.keep('a', { version: 1 }, 1)
  assert.deepEqual(
    answers.find('a', ({ version }) => version === 1),
    { version: 1 },
  )
  assert.equal(
    answers.find('a', ({ version }) => version === 2),
    undefined,
  )
  answers.keep('a', { version: 2 }, 1)
  assert.deepEqual(answers.find('a', always), { version: 2 })
  assert.equal(answers.find('b', always), undefined)
})

test('the cache is bounded by weight: what was asked for least recently is dropped, and nothing may take a quarter of it', () => {
  const answers = createWeightedCache<string, string>(100)
  for (const key of ['a', 'b', 'c', 'd']) answers.keep(key, key, 25)
  answers.find('a', always)
  answers.keep('e', 'e', 20)
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].filter((key) => answers.find(key, always) !== undefined),
    ['a', 'c', 'd', 'e'],
  )
  answers.keep('a', 'too heavy', 26)
  assert.equal(answers.find('a', always), undefined, 'what it replaces does not hold any more either')
  answers.keep('f', 'f', 25)
  assert.equal(answers.find('c', always), 'c', 'the weight of what was replaced is given back')
})
