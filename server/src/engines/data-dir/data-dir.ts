// The folder that holds everything a stack must not lose.

import { constants } from 'node:fs'
import { access, chmod, mkdir, readdir, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'

export async function makeDataFolder(path: string): Promise<void> {
  try {
    await makeFolder(path)
    await readdir(path) // fails for a file, whose modes must stay as they are
    await keepPrivate(path)
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new PlatformError('stack.dataFolder', { path, reason: (error as Error).message }, { cause: error }) // of node:fs
  }
}

/** Keys, tokens and data lie below: only the owner has access, whatever the modes of the files are. */
async function keepPrivate(path: string): Promise<void> {
  const { mode, uid } = await stat(path)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) await chmod(path, 0o700)
}

/** Not mkdir's own `recursive`: where a folder is refused as if its parent were missing, as below /proc, that tries for ever. */
async function makeFolder(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return
  await makeFolder(dirname(path))
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** Of the disk that the folder is on; `freeBytes` is what this process may use. */
export async function diskSpaceOf(path: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(path)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}
