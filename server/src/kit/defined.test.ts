import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defined, given } from './defined.ts'

test('members that are undefined are left out; null, zero and empty ones stay', () => {
  const limit = undefined as number | undefined // as a caller would have it
  const found: { a: null; b: number; c: string; limit?: number } = defined({ a: null, b: 0, c: '', limit })
  assert.deepEqual(found, { a: null, b: 0, c: '' })
  assert.ok(!('limit' in found))
})

test('members that a client did not send, or sent as null, are left out; zero, false and empty ones stay', () => {
  assert.deepEqual(given({ a: null, b: undefined, c: 0, d: false, e: '', f: [] }), { c: 0, d: false, e: '', f: [] })
})
