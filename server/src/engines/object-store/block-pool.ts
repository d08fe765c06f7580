// Memory that bodies are gathered in before they are written, used again and again: fresh memory of this size comes from the kernel
// every time, which costs more than writing it out.

import { freeChunk } from '../../kit/chunk-memory.ts'

export interface BlockPool {
  /** Of any content. */
  take(): Buffer<ArrayBuffer>
  /** A block that nothing reads or writes any more. */
  give(block: Buffer): void
}

/** The size of one write to the disk. With a quarter of it an upload costs half as much processor time again: each write is a trip to another thread. */
export const POOLED_BYTES = 1024 * 1024
/** As many as idle writers may leave behind: 16 MiB. */
const MAX_KEPT = 16

export function createBlockPool(): BlockPool {
  const kept: Buffer<ArrayBuffer>[] = []
  return {
    take: () => kept.pop() ?? Buffer.allocUnsafeSlow(POOLED_BYTES),
    give(block) {
      // A smaller one was made for a small body, and an ArrayBuffer of its own is what freeChunk expects.
      if (block.length === POOLED_BYTES && kept.length < MAX_KEPT) kept.push(block as Buffer<ArrayBuffer>)
      else freeChunk(block)
    },
  }
}
