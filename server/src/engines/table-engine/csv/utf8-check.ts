// Is a stream of bytes UTF-8? Chunk by chunk; a character cut in two by a border is carried over.

import { isUtf8 } from 'node:buffer'

export interface Utf8Check {
  /** The index in the chunk of the first byte that is not UTF-8, or -1. */
  firstBad(chunk: Uint8Array): number
  /** Whether the bytes so far end inside a character. */
  isOpen(): boolean
}

export function createUtf8Check(): Utf8Check {
  let carry: Uint8Array = new Uint8Array(0)

  function firstBad(chunk: Uint8Array): number {
    let from = 0
    if (carry.length > 0) {
      const missing = sequenceLength(carry[0]!) - carry.length
      const joined = Buffer.concat([carry, chunk.subarray(0, missing)])
      if (chunk.length < missing) {
        carry = joined
        return -1
      }
      if (!isUtf8(joined)) return 0
      from = missing
      carry = new Uint8Array(0)
    }
    const whole = chunk.length - openTail(chunk, from)
    const body = chunk.subarray(from, whole)
    if (!isUtf8(body)) return from + firstBadByte(body)
    carry = Uint8Array.prototype.slice.call(chunk, whole)
    return -1
  }
  return { firstBad, isOpen: () => carry.length > 0 }
}

const sequenceLength = (lead: number): number => (lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1)

/** How many bytes at the end begin a character that the chunk does not finish. */
function openTail(chunk: Uint8Array, from: number): number {
  for (let back = 1; back <= 3 && chunk.length - back >= from; back++) {
    const byte = chunk[chunk.length - back]!
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** Only on the way to an error: halve the text until the first byte that is not UTF-8 is found. */
function firstBadByte(bytes: Uint8Array): number {
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    const end = middle - openTail(bytes.subarray(0, middle), good)
    if (end > good && isUtf8(bytes.subarray(good, end))) good = end
    else if (end > good) bad = end
    else return scanFor(bytes, good, bad)
  }
  return good
}

function scanFor(bytes: Uint8Array, from: number, to: number): number {
  for (let i = from; i < to; ) {
    const length = sequenceLength(bytes[i]!)
    if (!isUtf8(bytes.subarray(i, i + length))) return i
    i += length
  }
  return from
}
