// Answers in memory: what is read far more often than it changes is made, encoded and compressed once.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** JSON that is kept, in the forms in which it leaves. Each is made when somebody first asks for it. */
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

/** Bounded by what the answers weigh: those that were asked for least recently leave first. */
export interface ResponseCache<Key, Answer> {
  /** Only what holds is handed out; whoever asks has just looked what that means. */
  find(key: Key, holds: (answer: Answer) => boolean): Answer | undefined
  keep(key: Key, answer: Answer, weight: number): void
}

/** An answer heavier than this part of the module would push out too many others. */
const HEAVIEST = 1 / 4

export function createResponseCache<Key, Answer>(maxWeight: number): ResponseCache<Key, Answer> {
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
      kept.delete(key) // a map keeps the order of arrival: what was asked for arrives anew
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
