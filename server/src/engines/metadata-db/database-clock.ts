// The time of the stack on PostgreSQL: that of the database, so that nodes whose clocks differ judge every lease, heartbeat and due time
// alike. It is measured when the database is reached and regularly after; between two measurements the steady clock of the process
// counts, so that a clock of the machine that is set while the node runs changes nothing.
//  (1) A measurement gives a lower and an upper bound of the database's time: it was read after the query was sent and before the
//      answer came. Time that still lies between them is kept, so that a synchronised clock does not jump with every answer.
//  (2) A response that took longer than MAX_ROUND_TRIP_MS is too inexact and is not used, unless there is no better one yet.

import type { Clock } from '../../kit/clock.ts'

export interface DatabaseClock extends Clock {
  /** How far the clock of this node is ahead of the database's; negative when it is behind. */
  differenceMs(): number
}

export interface DatabaseClockOptions {
  /** Of the machine. */
  readonly nodeClock: Clock
  /** The database's time in milliseconds since 1970. */
  readonly ask: () => Promise<number>
  readonly log?: { warn(details: object, text: string): void } | undefined
  /** Milliseconds that only ever go forward, from any beginning. */
  readonly steady?: () => number
}

/** The difference from which a warning is logged. Shorter ones do not affect leases. */
export const WORTH_TELLING_MS = 1_000
const MAX_ROUND_TRIP_MS = 1_000
const FIRST_QUESTIONS = 5
/** An answer within so little time is good enough: no second measurement is made at first. */
const GOOD_ROUND_TRIP_MS = 20
const EVERY_MS = 10_000

export type MeasuredClock = DatabaseClock & {
  readonly measure: () => Promise<void>
  /** Measures, and again every few seconds until it is stopped. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

export function createDatabaseClock({
  nodeClock,
  ask,
  log,
  steady = () => performance.now(),
}: DatabaseClockOptions): MeasuredClock {
  /** The database's time when the steady clock was at 0; undefined before the first measurement. */
  let origin: number | undefined
  let isTold = false
  let timer: NodeJS.Timeout | undefined

  const nowMs = (): number => (origin === undefined ? nodeClock.now().getTime() : Math.floor(origin + steady()))
  const differenceMs = (): number => nodeClock.now().getTime() - nowMs()

  async function question(): Promise<{ readonly earliest: number; readonly latest: number; readonly tookMs: number }> {
    const before = steady()
    const answer = await ask()
    const after = steady()
    return { earliest: answer - after, latest: answer - before, tookMs: after - before }
  }

  /** The quickest of a few answers; one that is quick at once is enough. */
  async function quickest(questions: number) {
    let best = await question()
    for (let asked = 1; asked < questions && best.tookMs > GOOD_ROUND_TRIP_MS; asked++) {
      const next = await question()
      if (next.tookMs < best.tookMs) best = next
    }
    return best
  }

  async function measure(): Promise<void> {
    const { earliest, latest, tookMs } = await quickest(FIRST_QUESTIONS)
    const middle = (earliest + latest) / 2
    if (origin === undefined || (tookMs <= MAX_ROUND_TRIP_MS && (origin < earliest || origin > latest))) origin = middle
    tell()
  }

  /** Once for as long as it differs. */
  function tell(): void {
    const ms = differenceMs()
    const differs = Math.abs(ms) > WORTH_TELLING_MS
    if (differs && !isTold)
      log?.warn(
        { differenceMs: ms },
        "the clock of this node differs from the database's; the stack follows the database, synchronise the clocks",
      )
    isTold = differs
  }

  return {
    now: () => new Date(nowMs()),
    differenceMs,
    measure,
    async start() {
      await measure()
      timer = setInterval(() => void measure().catch(() => {}), EVERY_MS).unref() // an unreachable database is queried again
    },
    stop: () => clearInterval(timer),
  }
}

/** Where there is one node only, its clock is the stack's. */
export const ownClock = (nodeClock: Clock): DatabaseClock => ({ now: nodeClock.now, differenceMs: () => 0 })
