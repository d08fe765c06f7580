// Bytes in and out of blobs. Both directions keep one block in flight, so that disk and network work at the same time.

import { Readable } from 'node:stream'
import { PlatformError } from '../../kit/errors.ts'
import { type BlockPool, POOLED_BYTES } from './block-pool.ts'
import { BLOCK_BYTES, blockCount, checksumOf, createBlockChecksums } from './checksums/block-checksums.ts'
import type { Disk, ReadableFile } from './disk.ts'
import type { Blob, StoredObject } from './disk-index.ts'
import type { ByteRange, Bytes } from './object-store.ts'

/** Start writing back this often, so that the last sync has little left to do. */
const SYNC_EVERY_BYTES = 64 * BLOCK_BYTES

export interface Written {
  readonly sizeBytes: number
  readonly blocks: Uint32Array
}

/** Writes a new file and brings it to the disk. When it throws, the file may be there in part. */
export async function writeSynced(disk: Disk, pool: BlockPool, path: string, body: Bytes): Promise<Written> {
  const file = await disk.create(path)
  const checksums = createBlockChecksums()
  let block = Buffer.alloc(0)
  let filled = 0
  let unsynced = 0
  let writing: Promise<void> = Promise.resolve()
  let syncing: Promise<void> = Promise.resolve()
  let isSyncing = false

  /** Copies, because a chunk is valid only until the next is requested. */
  async function gather(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      if (filled === block.length) block = enlarged(pool, block, rest.length)
      const taken = rest.subarray(0, block.length - filled)
      block.set(taken, filled)
      checksums.update(taken)
      filled += taken.length
      rest = rest.subarray(taken.length)
      if (filled === POOLED_BYTES) await flush()
    }
  }

  async function flush(): Promise<void> {
    await writing
    const full = block
    const bytes = full.subarray(0, filled)
    block = Buffer.alloc(0)
    filled = 0
    unsynced += bytes.length
    writing = file.append(bytes).then(() => pool.give(full))
    writing.catch(() => {}) // awaited by the next flush
    // Never waited for here: on a busy disk a sync takes its time, and the sender should not notice.
    if (unsynced >= SYNC_EVERY_BYTES && !isSyncing) {
      unsynced = 0
      isSyncing = true
      syncing = file.sync().finally(() => {
        isSyncing = false
      })
      syncing.catch(() => {}) // awaited at the end
    }
  }

  try {
    for await (const chunk of body) await gather(chunk)
    if (filled > 0) await flush()
    await writing
    await syncing
    await file.sync()
  } finally {
    await Promise.allSettled([writing, syncing])
    await file.close()
  }
  return { sizeBytes: checksums.sizeBytes, blocks: checksums.finish() }
}

/** A buffer for more: just enough for a body of one small chunk, four times as much with each further one, at last a whole block. */
function enlarged(pool: BlockPool, block: Buffer, wanted: number): Buffer<ArrayBuffer> {
  const size = Math.max(wanted, 4 * block.length)
  const larger = size < POOLED_BYTES ? Buffer.allocUnsafeSlow(size) : pool.take()
  larger.set(block)
  if (block.length > 0) pool.give(block)
  return larger
}

/** Checksums of a file that another writer made, synced to the disk. */
export async function sealFile(disk: Disk, path: string): Promise<Written> {
  const file = await disk.open(path)
  try {
    const checksums = createBlockChecksums()
    const buffer = Buffer.allocUnsafe(BLOCK_BYTES)
    for (let position = 0; ; position += BLOCK_BYTES) {
      const length = await file.read(buffer, position)
      checksums.update(buffer.subarray(0, length))
      if (length < BLOCK_BYTES) break
    }
    await file.sync()
    return { sizeBytes: checksums.sizeBytes, blocks: checksums.finish() }
  } finally {
    await file.close()
  }
}

/**
 * The verified bytes of a range. The first block is read before this resolves, so that a small damaged object is an error
 * and not a broken stream. `release` runs once, when the stream is done with the blobs.
 */
export async function readVerified(
  disk: Disk,
  pathOf: (blob: Blob) => string,
  object: StoredObject,
  range: ByteRange,
  release: () => Promise<void>,
): Promise<Readable> {
  const blocks = blocksIn(object, range)
  let open: { blob: Blob; file: ReadableFile } | undefined

  async function nextBlock(): Promise<Uint8Array | null> {
    const { value: wanted } = blocks.next()
    if (!wanted) return null
    if (open?.blob !== wanted.blob) {
      await open?.file.close()
      open = undefined
      open = { blob: wanted.blob, file: await disk.open(pathOf(wanted.blob)) }
    }
    const block = Buffer.allocUnsafeSlow(wanted.length)
    const read = await open.file.read(block, wanted.position)
    if (read < wanted.length || checksumOf(block) !== wanted.checksum)
      throw new PlatformError('storage.corrupt', { key: object.info.key, offset: wanted.offset })
    return block.subarray(wanted.from, wanted.to)
  }

  async function close(): Promise<void> {
    await open?.file.close()
    await release()
  }

  let next = nextBlock()
  try {
    await next
  } catch (cause) {
    await close()
    throw cause
  }
  return new Readable({
    highWaterMark: BLOCK_BYTES,
    read() {
      next.then(
        (block) => {
          if (block) {
            next = nextBlock()
            next.catch(() => {}) // seen by the next read()
          }
          this.push(block)
        },
        (cause: Error) => this.destroy(cause),
      )
    },
    destroy(error, done) {
      next
        .catch(() => {})
        .then(close)
        .then(
          () => done(error),
          (cause: Error) => done(error ?? cause),
        )
    },
  })
}

interface WantedBlock {
  readonly blob: Blob
  /** Where the block starts: in its blob, and in the object. */
  readonly position: number
  readonly offset: number
  readonly length: number
  readonly checksum: number
  /** The part of the block that lies in the range. */
  readonly from: number
  readonly to: number
}

function* blocksIn({ blobs, blocks }: StoredObject, { start, end }: ByteRange): Generator<WantedBlock, undefined> {
  let offset = 0
  let index = 0
  for (const blob of blobs) {
    for (let i = 0; i < blockCount(blob.sizeBytes); i++, index++) {
      const position = i * BLOCK_BYTES
      const length = Math.min(BLOCK_BYTES, blob.sizeBytes - position)
      if (offset <= end && offset + length > start) {
        const from = Math.max(0, start - offset)
        const to = Math.min(length, end - offset + 1)
        yield { blob, position, offset, length, checksum: blocks[index] ?? -1, from, to }
      }
      offset += length
    }
  }
  return undefined
}
