// Where the table engine reads and writes: objects by key, and files that are on this machine already. A key `local:/path` is that file.

import { copyFile, open, readFile, rename, rm, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { PlatformError } from '../../kit/errors.ts'
import type { TableObjects } from './table-engine.ts'

/** The part of an object store that the engine needs. */
export interface ObjectFiles {
  openLocal(key: string): Promise<{ readonly path: string; release(): Promise<void> } | undefined>
  adopt(key: string, path: string): Promise<unknown>
  delete(key: string): Promise<unknown>
}

const LOCAL = 'local:'

export const localKey = (path: string): string => `${LOCAL}${path}`

export const localFileSize = async (path: string): Promise<number> => (await stat(path)).size

/** Distinct values of a CSV file with one column, a header and every value in quotes, as `unload` writes it. The file is removed. */
export async function takeColumnValues(path: string): Promise<string[]> {
  try {
    const quoted = (await readFile(path, 'utf8')).matchAll(/"((?:[^"]|"")*)"\n/g)
    const values = Array.from(quoted, ([, value = '']) => value.replaceAll('""', '"'))
    return [...new Set(values.slice(1))]
  } finally {
    await rm(path, { force: true })
  }
}

/** The bytes of a file that has no name any more: they are gone from the disk when the stream is closed, however it ends. */
export async function takeBytes(path: string): Promise<{ readonly bytes: Readable; readonly size: number }> {
  const file = await open(path).finally(() => rm(path, { force: true }))
  const { size } = await file.stat()
  return { bytes: file.createReadStream({ highWaterMark: 1 << 18 }), size }
}

export function createTableObjects(objects: ObjectFiles): TableObjects {
  return {
    async openLocal(key) {
      if (key.startsWith(LOCAL)) return { path: key.slice(LOCAL.length), release: async () => {} }
      const found = await objects.openLocal(key)
      if (!found) throw new PlatformError('storage.tables.objectMissing', { key })
      return found
    },
    async adopt(key, path) {
      if (key.startsWith(LOCAL)) await move(path, key.slice(LOCAL.length))
      else await objects.adopt(key, path)
    },
    async delete(key) {
      if (key.startsWith(LOCAL)) await rm(key.slice(LOCAL.length), { force: true })
      else await objects.delete(key)
    },
  }
}

/** A rename where that is possible; a component's data folder may lie on another disk. */
async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error
    await copyFile(from, to)
    await rm(from)
  })
}
