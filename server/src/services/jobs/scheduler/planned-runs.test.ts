import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCron } from './cron.ts'
import { type DstPolicy, type Plan, upcomingRuns } from './planned-runs.ts'
import { createZones } from './zone.ts'

const zoneOf = createZones()
const plan = (cron: string, zone: string, dst: DstPolicy = 'once'): Plan => ({ cron: parseCron(cron), zone: zoneOf(zone), dst })
const runs = (cron: string, zone: string, from: string, count: number, dst?: DstPolicy) =>
  upcomingRuns(plan(cron, zone, dst), Date.parse(from), count).map(({ at, mark }) =>
    [new Date(at).toISOString().slice(0, 16), ...(mark ? [mark] : [])].join(' '),
  )

test('a time that does not exist runs once, at the first instant after the gap', () => {
  assert.deepEqual(runs('30 2 * * *', 'Europe/Prague', '2026-03-28T12:00Z', 2), [
    '2026-03-29T01:00 moved after gap',
    '2026-03-30T00:30',
  ])
  assert.deepEqual(runs('*/20 2 * * *', 'Europe/Prague', '2026-03-29T00:00Z', 2), [
    '2026-03-29T01:00 moved after gap',
    '2026-03-30T00:00',
  ])
  assert.deepEqual(runs('30 2 * * *', 'Europe/Prague', '2026-03-28T12:00Z', 1, 'skip'), ['2026-03-30T00:30'])
})

test('a list of runs ends thirty years ahead', () => {
  const listed = upcomingRuns(plan('0 0 1 1 *', 'Europe/Prague'), Date.parse('2026-06-01T00:00Z'), 1000)
  assert.equal(listed.length, 30)
})

test('however a zone is spelt, it is one zone', () => {
  assert.equal(zoneOf('europe/PRAGUE'), zoneOf('Europe/Prague'))
})

test('a run moved by the gap and a regular one at the same instant are one run', () => {
  assert.deepEqual(runs('0 2,3 * * *', 'Europe/Prague', '2026-03-29T00:30Z', 2), [
    '2026-03-29T01:00 moved after gap',
    '2026-03-30T00:00',
  ])
})

test('a repeated time runs once for fixed hours, at its first occurrence', () => {
  assert.deepEqual(runs('30 2 * * *', 'Europe/Prague', '2026-10-24T12:00Z', 2), [
    '2026-10-25T00:30 first of two',
    '2026-10-26T01:30',
  ])
  assert.deepEqual(runs('30 2 * * *', 'Europe/Prague', '2026-10-24T12:00Z', 2, 'every'), [
    '2026-10-25T00:30 first of two',
    '2026-10-25T01:30 second of two',
  ])
})

test('interval schedules keep their interval through both changes', () => {
  for (const from of ['2026-03-29T00:00Z', '2026-10-25T00:00Z']) {
    const at = upcomingRuns(plan('*/15 * * * *', 'Europe/Prague'), Date.parse(from), 20).map((run) => run.at)
    for (const [i, instant] of at.entries()) if (i > 0) assert.equal(instant - at[i - 1]!, 15 * 60_000)
  }
  const hourly = upcomingRuns(plan('30 * * * *', 'America/New_York'), Date.parse('2026-03-08T05:00Z'), 5).map((run) => run.at)
  for (const [i, instant] of hourly.entries()) if (i > 0) assert.equal(instant - hourly[i - 1]!, 3_600_000)
})

test('odd zones: half-hour changes, a skipped day, no changes, far from UTC', () => {
  assert.deepEqual(runs('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', 1), ['2026-10-03T15:30 moved after gap'])
  assert.deepEqual(runs('0 12 30 12 *', 'Pacific/Apia', '2011-12-29T00:00Z', 1), ['2011-12-30T10:00 moved after gap'])
  assert.deepEqual(runs('0 9 * * *', 'Asia/Kolkata', '2026-01-01T00:00Z', 1), ['2026-01-01T03:30'])
  assert.deepEqual(runs('0 0 1 1 *', 'Pacific/Kiritimati', '2026-06-01T00:00Z', 1), ['2026-12-31T10:00'])
})

test('an expression that never matches has no next run', () => {
  assert.deepEqual(runs('0 0 31 2 *', 'UTC', '2026-01-01T00:00Z', 3), [])
})
