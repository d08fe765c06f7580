// The checksum of an upload in parts, from those of its parts: either a checksum of checksums (COMPOSITE), or, for CRCs, the
// checksum the whole would have had (FULL_OBJECT), which linear algebra over single bits gives without reading a byte.

import type { ObjectChecksum } from '../../engines/object-store/object-store.ts'
import { type Algorithm, createHasher } from './checksums.ts'

export interface PartChecksum {
  readonly value: string
  readonly sizeBytes: number
}

export function combineChecksums(algorithm: Algorithm, type: ObjectChecksum['type'], parts: readonly PartChecksum[]): string {
  if (type === 'COMPOSITE') {
    const hasher = createHasher(algorithm)
    for (const part of parts) hasher.update(Buffer.from(part.value, 'base64'))
    return `${hasher.digest()}-${parts.length}`
  }
  const crc = CRCS[algorithm]
  if (!crc) throw new Error(`${algorithm} cannot be combined`)
  const whole = parts
    .map((part) => ({ crc: fromBase64(part.value), size: part.sizeBytes }))
    .reduce((a, b) => ({ crc: append(crc, a.crc, b.crc, b.size), size: a.size + b.size }))
  return toBase64(whole.crc, crc.width / 8)
}

interface CrcShape {
  readonly width: number
  /** Reflected. */
  readonly polynomial: bigint
}

const CRCS: Readonly<Partial<Record<Algorithm, CrcShape>>> = {
  crc32: { width: 32, polynomial: 0xedb88320n },
  crc32c: { width: 32, polynomial: 0x82f63b78n },
  crc64nvme: { width: 64, polynomial: 0x9a6c9329ac4bc9b5n },
}

/** Column n is where bit n goes. */
type Matrix = readonly bigint[]

const times = (matrix: Matrix, vector: bigint): bigint => {
  let sum = 0n
  for (let bit = 0, rest = vector; rest !== 0n; bit++, rest >>= 1n) if (rest & 1n) sum ^= matrix[bit]!
  return sum
}

const square = (matrix: Matrix): Matrix => matrix.map((column) => times(matrix, column))

/** The CRC of a followed by b: the CRC of a pushed through as many zero bytes as b has, plus the CRC of b (zlib's crc32_combine). */
function append({ width, polynomial }: CrcShape, a: bigint, b: bigint, sizeOfB: number): bigint {
  let zeros: Matrix = [polynomial, ...Array.from({ length: width - 1 }, (_, n) => 1n << BigInt(n))]
  zeros = square(square(square(zeros))) // one zero bit, made one zero byte
  let crc = a
  for (let left = BigInt(sizeOfB); left > 0n; left >>= 1n) {
    if (left & 1n) crc = times(zeros, crc)
    zeros = square(zeros)
  }
  return crc ^ b
}

const fromBase64 = (text: string): bigint => BigInt(`0x${Buffer.from(text, 'base64').toString('hex')}`)
const toBase64 = (value: bigint, bytes: number): string =>
  Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex').toString('base64')
