// A folder of the machine that the operator has named. Links are never followed.

import { createReadStream, lstatSync, realpathSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Store } from './store.ts'

const DEEPEST = 20

export function openFolder(name: string, folders: Readonly<Record<string, string>>): Store {
  if (!Object.hasOwn(folders, name))
    throw new UserError(
      `No folder is named "${name.slice(0, 60)}". The operator names folders with MILLRACE_READ_FOLDERS; known: ${Object.keys(folders).join(', ') || 'none'}.`,
    )
  const root = realpathSync(folders[name]!) // just looked up
  return {
    list: (prefix, take) => walk('', 0, prefix, take),
    async open({ path }) {
      const full = join(root, path)
      if (realpathSync(full) !== full || !full.startsWith(root + sep))
        throw new UserError(`${path} is a link now, which is not read.`)
      return createReadStream(full)
    },
    close() {},
  }

  async function walk(below: string, depth: number, prefix: string, take: Parameters<Store['list']>[1]): Promise<void> {
    for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && depth < DEEPEST) await walk(path, depth + 1, prefix, take)
      if (!entry.isFile() || !path.startsWith(prefix)) continue
      const { size, mtimeMs } = lstatSync(join(root, path))
      take({ path, version: `${size}-${mtimeMs}`, bytes: size })
    }
  }
}
