// Looks into a folder of files that were fetched.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface CheckedOut {
  /** The first of the names that is a file; undefined when none is. */
  first(names: readonly string[]): Promise<string | undefined>
  isFolder(name: string): Promise<boolean>
  /** Undefined when there is no such file. */
  text(name: string): Promise<string | undefined>
}

export function checkedOut(folder: string): CheckedOut {
  const statOf = (name: string) => stat(join(folder, name)).catch(() => undefined)
  return {
    async first(names) {
      for (const name of names) if ((await statOf(name))?.isFile()) return name
      return undefined
    },
    isFolder: async (name) => (await statOf(name))?.isDirectory() ?? false,
    text: (name) => readFile(join(folder, name), 'utf8').catch(() => undefined),
  }
}
