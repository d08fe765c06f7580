// Tests wait for states, never for a fixed time. The limit only ends a test that would never pass: a slow machine makes a test
// slower, not red.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const LIMIT_MS = 240_000
/** A poll costs processor time that the answer may need: the longer it takes, the less often. */
const PAUSE_MS = { shortest: 10, longest: 150, ofTheWait: 0.1 }

/**
 * Polls until the answer is neither false nor missing, and returns it. An attempt that fails counts as "not yet" and is reported
 * if the wait ends without an answer; an assertion that fails ends the wait.
 */
export async function until<T>(
  expected: string | (() => string),
  ask: () => T | Promise<T>,
  limitMs = LIMIT_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const begun = performance.now()
  for (;;) {
    let cause: unknown
    try {
      const answer = await ask()
      if (answer !== false && answer !== null && answer !== undefined) return answer as Exclude<T, false | null | undefined> // just compared
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      cause = error
    }
    const waited = performance.now() - begun
    if (waited > limitMs)
      throw new Error(`Waited ${limitMs / 1000} s in vain: ${typeof expected === 'string' ? expected : expected()}`, { cause })
    await sleep(Math.min(PAUSE_MS.longest, Math.max(PAUSE_MS.shortest, waited * PAUSE_MS.ofTheWait)))
  }
}
