// The data folder of the common interface (platform contract 1.2): what a component reads and writes, and nothing else.
//  (1) The folder is private to the server's user, and gone after the run: it holds the only clear copy of the secrets.
//  (2) Nothing a component left is read before refuseLinkedFolders() and refuseStrangers() have seen it: plain files and folders only,
//      no link out of it, neither as a file nor as one of the folders on the way.
//  (3) Between two programs of a run, `out` becomes `in`; what a program does not hand on is lost.

import { constants, createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { named, PlatformError } from '../../kit/errors.ts'

export interface DataFolder {
  /** Holds `data` and `tmp`; removed as a whole. */
  readonly root: string
  readonly data: string
  readonly tmp: string
  /** What was made below `root`, level by level: most runs add next to nothing, and it goes without a look through all of it. */
  readonly levels: readonly (readonly string[])[]
}

const FOLDERS = ['in/tables', 'in/files', 'in/user', 'out/tables', 'out/files']
const LEVELS = [['data', 'tmp'], ['data/in', 'data/out'], FOLDERS.map((path) => `data/${path}`)] as const
const WITH_ARTIFACTS = [
  LEVELS[0],
  [...LEVELS[1], 'data/artifacts'],
  [...LEVELS[2], 'data/artifacts/out'],
  ['data/artifacts/out/current', 'data/artifacts/out/shared'],
] as const

/** Makes an empty data folder under `root`, which must not exist yet. */
export async function createDataFolder(root: string, withArtifacts = false): Promise<DataFolder> {
  const levels = withArtifacts ? WITH_ARTIFACTS : LEVELS
  await mkdir(root, { mode: 0o700 })
  for (const level of levels) await Promise.all(level.map((path) => mkdir(join(root, path))))
  return { root, data: join(root, 'data'), tmp: join(root, 'tmp'), levels }
}

export async function removeDataFolder(folder: DataFolder): Promise<void> {
  const { root, data, levels } = folder
  try {
    await refuseLinkedFolders(folder)
    await Promise.all([unlink(join(data, 'config.json')), unlink(join(data, 'in/state.json'))])
    for (const level of levels.toReversed()) await Promise.all(level.map((path) => rmdir(join(root, path))))
    await rmdir(root)
  } catch {
    await removeTree(root)
  }
}

export type FileFormat = 'json' | 'yaml'

/** `text` is what the program gets, secrets in clear: written for this one program, readable by nobody else. */
export const writeConfigFile = (folder: DataFolder, text: string, format: FileFormat = 'json'): Promise<void> =>
  writeSecretFile(join(folder.data, nameOf('config', format)), text)

export const writeStateFile = (folder: DataFolder, text: string, format: FileFormat = 'json'): Promise<void> =>
  writeSecretFile(join(folder.data, 'in', nameOf('state', format)), text)

const nameOf = (name: string, format: FileFormat): string => `${name}.${format === 'yaml' ? 'yml' : 'json'}`

/** A program before this one may have left anything in its place: that goes, and nothing is ever written through a link. */
async function writeSecretFile(path: string, text: string): Promise<void> {
  const write = () => writeFile(path, text, { mode: 0o600, flag: 'wx' })
  await write().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    await removeTree(path)
    await write()
  })
}

/** `out` becomes `in` for the next program, with an empty `out` and an empty scratch folder. By (2), only when it is harmless. */
export async function handOver(folder: DataFolder): Promise<void> {
  await refuseStrangers(folder, 'out')
  await removeTree(join(folder.data, 'config.json'))
  await removeTree(join(folder.data, 'config.yml'))
  await removeTree(join(folder.data, 'in'))
  await removeTree(join(folder.data, 'out/state.json'))
  await rename(join(folder.data, 'out'), join(folder.data, 'in'))
  await emptyTmp(folder)
  await Promise.all(FOLDERS.map((path) => mkdir(join(folder.data, path), { recursive: true })))
}

async function emptyTmp(folder: DataFolder): Promise<void> {
  await removeTree(folder.tmp)
  await mkdir(folder.tmp, { recursive: true })
}

/**
 * Fails when a folder that the platform made is not one any more. To be called when a program has ended, before anything is looked
 * for below: a path leads through a link without telling.
 */
export async function refuseLinkedFolders({ root, data, levels }: DataFolder): Promise<void> {
  const folders = levels.slice(0, -1).flat()
  await Promise.all(
    folders.map(async (path) => {
      const stat = await lstat(join(root, path)).catch(() => undefined)
      if (stat && !stat.isDirectory())
        throw new PlatformError('runner.unsafeOutput', { path: relative(data, join(root, path)) || 'data', kind: kindOf(stat) })
    }),
  )
}

/** Fails when anything under `path` is not a plain file or folder. To be called before any of it is read. */
export async function refuseStrangers(folder: DataFolder, path: string): Promise<void> {
  for await (const entry of walk(join(folder.data, path))) {
    if (entry.kind === 'other')
      throw new PlatformError('runner.unsafeOutput', { path: relative(folder.data, entry.path), kind: entry.what })
  }
}

/** A file the component may have written, as text; undefined when there is none. Larger ones than `limit` are refused. */
export async function readOutput(folder: DataFolder, path: string, limitBytes: number): Promise<string | undefined> {
  const full = join(folder.data, path)
  const stat = await lstat(full).catch(() => undefined)
  if (!stat) return undefined
  if (!stat.isFile()) throw new PlatformError('runner.unsafeOutput', { path, kind: kindOf(stat) })
  if (stat.size > limitBytes) throw new PlatformError('runner.outputTooLarge', { path, size: stat.size, limit: limitBytes })
  return readFile(full, 'utf8')
}

export interface OutputEntry {
  readonly name: string
  readonly path: string
  readonly isFolder: boolean
  readonly sizeBytes: number
}

/** Files and folders directly in a folder of outputs, sorted by name; names that are not UTF-8 cannot be stored and are refused. */
export async function listOutputs(folder: DataFolder, path: string): Promise<OutputEntry[]> {
  const full = join(folder.data, path)
  await refuseStrangers(folder, path)
  const names = await readdir(full).catch(() => [])
  const entries = names.sort().map(async (name) => {
    const stat = await lstat(join(full, name)).catch((cause) => {
      throw named('runner.unsafeOutput', { path: `${path}/${name}`, kind: 'name that is not valid UTF-8' }, cause)
    })
    return { name, path: join(full, name), isFolder: stat.isDirectory(), sizeBytes: stat.size }
  })
  return Promise.all(entries)
}

/** Plain files under a folder, relative to it, sorted: the slices of a sliced table. */
export async function listSlices(path: string): Promise<string[]> {
  const slices: string[] = []
  for await (const entry of walk(path)) if (entry.kind === 'file') slices.push(relative(path, entry.path))
  return slices.sort()
}

/** The bytes that lie under a folder now, links not followed. What disappears while we look counts as nothing. */
export async function sizeOf(path: string): Promise<number> {
  let total = 0
  for await (const entry of walk(path))
    if (entry.kind === 'file') total += (await lstat(entry.path).catch(() => undefined))?.size ?? 0
  return total
}

type Walked = { readonly path: string } & (
  | { readonly kind: 'file' | 'folder' }
  | { readonly kind: 'other'; readonly what: string }
)

async function* walk(path: string): AsyncGenerator<Walked> {
  const stat = await lstat(path).catch(() => undefined)
  if (!stat) return
  if (!stat.isDirectory()) {
    yield stat.isFile() ? { path, kind: 'file' } : { path, kind: 'other', what: kindOf(stat) }
    return
  }
  yield { path, kind: 'folder' }
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const full = join(path, entry.name)
    if (entry.isDirectory()) yield* walk(full)
    else if (entry.isFile()) yield { path: full, kind: 'file' }
    else yield { path: full, kind: 'other', what: kindOf(entry) }
  }
}

interface Kinds {
  isSymbolicLink(): boolean
  isFIFO(): boolean
  isSocket(): boolean
  isDirectory(): boolean
}

const kindOf = (stat: Kinds): string =>
  stat.isSymbolicLink()
    ? 'symbolic link'
    : stat.isFIFO()
      ? 'pipe'
      : stat.isSocket()
        ? 'socket'
        : stat.isDirectory()
          ? 'folder'
          : 'device'

/** Removes a tree also when a component took away its own right to enter a folder. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    for await (const entry of walk(path)) if (entry.kind === 'folder') await chmod(entry.path, 0o700).catch(() => {})
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Puts what was written into a file beyond the reach of a power loss. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

/** A file of the platform's own in a data folder: a manifest. */
export const writeDataFile = (path: string, text: string): Promise<void> => writeFile(path, text)

/** Bytes of the platform into a file of the folder. */
export async function receiveFile(path: string, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await pipeline(body, createWriteStream(path), { signal })
}

/** A file of the folder as bytes; never through a link, however it came there. */
export async function* sendFile(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  yield* handle.createReadStream({ highWaterMark: 2 ** 18 }) // closes the handle at its end
}
