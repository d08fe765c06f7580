// The CRC of two pieces from the CRCs of each: linear algebra over single bits, without reading a byte (zlib's crc32_combine).

export interface CrcShape {
  readonly width: number
  /** Reflected. */
  readonly polynomial: bigint
}

export const CRC32: CrcShape = { width: 32, polynomial: 0xedb88320n }

/** Column n is where bit n goes. */
type Matrix = readonly bigint[]

const times = (matrix: Matrix, vector: bigint): bigint => {
  let sum = 0n
  for (let bit = 0, rest = vector; rest !== 0n; bit++, rest >>= 1n) if (rest & 1n) sum ^= matrix[bit]!
  return sum
}

const product = (left: Matrix, right: Matrix): Matrix => right.map((column) => times(left, column))

/** What a CRC becomes when so many zero bytes follow. */
function zeroBytes({ width, polynomial }: CrcShape, count: number): Matrix {
  let step: Matrix = [polynomial, ...Array.from({ length: width - 1 }, (_, n) => 1n << BigInt(n))]
  for (let i = 0; i < 3; i++) step = product(step, step) // one zero bit, made one zero byte
  let all: Matrix = Array.from({ length: width }, (_, n) => 1n << BigInt(n))
  for (let left = BigInt(count); left > 0n; left >>= 1n) {
    if (left & 1n) all = product(step, all)
    step = product(step, step)
  }
  return all
}

/** The CRC of a followed by b. */
export const appendCrc = (shape: CrcShape, a: bigint, b: bigint, sizeOfB: number): bigint =>
  times(zeroBytes(shape, sizeOfB), a) ^ b

/** The CRC-32 of a whole from the CRC-32s of its blocks, all of one size but the last. */
export function crc32OfBlocks(blocks: Uint32Array, blockBytes: number, sizeBytes: number): number {
  const [first = 0, ...rest] = blocks
  const full = zeroBytes(CRC32, rest.length > 1 ? blockBytes : 0)
  const last = zeroBytes(CRC32, rest.length > 0 ? sizeBytes - blockBytes * (blocks.length - 1) : 0)
  const whole = rest.reduce((crc, block, i) => times(i === rest.length - 1 ? last : full, crc) ^ BigInt(block), BigInt(first))
  return Number(whole)
}

export const crcToBase64 = (value: bigint, bytes: number): string =>
  Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex').toString('base64')
