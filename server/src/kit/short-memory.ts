// Caches the owner of a token or a session for half a second, so that polling costs no query. A change on this node is seen at once,
// one on another node within that half second (reliability: revoked in under a second everywhere).

import type { Clock } from './clock.ts'

const FRESH_MS = 500
const MAX_ENTRIES = 10_000

export function createShortMemory<T>(clock: Clock, load: (key: string) => Promise<T | undefined>) {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  let generation = 0

  return {
    /** What is fresh is answered at once. */
    get(key: string): T | Promise<T | undefined> {
      const now = clock.now().getTime()
      const known = entries.get(key)
      return known && known.until > now && known.until <= now + FRESH_MS ? known.value : read(key, now)
    },
    forget(): void {
      generation++
      entries.clear()
    },
  }

  async function read(key: string, now: number): Promise<T | undefined> {
    const asked = generation
    const value = await load(key)
    if (entries.size >= MAX_ENTRIES) entries.clear()
    // A change that happened while we were reading must not be covered by what we read.
    if (value === undefined) entries.delete(key)
    else if (asked === generation) entries.set(key, { value, until: now + FRESH_MS })
    return value
  }
}
