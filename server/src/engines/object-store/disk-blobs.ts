// The files below objects/: fresh random names, never changed, removed when neither the index nor a reader needs them.

import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isDiskFull } from '../../kit/disk-full.ts'
import { named, PlatformError } from '../../kit/errors.ts'
import { createBlockPool } from './block-pool.ts'
import type { Disk } from './disk.ts'
import { type Written, writeSynced } from './disk-body.ts'
import type { Blob, DiskIndex, IndexTransaction } from './disk-index.ts'
import type { Bytes } from './object-store.ts'

export type FreshBlob = Written & { readonly blob: Blob }

export interface DiskBlobs {
  readonly tempDir: string
  pathOf(blob: Pick<Blob, 'name'>): string
  /** Stores the bytes under a fresh name. Not visible before a commit names it. */
  store(body: Bytes, what: string): Promise<FreshBlob>
  /** Moves a synced file to a fresh name. */
  take(path: string, sizeBytes: number): Promise<Blob>
  /** Runs a commit that names fresh blobs; when it is refused they are dropped. */
  commit<T>(fresh: readonly Blob[], what: string, work: (tx: IndexTransaction) => T): Promise<T>
  /** Keeps blobs from being removed until the returned function is called. */
  hold(blobs: readonly Blob[]): () => Promise<void>
  drop(blobs: readonly Blob[]): Promise<void>
  /** Removes no blob at all until the returned function is called; what was dropped meanwhile goes then. */
  keepAll(): () => Promise<void>
  /** Removes every blob without references; returns how many. */
  sweep(): Promise<number>
}

/** Gives a failure of the disk its name. */
export const diskFailed = (what: string, cause: unknown): PlatformError =>
  named(isDiskFull(cause) ? 'storage.full' : 'storage.unavailable', { what }, cause)

export async function prepareFolders(disk: Disk, root: string): Promise<void> {
  const objects = join(root, 'objects')
  const tempDir = join(root, 'tmp')
  await disk.makeDirectory(tempDir)
  await disk.makeDirectory(objects)
  const there = new Set(await disk.list(objects))
  const missing = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0')).filter((name) => !there.has(name))
  await Promise.all(missing.map((name) => disk.makeDirectory(join(objects, name))))
  if (missing.length > 0) await disk.syncDirectory(objects)
  await disk.syncDirectory(root)
}

export async function createDiskBlobs(root: string, disk: Disk, index: DiskIndex): Promise<DiskBlobs> {
  const objects = join(root, 'objects')
  const tempDir = join(root, 'tmp')
  const pool = createBlockPool()
  /** What readers hold; a removal waits for the last of them. */
  const readers = new Map<string, { count: number; removeWhenFree: boolean }>()
  /** Written but not yet named by a commit: not garbage. */
  const unborn = new Set<string>()
  /** While removals are held: what would have been removed. */
  const keepers = new Set<symbol>()
  const postponed: Blob[] = []

  for (const leftover of await disk.list(tempDir)) await disk.removeTree(join(tempDir, leftover))

  const pathOf = ({ name }: Pick<Blob, 'name'>) => join(objects, name.slice(0, 2), name)

  async function take(path: string, sizeBytes: number): Promise<Blob> {
    const blob = { name: randomBytes(20).toString('hex'), sizeBytes }
    unborn.add(blob.name)
    try {
      await disk.rename(path, pathOf(blob))
      await disk.syncDirectory(join(objects, blob.name.slice(0, 2)))
      return blob
    } catch (cause) {
      unborn.delete(blob.name) // renamed or not, by now it is garbage for the sweep
      throw cause
    }
  }

  async function store(body: Bytes, what: string): Promise<FreshBlob> {
    const path = join(tempDir, randomUUID())
    const source = watch(body)
    try {
      const written = await writeSynced(disk, pool, path, source.body)
      return { ...written, blob: await take(path, written.sizeBytes) }
    } catch (cause) {
      await disk.remove(path).catch(() => {}) // what lies in tmp/ is garbage anyway
      // What the sender did wrong keeps its own name; what the disk did wrong gets one here.
      throw source.problem() === cause ? cause : diskFailed(what, cause)
    }
  }

  async function drop(gone: readonly Blob[]): Promise<void> {
    for (const blob of gone) {
      unborn.delete(blob.name)
      const held = readers.get(blob.name)
      if (keepers.size > 0) postponed.push(blob)
      else if (held) held.removeWhenFree = true
      else await disk.remove(pathOf(blob)).catch(() => {}) // the sweep takes it later
    }
  }

  async function commit<T>(fresh: readonly Blob[], what: string, work: (tx: IndexTransaction) => T): Promise<T> {
    try {
      return await index.commit(work)
    } catch (cause) {
      // A refusal is certain. After any other failure the commit may still be on the disk, so the bytes wait for the sweep.
      if (cause instanceof PlatformError) await drop(fresh)
      throw diskFailed(what, cause)
    } finally {
      for (const { name } of fresh) unborn.delete(name)
    }
  }

  function hold(held: readonly Blob[]): () => Promise<void> {
    for (const { name } of held) {
      const reader = readers.get(name) ?? { count: 0, removeWhenFree: false }
      reader.count++
      readers.set(name, reader)
    }
    let released = false
    return async () => {
      if (released) return
      released = true
      for (const blob of held) {
        const reader = readers.get(blob.name)
        if (!reader || --reader.count > 0) continue
        readers.delete(blob.name)
        if (reader.removeWhenFree) await drop([blob])
      }
    }
  }

  function keepAll(): () => Promise<void> {
    const keeper = Symbol()
    keepers.add(keeper)
    return async () => {
      keepers.delete(keeper)
      if (keepers.size === 0) await drop(postponed.splice(0))
    }
  }

  async function sweep(): Promise<number> {
    let removed = 0
    for (const shard of await disk.list(objects)) {
      for (const name of await disk.list(join(objects, shard))) {
        if (keepers.size > 0 || unborn.has(name) || readers.has(name) || index.hasBlob(name)) continue
        await disk.remove(join(objects, shard, name))
        removed++
      }
    }
    return removed
  }

  return { tempDir, pathOf, store, take, commit, hold, drop, keepAll, sweep }
}

/** Records errors of the source of the bytes, to distinguish them from errors of the disk. */
function watch(body: Bytes): { readonly body: Bytes; problem(): unknown } {
  let problem: unknown
  async function* passed(): Bytes {
    try {
      yield* body
    } catch (cause) {
      problem = cause
      throw cause
    }
  }
  return { body: passed(), problem: () => problem }
}
