// Where a backup is read from: a folder, or a prefix in a bucket.

import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BackupObjects } from './bucket-objects.ts'
import { openBytes } from './hashed-file.ts'

export interface BackupSource {
  /** For messages. */
  readonly name: string
  /** Fails with the code ENOENT when there is no such file, now or with the first byte. */
  open(path: string): Promise<Readable>
  /** For programs that need a file of this machine. */
  withLocal<T>(path: string, work: (local: string) => T | Promise<T>): Promise<T>
}

export const folderSource = (folder: string): BackupSource => ({
  name: folder,
  open: async (path) => openBytes(join(folder, path)),
  withLocal: async (path, work) => work(join(folder, path)),
})

/** `prefix` ends with a slash. */
export function bucketSource(objects: BackupObjects, prefix: string, name: string): BackupSource {
  async function open(path: string): Promise<Readable> {
    const found = await objects.get(prefix + path)
    if (!found) throw Object.assign(new Error(`${name} has no ${path}.`), { code: 'ENOENT' })
    return found.body
  }

  return {
    name,
    open,
    async withLocal(path, work) {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
      try {
        const local = join(folder, 'file')
        await pipeline(await open(path), createWriteStream(local, { mode: 0o600 }))
        return await work(local)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}
