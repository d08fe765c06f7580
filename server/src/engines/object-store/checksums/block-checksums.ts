// A CRC-32 per block of 1 MiB: damage is found before a block is sent, in a range read as well as in a whole one.

import { crc32 } from 'node:zlib'

export const BLOCK_BYTES = 1024 * 1024

export const blockCount = (sizeBytes: number): number => Math.ceil(sizeBytes / BLOCK_BYTES)

export interface BlockChecksums {
  readonly sizeBytes: number
  update(chunk: Uint8Array): void
  /** One per block, in order. */
  finish(): Uint32Array
}

export function createBlockChecksums(): BlockChecksums {
  const finished: number[] = []
  let sizeBytes = 0
  let current = 0
  let filled = 0

  return {
    get sizeBytes() {
      return sizeBytes
    },
    update(chunk) {
      sizeBytes += chunk.length
      let rest = chunk
      while (rest.length > 0) {
        const taken = rest.subarray(0, BLOCK_BYTES - filled)
        current = crc32(taken, current)
        filled += taken.length
        rest = rest.subarray(taken.length)
        if (filled === BLOCK_BYTES) {
          finished.push(current)
          current = 0
          filled = 0
        }
      }
    },
    finish: () => Uint32Array.from(filled > 0 ? [...finished, current] : finished),
  }
}

export const checksumOf = (block: Uint8Array): number => crc32(block)
