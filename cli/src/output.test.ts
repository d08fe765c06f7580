import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeText } from './output.ts'

test('times of all services are printed in one spelling', () => {
  for (const time of [
    '2026-01-31T12:00:00+0000',
    '2026-01-31T13:00:00+01:00',
    '2026-01-31T12:00:00.123Z',
    new Date('2026-01-31T12:00:00.9Z'),
  ])
    assert.equal(timeText(time), '2026-01-31T12:00:00Z')
  assert.deepEqual([null, undefined, '', 'never'].map(timeText), ['', '', '', 'never'])
})
