// The few things the object store does to a disk, as an interface: faults are tested by failing the nth of them.

import { constants } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'

export interface WritableFile {
  /** Writes all of it at the end. */
  append(bytes: Uint8Array): Promise<void>
  /** On return the bytes are on the disk, not only with the kernel. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface ReadableFile {
  /** Fewer bytes than requested only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>
  sync(): Promise<void>
  close(): Promise<void>
}

export interface Disk {
  makeDirectory(path: string): Promise<void>
  create(path: string): Promise<WritableFile>
  open(path: string): Promise<ReadableFile>
  rename(from: string, to: string): Promise<void>
  /** A second name for the same bytes; a copy where the file system cannot. */
  duplicate(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** A file, or a folder with all that is in it. */
  removeTree(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  list(path: string): Promise<readonly string[]>
  stat(path: string): Promise<{ readonly sizeBytes: number; readonly modifiedMs: number }>
  /** Runs right before a commit to the key index, so that a test can fail there too. */
  beforeCommit(): void
}

export const nodeDisk: Disk = {
  makeDirectory: async (path) => void (await mkdir(path, { recursive: true })),

  async create(path) {
    const file = await open(path, 'wx', 0o600)
    return {
      async append(bytes) {
        // A write may stop early on a nearly full disk; the next one then reports why.
        for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten
      },
      sync: () => file.datasync(),
      close: () => file.close(),
    }
  },

  async open(path) {
    const file = await open(path, 'r')
    return {
      async read(into, position) {
        let done = 0
        while (done < into.length) {
          const { bytesRead } = await file.read(into, done, into.length - done, position + done)
          if (bytesRead === 0) break
          done += bytesRead
        }
        return done
      },
      sync: () => file.datasync(),
      close: () => file.close(),
    }
  },

  rename,

  async duplicate(from, to) {
    try {
      await link(from, to)
    } catch (cause) {
      if (isMissing(cause)) throw cause
      await copyFile(from, to, constants.COPYFILE_EXCL)
      const file = await open(to, 'r')
      await file.datasync().finally(() => file.close())
    }
  },

  async remove(path) {
    await unlink(path).catch(async (cause: NodeJS.ErrnoException) => {
      // A folder among the leftovers: another program used the temporary folder.
      if (cause.code === 'EISDIR' || cause.code === 'EPERM') return rm(path, { recursive: true, force: true })
      if (!isMissing(cause)) throw cause
    })
  },

  removeTree: (path) => rm(path, { recursive: true, force: true }),

  async syncDirectory(path) {
    // Windows cannot open a directory; its rename is durable by the journal.
    if (process.platform === 'win32') return
    const directory = await open(path, 'r')
    await directory.sync().finally(() => directory.close())
  },

  list: (path) => readdir(path),

  async stat(path) {
    const found = await stat(path)
    return { sizeBytes: found.size, modifiedMs: found.mtimeMs }
  },

  beforeCommit() {},
}

const codeOf = (cause: unknown): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')

export const isMissing = (cause: unknown): boolean => codeOf(cause) === 'ENOENT'
