// A disk for fault tests: the real one, except that its nth call fails, a write after half of its work.

import type { Disk, ReadableFile, WritableFile } from '../../server/src/engines/object-store/disk.ts'
import { nodeDisk } from '../../server/src/engines/object-store/disk.ts'

export interface FailingDisk extends Disk {
  /** Counts from here; the nth call from now on fails. */
  arm(nth: number, code?: string): void
  /** How many calls since `arm`. */
  calls(): number
  /** Every call of this kind fails from now on, for a disk that is full. */
  failAll(kinds: readonly string[], code: string): void
  heal(): void
}

export function createFailingDisk(): FailingDisk {
  let calls = 0
  let failing = Number.POSITIVE_INFINITY
  let code = 'EIO'
  let always = new Set<string>()

  const broken = (kind: string) => Object.assign(new Error(`${code}: planted in ${kind}`), { code })
  /** Whether this call shall fail. */
  const due = (kind: string) => ++calls === failing || always.has(kind)
  async function pass<T>(kind: string, call: () => Promise<T>): Promise<T> {
    if (due(kind)) throw broken(kind)
    return call()
  }

  const failingWriter = (file: WritableFile): WritableFile => ({
    async append(bytes) {
      if (!due('append')) return file.append(bytes)
      await file.append(bytes.subarray(0, bytes.length >> 1))
      throw broken('append')
    },
    sync: () => pass('sync', () => file.sync()),
    // A failing close has still given the descriptor back.
    close: () => file.close().then(() => pass('close', async () => {})),
  })

  const failingReader = (file: ReadableFile): ReadableFile => ({
    read: (into, position) => pass('read', () => file.read(into, position)),
    sync: () => pass('sync', () => file.sync()),
    close: () => file.close().then(() => pass('close', async () => {})),
  })

  return {
    arm(nth, as = 'EIO') {
      calls = 0
      failing = nth
      code = as
    },
    calls: () => calls,
    failAll(kinds, as) {
      always = new Set(kinds)
      code = as
    },
    heal() {
      always = new Set()
      failing = Number.POSITIVE_INFINITY
    },
    makeDirectory: (path) => pass('makeDirectory', () => nodeDisk.makeDirectory(path)),
    create: (path) => pass('create', async () => failingWriter(await nodeDisk.create(path))),
    open: (path) => pass('open', async () => failingReader(await nodeDisk.open(path))),
    rename: (from, to) => pass('rename', () => nodeDisk.rename(from, to)),
    duplicate: (from, to) => pass('duplicate', () => nodeDisk.duplicate(from, to)),
    remove: (path) => pass('remove', () => nodeDisk.remove(path)),
    removeTree: (path) => pass('removeTree', () => nodeDisk.removeTree(path)),
    syncDirectory: (path) => pass('syncDirectory', () => nodeDisk.syncDirectory(path)),
    list: (path) => pass('list', () => nodeDisk.list(path)),
    stat: (path) => pass('stat', () => nodeDisk.stat(path)),
    beforeCommit() {
      if (due('commit')) throw broken('commit')
    },
  }
}
