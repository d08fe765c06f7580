// The randomness of fault and fuzz tests. MILLRACE_SEED repeats it; what else happens on the machine at the same moments cannot be repeated.
// MILLRACE_KILLS sets how many kills a fault test makes, `npm run prove -- --kills N` for all of them.
// Kills, requests and simulated hours are counted for `npm run prove`, in the file that MILLRACE_COUNTS names.

import { appendFileSync } from 'node:fs'

export const SEED = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000_000)

/** Between 0 and 1, as Math.random gives it (the generator is mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const chance = createChance(SEED)

/** How many kills a fault test makes: in `npm test`, and at most, in `npm run test:long`. */
export const kills = (usual: number, long: number): number =>
  Math.min(long, Number(process.env.MILLRACE_KILLS ?? (process.env.MILLRACE_LONG ? long : usual)))

/** One line of `what` with a number; counted by tools/prove.ts. */
export function count(what: 'kills' | 'requests' | 'hours', number = 1): void {
  const file = process.env.MILLRACE_COUNTS
  if (file !== undefined) appendFileSync(file, `${what} ${number}\n`)
}
