// Checks a received pack before a library reads it: whether it is complete, and how large its objects become.

import { createHash } from 'node:crypto'
import { inflateSync, type Zlib } from 'node:zlib'

export interface PackLimits {
  readonly maxObjects: number
  readonly maxObjectBytes: number
  /** Of all objects, unpacked. */
  readonly maxBytes: number
}

const HEADER_BYTES = 12
const CHECKSUM_BYTES = 20
const OFFSET_DELTA = 6
const REFERENCE_DELTA = 7
const TYPES: readonly number[] = [1, 2, 3, 4, OFFSET_DELTA, REFERENCE_DELTA]

/** What is wrong with it; undefined when it can be read. */
export function packProblem(pack: Buffer, limits: PackLimits): string | undefined {
  if (pack.length < HEADER_BYTES + CHECKSUM_BYTES || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2)
    return 'the pack is not one of version 2, or not whole'
  const body = pack.subarray(0, -CHECKSUM_BYTES)
  if (!createHash('sha1').update(body).digest().equals(pack.subarray(-CHECKSUM_BYTES)))
    return 'the pack is not whole: its checksum differs'
  const objects = pack.readUInt32BE(8)
  if (objects > limits.maxObjects) return `the pack has more than ${limits.maxObjects} objects`
  let at = HEADER_BYTES
  let total = 0
  for (let i = 0; i < objects; i++) {
    const found = readEntry(body, at, limits.maxObjectBytes)
    if (typeof found === 'string') return found
    at = found.end
    total += found.bytes
    if (total > limits.maxBytes) return `the pack is larger than ${limits.maxBytes / 2 ** 20} MB when it is unpacked`
  }
  return at === body.length ? undefined : 'the pack has bytes that belong to no object'
}

function readEntry(pack: Buffer, start: number, max: number): { readonly end: number; readonly bytes: number } | string {
  const tooLarge = `the pack has an object of more than ${max / 2 ** 20} MB`
  let at = start
  const first = pack[at++] ?? 0
  const type = (first >> 4) & 7
  if (!TYPES.includes(type)) return 'the pack has an object of an unknown type'
  let size = first & 15
  let factor = 16
  for (let byte = first; byte & 128; factor *= 128) {
    byte = pack[at++] ?? 0
    size += (byte & 127) * factor
    if (size > max) return tooLarge
  }
  if (type === OFFSET_DELTA) while (((pack[at++] ?? 0) & 128) !== 0);
  if (type === REFERENCE_DELTA) at += CHECKSUM_BYTES
  const unpacked = inflate(pack.subarray(at), size)
  if (!unpacked) return 'the pack has an object that cannot be unpacked'
  const isDelta = type === OFFSET_DELTA || type === REFERENCE_DELTA
  const made = isDelta ? resultOf(unpacked.bytes) : 0
  return made > max ? tooLarge : { end: at + unpacked.read, bytes: size + made }
}

/** Undefined unless exactly `size` bytes come out. */
function inflate(packed: Buffer, size: number): { readonly bytes: Buffer; readonly read: number } | undefined {
  try {
    // With `info` Node also returns the engine, which has the number of bytes read; the types lack it.
    const { buffer, engine } = inflateSync(packed, { info: true, maxOutputLength: Math.max(size, 1) }) as unknown as {
      buffer: Buffer
      engine: Zlib
    }
    return buffer.length === size ? { bytes: buffer, read: engine.bytesWritten } : undefined
  } catch {
    return undefined
  }
}

/** A delta begins with the size of what it applies to and the size of what it makes. */
function resultOf(delta: Buffer): number {
  const sizes = [0, 0]
  let at = 0
  for (let i = 0; i < 2; i++)
    for (let factor = 1, byte = 128; byte & 128 && at < delta.length; factor *= 128) {
      byte = delta[at++]!
      sizes[i]! += (byte & 127) * factor
    }
  return sizes[1]!
}
