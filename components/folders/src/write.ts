// Tables and files of the project, written to a folder. A file has its name once it is whole.

import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { UserError } from '../../http-extractor/src/errors.ts'
import { folderNamed, makeWithin, plainPath } from './folders.ts'

interface WriteParameters {
  readonly folder?: unknown
  /** Below the folder; made when it is not there. */
  readonly path?: unknown
  readonly gzip?: unknown
}

export async function writeFolder(dataDir: string, given: unknown): Promise<void> {
  const parameters = given as WriteParameters // each member is checked where it is read
  const root = folderNamed(parameters.folder, 'MILLRACE_WRITE_FOLDERS')
  const folder = await makeWithin(root, plainPath(parameters.path, 'path'))
  const inputs = [...(await filesOf(join(dataDir, 'in', 'tables'))), ...(await filesOf(join(dataDir, 'in', 'files')))]
  if (inputs.length === 0) throw new UserError('Nothing to write: add tables or files to the input mapping.')
  for (const { path, name } of inputs) {
    const target = join(folder, parameters.gzip === true ? `${name}.gz` : name)
    const part = `${target}.${process.env.KBC_RUNID ?? 'run'}.part`
    try {
      await pipeline(
        createReadStream(path),
        parameters.gzip === true ? createGzip() : new PassThrough(),
        createWriteStream(part, { flags: 'wx' }),
      )
      await synced(part)
      await rename(part, target)
    } catch (error) {
      await rm(part, { force: true })
      throw refusalOf(error, name)
    }
    process.stdout.write(`Wrote ${name}.\n`)
  }
  await synced(folder)
}

async function filesOf(folder: string): Promise<{ readonly path: string; readonly name: string }[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.manifest'))
    .map(({ name }) => ({ path: join(folder, name), name }))
}

async function synced(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

function refusalOf(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  const known = {
    EACCES: 'the stack may not write there',
    EROFS: 'the folder cannot be written',
    ENOSPC: 'the disk is full',
    EISDIR: 'a folder has that name',
  }
  const reason = code !== undefined && Object.hasOwn(known, code) ? known[code as keyof typeof known] : undefined // just looked up
  return reason === undefined ? error : new UserError(`${name} cannot be written: ${reason}.`)
}
