// Uploads in parts on disk. A part is a blob of its own; completing only names the blobs in order, no byte is copied.

import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { DiskBlobs } from './disk-blobs.ts'
import type { DiskIndex, IndexTransaction, StoredPart } from './disk-index.ts'
import { checkKey } from './keys.ts'
import type { Multipart, ObjectInfo, PartInfo, UploadInfo } from './object-store.ts'
import { checkPrecondition } from './preconditions.ts'

export interface DiskMultipart extends Multipart {
  /** Aborts what was started before that time and never finished; returns how many. */
  abortAbandoned(beforeMs: number): Promise<number>
}

export function createDiskMultipart({
  index,
  blobs,
  clock,
}: {
  index: DiskIndex
  blobs: DiskBlobs
  clock: Clock
}): DiskMultipart {
  async function abort(key: string, uploadId: string): Promise<void> {
    const parts = await blobs.commit([], `abort the upload of ${key}`, (tx) => {
      getUpload(tx, key, uploadId)
      const gone = tx.partsOf(uploadId)
      tx.removeUpload(uploadId)
      return gone
    })
    await blobs.drop(parts.map((part) => part.blob))
  }

  return {
    abort,

    async create(key, attributes = {}) {
      checkKey(key)
      const uploadId = randomBytes(24).toString('base64url')
      const upload: UploadInfo = { uploadId, key, startedMs: clock.now().getTime(), attributes }
      await blobs.commit([], `start an upload of ${key}`, (tx) => tx.saveUpload(upload))
      return uploadId
    },

    find: async (key, uploadId) => index.findUpload(key, uploadId),

    async putPart(key, uploadId, number, body, options = {}) {
      getUpload(index, key, uploadId)
      const { blob, sizeBytes, blocks } = await blobs.store(body, `store part ${number} of ${key}`).catch(async (cause) => {
        if (isFull(cause)) await abort(key, uploadId).catch(() => {}) // the sweep takes it later
        throw cause
      })
      const checksum = options.checksum?.()
      const part: PartInfo = {
        number,
        sizeBytes,
        etag: options.etag?.() ?? createHash('md5').update(blob.name).digest('hex'),
        modifiedMs: clock.now().getTime(),
        ...(checksum && { checksum }),
      }
      const replaced = await blobs.commit([blob], `store part ${number} of ${key}`, (tx) => {
        getUpload(tx, key, uploadId) // it may have been completed or aborted while the bytes came in
        const before = tx.findPart(uploadId, number)
        tx.savePart(uploadId, { part, blob, blocks })
        return before
      })
      if (replaced) await blobs.drop([replaced.blob])
      return part
    },

    async listParts(key, uploadId) {
      getUpload(index, key, uploadId)
      return index.partsOf(uploadId).map((stored) => stored.part)
    },

    listUploads: async (prefix) => index.listUploads(prefix),

    async complete(key, uploadId, chosen, options = {}) {
      const checksum = options.checksum?.()
      const { info, leftovers } = await blobs.commit([], `complete the upload of ${key}`, (tx) => {
        const upload = getUpload(tx, key, uploadId)
        const stored = new Map(tx.partsOf(uploadId).map((part) => [part.part.number, part]))
        const parts = chosen.map((wanted) => getPart(stored, wanted))
        const before = tx.find(key)
        checkPrecondition(key, before?.info.etag, options)
        const info: ObjectInfo = {
          key,
          sizeBytes: parts.reduce((sum, part) => sum + part.part.sizeBytes, 0),
          etag: options.etag?.() ?? etagOf(parts),
          modifiedMs: clock.now().getTime(),
          attributes: upload.attributes,
          ...(checksum && { checksum }),
        }
        tx.removeUpload(uploadId)
        tx.save({ info, blobs: parts.map((part) => part.blob), blocks: joinBlocks(parts) })
        const unused = [...stored.values()].filter((part) => !parts.includes(part)).map((part) => part.blob)
        return { info, leftovers: [...(before?.blobs ?? []), ...unused] }
      })
      await blobs.drop(leftovers)
      return info
    },

    async abortAbandoned(beforeMs) {
      const abandoned = index.listUploads('').filter((upload) => upload.startedMs < beforeMs)
      for (const upload of abandoned) await abort(upload.key, upload.uploadId)
      return abandoned.length
    },
  }
}

/** An upload that does not fit cannot succeed; its parts would fill the disk for all others until it is aborted. */
const isFull = (cause: unknown): boolean => cause instanceof PlatformError && cause.code === 'storage.full'

function getUpload(tx: Pick<IndexTransaction, 'findUpload'>, key: string, uploadId: string): UploadInfo {
  const upload = tx.findUpload(key, uploadId)
  if (!upload) throw new PlatformError('storage.uploadNotFound', { key })
  return upload
}

function getPart(stored: ReadonlyMap<number, StoredPart>, { number, etag }: { number: number; etag: string }): StoredPart {
  const part = stored.get(number)
  if (!part || part.part.etag !== etag) throw new PlatformError('storage.invalidPart', { number, etag })
  return part
}

/** The MD5 of the parts' MD5s and their count, as S3 has it. */
const etagOf = (parts: readonly StoredPart[]): string => {
  const hash = createHash('md5')
  for (const { part } of parts) hash.update(part.etag, 'hex')
  return `${hash.digest('hex')}-${parts.length}`
}

function joinBlocks(parts: readonly StoredPart[]): Uint32Array {
  const joined = new Uint32Array(parts.reduce((sum, part) => sum + part.blocks.length, 0))
  let at = 0
  for (const { blocks } of parts) {
    joined.set(blocks, at)
    at += blocks.length
  }
  return joined
}
