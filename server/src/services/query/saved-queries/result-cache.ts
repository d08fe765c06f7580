// Results of saved queries in memory. A key names the states of all tables that a query reads, so that a result is never older than its
// tables; queries may also use the time or random values, so it is cached for some minutes only.

import type { Clock } from '../../../kit/clock.ts'

const MAX_AGE_MS = 10 * 60_000
const MAX_RESULT_BYTES = 4 << 20
const MAX_ALL_BYTES = 64 << 20

export function createResultCache(clock: Clock) {
  /** The one that was used last comes last. */
  const kept = new Map<string, { readonly body: Buffer; readonly at: number }>()
  let allBytes = 0

  function drop(key: string): void {
    allBytes -= kept.get(key)?.body.length ?? 0
    kept.delete(key)
  }

  function find(key: string): Buffer | undefined {
    const found = kept.get(key)
    if (!found) return undefined
    kept.delete(key)
    kept.set(key, found)
    if (clock.now().getTime() - found.at <= MAX_AGE_MS) return found.body
    drop(key)
    return undefined
  }

  function keep(key: string, body: Buffer): void {
    drop(key)
    kept.set(key, { body, at: clock.now().getTime() })
    allBytes += body.length
    for (const oldest of kept.keys()) {
      if (allBytes <= MAX_ALL_BYTES) break
      drop(oldest)
    }
  }

  /** The same bytes; kept when the last one has come and they are not too many. */
  async function* keepingUp(key: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let pieces: Buffer[] = []
    let size = 0
    for await (const piece of bytes) {
      size += piece.length
      if (size <= MAX_RESULT_BYTES) pieces.push(Buffer.from(piece))
      else pieces = []
      yield piece
    }
    if (size <= MAX_RESULT_BYTES) keep(key, Buffer.concat(pieces))
  }

  return { find, keepingUp }
}
