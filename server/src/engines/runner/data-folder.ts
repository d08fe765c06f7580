// The data folder of the common interface (spec platform 1.2): what a component reads and writes, and nothing else.
//  (1) The folder is private to the server's user. It holds the only clear copy of the secrets, and no file when the run is over.
//  (2) Nothing a component left is read before refuseLinkedFolders() and refuseStrangers() have seen it: plain files and folders only,
//      no link out of it, neither as a file nor as one of the folders on the way.
//  (3) Between two programs of a run, `out` becomes `in`; what a program does not pass on is lost.
// Single names and small files are read, written and removed synchronously: the system does that in its memory, and the way through
// Node's threads costs ten times as much. What grows with data takes that way.

import {
  constants,
  createWriteStream,
  type Dirent,
  lstatSync,
  readdirSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { chmod, lstat, mkdir, open, opendir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { named, PlatformError } from '../../kit/errors.ts'
import { mapBounded } from '../../kit/map-bounded.ts'

export interface DataFolder {
  /** Holds `data` and `tmp`; removed as a whole. */
  readonly root: string
  readonly data: string
  readonly tmp: string
  readonly withArtifacts: boolean
}

const FOLDERS = ['in/tables', 'in/files', 'in/user', 'out/tables', 'out/files']
const LEVELS = [['data', 'tmp'], ['data/in', 'data/out'], FOLDERS.map((path) => `data/${path}`)] as const
const ARTIFACT_LEVELS = [
  LEVELS[0],
  [...LEVELS[1], 'data/artifacts'],
  [...LEVELS[2], 'data/artifacts/out'],
  ['data/artifacts/out/current', 'data/artifacts/out/shared'],
] as const

/** Folder by folder, each with the names in it. */
const layoutOf = (levels: readonly (readonly string[])[]) =>
  ['.', ...levels.flat()].map((path, _, paths) => ({
    path,
    names: new Set(paths.filter((one) => one !== '.' && dirname(one) === path).map((one) => basename(one))),
  }))
const LAYOUT = layoutOf(LEVELS)
const ARTIFACT_LAYOUT = layoutOf(ARTIFACT_LEVELS)

/** What is made below `root`, level by level: most runs add next to nothing, and it goes without a look through all of it. */
const levelsOf = ({ withArtifacts }: Pick<DataFolder, 'withArtifacts'>) => (withArtifacts ? ARTIFACT_LEVELS : LEVELS)

export const folderAt = (root: string, withArtifacts: boolean): DataFolder => ({
  root,
  data: join(root, 'data'),
  tmp: join(root, 'tmp'),
  withArtifacts,
})

/** Makes an empty data folder under `root`, which must not exist yet. */
export async function createDataFolder(root: string, withArtifacts = false): Promise<DataFolder> {
  const folder = folderAt(root, withArtifacts)
  await mkdir(root, { mode: 0o700 })
  for (const level of levelsOf(folder)) await Promise.all(level.map((path) => mkdir(join(root, path))))
  return folder
}

export async function removeDataFolder(folder: DataFolder): Promise<void> {
  try {
    removeOwnFiles(folder)
    await removeLevels(folder)
  } catch {
    await removeTree(folder.root)
  }
}

/** What every run has in its folder; fails when a program took one of them away, or bent the way there. */
function removeOwnFiles(folder: DataFolder): void {
  refuseLinkedFolders(folder)
  for (const path of ['config.json', 'in/state.json']) unlinkSync(join(folder.data, path))
}

/** Fails when anything lies in the folder. */
async function removeLevels(folder: DataFolder): Promise<void> {
  for (const level of levelsOf(folder).toReversed()) await Promise.all(level.map((path) => rmdir(join(folder.root, path))))
  await rmdir(folder.root)
}

/** Takes the platform's own files out of a folder; true when it is then as it was made, in every respect a program could change. */
export function emptyDataFolder(folder: DataFolder): boolean {
  try {
    removeOwnFiles(folder)
    return isAsMade(folder)
  } catch {
    return false
  }
}

const isAsMade = ({ root, withArtifacts }: DataFolder): boolean =>
  (withArtifacts ? ARTIFACT_LAYOUT : LAYOUT).every(({ path, names }) => {
    const full = join(root, path)
    const stat = lstatSync(full)
    return isOurs(stat) && holdsOnly(full, stat, names)
  })

const OWNER_ALL = 0o700
/** All rights of the owner, and the three that are more than rights. */
const TELLING_MODE = 0o7700
/** No file system needs this much for a handful of names. */
const SMALL_FOLDER_BYTES = 2 ** 16

const isOurs = (stat: Stats): boolean =>
  stat.isDirectory() && (stat.mode & TELLING_MODE) === OWNER_ALL && stat.uid === process.getuid?.()

/** Never reads the names of a large folder. */
const holdsOnly = (path: string, stat: Stats, names: ReadonlySet<string>): boolean =>
  stat.size <= SMALL_FOLDER_BYTES && readdirSync(path).every((name) => names.has(name))

const NOTHING: ReadonlySet<string> = new Set()

function isEmptyFolder(path: string): boolean {
  try {
    const stat = lstatSync(path)
    return stat.isDirectory() && holdsOnly(path, stat, NOTHING)
  } catch {
    return false // gone, or not readable: the caller examines it
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Gives a folder another name, and with it another run: no path of the run before leads into it. */
export function renameDataFolder(folder: DataFolder, root: string): DataFolder {
  renameSync(folder.root, root)
  return folderAt(root, folder.withArtifacts)
}

export type FileFormat = 'json' | 'yaml'

/** `text` is what the program gets, secrets in clear: written for this one program, readable only by it. */
export const writeConfigFile = (folder: DataFolder, text: string, format: FileFormat = 'json'): Promise<void> =>
  writeSecretFile(join(folder.data, nameOf('config', format)), text)

/** Code that a user wrote, where its program reads it. */
export async function writeProgramFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeSecretFile(path, text)
}

export const writeStateFile = (folder: DataFolder, text: string, format: FileFormat = 'json'): Promise<void> =>
  writeSecretFile(join(folder.data, 'in', nameOf('state', format)), text)

const nameOf = (name: string, format: FileFormat): string => `${name}.${format === 'yaml' ? 'yml' : 'json'}`

const SMALL_FILE_CHARS = 2 ** 16

/** A program before this one may have left anything in its place: that goes, and nothing is ever written through a link. */
async function writeSecretFile(path: string, text: string): Promise<void> {
  const isNew = { mode: 0o600, flag: 'wx' }
  const write = async () => (text.length <= SMALL_FILE_CHARS ? writeFileSync(path, text, isNew) : writeFile(path, text, isNew))
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
 * for below: a path may lead through a link unnoticed.
 */
export function refuseLinkedFolders(folder: DataFolder): void {
  for (const path of levelsOf(folder).slice(0, -1).flat()) {
    const full = join(folder.root, path)
    const stat = statOf(full)
    if (stat && !stat.isDirectory())
      throw new PlatformError('runner.unsafeOutput', { path: relative(folder.data, full) || 'data', kind: kindOf(stat) })
  }
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
  const stat = statOf(full)
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
  if (isEmptyFolder(full)) return []
  await refuseStrangers(folder, path)
  const names: string[] = []
  for await (const { name } of namesIn(full)) names.push(name)
  return mapBounded(names.sort(), LOOKS_AT_ONCE, async (name) => {
    const stat = await lstat(join(full, name)).catch((cause) => {
      throw named('runner.unsafeOutput', { path: `${path}/${name}`, kind: 'name that is not valid UTF-8' }, cause)
    })
    return { name, path: join(full, name), isFolder: stat.isDirectory(), sizeBytes: stat.size }
  })
}

/** As long as disks allow with a manifest beside it. */
const MAX_NAME_BYTES = 240

/** Where the platform writes a result itself. `name` is of a program or a user: one name directly in the folder, and no way out of it. */
export function outputPath(folder: DataFolder, path: string, name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name) || Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw new PlatformError('runner.unsafeName', { name: name.slice(0, 120), path })
  return join(folder.data, path, name)
}

/** A folder of outputs without what a program left in it. To be called after refuseLinkedFolders(). */
export async function clearOutputs(folder: DataFolder, path: string): Promise<void> {
  await rm(join(folder.data, path), { recursive: true, force: true })
  await mkdir(join(folder.data, path))
}

/** Fails when there are more files below these folders than `most`. Looks at one more than that, however many there are. */
export async function refuseTooMany(folder: DataFolder, paths: readonly string[], max: number): Promise<void> {
  let found = 0
  for (const path of paths.filter((one) => !isEmptyFolder(join(folder.data, one)))) {
    for await (const { kind } of walk(join(folder.data, path)))
      if (kind === 'file' && ++found > max) throw new PlatformError('runner.tooManyResults', { max })
  }
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
  for await (const entry of namesIn(path)) {
    const full = join(path, entry.name)
    if (entry.isDirectory()) yield* walk(full)
    else if (entry.isFile()) yield { path: full, kind: 'file' }
    else yield { path: full, kind: 'other', what: kindOf(entry) }
  }
}

/** Name by name, so that a folder of millions costs no more memory than one of a few; a folder that is closed to us or gone has none. */
async function* namesIn(path: string): AsyncGenerator<Dirent> {
  const opened = await opendir(path, { bufferSize: NAMES_AT_ONCE }).catch(() => undefined)
  if (opened) yield* opened // which closes it at its end
}

const NAMES_AT_ONCE = 256
const LOOKS_AT_ONCE = 16

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

/** A file of the platform's own in a data folder: a manifest. */
export const writeDataFile = (path: string, text: string): Promise<void> => writeFile(path, text)

/** Bytes of the platform into a file of the folder. */
export async function receiveFile(path: string, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await pipeline(body, createWriteStream(path), { signal })
}

const READ_BYTES = 2 ** 18

/** A file of the folder as bytes; never through a link, however it came there. */
export async function* sendFile(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const { size } = await handle.stat()
  // A buffer is as large as what is read at once: thousands of small files must not take thousands of large ones.
  const highWaterMark = Math.min(READ_BYTES, Math.max(size, 1))
  yield* handle.createReadStream({ highWaterMark }) // closes the handle at its end
}

/** A folder that programs wrote into and keep between runs, when it is no longer needed. */
export const removeWritable = (path: string): Promise<void> => rm(path, { recursive: true, force: true })
