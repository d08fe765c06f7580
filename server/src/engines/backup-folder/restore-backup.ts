// Copies a backup into an empty folder. The whole backup is verified before the first byte is written, and every byte again on the way.

import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'
import { contentOf, syncFolders } from './backup-folder.ts'
import type { BackupSource } from './backup-source.ts'
import { writeHashed } from './hashed-file.ts'
import type { BackupFile, BackupManifest } from './manifest.ts'
import { type OnProgress, type Verified, verifyBackup } from './verify-backup.ts'

export interface RestoreProgress {
  readonly verified: OnProgress
  readonly copied: OnProgress
}

export interface RestorePlan {
  readonly source: BackupSource
  readonly target: string
  /** The file that makes the folder usable. */
  readonly last: string
  /** Files that do not belong in the folder: the caller restores them, with the others in place. */
  readonly isElsewhere: (path: string) => boolean
  /** Refuses what does not fit before anything is written. */
  readonly check: (manifest: BackupManifest) => Promise<void>
}

/** Answers without having copied anything when something is damaged. */
export async function restoreBackup(plan: RestorePlan, progress: RestoreProgress): Promise<Verified> {
  const { source, target, last, isElsewhere, check } = plan
  const before = await contentOf(target)
  if (before.length > 0) throw new PlatformError('backup.dataFolderNotEmpty', { folder: target, found: before[0]! })
  const verified = await verifyBackup(source, progress.verified)
  if (verified.damaged.length > 0) return verified
  await check(verified.manifest)
  await mkdir(target, { recursive: true, mode: 0o700 })
  const files = verified.manifest.files.filter(({ path }) => !isElsewhere(path))
  const inOrder = [...files.filter(({ path }) => path !== last), ...files.filter(({ path }) => path === last)]
  for (const [i, file] of inOrder.entries()) {
    await copyFile(source, target, file)
    progress.copied(i + 1, files.length)
  }
  await syncFolders(target)
  return verified
}

async function copyFile(source: BackupSource, target: string, { path, sha256, mode }: BackupFile): Promise<void> {
  if (mode !== undefined) await openFolders(target, path)
  const written = await writeHashed(join(target, path), await source.open(path))
  if (written.sha256 !== sha256) throw new PlatformError('backup.changedWhileRead', { file: path })
  if (mode !== undefined) await chmod(join(target, path), mode & 0o755) // a backup may come from anywhere: never setuid
}

/** The folders of a file that other users may read, up to the data folder, which they may not list. */
async function openFolders(target: string, path: string): Promise<void> {
  const steps = dirname(path).split('/')
  for (let depth = 1; depth <= steps.length; depth++) {
    const folder = join(target, ...steps.slice(0, depth))
    await mkdir(folder, { recursive: true })
    await chmod(folder, 0o755)
  }
}
