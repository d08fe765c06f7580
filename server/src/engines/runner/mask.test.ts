import assert from 'node:assert/strict'
import test from 'node:test'
import { createMask, maskValue } from './mask.ts'

test('a secret is hidden in values of any shape, also when it is a number', () => {
  const mask = createMask(['4711', 'sesame'])
  assert.deepEqual(maskValue({ pin: 4711, other: 47, list: ['open sesame', null, true], sesame: { deep: '4711' } }, mask), {
    pin: '[hidden]',
    other: 47,
    list: ['open [hidden]', null, true],
    '[hidden]': { deep: '[hidden]' },
  })
})
