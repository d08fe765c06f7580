// A folder of the machine, copied into the data folder of a run: plain files and folders, no links.

import { lstat, mkdir, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { receiveFile, sendFile } from './data-folder.ts'

export interface CopyLimits {
  readonly maxFiles: number
  readonly maxBytes: number
  /** Names of files and folders that are not copied, wherever they are. */
  readonly leftOut: readonly string[]
}

/** Undefined: it was copied. */
export async function copyFolder(
  from: string,
  to: string,
  { maxFiles, maxBytes, leftOut }: CopyLimits,
  signal: AbortSignal,
): Promise<'unreadable' | 'tooMuch' | undefined> {
  let files = 0
  let bytes = 0
  const copy = async (source: string, target: string): Promise<boolean> => {
    await mkdir(target, { recursive: true })
    for await (const entry of await opendir(source)) {
      signal.throwIfAborted()
      if (leftOut.includes(entry.name)) continue
      const [path, copied] = [join(source, entry.name), join(target, entry.name)]
      if (entry.isDirectory() && !(await copy(path, copied))) return false
      if (!entry.isFile()) continue
      bytes += (await lstat(path)).size
      if (++files > maxFiles || bytes > maxBytes) return false
      await receiveFile(copied, sendFile(path), signal)
    }
    return true
  }
  try {
    return (await copy(from, to)) ? undefined : 'tooMuch'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // of the file system, or of the signal
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return 'unreadable'
    throw error
  }
}
