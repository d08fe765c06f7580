// Remembers who a token is for half a second, so that polling costs no query. A change on this node is seen at once,
// one on another node within that half second (reliability: revoked in under a second everywhere).

import type { Clock } from '../../kit/clock.ts'

const FRESH_MS = 500
const MAX_ENTRIES = 10_000

export function createTokenCache<T>(clock: Clock, load: (hash: string) => Promise<T | undefined>) {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  let generation = 0

  return {
    /** What is fresh is answered at once. */
    get(hash: string): T | Promise<T | undefined> {
      const now = clock.now().getTime()
      const known = entries.get(hash)
      return known && known.until > now && known.until <= now + FRESH_MS ? known.value : read(hash, now)
    },
    forget(): void {
      generation++
      entries.clear()
    },
  }

  async function read(hash: string, now: number): Promise<T | undefined> {
    const asked = generation
    const value = await load(hash)
    if (entries.size >= MAX_ENTRIES) entries.clear()
    // A change that happened while we were reading must not be covered by what we read.
    if (value === undefined) entries.delete(hash)
    else if (asked === generation) entries.set(hash, { value, until: now + FRESH_MS })
    return value
  }
}
