// CRC-32C and CRC-64/NVME, which Node does not have. Both reflected, both eight bytes at a time from tables.

export interface Crc {
  update(chunk: Uint8Array): void
  /** Big-endian, as S3 encodes it. */
  digest(): Buffer
}

/** Eight tables; the nth advances a byte by n further zero bytes. */
function crc32Tables(polynomial: number): Uint32Array[] {
  const tables = Array.from({ length: 8 }, () => new Uint32Array(256))
  for (let byte = 0; byte < 256; byte++) {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1
    tables[0]![byte] = value
  }
  for (let n = 1; n < 8; n++)
    for (let byte = 0; byte < 256; byte++) {
      const before = tables[n - 1]![byte]!
      tables[n]![byte] = (before >>> 8) ^ tables[0]![before & 0xff]!
    }
  return tables
}

const [C0, C1, C2, C3, C4, C5, C6, C7] = crc32Tables(0x82f63b78) as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
]

export function createCrc32c(): Crc {
  let crc = ~0
  return {
    update(chunk) {
      let c = crc
      let i = 0
      for (const end = chunk.length - 7; i < end; i += 8) {
        c ^= chunk[i]! | (chunk[i + 1]! << 8) | (chunk[i + 2]! << 16) | (chunk[i + 3]! << 24)
        c =
          C7[c & 0xff]! ^
          C6[(c >>> 8) & 0xff]! ^
          C5[(c >>> 16) & 0xff]! ^
          C4[c >>> 24]! ^
          C3[chunk[i + 4]!]! ^
          C2[chunk[i + 5]!]! ^
          C1[chunk[i + 6]!]! ^
          C0[chunk[i + 7]!]!
      }
      for (; i < chunk.length; i++) c = (c >>> 8) ^ C0[(c ^ chunk[i]!) & 0xff]!
      crc = c
    },
    digest() {
      const out = Buffer.alloc(4)
      out.writeUInt32BE(~crc >>> 0)
      return out
    },
  }
}

// A 64-bit value as two 32-bit halves: BigInt would be a hundred times slower. Reflected polynomial 0x9a6c9329ac4bc9b5.
const POLYNOMIAL_HIGH = 0x9a6c9329
const POLYNOMIAL_LOW = 0xac4bc9b5

function crc64Tables(): { high: Uint32Array; low: Uint32Array } {
  // One flat table of 8 x 256 for each half.
  const high = new Uint32Array(2048)
  const low = new Uint32Array(2048)
  for (let byte = 0; byte < 256; byte++) {
    let h = 0
    let l = byte
    for (let bit = 0; bit < 8; bit++) {
      const odd = l & 1
      l = (l >>> 1) | ((h & 1) << 31)
      h >>>= 1
      if (odd) {
        h ^= POLYNOMIAL_HIGH
        l ^= POLYNOMIAL_LOW
      }
    }
    high[byte] = h
    low[byte] = l
  }
  for (let at = 256; at < 2048; at++) {
    const beforeHigh = high[at - 256]!
    const beforeLow = low[at - 256]!
    const index = beforeLow & 0xff
    low[at] = ((beforeLow >>> 8) | (beforeHigh << 24)) ^ low[index]!
    high[at] = (beforeHigh >>> 8) ^ high[index]!
  }
  return { high, low }
}

const { high: H, low: L } = crc64Tables()

export function createCrc64Nvme(): Crc {
  let high = ~0
  let low = ~0
  return {
    update(chunk) {
      let h = high
      let l = low
      let i = 0
      for (const end = chunk.length - 7; i < end; i += 8) {
        l ^= chunk[i]! | (chunk[i + 1]! << 8) | (chunk[i + 2]! << 16) | (chunk[i + 3]! << 24)
        h ^= chunk[i + 4]! | (chunk[i + 5]! << 8) | (chunk[i + 6]! << 16) | (chunk[i + 7]! << 24)
        const a = 1792 + (l & 0xff)
        const b = 1536 + ((l >>> 8) & 0xff)
        const c = 1280 + ((l >>> 16) & 0xff)
        const d = 1024 + (l >>> 24)
        const e = 768 + (h & 0xff)
        const f = 512 + ((h >>> 8) & 0xff)
        const g = 256 + ((h >>> 16) & 0xff)
        const k = h >>> 24
        l = L[a]! ^ L[b]! ^ L[c]! ^ L[d]! ^ L[e]! ^ L[f]! ^ L[g]! ^ L[k]!
        h = H[a]! ^ H[b]! ^ H[c]! ^ H[d]! ^ H[e]! ^ H[f]! ^ H[g]! ^ H[k]!
      }
      for (; i < chunk.length; i++) {
        const index = (l ^ chunk[i]!) & 0xff
        l = ((l >>> 8) | (h << 24)) ^ L[index]!
        h = (h >>> 8) ^ H[index]!
      }
      high = h
      low = l
    },
    digest() {
      const out = Buffer.alloc(8)
      out.writeUInt32BE(~high >>> 0, 0)
      out.writeUInt32BE(~low >>> 0, 4)
      return out
    },
  }
}
