// Writes a backup. Files first, the manifest last: an interruption leaves a folder that is not recognised as a backup.

import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { defined } from '../../kit/defined.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type Hashed, hashFile, openBytes, syncPath, writeHashed } from './hashed-file.ts'
import { type BackupFile, type BackupInfo, MANIFEST_FILE, manifestText } from './manifest.ts'

export interface BackupFolder {
  /** Where the caller writes the file `path`, to be added with `seal`. */
  locate(path: string): Promise<string>
  seal(path: string): Promise<void>
  write(path: string, body: Readable, mode?: number): Promise<Hashed>
  /** Takes all files below a folder, or one file; nothing there is nothing to take. */
  copy(path: string, from: string): Promise<void>
  /** Removes what a failed write left behind, or a file that is not needed. */
  discard(path: string): Promise<void>
  /** Writes the manifest: now it is a backup. */
  finish(info: BackupInfo): Promise<{ readonly files: number; readonly sizeBytes: number }>
}

export async function createBackupFolder(folder: string): Promise<BackupFolder> {
  const before = await contentOf(folder)
  if (before.length > 0) throw new PlatformError('backup.targetNotEmpty', { folder, found: before[0]! })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files: BackupFile[] = []

  async function locate(path: string): Promise<string> {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    return target
  }

  async function write(path: string, body: Readable, mode?: number): Promise<Hashed> {
    const hashed = await writeHashed(join(folder, path), body)
    files.push({ path, ...hashed, ...defined({ mode }) })
    return hashed
  }

  return {
    locate,
    write,
    copy: (path, from) => copyInto(write, path, from),
    async seal(path) {
      await syncPath(join(folder, path))
      files.push({ path, ...(await hashFile(join(folder, path))) })
    },
    async discard(path) {
      const at = files.findIndex((file) => file.path === path)
      if (at !== -1) files.splice(at, 1)
      await rm(join(folder, path), { force: true })
    },
    async finish(info) {
      const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
      const path = join(folder, MANIFEST_FILE)
      const file = await open(`${path}.new`, 'w', 0o600)
      await file.writeFile(manifestText(info, sorted))
      await file.sync().finally(() => file.close())
      await syncFolders(folder)
      await rename(`${path}.new`, path)
      await syncPath(folder)
      return { files: files.length, sizeBytes: files.reduce((sum, one) => sum + one.sizeBytes, 0) }
    },
  }
}

type Write = BackupFolder['write']

export async function copyInto(write: Write, path: string, from: string): Promise<void> {
  const found = await stat(from).catch(() => undefined)
  if (found?.isFile()) await write(path, openBytes(from), sharedMode(found.mode))
  if (!found?.isDirectory()) return
  for (const name of (await readdir(from)).sort()) await copyInto(write, `${path}/${name}`, join(from, name))
}

/** Undefined for a file that only its owner may read. */
const sharedMode = (mode: number): number | undefined => ((mode & 0o055) === 0 ? undefined : mode & 0o755)

/** The names in a folder; none when there is no such folder. */
export async function contentOf(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return []
    if (cause.code === 'ENOTDIR') throw new PlatformError('backup.notAFolder', { folder })
    throw cause
  })
}

/** New files survive power loss only when their folders are synced too. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name))
  await syncPath(folder)
}
