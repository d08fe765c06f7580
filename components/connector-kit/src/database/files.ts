// Files of databases: below a folder of the machine that the operator has named, or given by the input mapping.

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { FileSettings } from './connection.ts'

/** Folders of the machine that the operator has named, by name. */
export type Folders = Readonly<Record<string, string>>

/** The file that the settings name, or the one file of the input mapping. */
export function fileOf({ folder, path }: FileSettings, folders: Folders, dataDir: string): string {
  if (folder !== undefined) {
    if (!Object.hasOwn(folders, folder))
      throw new UserError(
        `No folder is named "${folder.slice(0, 60)}". The operator names folders with MILLRACE_READ_FOLDERS; known: ${Object.keys(folders).join(', ') || 'none'}.`,
      )
    return fileBelow(folders[folder]!, path) // just looked up
  }
  const given = join(dataDir, 'in', 'files')
  const files = filesOf(given)
  const [first] = files
  if (first === undefined || files.length > 1)
    throw new UserError(`Name a folder and a path in db, or map exactly one file in storage.input.files (found ${files.length}).`)
  return fileBelow(given, first)
}

/** The file to write, below a folder that the operator has named; it need not exist. */
export function targetFile({ folder, path }: FileSettings, folders: Folders): string {
  if (folder === undefined || !Object.hasOwn(folders, folder))
    throw new UserError(
      `db.folder must be a folder that the operator has named with MILLRACE_WRITE_FOLDERS; known: ${Object.keys(folders).join(', ') || 'none'}.`,
    )
  const refuse = (): never => {
    throw new UserError(`"${path.slice(0, 200)}" in db.path is not the path of a file below the folder "${folder}".`)
  }
  if (path === '' || path.includes('\0') || path.endsWith('/')) return refuse()
  try {
    const root = realpathSync(folders[folder]!) // just looked up
    const wanted = join(root, path)
    const file = existsSync(wanted) ? realpathSync(wanted) : join(realpathSync(dirname(wanted)), basename(wanted))
    return file.startsWith(root + sep) ? file : refuse()
  } catch {
    return refuse()
  }
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !name.endsWith('.manifest'))
  } catch {
    return []
  }
}

/** The file at a path below a folder; links that lead out of it are refused. */
function fileBelow(folder: string, path: string): string {
  const refuse = (): never => {
    throw new UserError(`The file "${path.slice(0, 200)}" does not exist in the folder.`)
  }
  if (path === '' || path.includes('\0')) return refuse()
  try {
    const root = realpathSync(folder)
    const file = realpathSync(join(root, path))
    return file.startsWith(root + sep) && statSync(file).isFile() ? file : refuse()
  } catch {
    return refuse()
  }
}
