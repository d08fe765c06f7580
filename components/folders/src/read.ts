// Files of a folder: CSV files become one table, any files become files of the project.

import { createWriteStream, type Dirent } from 'node:fs'
import { type FileHandle, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { counted, wasOrWere } from '../../../contract/counted.ts'
import { globOf } from '../../connector-kit/src/glob.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { folderNamed, openWithin, plainPath } from './folders.ts'

interface ReadParameters {
  readonly folder?: unknown
  /** `*` and `?` within a name, `**` for any folders. */
  readonly pattern?: unknown
  readonly as?: unknown
  readonly table?: unknown
  readonly incremental?: unknown
  readonly primaryKey?: unknown
  readonly delimiter?: unknown
  readonly enclosure?: unknown
  readonly tags?: unknown
  readonly newOnly?: unknown
}

const MAX_FILES = 10_000
const DEEPEST = 10
const HEADER_BYTES = 2 ** 20

export async function readFolder(dataDir: string, given: unknown): Promise<void> {
  const parameters = given as ReadParameters // each member is checked where it is read
  const root = folderNamed(parameters.folder, 'MILLRACE_READ_FOLDERS')
  const { matches } = globOf(plainPath(parameters.pattern ?? '*.csv', 'pattern'), '"pattern"')
  const known = parameters.newOnly === true ? await remembered(dataDir) : {}
  const taken: Record<string, string> = {}
  const paths = (await listFiles(root)).filter(matches)
  const isFiles = choiceOf(parameters.as ?? 'table', 'as', ['table', 'files']) === 'files'
  const table = isFiles ? undefined : await openTable(dataDir, parameters)
  let count = 0
  for (const path of paths) {
    const file = await openWithin(root, path)
    if (!file) {
      say(`${path} is a link or is gone; it is passed over.`)
      continue
    }
    try {
      const { size, mtimeMs } = await file.stat()
      taken[path] = `${size}-${mtimeMs}`
      if (known[path] === taken[path]) continue
      if (table) await table.add(path, file)
      else await copyFile(dataDir, path, file, parameters.tags)
      count += 1
    } finally {
      await file.close()
    }
  }
  await table?.end()
  if (parameters.newOnly === true) await writeFile(join(dataDir, 'out', 'state.json'), JSON.stringify({ files: taken }))
  say(`${count} of ${counted(paths.length, 'file')} ${wasOrWere(count)} read.`)
}

async function remembered(dataDir: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(dataDir, 'in', 'state.json'), 'utf8').catch(() => '{}')
  const { files } = JSON.parse(text) as { files?: Record<string, string> }
  return files ?? {}
}

/** Plain files below the folder, links left out, in the order of their names. */
async function listFiles(root: string, below = '', depth = 0): Promise<string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch((error: NodeJS.ErrnoException): Dirent[] => {
    if (depth > 0) return []
    throw new UserError(`The folder cannot be read: ${error.code}. Ask the operator of this stack.`)
  })
  const found: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isFile()) found.push(path)
    else if (entry.isDirectory() && depth < DEEPEST) for (const file of await listFiles(root, path, depth + 1)) found.push(file)
    if (found.length > MAX_FILES) throw new UserError(`The folder has more than ${MAX_FILES} files.`)
  }
  return found
}

/** One CSV file of all: with the header of the first, which the others must have as well. */
async function openTable(dataDir: string, parameters: ReadParameters) {
  const name = parameters.table ?? 'files'
  if (typeof name !== 'string' || !/^[\w-]{1,96}$/.test(name))
    throw new UserError('"table" is the name of the table: letters, digits, _ and -, at most 96.')
  const enclosure = textOf(parameters.enclosure ?? '"', 'enclosure')
  const delimiter = textOf(parameters.delimiter ?? ',', 'delimiter')
  const path = join(dataDir, 'out', 'tables', `${name}.csv`)
  let header: string | undefined

  return {
    async add(file: string, handle: FileHandle): Promise<void> {
      const body = unpacked(file, handle)
      const cut = cutHeader(enclosure, (own) => {
        header ??= own
        if (own !== header)
          throw new UserError(
            `${file} has other columns than the files before it: ${own.slice(0, 300)} instead of ${header.slice(0, 300)}.`,
          )
      })
      await pipeline(body, cut, createWriteStream(path, { flags: 'a' })).catch((error: NodeJS.ErrnoException) => {
        if (error.code?.startsWith('Z_')) throw new UserError(`${file} cannot be unpacked: ${error.message}.`)
        throw error
      })
    },
    async end(): Promise<void> {
      if (header === undefined) return
      const columns = splitHeader(header, delimiter, enclosure)
      const manifest = {
        columns,
        delimiter,
        enclosure,
        incremental: parameters.incremental === true,
        ...(Array.isArray(parameters.primaryKey) && parameters.primaryKey.length > 0 && { primary_key: parameters.primaryKey }),
      }
      await writeFile(`${path}.manifest`, JSON.stringify(manifest))
    },
  }
}

const unpacked = (path: string, handle: FileHandle): Readable => {
  const stream = handle.createReadStream()
  return path.endsWith('.gz') ? stream.pipe(createGunzip()) : stream
}

/** Takes the first record away, hands it to `onHeader`, and ends what is left with a line end. */
function cutHeader(enclosure: string, onHeader: (header: string) => void): Transform {
  let held: Buffer | undefined = Buffer.alloc(0)
  let last = 0x0a
  const pass = (chunk: Buffer): Buffer => {
    last = chunk.at(-1) ?? last
    return chunk
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!held) return done(null, pass(chunk))
      held = Buffer.concat([held, chunk])
      const end = recordEnd(held.subarray(0, HEADER_BYTES).toString('latin1'), enclosure)
      if (end === 0 && held.length <= HEADER_BYTES) return done()
      finishHeader(end, done)
    },
    flush(done) {
      if (held && held.length > 0) return finishHeader(held.length, done)
      done(null, last === 0x0a ? undefined : '\n')
    },
  })

  function finishHeader(end: number, done: (error: Error | null, data?: Buffer) => void): void {
    const all = held ?? Buffer.alloc(0)
    held = undefined
    try {
      if (end === 0) throw new UserError(`The first line of a file is longer than ${HEADER_BYTES} bytes: is it a CSV file?`)
      onHeader(
        all
          .subarray(0, end)
          .toString('utf8')
          .replace(/^\ufeff/, '')
          .replace(/[\r\n]+$/, ''),
      )
      done(null, pass(all.subarray(end)))
    } catch (error) {
      done(error as Error) // of onHeader
    }
  }
}

/** Behind the first line end outside of quotes; 0 when there is none. */
function recordEnd(text: string, enclosure: string): number {
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    if (text[at] === enclosure) isQuoted = !isQuoted
    else if (text[at] === '\n' && !isQuoted) return at + 1
  }
  return 0
}

function splitHeader(header: string, delimiter: string, enclosure: string): string[] {
  const names: string[] = []
  let name = ''
  let isQuoted = false
  for (let at = 0; at < header.length; at++) {
    const character = header[at]!
    if (isQuoted && character === enclosure && header[at + 1] === enclosure) name += header[at++]
    else if (character === enclosure) isQuoted = !isQuoted
    else if (character === delimiter && !isQuoted) {
      names.push(name)
      name = ''
    } else name += character
  }
  return [...names, name]
}

async function copyFile(dataDir: string, path: string, handle: FileHandle, tags: unknown): Promise<void> {
  const target = join(dataDir, 'out', 'files', path.replaceAll('/', '_'))
  await pipeline(handle.createReadStream(), createWriteStream(target))
  const list = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  await writeFile(`${target}.manifest`, JSON.stringify({ tags: [...list, `name:${basename(path)}`], is_permanent: false }))
}

function choiceOf<const T extends string>(value: unknown, name: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value)
  if (!found) throw new UserError(`"${name}" is ${JSON.stringify(value)}; there are ${choices.join(', ')}.`)
  return found
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string' || value.length !== 1) throw new UserError(`"${name}" is not one character.`)
  return value
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
