// The object store as the table engine sees it, plus files that are on this machine already: a key `local:/path` is that file.

import { copyFile, rename, rm } from 'node:fs/promises'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import type { TableObjects } from '../engines/table-engine/table-engine.ts'
import { PlatformError } from '../kit/errors.ts'

const LOCAL = 'local:'

export const localKey = (path: string): string => `${LOCAL}${path}`

export function createTableObjects(objects: ObjectStore): TableObjects {
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
    delete: (key) => (key.startsWith(LOCAL) ? rm(key.slice(LOCAL.length), { force: true }) : objects.delete(key)),
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
