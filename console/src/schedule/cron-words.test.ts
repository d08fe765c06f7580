import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Choice, choiceOf, cronOf, cronWords } from './cron-words.ts'

test('expressions in plain words', () => {
  for (const [cron, words] of [
    ['* * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['0 * * * *', 'every hour'],
    ['5 * * * *', 'every hour at 05 past'],
    ['0 */3 * * *', 'every 3 hours'],
    ['30 6 * * *', 'every day at 06:30'],
    ['0 6,18 * * *', 'every day at 06:00 and 18:00'],
    ['30 6 * * 1-5', 'from Monday to Friday at 06:30'],
    ['0 6 * * 1,4', 'on Mondays and Thursdays at 06:00'],
    ['0 6 * * 7', 'on Sundays at 06:00'],
    ['0 6 1 * *', 'on day 1 of the month at 06:00'],
    ['0 6 1 * 1', 'on day 1 of the month or on Mondays at 06:00'],
    ['0 6 1 1,7 *', 'on day 1 of the month at 06:00 in January and July'],
    ['0 8-18/2 * * 1-5', 'every 2 hours from 08:00 to 18:00, from Monday to Friday'],
    ['30 8-17/4 * * *', 'every 4 hours from 08:30 to 16:30'],
    ['15 9-17 * * *', 'every hour from 09:15 to 17:15'],
    ['5-10 8-17 * * *', 'at minute 5-10 of hour 8-17'],
    ['every now and then', undefined],
  ] as const)
    assert.equal(cronWords(cron), words, cron)
})

test('what the builder makes, it can show again', () => {
  const choices: readonly Choice[] = [
    { kind: 'minutes', every: 1 },
    { kind: 'minutes', every: 15 },
    { kind: 'hours', every: 1, minute: 5 },
    { kind: 'hours', every: 3, minute: 0 },
    { kind: 'days', time: '06:30' },
    { kind: 'weeks', time: '23:05', weekdays: [1, 4] },
    { kind: 'months', time: '00:00', day: 31 },
  ]
  for (const choice of choices) assert.deepEqual(choiceOf(cronOf(choice)), choice)
  assert.equal(choiceOf('5-10 8-17 * * *'), undefined)
})
