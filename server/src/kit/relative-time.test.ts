import assert from 'node:assert/strict'
import test from 'node:test'
import { parseMoment } from './relative-time.ts'

// A Wednesday.
const NOW = new Date('2026-03-11T10:20:30Z')

const CASES: readonly [string, string][] = [
  ['1767225600', '2026-01-01T00:00:00.000Z'],
  ['2026-01-31T12:00:00+0100', '2026-01-31T11:00:00.000Z'],
  ['2026-01-31T12:00:00+01:00', '2026-01-31T11:00:00.000Z'],
  ['2026-01-31 12:00:00', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['now', '2026-03-11T10:20:30.000Z'],
  ['-2 days', '2026-03-09T10:20:30.000Z'],
  ['-8 hours', '2026-03-11T02:20:30.000Z'],
  ['2 weeks ago', '2026-02-25T10:20:30.000Z'],
  ['+1 month', '2026-04-11T10:20:30.000Z'],
  ['last month', '2026-02-11T10:20:30.000Z'],
  ['-1 day -1 hour', '2026-03-10T09:20:30.000Z'],
  ['yesterday', '2026-03-10T00:00:00.000Z'],
  ['today', '2026-03-11T00:00:00.000Z'],
  ['yesterday noon', '2026-03-10T12:00:00.000Z'],
  ['last monday', '2026-03-09T00:00:00.000Z'],
  ['last wednesday', '2026-03-04T00:00:00.000Z'],
  ['next wednesday', '2026-03-18T00:00:00.000Z'],
  ['friday', '2026-03-13T00:00:00.000Z'],
  ['2026-01-31 12:00 -1 day', '2026-01-30T12:00:00.000Z'],
  ['2026/01/31', '2026-01-31T00:00:00.000Z'],
  ['01/31/2026', '2026-01-31T00:00:00.000Z'],
  ['31.1.2026', '2026-01-31T00:00:00.000Z'],
  ['31-01-2026 08:30', '2026-01-31T08:30:00.000Z'],
  ['31 January 2026', '2026-01-31T00:00:00.000Z'],
  ['Jan 31st, 2026 8:30 pm', '2026-01-31T20:30:00.000Z'],
  ['31 Jan', '2026-01-31T00:00:00.000Z'],
  ['Sat, 31 Jan 2026 12:00:00 +0100', '2026-01-31T11:00:00.000Z'],
  ['Sat, 31 Jan 2026 12:00:00 GMT', '2026-01-31T12:00:00.000Z'],
  ['yesterday 14:00', '2026-03-10T14:00:00.000Z'],
  ['14:00', '2026-03-11T14:00:00.000Z'],
  ['first day of last month', '2026-02-01T10:20:30.000Z'],
  ['last day of february 2024', '2024-02-29T00:00:00.000Z'],
  ['first day of next month midnight', '2026-04-01T00:00:00.000Z'],
  ['now - 1 hour', '2026-03-11T09:20:30.000Z'],
]

for (const [text, expected] of CASES) {
  test(`"${text}" is ${expected}`, () => assert.equal(parseMoment(text, NOW)?.toISOString(), expected))
}

for (const text of [
  '',
  'adaptive',
  'soon',
  '2026-13-45',
  '2026-02-30',
  '25:00',
  '12:61',
  '31 feb',
  '-2 moons',
  'last',
  'x',
  'Z',
  'x'.repeat(10_000),
]) {
  test(`"${text.slice(0, 20)}" is not a moment`, () => assert.equal(parseMoment(text, NOW), undefined))
}
