// When a schedule runs: cron in a zone, with daylight saving done right (spec platform 3.4).
//
// A cron expression names minutes of a wall clock. Most exist exactly once. Where the clock jumps:
//  - a minute that does not exist runs once, at the first instant after the gap; however many fall into one gap, it is one run;
//  - a minute that exists twice runs at its first occurrence;
//  - a schedule for every hour (`*/15 * * * *`, `30 * * * *`) means an interval, not a time of day: it runs in both
//    repetitions, and nothing is made up for a gap, so its interval is kept.
// `skip` leaves out minutes that do not exist; `every` runs in both repetitions whatever the hours.

import { type Cron, hasFixedHours, nextLocal } from './cron.ts'
import type { Zone } from './zone.ts'

export type DstPolicy = 'once' | 'skip' | 'every'

export interface Plan {
  readonly cron: Cron
  readonly zone: Zone
  readonly dst: DstPolicy
}

export type DstMark = 'moved after gap' | 'first of two' | 'second of two'

export interface PlannedRun {
  readonly at: number
  readonly mark?: DstMark
}

const MINUTE_MS = 60_000
/** The largest jump a zone has made is a whole day (islands that changed sides of the date line). */
const LARGEST_JUMP_MS = 25 * 3_600_000

/** The first run strictly after `instant`; undefined when the expression never matches again. */
export function nextRun(plan: Plan, instant: number): PlannedRun | undefined {
  let best: PlannedRun | undefined
  for (
    let local = nextLocal(plan.cron, earliestLocal(plan.zone, instant));
    local !== undefined;
    local = nextLocal(plan.cron, local + MINUTE_MS)
  ) {
    for (const run of runsOf(plan, local)) if (run.at > instant && (best === undefined || run.at < best.at)) best = run
    if (best !== undefined && isSettled(plan.zone, instant, best.at, local)) return best
  }
  return best
}

/** The earliest that a wall clock shows after `instant`: what it shows now, or less when it is about to be set back. */
const earliestLocal = (zone: Zone, instant: number): number =>
  zone
    .transitions(instant, instant + LARGEST_JUMP_MS)
    .reduce((earliest, { at, after }) => Math.min(earliest, at + after), instant + zone.offsetAt(instant))

/** A later local minute runs before `best` only when the clock is set back in between, and only if it was shown before that. */
const isSettled = (zone: Zone, instant: number, best: number, local: number): boolean =>
  zone.transitions(instant, best).every(({ at, before }) => local >= at + before)

/** The instants at which one local minute runs: none, one, or two. */
function runsOf({ cron, zone, dst }: Plan, local: number): PlannedRun[] {
  const near = zone.transitions(local - LARGEST_JUMP_MS, local + LARGEST_JUMP_MS)
  const offsets = new Set(near.length === 0 ? [zone.offsetAt(local)] : near.flatMap(({ before, after }) => [before, after]))
  const instants = [...offsets]
    .map((offset) => local - offset)
    .filter((instant) => zone.offsetAt(instant) === local - instant)
    .sort((a, b) => a - b)
  const isTimeOfDay = hasFixedHours(cron)
  const [first, second] = instants
  if (first === undefined) {
    if (!isTimeOfDay || dst === 'skip') return []
    const gap = near.find(({ at, before, after }) => local - before >= at && local - after < at)
    return gap ? [{ at: gap.at, mark: 'moved after gap' }] : []
  }
  if (second === undefined) return [{ at: first }]
  if (isTimeOfDay && dst !== 'every') return [{ at: first, mark: 'first of two' }]
  return [
    { at: first, mark: 'first of two' },
    { at: second, mark: 'second of two' },
  ]
}

/** Plans do not reach further, and every year considered costs the rules of a year of the zone. */
const FURTHEST_LISTED_MS = 30 * 365.25 * 24 * 3_600_000

/** The next `count` runs after `instant`, within thirty years; the very next one however far it is. */
export function upcomingRuns(plan: Plan, instant: number, count: number): PlannedRun[] {
  const runs: PlannedRun[] = []
  for (let run = nextRun(plan, instant); run && runs.length < count; run = nextRun(plan, run.at)) {
    if (runs.length > 0 && run.at > instant + FURTHEST_LISTED_MS) break
    runs.push(run)
  }
  return runs
}
