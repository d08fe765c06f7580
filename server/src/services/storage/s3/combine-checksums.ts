// The checksum of an upload in parts, from those of its parts: either a checksum of checksums (COMPOSITE), or, for CRCs, the
// checksum the whole would have had (FULL_OBJECT), which linear algebra over single bits gives without reading a byte.

import { appendCrc, CRC32, type CrcShape, crcToBase64 } from '../../../engines/object-store/checksums/combine-crc.ts'
import type { ObjectChecksum } from '../../../engines/object-store/object-store.ts'
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
    .reduce((a, b) => ({ crc: appendCrc(crc, a.crc, b.crc, b.size), size: a.size + b.size }))
  return crcToBase64(whole.crc, crc.width / 8)
}

const CRCS: Readonly<Partial<Record<Algorithm, CrcShape>>> = {
  crc32: CRC32,
  crc32c: { width: 32, polynomial: 0x82f63b78n },
  crc64nvme: { width: 64, polynomial: 0x9a6c9329ac4bc9b5n },
}

const fromBase64 = (text: string): bigint => BigInt(`0x${Buffer.from(text, 'base64').toString('hex')}`)
