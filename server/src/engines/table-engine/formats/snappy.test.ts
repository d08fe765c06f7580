import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unpackSnappy } from './snappy.ts'

const bytes = (...parts: readonly (number | string)[]) =>
  Buffer.concat(parts.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from([one]))))

test('literals and copies, also those that overlap, are unpacked', () => {
  // "abc", then a copy of 9 from 3 bytes before (one byte offset), then of 2 from 12 bytes before (two byte offset)
  assert.equal(
    unpackSnappy(bytes(14, (3 - 1) << 2, 'abc', 1 | ((9 - 4) << 2), 3, 2 | ((2 - 1) << 2), 12, 0), 100).toString(),
    'abcabcabcabcab',
  )
})

test('what is broken is refused, whatever it claims', () => {
  for (const [packed, reason] of [
    [bytes(0x80), /ends too early/],
    [bytes(0xff, 0xff, 0xff, 0xff, 0xff, 1), /too many bytes/],
    [bytes(0xff, 0xff, 0xff, 0x7f), /more than 100/],
    [bytes(3, 2 << 2, 'ab'), /literal is too long/],
    [bytes(5, 0, 'a', 1, 9), /points outside/],
    [bytes(5, 0, 'a'), /shorter than it says/],
  ] as const)
    assert.throws(() => unpackSnappy(packed, 100), reason)
})
