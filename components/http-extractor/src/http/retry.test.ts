import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayFromHeader } from './retry.ts'

test('the header that says how long to wait is read as seconds, as a Unix time or as a date', () => {
  const now = 1_700_000_000.5
  const cases: [string | undefined, number][] = [
    [undefined, 0],
    ['', 0],
    ['5', 5],
    [' 5.5 ', 5.5],
    ['0', 0],
    ['-3', 0],
    ['soon', 0],
    [String(1_700_000_010), 9.5],
    [String(1_699_999_000), 0],
    [String(1_699_000_000), 1_699_000_000],
    ['Tue, 14 Nov 2023 22:13:30 GMT', 9.5],
    ['Tue, 14 Nov 2023 22:13:30 +0000', 9.5],
    ['Mon, 14 Nov 2022 22:13:30 GMT', 0],
    ['14 Nov 2023', 0],
  ]
  for (const [value, expected] of cases) assert.equal(delayFromHeader(value, now), expected, value)
})
