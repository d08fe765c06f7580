import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cron as Croner } from 'croner'
import { CronSyntaxError, nextLocal, parseCron } from './cron.ts'

const next = (text: string, from: string): string | undefined => {
  const at = nextLocal(parseCron(text), Date.parse(`${from}Z`))
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 16)
}

test('each form of a field finds its next minute', () => {
  const cases: [string, string, string | undefined][] = [
    ['* * * * *', '2026-01-01T00:00:30', '2026-01-01T00:01'],
    ['*/15 * * * *', '2026-01-01T00:01', '2026-01-01T00:15'],
    ['5/15 * * * *', '2026-01-01T00:06', '2026-01-01T00:20'],
    ['10-20/5 3 * * *', '2026-01-01T03:16', '2026-01-01T03:20'],
    ['0 9,17 * * MON-FRI', '2026-01-02T17:01', '2026-01-05T09:00'],
    ['0 0 L * *', '2026-02-01T00:00', '2026-02-28T00:00'],
    ['0 0 15,l * *', '2028-02-16T00:00', '2028-02-29T00:00'],
    ['0 0 29 2 *', '2026-01-01T00:00', '2028-02-29T00:00'],
    ['0 0 31 2 *', '2026-01-01T00:00', undefined],
    ['0 0 29 2 */7', '2096-01-01T00:00', '2128-02-29T00:00'], // both days must match: a Sunday in a leap year
    ['0 0 13 * fri', '2026-01-01T00:00', '2026-01-02T00:00'], // either day, as cron has it
    ['0 0 * * 7', '2026-01-01T00:00', '2026-01-04T00:00'],
    ['0 0 * * 0', '2026-01-01T00:00', '2026-01-04T00:00'],
    ['0 0 1 jan *', '2026-01-01T00:01', '2027-01-01T00:00'],
    ['@daily', '2026-12-31T00:01', '2027-01-01T00:00'],
  ]
  for (const [text, from, expected] of cases) assert.equal(next(text, from), expected, `${text} from ${from}`)
})

test('what is not a cron expression is refused with the part and the reason', () => {
  const cases: [string, RegExp][] = [
    ['', /0 fields/],
    ['constructor', /1 field/],
    ['__proto__', /1 field/],
    ['* * * *', /4 fields/],
    ['* * * * * *', /6 fields/],
    ['60 * * * *', /"60" in the field minute is outside 0 to 59/],
    ['* 24 * * *', /hour/],
    ['* * 0 * *', /day of month/],
    ['* * * 13 *', /month/],
    ['* * * * 8', /weekday/],
    ['*/0 * * * *', /step of 0/],
    ['5-1 * * * *', /backwards/],
    ['a * * * *', /not understood/],
    ['* * * foo *', /jan, feb/],
    ['1,,2 * * * *', /not understood/],
    ['*-5 * * * *', /mixes/],
    ['L * * * *', /minute/],
    ['0 0 * * L', /weekday/],
  ]
  for (const [text, reason] of cases)
    assert.throws(
      () => parseCron(text),
      (error) => error instanceof CronSyntaxError && reason.test(error.message),
      text,
    )
})

test('it agrees with another implementation over hundreds of matches of many shapes', () => {
  const shapes = [
    '*/7 * * * *',
    '3 */5 * * *',
    '30 2 * * *',
    '15 14 1 * *',
    '0 22 * * 1-5',
    '23 0-20/2 * * *',
    '5 4 * * sun',
    '0 0 L * *',
    '0 0 28-31 2,4 *',
    '59 23 31 12 *',
    '1-4,30 8 * 6-8 2,4',
  ]
  for (const shape of shapes) {
    const ours = parseCron(shape)
    const theirs = new Croner(shape, { utcOffset: 0, mode: '5-part' })
    let at = Date.parse('2023-11-30T23:59:00Z')
    for (let i = 0; i < 200; i++) {
      const expected = theirs.nextRun(new Date(at))
      const found = nextLocal(ours, at + 1)
      assert.equal(found, expected?.getTime(), `${shape} after ${new Date(at).toISOString()}`)
      if (found === undefined) break
      at = found
    }
  }
})
