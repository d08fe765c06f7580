// Tests wait for states, never for a fixed time. The limit only ends a test that would never pass: a slow machine makes a test
// slower, not red.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const LIMIT_MS = 240_000
const PAUSE_MS = 10

/**
 * Asks until the answer is neither false nor missing, and returns it. An attempt that fails counts as "not yet" and is reported
 * if the wait ends without an answer; an assertion that fails ends the wait.
 */
export async function until<T>(
  expected: string | (() => string),
  ask: () => T | Promise<T>,
  limitMs = LIMIT_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const giveUp = performance.now() + limitMs
  for (;;) {
    let cause: unknown
    try {
      const answer = await ask()
      if (answer !== false && answer !== null && answer !== undefined) return answer as Exclude<T, false | null | undefined> // just compared
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      cause = error
    }
    if (performance.now() > giveUp)
      throw new Error(`Waited ${limitMs / 1000} s in vain: ${typeof expected === 'string' ? expected : expected()}`, { cause })
    await sleep(PAUSE_MS)
  }
}
