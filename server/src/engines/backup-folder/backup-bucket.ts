// Backups in a bucket: each is a prefix named by it, and its manifest is written last, as in a folder.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { defined } from '../../kit/defined.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type BackupFolder, copyInto } from './backup-folder.ts'
import type { BackupObjects } from './bucket-objects.ts'
import type { Hashed } from './hashed-file.ts'
import { type BackupFile, MANIFEST_FILE, manifestText } from './manifest.ts'
import { chooseGone } from './retention.ts'

/** `prefix` ends with a slash; `name` is for messages. `close` removes what is left on this machine. */
export async function createBackupInBucket(
  objects: BackupObjects,
  prefix: string,
  name: string,
): Promise<BackupFolder & { close(): Promise<void> }> {
  const [before] = (await objects.list({ prefix, limit: 1 })).objects
  if (before) throw new PlatformError('backup.targetNotEmpty', { folder: name, found: before.key })
  const local = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  const files: BackupFile[] = []

  async function write(path: string, body: Readable, mode?: number): Promise<Hashed> {
    const { hashed, bytes } = hashing(body)
    await objects.put(prefix + path, bytes)
    files.push({ path, ...hashed(), ...defined({ mode }) })
    return hashed()
  }

  const localOf = (path: string): string => join(local, path.replaceAll('/', '_'))

  return {
    write,
    locate: async (path) => localOf(path),
    copy: (path, from) => copyInto(write, path, from),
    async seal(path) {
      await write(path, createReadStream(localOf(path)))
      await rm(localOf(path))
    },
    async discard(path) {
      const at = files.findIndex((file) => file.path === path)
      if (at !== -1) files.splice(at, 1)
      await objects.delete([prefix + path])
    },
    async finish(info) {
      const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
      await objects.put(prefix + MANIFEST_FILE, Readable.from([Buffer.from(manifestText(info, sorted))]))
      return { files: files.length, sizeBytes: files.reduce((sum, one) => sum + one.sizeBytes, 0) }
    },
    close: () => rm(local, { recursive: true, force: true }),
  }
}

function hashing(body: Readable): { readonly bytes: AsyncIterable<Uint8Array>; hashed(): Hashed } {
  const hash = createHash('sha256')
  let sizeBytes = 0
  let sha256: string | undefined
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      hash.update(chunk)
      sizeBytes += chunk.length
      yield chunk
    }
    sha256 = hash.digest('hex')
  }
  return { bytes: bytes(), hashed: () => ({ sizeBytes, sha256: sha256 ?? '' }) }
}

/** Names of the whole backups below a prefix, oldest first. */
export async function listBackups(objects: BackupObjects, prefix: string): Promise<readonly string[]> {
  return (await namesIn(objects, prefix)).filter(({ isWhole }) => isWhole).map(({ name }) => name)
}

/** As keepNewest for a folder. The manifest goes first: what is half removed is no backup any more. */
export async function keepNewestInBucket(objects: BackupObjects, prefix: string, count: number): Promise<readonly string[]> {
  const gone = chooseGone(await namesIn(objects, prefix), count)
  for (const name of gone) {
    await objects.delete([`${prefix}${name}/${MANIFEST_FILE}`])
    for await (const keys of pagesOf(objects, `${prefix}${name}/`)) await objects.delete(keys)
  }
  return gone
}

async function namesIn(objects: BackupObjects, prefix: string) {
  const found = new Map<string, boolean>()
  for (let after = ''; ; ) {
    const { objects: page } = await objects.list({ prefix, after, limit: 1 })
    const name = page[0]?.key.slice(prefix.length).split('/')[0]
    if (name === undefined) break
    // One request for each backup, however many objects it has: `0` comes right after the slash.
    after = `${prefix}${name}0`
    const manifest = `${prefix}${name}/${MANIFEST_FILE}`
    const at = await objects.list({ prefix: manifest, limit: 1 })
    found.set(name, at.objects[0]?.key === manifest)
  }
  return [...found].map(([name, isWhole]) => ({ name, isWhole }))
}

async function* pagesOf(objects: BackupObjects, prefix: string): AsyncGenerator<readonly string[]> {
  for (;;) {
    const { objects: page } = await objects.list({ prefix })
    if (page.length === 0) return
    yield page.map(({ key }) => key)
  }
}
