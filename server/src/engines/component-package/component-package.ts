// The folder of a component as one value: packed with what it takes to run it elsewhere, unpacked whole or not at all.

import { createHash, randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const MAX_BYTES = 16 * 2 ** 20
const MAX_FILES = 2_000
const EXECUTABLE = 0o100
/** Set explicitly, since the umask of the server keeps its files to itself: on a node that is root, components run as another user. */
const FOR_ALL = { folder: 0o755, program: 0o755, file: 0o644 }

interface PackedFile {
  readonly path: string
  readonly isExecutable: boolean
  /** Base64. */
  readonly content: string
}

interface FoundFile {
  readonly path: string
  readonly isExecutable: boolean
  readonly stamp: string
}

export type Folder =
  | { readonly ok: true; readonly files: readonly FoundFile[] /** Changes when a file does. */; readonly stamp: string }
  | { readonly ok: false; readonly reason: string }

export interface Package {
  readonly digest: string
  readonly bytes: Uint8Array
}

/** Looks at the files without reading them. */
export async function lookAtFolder(folder: string): Promise<Folder> {
  const files: FoundFile[] = []
  let bytes = 0
  const open = ['']
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const names = await readdir(join(folder, at)).catch(() => undefined)
    if (!names) return { ok: false, reason: 'its folder cannot be read' }
    for (const name of names) {
      const path = at === '' ? name : `${at}/${name}`
      const stat = await lstat(join(folder, path)).catch(() => undefined)
      if (!stat) continue // gone while we looked; the next look sees the rest
      if (stat.isDirectory()) open.push(path)
      else if (!stat.isFile()) return { ok: false, reason: `"${path}" in its folder is not a plain file` }
      else {
        files.push({ path, isExecutable: (stat.mode & EXECUTABLE) !== 0, stamp: `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` })
        bytes += stat.size
      }
      if (files.length > MAX_FILES) return { ok: false, reason: `its folder has more than ${MAX_FILES} files` }
      if (bytes > MAX_BYTES) return { ok: false, reason: `its folder has more than ${MAX_BYTES >> 20} MiB` }
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { ok: true, files, stamp: JSON.stringify(files) }
}

export async function packFolder(folder: string, files: readonly FoundFile[]): Promise<Package> {
  const packed: PackedFile[] = []
  for (const { path, isExecutable } of files)
    packed.push({ path, isExecutable, content: (await readFile(join(folder, path))).toString('base64') })
  const text = JSON.stringify(packed)
  // Of the content and not of the packed bytes: another zlib may pack differently.
  return { digest: createHash('sha256').update(text).digest('hex'), bytes: await pack(text) }
}

/** Returns the folder with the files; `fetchBytes` is called only when it does not exist yet. */
export async function unpackOnce(cache: string, digest: string, fetchBytes: () => Promise<Uint8Array>): Promise<string> {
  const folder = join(cache, digest)
  if (await isReadable(folder)) return folder
  const text = (await unpack(await fetchBytes(), { maxOutputLength: 2 * MAX_BYTES })).toString('utf8')
  if (createHash('sha256').update(text).digest('hex') !== digest) throw new Error(`The package ${digest} is damaged.`)
  const part = join(cache, `${digest}.${randomUUID()}`)
  for (const { path, isExecutable, content } of JSON.parse(text) as readonly PackedFile[]) {
    if (path.split('/').includes('..')) throw new Error(`The package ${digest} has a file outside its folder.`)
    const target = join(part, path)
    await makeFolders(part, dirname(path))
    await writeFile(target, Buffer.from(content, 'base64'))
    await chmod(target, isExecutable ? FOR_ALL.program : FOR_ALL.file)
  }
  await makeFolders(part, '.')
  if (!(await isReadable(folder))) await rm(folder, { recursive: true, force: true }) // unpacked by an older version
  await rename(part, folder).catch(async (error: unknown) => {
    await rm(part, { recursive: true, force: true })
    if (!(await isReadable(folder))) throw error // another run has just unpacked the same
  })
  return folder
}

/** Removes unpacked files that are no longer needed. Only while no component runs. */
export async function removeOthers(cache: string, digests: ReadonlySet<string>): Promise<void> {
  const names = await readdir(cache).catch(() => [])
  for (const name of names) if (!digests.has(name)) await rm(join(cache, name), { recursive: true, force: true })
}

const isReadable = (folder: string): Promise<boolean> =>
  stat(folder).then(
    ({ mode }) => (mode & FOR_ALL.folder) === FOR_ALL.folder,
    () => false,
  )

/** `path` below `root`, and `root` itself. */
async function makeFolders(root: string, path: string): Promise<void> {
  if (path !== '.') await makeFolders(root, dirname(path))
  const folder = join(root, path)
  await mkdir(folder, { recursive: true })
  await chmod(folder, FOR_ALL.folder)
}

const pack: (text: string) => Promise<Buffer> = promisify(gzip)
const unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer> = promisify(gunzip)
