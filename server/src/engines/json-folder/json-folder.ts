// A folder of JSON files that people edit while the platform runs: reports changes, and returns the texts.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface JsonFile {
  /** Name inside the folder. */
  readonly file: string
  readonly text: string
}

export interface JsonFolder {
  /** The files in the order of their names; undefined when nothing changed since the last call. A missing folder is an empty one. */
  readIfChanged(): Promise<readonly JsonFile[] | undefined>
}

/** Larger files are a mistake; reading them on every change would be another. */
const MAX_BYTES = 8 * 2 ** 20

export function createJsonFolder(path: string): JsonFolder {
  let seen = 'never read'

  async function readIfChanged(): Promise<readonly JsonFile[] | undefined> {
    const files = await list()
    const stamp = JSON.stringify(files)
    if (stamp === seen) return undefined
    const texts = await Promise.all(files.map(async ({ file }) => ({ file, text: await readFile(join(path, file), 'utf8') })))
    seen = stamp // last: a file that vanished in between is looked at again next time
    return texts
  }

  async function list() {
    const names = await readdir(path).catch(absentIsEmpty)
    const files = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort()
    const stats = await Promise.all(files.map(async (file) => ({ file, ...(await statOf(join(path, file))) })))
    return stats.filter(({ size }) => size !== undefined && size <= MAX_BYTES)
  }

  return { readIfChanged }
}

async function statOf(path: string): Promise<{ size?: number; changed?: number; inode?: number }> {
  try {
    const { size, mtimeMs, ctimeMs, ino } = await stat(path)
    return { size, changed: mtimeMs + ctimeMs, inode: ino }
  } catch {
    return {} // gone between the listing and here
  }
}

const absentIsEmpty = (error: NodeJS.ErrnoException): string[] => {
  if (error.code === 'ENOENT') return []
  throw error
}
