// Ids that sort by the time they were made: 48 bits of milliseconds, 80 bits of chance, in Crockford's base 32, lower case.

import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARS = 10
const RANDOM_CHARS = 16
/** Random bytes are fetched for many ids at once: the call to the system costs more than the id. */
const CHANCE_BYTES = 256 * RANDOM_CHARS

/** Within one process every id is greater than the one before, also within a millisecond and when the clock steps back. */
export function createUlids(clock: Clock): () => string {
  let time = -1
  let tail: number[] = []
  let chance = Buffer.alloc(0)

  return () => {
    const now = clock.now().getTime()
    if (now > time) {
      time = now
      if (chance.length === 0) chance = randomBytes(CHANCE_BYTES)
      tail = Array.from(chance.subarray(0, RANDOM_CHARS), (byte) => byte & 31)
      chance = chance.subarray(RANDOM_CHARS)
      tail[0]! &= 15 // room to count up
    } else increment()
    return encodeTime(time) + tail.map((digit) => ALPHABET[digit]).join('')
  }

  function increment(): void {
    for (let i = RANDOM_CHARS - 1; i >= 0; i--) {
      if (tail[i] !== 31) {
        tail[i]!++
        return
      }
      tail[i] = 0
    }
    time++ // 2^79 ids within one millisecond
  }
}

function encodeTime(time: number): string {
  let text = ''
  for (let i = 0; i < TIME_CHARS; i++) {
    text = ALPHABET[time % 32] + text
    time = Math.floor(time / 32)
  }
  return text
}
