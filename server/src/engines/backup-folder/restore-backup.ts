// Copies a backup into an empty folder. The whole backup is verified before the first byte is written, and every byte again on the way.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'
import { contentOf, syncFolders } from './backup-folder.ts'
import { openBytes, writeHashed } from './hashed-file.ts'
import type { BackupFile } from './manifest.ts'
import { type OnProgress, type Verified, verifyBackup } from './verify-backup.ts'

export interface RestoreProgress {
  readonly verified: OnProgress
  readonly copied: OnProgress
}

/** Answers without having copied anything when something is damaged. `last` is the file that makes the folder usable. */
export async function restoreBackup(folder: string, target: string, last: string, progress: RestoreProgress): Promise<Verified> {
  const before = await contentOf(target)
  if (before.length > 0) throw new PlatformError('backup.dataFolderNotEmpty', { folder: target, found: before[0]! })
  const verified = await verifyBackup(folder, progress.verified)
  if (verified.damaged.length > 0) return verified
  await mkdir(target, { recursive: true, mode: 0o700 })
  const { files } = verified.manifest
  const inOrder = [...files.filter(({ path }) => path !== last), ...files.filter(({ path }) => path === last)]
  for (const [i, file] of inOrder.entries()) {
    await copyFile(folder, target, file)
    progress.copied(i + 1, files.length)
  }
  await syncFolders(target)
  return verified
}

async function copyFile(folder: string, target: string, { path, sha256 }: BackupFile): Promise<void> {
  const written = await writeHashed(join(target, path), openBytes(join(folder, path)))
  if (written.sha256 !== sha256) throw new PlatformError('backup.changedWhileRead', { file: path })
}
