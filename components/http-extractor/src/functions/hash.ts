// `hash` and `hash_hmac` with PHP's algorithm names. OpenSSL has most of them; the short checksums are written out.

import { createHash, createHmac, getHashes } from 'node:crypto'
import { crc32 } from 'node:zlib'

type Checksum = (data: Buffer) => Buffer

const be32 = (n: number) => {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(n >>> 0)
  return out
}
const be64 = (n: bigint) => {
  const out = Buffer.alloc(8)
  out.writeBigUInt64BE(BigInt.asUintN(64, n))
  return out
}

/** The same polynomial as zlib's, but bits from the other end and bytes reversed at the end (bzip2's checksum). */
const crc32Bzip: Checksum = (data) => {
  let crc = 0xffffffff
  for (const byte of data) {
    crc ^= byte << 24
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1
  }
  return be32(~crc).reverse()
}

const crc32Castagnoli: Checksum = (data) => {
  let crc = 0xffffffff
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return be32(~crc)
}

const adler32: Checksum = (data) => {
  let a = 1
  let b = 0
  for (const byte of data) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return be32(((b << 16) | a) >>> 0)
}

const fnv32 =
  (xorFirst: boolean): Checksum =>
  (data) => {
    let h = 0x811c9dc5
    for (const byte of data) {
      if (xorFirst) h ^= byte
      h = Math.imul(h, 0x01000193)
      if (!xorFirst) h ^= byte
    }
    return be32(h)
  }

const fnv64 =
  (xorFirst: boolean): Checksum =>
  (data) => {
    let h = 0xcbf29ce484222325n
    for (const byte of data) {
      if (xorFirst) h ^= BigInt(byte)
      h = BigInt.asUintN(64, h * 0x100000001b3n)
      if (!xorFirst) h ^= BigInt(byte)
    }
    return be64(h)
  }

const joaat: Checksum = (data) => {
  let h = 0
  for (const byte of data) {
    h = (h + byte) | 0
    h = (h + (h << 10)) | 0
    h ^= h >>> 6
  }
  h = (h + (h << 3)) | 0
  h ^= h >>> 11
  h = (h + (h << 15)) | 0
  return be32(h)
}

const CHECKSUMS: Readonly<Record<string, Checksum>> = {
  crc32: crc32Bzip,
  crc32b: (data) => be32(crc32(data)),
  crc32c: crc32Castagnoli,
  adler32,
  fnv132: fnv32(false),
  fnv1a32: fnv32(true),
  fnv164: fnv64(false),
  fnv1a64: fnv64(true),
  joaat,
}

/** PHP and OpenSSL spell a few names differently. */
const opensslName = (algorithm: string) => algorithm.toLowerCase().replace(/^sha512\/(224|256)$/, 'sha512-$1')

export function hash(algorithm: string, text: string): string {
  const checksum = CHECKSUMS[algorithm.toLowerCase()]
  if (checksum) return checksum(Buffer.from(text)).toString('hex')
  return createHash(known(algorithm)).update(text).digest('hex')
}

export function hashHmac(algorithm: string, text: string, key: string): string {
  return createHmac(known(algorithm), key).update(text).digest('hex')
}

function known(algorithm: string): string {
  const name = opensslName(algorithm)
  if (!getHashes().some((h) => h.toLowerCase() === name)) throw new RangeError(`unknown hashing algorithm "${algorithm}"`)
  return name
}
