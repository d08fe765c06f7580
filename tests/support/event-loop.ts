// How long the event loop of a process was held: of this one, for stacks that run in it, or of one that loads event-loop-probe.ts.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

/** What a user sends may hold the loop no longer than this on the machine the spin below was measured on. */
const BOUND_MS = 200
/** Processor time of one spin there. */
const REFERENCE_SPIN_MS = 10
const LOOK_MS = 5

/**
 * The most processor time of this thread between two turns of its event loop, and the bound for it. Processor time, because other
 * programs on the machine must not decide a test; the bound grows with how slow the processor is.
 */
export async function longestHold(work: () => Promise<void>): Promise<{ readonly heldMs: number; readonly boundMs: number }> {
  const boundMs = holdBoundMs()
  let heldMs = 0
  const stop = watchTurns((ms) => {
    heldMs = Math.max(heldMs, ms)
  })
  try {
    await work()
  } finally {
    stop()
  }
  return { heldMs, boundMs }
}

/** Fails the test when something holds the event loop of this process from here to the end of the test. */
export function watchEventLoop(t: TestContext): void {
  const boundMs = holdBoundMs()
  let heldMs = 0
  const stop = watchTurns((ms) => {
    heldMs = Math.max(heldMs, ms)
  })
  t.after(() => {
    stop()
    assertNotHeld(heldMs, boundMs)
  })
}

export function assertNotHeld(heldMs: number, boundMs: number): void {
  assert.ok(heldMs < boundMs, `the event loop was held for ${Math.round(heldMs)} ms; the bound is ${Math.round(boundMs)} ms`)
}

/** Calls `onTurn` with the processor time between every two turns of the event loop that it sees; answers how to stop. */
export function watchTurns(onTurn: (ms: number) => void): () => void {
  let before = threadMs()
  const timer = setInterval(() => {
    const now = threadMs()
    onTurn(now - before)
    before = threadMs()
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** The bound on this machine. */
export function holdBoundMs(): number {
  return BOUND_MS * slowness()
}

let known: number | undefined

/** Measured once: a processor does not change. */
function slowness(): number {
  known ??= Math.max(1, spinMs() / REFERENCE_SPIN_MS)
  return known
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function spinMs(): number {
  const times = Array.from({ length: 20 }, () => {
    const begun = threadMs()
    let sum = 0
    for (let i = 0; i < 2_000_000; i++) sum = (sum * 31 + i) | 0
    return threadMs() - begun + (sum & 0)
  })
  return Math.min(...times)
}
