// A copy of a store that is in use. A backup copies the records first and the objects after them, so:
//  (1) an object that is deleted after the backup began is still in the copy: its entry is put back there, its bytes are not removed yet;
//  (2) nothing waits: deletes, puts and commits continue during the copy;
//  (3) bytes are verified on their way out, so damage is found now and not when the backup is needed.

import type { Readable } from 'node:stream'
import { PlatformError } from '../../kit/errors.ts'
import { blockCount } from './checksums/block-checksums.ts'
import { type Disk, isMissing } from './disk.ts'
import type { DiskBlobs } from './disk-blobs.ts'
import { readVerified } from './disk-body.ts'
import { type Blob, type DiskIndex, openDiskIndex, type StoredObject } from './disk-index.ts'

/** One file below objects/ that the copied index names. */
export interface BackupBlob {
  /** Relative to the root of the store, with forward slashes. */
  readonly path: string
  readonly key: string
  readonly sizeBytes: number
  /** The verified bytes; the stream fails with `storage.corrupt` where they are damaged. */
  open(): Promise<Readable>
}

export interface ObjectsBackup {
  /** Copies the index to a new file and answers all that it names. */
  copyIndex(path: string): Promise<readonly BackupBlob[]>
  release(): Promise<void>
}

export interface DiskBackup {
  begin(): ObjectsBackup
  /** Called inside the commit that removes the object. */
  noteRemoved(object: StoredObject): void
}

export function createDiskBackup({ index, blobs, disk }: { index: DiskIndex; blobs: DiskBlobs; disk: Disk }): DiskBackup {
  /** One list per backup that runs: what was removed since it began. */
  const running = new Set<StoredObject[]>()

  function begin(): ObjectsBackup {
    const removed: StoredObject[] = []
    running.add(removed)
    const letGo = blobs.keepAll()
    return {
      async copyIndex(path) {
        await index.backupTo(path)
        const copy = openDiskIndex(path, disk)
        try {
          await copy.commit((tx) => {
            for (const object of removed) if (!tx.find(object.info.key)) tx.save(object)
          })
          return [...blobsOf(copy)].map((piece) => backupBlob(piece, blobs, disk))
        } finally {
          copy.close()
        }
      },
      async release() {
        running.delete(removed)
        await letGo()
      },
    }
  }

  return {
    begin,
    noteRemoved(object) {
      for (const removed of running) removed.push(object)
    },
  }
}

interface Piece {
  readonly blob: Blob
  /** An object of this one blob, for the reader that verifies. */
  readonly object: StoredObject
}

const PAGE = 1000

function* blobsOf(index: DiskIndex): Generator<Piece> {
  for (let after = ''; ; ) {
    const page = index.list('', after, PAGE)
    for (const object of page) yield* piecesOf(object)
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.info.key
  }
  for (const { uploadId, key } of index.listUploads('')) {
    for (const { part, blob, blocks } of index.partsOf(uploadId)) {
      const info = { key, sizeBytes: part.sizeBytes, etag: part.etag, modifiedMs: part.modifiedMs, attributes: {} }
      yield { blob, object: { info, blobs: [blob], blocks } }
    }
  }
}

function* piecesOf({ info, blobs, blocks }: StoredObject): Generator<Piece> {
  let from = 0
  for (const blob of blobs) {
    const to = from + blockCount(blob.sizeBytes)
    yield { blob, object: { info, blobs: [blob], blocks: blocks.slice(from, to) } }
    from = to
  }
}

const backupBlob = ({ blob, object }: Piece, { pathOf }: DiskBlobs, disk: Disk): BackupBlob => ({
  path: `objects/${blob.name.slice(0, 2)}/${blob.name}`,
  key: object.info.key,
  sizeBytes: blob.sizeBytes,
  // No hold on the blob: keepAll() holds them all.
  open: () =>
    readVerified(disk, pathOf, object, { start: 0, end: blob.sizeBytes - 1 }, async () => {}).catch((cause) => {
      throw isMissing(cause)
        ? new PlatformError('storage.corrupt', { key: object.info.key, offset: 'its file' }, { cause })
        : cause
    }),
})
