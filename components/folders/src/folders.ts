// The folders that the operator named, and paths that stay within them.

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { UserError } from '../../http-extractor/src/errors.ts'

/** As the platform passes them: paths by name. */
export function folderNamed(name: unknown, variable: string): string {
  const folders = JSON.parse(process.env.MILLRACE_FOLDERS ?? '{}') as Readonly<Record<string, string>>
  const known = Object.keys(folders)
  if (known.length === 0)
    throw new UserError(
      `The operator of this stack has named no folder. One is named with the variable ${variable}, such as ${variable}=shared=/srv/shared.`,
    )
  if (typeof name !== 'string' || !Object.hasOwn(folders, name))
    throw new UserError(
      `"folder" is ${JSON.stringify(name) ?? 'missing'}; the operator of this stack has named ${known.join(', ')}.`,
    )
  return folders[name]!
}

/** A path of plain names below a folder. */
export function plainPath(path: unknown, name: string): string {
  if (path === undefined || path === '') return ''
  if (typeof path !== 'string' || path.length > 1000) throw new UserError(`"${name}" is not a text of at most 1,000 characters.`)
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || parts.includes('..') || /[\0\\]/.test(path))
    throw new UserError(
      `"${name}" is "${path.slice(0, 100)}": it must stay within the folder, so it cannot begin with a slash or contain "..".`,
    )
  return parts.join('/')
}

const isWithin = (path: string, root: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

/** Opens a file without following links, and only when its real place is within the folder. Undefined: it is a link, or it is gone. */
export async function openWithin(root: string, path: string): Promise<FileHandle | undefined> {
  const whole = join(root, path)
  const file = await open(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP' || error.code === 'ENOENT') return undefined
      throw new UserError(`The file ${path} cannot be read: ${error.code}.`)
    },
  )
  if (!file) return undefined
  const real = await realpath(whole).catch(() => undefined)
  const there = real === undefined ? undefined : await stat(real).catch(() => undefined)
  const own = await file.stat()
  // A folder on the way may have become a link since it was listed: what was opened must be what the real path names.
  const isSame = there?.ino === own.ino && there.dev === own.dev
  if (real !== undefined && isSame && own.isFile() && isWithin(real, await realpath(root))) return file
  await file.close()
  return undefined
}

/** Makes the folder for what is written, and refuses one that leads elsewhere. */
export async function makeWithin(root: string, path: string): Promise<string> {
  const base = await realpath(root).catch(() => {
    throw new UserError('The folder is not there. Ask the operator of this stack to make it.')
  })
  let folder = base
  for (const part of path.split('/').filter((one) => one !== '')) {
    folder = join(folder, part)
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw new UserError(`The folder ${path} cannot be made: ${error.code}.`)
    })
    if ((await realpath(folder)) !== folder) throw new UserError(`"${path}" leads through a link. Links are not followed.`)
  }
  return folder
}
