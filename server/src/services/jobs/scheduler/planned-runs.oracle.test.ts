// Planned runs against a second, slow and simple way to get them: a table with every minute from 2000 to 2037, filled by the rules in words.
// The short run takes a sample of zones and shapes, the long one every shape in every zone under every policy. Why that is everything:
//  1. The wall clock of every zone is read every three hours. The changes it shows are exactly those of zone.ts, so a zone is its list of
//     changes, and zones with equal lists are one clock to nextRun. (Read through Intl: the offsets of Date are no witness, V8 guesses them
//     between two looks 19 days apart and leaves out the one week of summer time that Boa Vista had in October 2000.)
//  2. On a wall clock without changes, every minute of all 38 years is tried for every shape (`nextLocal` against the table).
//  3. A change moves minutes by its own size, and nothing further away. So around every change of every clock, by its size and three hours to
//     both sides, every run is requested in turn: each of the changes that differ, in every shape and policy.
//  4. Elsewhere local time runs straight, and 2 holds. That nextRun keeps to it, though it looks a day around, is tried by instants drawn at
//     random: one in every stretch between two changes of every clock, one in the day on either side of every change. The run they answer lies
//     in that stretch, in a change after it, or years beyond.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cron, nextLocal, parseCron } from './cron.ts'
import { type DstPolicy, nextRun } from './planned-runs.ts'
import { createZones, type Zone } from './zone.ts'

const MINUTE = 60_000
const DAY = 1440
/** The table, counted in minutes: a month more than is compared, so that what a run near the edge looks at is there. */
const TABLE_FROM = Date.UTC(1999, 11, 1) / MINUTE
const TABLE_TO = Date.UTC(2038, 1, 1) / MINUTE
const FROM = Date.UTC(2000, 0, 1) / MINUTE
const TO = Date.UTC(2038, 0, 1) / MINUTE
/** How far from a change, beside its size, every run is looked at; and how far nextRun looks. */
const NEAR = 3 * 60
const LOOKED_AT = 26 * 60

const LONG = Boolean(process.env.MILLRACE_LONG)
const LOOK_EVERY = LONG ? 3 * 60 : 12 * 60
const SAMPLED = 2
/** In every sample: zones with changes of an hour, of half an hour and of a day, and shapes with several runs inside of one. */
const TELLING_ZONES = ['Europe/Prague', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia']
const TELLING_SHAPES = ['7,37 * * * *', '*/15 0-3 * * *']
const POLICIES: readonly DstPolicy[] = ['once', 'skip', 'every']

const MINUTES = ['0', '30', '*/5', '*/15', '7,37', '59', '*', '10-20', '1-59/2', '45']
const HOURS = ['*', '0', '1', '2', '3', '0-3', '*/2', '2,3', '22-23', '1-3,23', '12']
const DAYS = [
  ...['* * *', '* * 0', '1 * *', 'L * *', '* 3,10 *', '25-31 3,10 *', '* * 1-5', '8 * 6'],
  ...['29 2 *', '*/7 * *', '* * 6-7', '15,L */3 *', '1-7 * 1', '* 4-9 5/2', '31 * *', '30 11,12 *'],
]
const SHAPES = [
  ...TELLING_SHAPES,
  ...MINUTES.flatMap((minute, i) =>
    HOURS.flatMap((hour, j) => [j + 3 * i, j + 3 * i + 8].map((day) => `${minute} ${hour} ${DAYS[day % DAYS.length]}`)),
  ),
]

/** One byte for each minute, 1 when something runs in it. A Buffer, because its search for the next 1 is the fastest. */
type Table = Buffer

interface Change {
  /** First minute of the new offset. Offsets in minutes: local time minus UTC. */
  readonly at: number
  readonly before: number
  readonly after: number
}

/** What the clocks of one or more zones show from 2000 to 2037. */
interface WallClock {
  readonly names: readonly string[]
  readonly offset: number
  readonly changes: readonly Change[]
}

test('the planned runs are the ones a wall clock would give', { timeout: 3_000_000 }, (t) => {
  const all = [...Intl.supportedValuesOf('timeZone'), 'UTC']
  const seed = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000)
  const random = generator(seed)
  const sample = (from: readonly string[], telling: readonly string[]) =>
    LONG ? from : [...telling, ...Array.from({ length: SAMPLED }, () => from[Math.floor(random() * from.length)]!)]
  const [zones, shapes] = [sample(all, TELLING_ZONES), sample(SHAPES, TELLING_SHAPES)]
  t.diagnostic(`seed ${seed}, ${shapes.length} shapes, ${zones.length} zones; repeat with MILLRACE_SEED=${seed}`)

  const zoneOf = createZones()
  const clocks = wallClocks(zones)
  for (const { names, changes } of clocks)
    for (const name of names) assert.deepEqual(changesOf(zoneOf(name)), changes, `the changes of ${name}`)

  const table: Table = Buffer.alloc(TABLE_TO - TABLE_FROM)
  const counts = { changes: 0, runs: 0, instants: 0 }
  for (const shape of shapes) {
    const cron = parseCron(shape)
    const local = localTable(shape)
    counts.runs += compareWithoutZone(shape, cron, local)
    const seen = new Set<string>()
    for (const clock of clocks) {
      const zone = zoneOf(clock.names[0]!)
      const changes = clock.changes.filter((change) => !seen.has(keyOf(change)))
      for (const change of changes) seen.add(keyOf(change))
      fillStraight(table, local, clock)
      for (const dst of POLICIES) {
        for (const change of clock.changes) applyRules(table, local, change, shape, dst)
        const about = `${shape} in ${zone.name}, ${dst}`
        for (const { at, before, after } of changes) {
          const near = Math.abs(after - before) + NEAR
          counts.runs += compareEveryRun({ cron, zone, dst }, table, at - near, at + near, about)
        }
        counts.instants += compareInstants({ cron, zone, dst }, table, clock, random, about)
      }
    }
    counts.changes = seen.size
  }
  t.diagnostic(`${clocks.length} clocks, ${counts.changes} changes, ${counts.runs} runs in turn, ${counts.instants} instants`)
})

/** Every minute of the wall clock 1999 to 2038 that matches, in days drawn from the fields of the expression. */
function localTable(shape: string): Table {
  const table = Buffer.alloc(TABLE_TO - TABLE_FROM)
  const { isTime, isDay } = matcher(shape)
  const times = Uint8Array.from({ length: DAY }, (_, minute) => (isTime(Math.floor(minute / 60), minute % 60) ? 1 : 0))
  for (let day = TABLE_FROM; day < TABLE_TO; day += DAY) if (isDay(new Date(day * MINUTE))) table.set(times, day - TABLE_FROM)
  return table
}

/** The fields of a cron expression, read without any code of cron.ts. */
function matcher(shape: string) {
  const [minute, hour, day, month, weekday] = shape.split(' ') as [string, string, string, string, string]
  const allows = (field: string, value: number, min: number): boolean =>
    field.split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/')
      const [first, last = part.includes('/') ? 99 : first] = range === '*' ? [min, 99] : range.split('-').map(Number)
      return value >= first! && value <= last! && (value - first!) % Number(step) === 0
    })
  const isLast = (date: Date) => new Date(date.getTime() + DAY * MINUTE).getUTCDate() === 1
  return {
    isTime: (hours: number, minutes: number) => allows(hour, hours, 0) && allows(minute, minutes, 0),
    isDay: (date: Date) => {
      if (!allows(month, date.getUTCMonth() + 1, 1)) return false
      const isDay = allows(day, date.getUTCDate(), 1) || (day.includes('L') && isLast(date))
      const isWeekday = allows(weekday, date.getUTCDay(), 0) || (date.getUTCDay() === 0 && allows(weekday, 7, 0))
      return !day.startsWith('*') && !weekday.startsWith('*') ? isDay || isWeekday : isDay && isWeekday
    },
  }
}

/** Point 2: on a clock that never changes, minute by minute. */
function compareWithoutZone(shape: string, cron: Cron, local: Table): number {
  let runs = 0
  for (let minute = FROM; minute < TO; runs++) {
    const expected = local.indexOf(1, minute - TABLE_FROM)
    const found = nextLocal(cron, minute * MINUTE)
    if (expected < 0) break
    if (found !== (expected + TABLE_FROM) * MINUTE) assert.fail(`${shape} from ${iso(minute)}: ${found && iso(found / MINUTE)}`)
    minute = expected + TABLE_FROM + 1
  }
  return runs
}

/** The table in UTC: between two changes the local one, moved by the offset. */
function fillStraight(table: Table, local: Table, { offset, changes }: WallClock): void {
  const stretches = [{ at: TABLE_FROM, after: offset }, ...changes, { at: TABLE_TO }]
  for (const [i, { at, after = 0 }] of stretches.slice(0, -1).entries()) {
    const [start, end] = [at - TABLE_FROM, stretches[i + 1]!.at - TABLE_FROM]
    const from = Math.max(0, start + after)
    table.set(local.subarray(from, end + after), from - after)
  }
}

/** The rules in words, where the clock changes; written over what another policy left there. */
function applyRules(table: Table, local: Table, { at, before, after }: Change, shape: string, dst: DstPolicy): void {
  const isTimeOfDay = shape.split(' ')[1] !== '*'
  const now = at - TABLE_FROM
  if (after > before) {
    // The minutes left out of the wall clock run together, in the first minute after them.
    const skipped = local.subarray(now + before, now + after)
    table[now] = local[now + after] === 1 || (isTimeOfDay && dst !== 'skip' && skipped.includes(1)) ? 1 : 0
  } else {
    // The wall clock shows these minutes for the second time.
    const second = local.subarray(now + after, now + before)
    if (isTimeOfDay && dst !== 'every') table.fill(0, now, now + second.length)
    else table.set(second, now)
  }
}

/** Point 3: the runs from one minute to another, each computed from the one before it. */
function compareEveryRun(plan: Parameters<typeof nextRun>[0], table: Table, from: number, to: number, about: string): number {
  let runs = 0
  for (let asked = Math.max(from, FROM), end = Math.min(to, TO); ; runs++) {
    const found = nextRun(plan, asked * MINUTE - 1)
    const expected = table.indexOf(1, asked - TABLE_FROM) + TABLE_FROM
    if (expected < TABLE_FROM || expected >= end) {
      if (found && found.at < end * MINUTE) assert.fail(`${about}: ${iso(found.at / MINUTE)} is too many`)
      return runs
    }
    if (found?.at !== expected * MINUTE)
      assert.fail(`${about}: after ${iso(asked)} comes ${iso(expected)}, not ${found && iso(found.at / MINUTE)}`)
    asked = expected + 1
  }
}

/** Point 4: an instant in every stretch between two changes, and one near each of them. */
function compareInstants(
  plan: Parameters<typeof nextRun>[0],
  table: Table,
  { changes }: WallClock,
  random: () => number,
  about: string,
): number {
  const borders = [FROM, ...changes.map(({ at }) => at).filter((at) => at > FROM + LOOKED_AT && at < TO - LOOKED_AT), TO]
  for (const [i, border] of borders.slice(0, -1).entries())
    for (const [from, to] of [
      [border, borders[i + 1]!],
      [Math.max(FROM, border - LOOKED_AT), border + LOOKED_AT],
    ] as const) {
      const asked = from + Math.floor(random() * (to - from))
      const expected = table.indexOf(1, asked + 1 - TABLE_FROM) + TABLE_FROM
      const found = nextRun(plan, asked * MINUTE)
      if (expected < TABLE_FROM || expected >= TO)
        assert.ok(!found || found.at >= TO * MINUTE, `${about}: after ${iso(asked)} too many`)
      else if (found?.at !== expected * MINUTE)
        assert.fail(`${about}: after ${iso(asked)} comes ${iso(expected)}, not ${found && iso(found.at / MINUTE)}`)
    }
  return (borders.length - 1) * 2
}

/** Point 1: the clocks of zones, equal ones together. */
function wallClocks(names: readonly string[]): WallClock[] {
  const clocks = new Map<string, WallClock>()
  for (const name of new Set(names)) {
    const clock = readClock(name)
    const key = JSON.stringify(clock)
    clocks.set(key, { ...clock, names: [...(clocks.get(key)?.names ?? []), name] })
  }
  return [...clocks.values()]
}

/** The first minute whose offset is not that of `from`, when `to` has another. */
function firstOther(offsetAt: (minute: number) => number, from: number, to: number): number {
  const before = offsetAt(from)
  let [same, other] = [from, to]
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2)
    if (offsetAt(middle) === before) same = middle
    else other = middle
  }
  return other
}

/** What the wall clock shows every few hours; where its offset is not the one before, the minute from which it is another. */
function readClock(name: string): Omit<WallClock, 'names'> {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' })
  const offsetAt = (minute: number): number =>
    Date.parse(`${format.format(minute * MINUTE).replace(' ', 'T')}Z`) / MINUTE - minute
  const changes: Change[] = []
  const offset = offsetAt(TABLE_FROM)
  for (let minute = TABLE_FROM, current = offset; minute < TABLE_TO; minute += LOOK_EVERY) {
    if (offsetAt(minute) === current) continue
    const at = firstOther(offsetAt, minute - LOOK_EVERY, minute)
    const last = changes.at(-1)
    // The rules above look at one change at a time: that needs them to be further apart than what is looked at.
    assert.ok(!last || at - last.at > 2 * LOOKED_AT, `two changes at once, ${iso(at)}`)
    const after = offsetAt(at)
    assert.equal(after, offsetAt(minute), `two changes at once, ${iso(at)}`)
    changes.push({ at, before: current, after })
    current = after
  }
  return { offset, changes }
}

const changesOf = (zone: Zone): Change[] =>
  zone
    .transitions((TABLE_FROM - 1) * MINUTE, (TABLE_TO - 1) * MINUTE)
    .map(({ at, before, after }) => ({ at: at / MINUTE, before: before / MINUTE, after: after / MINUTE }))

const keyOf = ({ at, before, after }: Change): string => `${at} ${before} ${after}`
const iso = (minute: number): string => new Date(minute * MINUTE).toISOString()

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
