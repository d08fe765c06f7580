// A folder of the machine that the operator has named. Links are not followed; a file has its name once it is whole.

import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { folderNamed, makeWithin } from '../../../folders/src/folders.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Target } from './target.ts'

export function openFolderTarget(name: string): Target {
  const root = folderNamed(name, 'MILLRACE_WRITE_FOLDERS')
  const placeOf = async (path: string) => {
    const cut = path.lastIndexOf('/')
    return join(await makeWithin(root, cut === -1 ? '' : path.slice(0, cut)), path.slice(cut + 1))
  }
  return {
    check: async () => void (await makeWithin(root, '')),
    async exists(path) {
      const found = await lstat(join(root, path)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw new UserError(`It is not known whether ${path} exists: ${error.code ?? error.message}.`, {}, error)
      })
      if (found && !found.isFile()) throw new UserError(`${path} exists and is not a file.`)
      return found !== undefined
    },
    async put({ path, local }, { append }) {
      const place = await placeOf(path)
      const part = `${place}.${process.env.KBC_RUNID ?? 'run'}.part`
      try {
        const to = append ? place : part
        await pipeline(createReadStream(local), createWriteStream(to, { flags: append ? 'a' : 'w' }))
        const file = await open(to, 'r')
        await file.sync().finally(() => file.close())
        if (append) return
        await rename(part, place)
      } catch (error) {
        await rm(part, { force: true })
        const { code = 'it failed' } = error as NodeJS.ErrnoException
        throw new UserError(`${path} cannot be written: ${code}.`, {}, error)
      }
    },
    close() {},
  }
}
