// Is this backup whole? Every file against its size and hash, and both databases against themselves.

import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { BackupSource } from './backup-source.ts'
import { hashBytes } from './hashed-file.ts'
import { type BackupFile, type BackupManifest, readManifest } from './manifest.ts'

export interface Damage {
  readonly file: string
  readonly reason: string
}

export interface Verified {
  readonly manifest: BackupManifest
  readonly damaged: readonly Damage[]
}

export type OnProgress = (doneFiles: number, totalFiles: number) => void

export async function verifyBackup(source: BackupSource, onProgress: OnProgress = () => {}): Promise<Verified> {
  const manifest = await readManifest(source)
  const damaged: Damage[] = []
  for (const [i, file] of manifest.files.entries()) {
    const reason = await whatIsWrong(source, file)
    if (reason !== undefined) damaged.push({ file: file.path, reason })
    onProgress(i + 1, manifest.files.length)
  }
  return { manifest, damaged }
}

async function whatIsWrong(source: BackupSource, { path, sizeBytes, sha256 }: BackupFile): Promise<string | undefined> {
  const hashed = async () => hashBytes(await source.open(path))
  const found = await hashed().catch((cause: NodeJS.ErrnoException) => cause)
  if (found instanceof Error) return found.code === 'ENOENT' ? 'is missing' : `cannot be read: ${found.message}`
  if (found.sizeBytes !== sizeBytes) return `has ${found.sizeBytes} bytes, and was written with ${sizeBytes}`
  if (found.sha256 !== sha256) return 'has other bytes than those that were written'
  return path.endsWith('.sqlite') ? source.withLocal(path, checkDatabase) : undefined
}

/** Immutable: looking must not leave a journal beside the file. */
function checkDatabase(path: string): string | undefined {
  const url = pathToFileURL(path)
  url.search = 'immutable=1'
  const db = new DatabaseSync(url, { readOnly: true })
  try {
    const integrity = db.prepare('pragma integrity_check').all()
    const wrong = integrity.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok')
    if (wrong.length > 0) return `is not a whole database: ${wrong[0]}`
    const orphan = db.prepare('pragma foreign_key_check').get()
    return orphan && `has a row of ${String(orphan.table)} that refers to a missing row of ${String(orphan.parent)}`
  } finally {
    db.close()
  }
}
