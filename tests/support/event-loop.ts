// How long the event loop of a process was held: of this one, for stacks that run in it, or of one that loads event-loop-probe.mjs.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { medianOf } from '../../server/src/kit/median.ts'
import { threadMs, watchLoop } from './loop-watch.mjs'

/** What a user sends may hold the loop no longer than this on the machine the spin below was measured on. */
const BOUND_MS = 200
/** Processor time of one spin there. */
const REFERENCE_SPIN_MS = 10
const WORTH_NOTING_MS = 10

export interface Hold {
  readonly heldMs: number
  readonly boundMs: number
}

/** The most processor time of this thread between two turns of its event loop, and the bound, which grows with how slow the processor is. */
export async function longestHold(work: () => Promise<void>, boundMs = BOUND_MS): Promise<Hold> {
  const end = watchHolds(boundMs)
  try {
    await work()
  } catch (error) {
    end()
    throw error
  }
  return end()
}

/** Fails the test when something holds the event loop of this process from here to the end of the test. */
export function watchEventLoop(t: TestContext): void {
  const end = watchHolds()
  t.after(() => assertWithinBound(end()))
}

/** For the event loop of another process. */
export const assertNotHeld = (heldMs: number): void =>
  assertWithinBound({ heldMs, boundMs: heldMs < BOUND_MS ? BOUND_MS : BOUND_MS * slowness() })

export function assertWithinBound({ heldMs, boundMs }: Hold): void {
  const sentence = `the event loop was held for ${Math.round(heldMs)} ms; the bound is ${Math.round(boundMs)} ms`
  assert.ok(heldMs < boundMs, sentence)
}

function watchHolds(atRestMs = BOUND_MS): () => Hold {
  let heldMs = 0
  let boundMs = atRestMs
  const end = watchLoop((ms) => {
    if (ms > boundMs) boundMs = Math.max(boundMs, atRestMs * slowness())
    heldMs = Math.max(heldMs, ms)
  }, WORTH_NOTING_MS)
  return () => {
    end()
    return { heldMs, boundMs }
  }
}

/** Programs on the same core make a processor slower for a while: who has held the loop too long is measured by the speed of that moment. */
const slowness = (): number => Math.max(1, (medianOf(spins(9)) ?? 0) / REFERENCE_SPIN_MS)

/** Processor times of some equal pieces of work. */
const spins = (count: number): number[] =>
  Array.from({ length: count }, () => {
    const begun = threadMs()
    let sum = 0
    for (let i = 0; i < 2_000_000; i++) sum = (sum * 31 + i) | 0
    return threadMs() - begun + (sum & 0)
  })
