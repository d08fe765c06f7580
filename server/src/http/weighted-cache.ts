// A cache of responses that are read far more often than they change: each is built, encoded and compressed once.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** A cached JSON response, plain and compressed. Each form is created on first use. */
export interface JsonAnswer {
  bytes(): Buffer
  gzipped(): Promise<Buffer>
}

const compress = promisify(gzip)

export function jsonAnswer(content: string | Buffer): JsonAnswer {
  let bytes: Buffer | undefined
  let gzipped: Promise<Buffer> | undefined
  const asBytes = () => {
    bytes ??= Buffer.from(content)
    return bytes
  }
  return {
    bytes: asBytes,
    gzipped() {
      gzipped ??= compress(asBytes(), { level: 1 })
      return gzipped
    },
  }
}

/** An LRU cache that is bounded by the total weight of its responses. */
export interface WeightedCache<Key, Answer> {
  /** Returns the response only if it is still valid, which the caller decides. */
  find(key: Key, holds: (answer: Answer) => boolean): Answer | undefined
  keep(key: Key, answer: Answer, weight: number): void
}

/** A response heavier than this share of the cache would evict too many others. */
const HEAVIEST = 1 / 4

export function createWeightedCache<Key, Answer>(maxWeight: number): WeightedCache<Key, Answer> {
  const kept = new Map<Key, { readonly answer: Answer; readonly weight: number }>()
  let weight = 0

  function forget(key: Key): void {
    weight -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }

  return {
    find(key, holds) {
      const found = kept.get(key)
      if (!found || !holds(found.answer)) return undefined
      kept.delete(key) // a map keeps the order of insertion: entries that are read are inserted again
      kept.set(key, found)
      return found.answer
    },
    keep(key, answer, answerWeight) {
      forget(key)
      if (answerWeight > maxWeight * HEAVIEST) return
      kept.set(key, { answer, weight: answerWeight })
      weight += answerWeight
      while (weight > maxWeight) forget(kept.keys().next().value!) // not empty: it weighs something
    },
  }
}
