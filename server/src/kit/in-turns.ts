// Long work over what a caller sent, in parts: between two of them other work of this process runs. However many such
// works there are at once, one of them has a part in each turn of the event loop.

import { nextTurn } from './next-turn.ts'

/** The first part is shorter: many works may begin in one turn, and most are done with it. */
const FIRST_PART_MS = 1
const PART_MS = 8
/** The clock is read after so many steps. */
const STEPS = 256

let last: Promise<void> = Promise.resolve()

/** Calls `step` until it returns true. A step takes a fraction of a millisecond. */
export async function inTurns(step: () => boolean): Promise<void> {
  for (let partMs = FIRST_PART_MS; ; partMs = PART_MS) {
    const end = performance.now() + partMs
    do if (step()) return
    while (performance.now() < end)
    last = last.then(nextTurn)
    await last
  }
}

/** Calls `work` with 0, 1, ... below `count`, until it returns false. */
export async function eachInTurns(count: number, work: (i: number) => unknown): Promise<void> {
  let next = 0
  await inTurns(() => {
    const end = Math.min(count, next + STEPS)
    while (next < end) if (work(next++) === false) return true
    return next >= count
  })
}
