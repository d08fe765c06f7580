// Objects as plain files plus one index. The invariants of object-store.ts, and how they are kept here:
//  (1) bytes go to tmp/ first, are synced, renamed to a random name below objects/, and only then named in the index;
//  (2) put() resolves after the commit of the index, which comes after the sync of the bytes and of their directory;
//  (3) whatever lies in tmp/, and every blob the index does not name, is garbage; a crash leaves nothing else behind;
//  (4) a blob never changes, and is removed only when no reader of this process holds it.

import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '../../kit/clock.ts'
import { BLOCK_BYTES } from './checksums/block-checksums.ts'
import { crc32OfBlocks, crcToBase64 } from './checksums/combine-crc.ts'
import { type Disk, nodeDisk } from './disk.ts'
import { createDiskBackup, type ObjectsBackup } from './disk-backup.ts'
import { createDiskBlobs, diskFailed, type FreshBlob, prepareFolders } from './disk-blobs.ts'
import { readVerified, sealFile } from './disk-body.ts'
import { type Blob, type IndexTransaction, openDiskIndex, type StoredObject } from './disk-index.ts'
import { createDiskMultipart } from './disk-multipart.ts'
import { checkKey } from './keys.ts'
import {
  type ByteRange,
  type LocalObject,
  MAX_LIST,
  type ObjectChecksum,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
} from './object-store.ts'
import { checkPrecondition } from './preconditions.ts'

export interface DiskObjectStoreDeps {
  readonly root: string
  readonly clock: Clock
  readonly disk?: Disk
}

export interface DiskObjectStore extends ObjectStore {
  /** From now until its release every object that is here now can be copied, whatever is deleted meanwhile. */
  beginBackup(): ObjectsBackup
}

export async function openDiskObjectStore({ root, clock, disk = nodeDisk }: DiskObjectStoreDeps): Promise<DiskObjectStore> {
  await disk.makeDirectory(root)
  await prepareFolders(disk, root)
  const index = openDiskIndex(join(root, 'index.sqlite'), disk)
  const blobs = await createDiskBlobs(root, disk, index)
  const multipart = createDiskMultipart({ index, blobs, clock })
  const backups = createDiskBackup({ index, blobs, disk })
  /** Blobs this process has read whole and found undamaged. */
  const verified = new Set<string>()
  const joining = new Map<string, Promise<StoredObject | undefined>>()

  async function discard(gone: readonly Blob[]): Promise<void> {
    for (const { name } of gone) verified.delete(name)
    await blobs.drop(gone)
  }

  /** Names fresh bytes by a key, and lets go of the bytes the key had before. */
  async function publish(key: string, { blob, sizeBytes, blocks }: FreshBlob, options: PutOptions): Promise<ObjectInfo> {
    const checksum = options.checksum?.() ?? checksumOfWhole(blocks, sizeBytes)
    const info: ObjectInfo = {
      key,
      sizeBytes,
      etag: options.etag?.() ?? inventEtag(blocks, blob.name),
      modifiedMs: clock.now().getTime(),
      attributes: options.attributes ?? {},
      checksum,
    }
    const replaced = await blobs.commit([blob], `store ${key}`, (tx) => {
      const before = findDespiteDamage(tx, key)
      checkPrecondition(key, before?.info.etag, options)
      tx.save({ info, blobs: [blob], blocks })
      return before
    })
    await discard(replaced?.blobs ?? [])
    return info
  }

  const open = (
    object: StoredObject,
    { start, end }: ByteRange = { start: 0, end: Number.MAX_SAFE_INTEGER },
  ): Promise<Readable> =>
    readVerified(disk, blobs.pathOf, object, { start, end: Math.min(end, object.info.sizeBytes - 1) }, blobs.hold(object.blobs))

  /** The object in one blob: the parts of an upload are joined, once, when a file is needed. */
  async function joined(key: string): Promise<StoredObject | undefined> {
    const object = index.find(key)
    if (!object || object.blobs.length === 1) return object
    const id = `${object.info.etag} ${key}`
    const running = joining.get(id) ?? joinParts(object).finally(() => joining.delete(id))
    joining.set(id, running)
    return running
  }

  async function joinParts(object: StoredObject): Promise<StoredObject | undefined> {
    const { key } = object.info
    const what = `join the parts of ${key}`
    const { blob, blocks } = await blobs.store(await open(object), what)
    const whole = { info: object.info, blobs: [blob], blocks }
    const current = await blobs.commit([blob], what, (tx) => {
      const found = tx.find(key)
      const unchanged = found?.blobs[0]?.name === object.blobs[0]?.name
      if (unchanged) tx.save(whole)
      return unchanged ? whole : undefined
    })
    await blobs.drop(current ? object.blobs : [blob])
    return current ?? joined(key)
  }

  async function openLocal(key: string): Promise<LocalObject | undefined> {
    const object = await joined(key)
    const blob = object?.blobs[0]
    if (!object || !blob) return undefined
    const release = blobs.hold(object.blobs)
    try {
      if (!verified.has(blob.name)) await drain(await open(object)) // reading is the check
      verified.add(blob.name)
      return { path: blobs.pathOf(blob), info: object.info, release }
    } catch (cause) {
      await release()
      throw cause
    }
  }

  return {
    tempDir: blobs.tempDir,
    multipart,
    openLocal,

    async put(key, body, options = {}) {
      checkKey(key)
      const attributes = { ...(options.atRest && AT_REST), ...options.attributes }
      return publish(key, await blobs.store(body, `store ${key}`), { ...options, attributes })
    },

    head: async (key) => index.find(key)?.info,

    async get(key, range) {
      const object = index.find(key)
      return object && { info: object.info, body: await open(object, range) }
    },

    async delete(keys) {
      const gone = await blobs.commit([], 'delete', (tx) =>
        [keys].flat().flatMap((key) => {
          const object = findDespiteDamage(tx, key)
          tx.remove(key)
          if (object) backups.noteRemoved(object)
          return object?.blobs ?? []
        }),
      )
      await discard(gone)
    },

    async list({ prefix = '', after = '', limit = MAX_LIST }) {
      const wanted = Math.min(limit, MAX_LIST)
      const found = index.list(prefix, after, wanted + 1)
      return { objects: found.slice(0, wanted).map((object) => object.info), more: found.length > wanted }
    },

    async copy(from, to, attributes) {
      checkKey(to)
      const object = await joined(from)
      const source = object?.blobs[0]
      if (!object || !source) return undefined
      const { info, blocks } = object
      const release = blobs.hold(object.blobs)
      try {
        const path = join(blobs.tempDir, randomUUID())
        await disk.duplicate(blobs.pathOf(source), path)
        const blob = await blobs.take(path, info.sizeBytes)
        const options = { attributes: attributes ?? info.attributes, etag: () => info.etag, checksum: () => info.checksum }
        return await publish(to, { blob, sizeBytes: info.sizeBytes, blocks }, options)
      } catch (cause) {
        throw diskFailed(`copy ${from}`, cause)
      } finally {
        await release()
      }
    },

    async adopt(key, localPath, options = {}) {
      checkKey(key)
      try {
        const written = await sealFile(disk, localPath)
        const blob = await blobs.take(localPath, written.sizeBytes)
        return await publish(key, { ...written, blob }, { attributes: AT_REST, ...options })
      } catch (cause) {
        throw diskFailed(`take over ${key}`, cause)
      }
    },

    async sweep({ abandonedBefore }) {
      const abandoned = await multipart.abortAbandoned(abandonedBefore.getTime())
      return { removed: abandoned + (await blobs.sweep()) }
    },

    beginBackup: backups.begin,
    close: async () => index.close(),
  }
}

/** Objects that the stack writes have the same headers as uploads to encrypted files (spec storage 2.6.3). */
const AT_REST = { encryption: 'AES256' } as const

/** A damaged entry may be replaced and deleted; the sweep then finds its bytes. */
function findDespiteDamage(tx: IndexTransaction, key: string): StoredObject | undefined {
  try {
    return tx.find(key)
  } catch {
    return undefined
  }
}

/** Not an MD5; the suffix shows it to clients that would compare it with one. */
const inventEtag = (blocks: Uint32Array, name: string): string =>
  `${createHash('md5').update(name).update(blocks).digest('hex')}-1`

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream);
}

/** Clients that request a checksum get one, also of objects whose writer gave none: SDKs warn at every download without it. */
const checksumOfWhole = (blocks: Uint32Array, sizeBytes: number): ObjectChecksum => ({
  algorithm: 'crc32',
  type: 'FULL_OBJECT',
  value: crcToBase64(BigInt(crc32OfBlocks(blocks, BLOCK_BYTES, sizeBytes)), 4),
})
