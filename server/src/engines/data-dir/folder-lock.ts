// One stack for one data folder. The lock is one of SQLite, so that it ends with the process, however that ends; nothing is stored in the file.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PlatformError } from '../../kit/errors.ts'

const LOCK_FILE = 'stack.lock'
const HOLDER_FILE = 'stack.pid'

/** An unreferenced connection is closed, and its lock with it. */
const held = new Set<DatabaseSync>()

/** Takes the folder for this process, or refuses; the returned function gives it back. */
export function lockDataFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, LOCK_FILE))
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
  } catch (cause) {
    lock.close()
    throw new PlatformError('stack.dataFolderInUse', { path: folder, holder: holderOf(folder) }, { cause })
  }
  held.add(lock)
  const holderFile = join(folder, HOLDER_FILE)
  writeFileSync(holderFile, String(process.pid), { mode: 0o600 })
  return () => {
    rmSync(holderFile, { force: true })
    held.delete(lock)
    lock.close()
  }
}

/** Whether a stack has ever run on the folder: a backup of one, or an empty folder, is not such. */
export const isDataFolder = (folder: string): boolean => existsSync(join(folder, LOCK_FILE))

/** The process that runs on the folder, as a readable text; undefined if there is none. */
export function findHolder(folder: string): string | undefined {
  try {
    lockDataFolder(folder)()
    return undefined
  } catch (error) {
    return error instanceof PlatformError ? String(error.details.holder) : undefined // a folder that cannot be written is another error
  }
}

function holderOf(folder: string): string {
  try {
    return `process ${Number(readFileSync(join(folder, HOLDER_FILE), 'utf8'))}`
  } catch {
    return 'a process that has just started'
  }
}
