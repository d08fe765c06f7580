// Planned runs against a second, slow and simple way to get them: look at every minute of the wall clock around every change of
// every zone from 2000 to 2037, and decide by the rules in words. A sample in the short run, everything in the long one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCron } from './cron.ts'
import { nextRun } from './planned-runs.ts'
import { createZones, type Transition } from './zone.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FROM = Date.UTC(2000, 0, 1)
const TO = Date.UTC(2038, 0, 1)

const MINUTES = ['0', '30', '*/5', '*/15', '7,37', '59', '*', '10-20', '1-59/2', '45']
const HOURS = ['*', '0', '1', '2', '3', '0-3', '*/2', '2,3', '22-23', '1-3,23', '12']
const DAYS = ['* * *', '* * 0', '1 * *', 'L * *', '* 3,10 *', '25-31 3,10 *', '* * 1-5', '8 * 6']
const SHAPES = MINUTES.flatMap((minute) => HOURS.map((hour, i) => `${minute} ${hour} ${DAYS[(i + minute.length) % DAYS.length]}`))

/** The fields of a cron expression as sets of texts, read without any code of cron.ts. */
function matcher(shape: string): (local: Date) => boolean {
  const [minute, hour, day, month, weekday] = shape.split(' ') as [string, string, string, string, string]
  const allows = (field: string, value: number, least: number): boolean =>
    field.split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/')
      const [from, to] =
        range === '*' ? [least, 99] : range.includes('-') ? range.split('-').map(Number) : [Number(range), Number(range)]
      return value >= from! && value <= to! && (value - from!) % Number(step) === 0
    })
  return (local) => {
    if (!allows(minute, local.getUTCMinutes(), 0) || !allows(hour, local.getUTCHours(), 0)) return false
    if (!allows(month, local.getUTCMonth() + 1, 1)) return false
    const tomorrow = new Date(local.getTime() + 24 * HOUR)
    const isDay = day === 'L' ? tomorrow.getUTCDate() === 1 : allows(day, local.getUTCDate(), 1)
    const isWeekday = allows(weekday, local.getUTCDay(), 0)
    return day !== '*' && weekday !== '*' ? isDay || isWeekday : isDay && isWeekday
  }
}

/** What the wall clock shows at each minute of a window, as if it were UTC. */
function wallClock(zone: string, from: number, to: number): { at: number; local: number }[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const minutes: { at: number; local: number }[] = []
  for (let at = from; at < to; at += MINUTE) minutes.push({ at, local: Date.parse(`${format.format(at).replace(' ', 'T')}Z`) })
  return minutes
}

function expectedRuns(shape: string, clock: readonly { at: number; local: number }[]): number[] {
  const matches = matcher(shape)
  const everyHour = shape.split(' ')[1] === '*'
  const seen = new Set<number>()
  const runs: number[] = []
  for (const [i, { at, local }] of clock.entries()) {
    let runsNow = matches(new Date(local)) && (everyHour || !seen.has(local))
    const before = clock[i - 1]
    if (before && !everyHour)
      for (let skipped = before.local + MINUTE; skipped < local; skipped += MINUTE) if (matches(new Date(skipped))) runsNow = true
    seen.add(local)
    if (runsNow) runs.push(at)
  }
  return runs
}

test('around every change of every zone the planned runs are the ones a wall clock would give', { timeout: 3_000_000 }, (t) => {
  const zoneOf = createZones()
  const names = [...Intl.supportedValuesOf('timeZone'), 'UTC']
  const seed = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000)
  t.diagnostic(`seed ${seed}, ${SHAPES.length} shapes, ${names.length} zones; repeat with MILLRACE_SEED=${seed}`)
  const random = generator(seed)
  const chosen = process.env.MILLRACE_LONG ? names : [...Array(12)].map(() => names[Math.floor(random() * names.length)]!)
  let compared = 0
  for (const name of chosen) {
    const zone = zoneOf(name)
    const all = zone.transitions(FROM, TO)
    const changes: (Transition | { at: number })[] = process.env.MILLRACE_LONG ? [...all] : all.filter(() => random() < 0.1)
    changes.push({ at: FROM + Math.floor((random() * (TO - FROM)) / MINUTE) * MINUTE })
    for (const { at } of changes) {
      const from = Math.ceil((at - 6 * HOUR) / MINUTE) * MINUTE
      const to = from + 14 * HOUR
      const clock = wallClock(name, from - 3 * HOUR, to)
      for (let i = 0; i < 8; i++) {
        const shape = SHAPES[Math.floor(random() * SHAPES.length)]!
        const expected = expectedRuns(shape, clock).filter((run) => run >= from)
        const plan = { cron: parseCron(shape), zone, dst: 'once' as const }
        const found: number[] = []
        for (let run = nextRun(plan, from - 1); run && run.at < to; run = nextRun(plan, run.at)) found.push(run.at)
        assert.deepEqual(found.map(iso), expected.map(iso), `${shape} in ${name} around ${iso(at)}`)
        compared++
      }
    }
  }
  t.diagnostic(`${compared} comparisons`)
})

const iso = (instant: number) => new Date(instant).toISOString()

/** mulberry32: small, seeded, good enough to choose samples. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), 1 | state)
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32
  }
}
