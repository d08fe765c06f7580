// What the single executable runs: unpacks the program that it carries once, checks what it unpacked, and becomes that program (ADR 0058).
// Node starts worker processes by the path of a file, and native code has to be a file as well, so nothing can run out of the executable.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { zstdDecompressSync } from 'node:zlib'
import { homeFolder } from '../../server/src/kit/machine/home-folder.ts'
import { type PackedFile, type PackedIndex, sha256 } from './packed.ts'

const index = JSON.parse(getAsset('index', 'utf8')) as PackedIndex // made by executable.ts
const folder = join(runtimeFolder(), `${index.version}-${index.digest.slice(0, 16)}`)

try {
  if (!isUnpacked()) unpack()
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  const megabytes = Math.ceil(index.files.reduce((sum, { size }) => sum + size, 0) / 1e6)
  const reason =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? `There is not enough space for ${megabytes} MB.`
      : code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR'
        ? 'The folder is not writable.'
        : message
  stop(`The program could not be unpacked to ${folder}. ${reason}`)
}
start()

function stop(problem: string): never {
  console.error(`millrace: ${problem} Set MILLRACE_RUNTIME_DIR to another folder.`)
  process.exit(1)
}

/** Of the user, not of a data folder: commands that only talk to a stack need the program as well. */
function runtimeFolder(): string {
  const { MILLRACE_RUNTIME_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  if (MILLRACE_RUNTIME_DIR) return resolve(MILLRACE_RUNTIME_DIR)
  const home = homeFolder()
  const caches = XDG_CACHE_HOME || LOCALAPPDATA || (home && join(home, '.cache'))
  if (!caches) stop('This user has no home folder to unpack the program to.')
  return join(caches, 'millrace')
}

/** Whether everything is there: native code by its checksum, other files by their size. */
function isUnpacked(): boolean {
  try {
    const { uid } = statSync(folder)
    if (process.getuid && uid !== process.getuid() && uid !== 0)
      throw Object.assign(new Error('The folder belongs to another user.'), { code: 'OTHER_OWNER' })
    return index.files.every(isWhole)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

function isWhole({ path, size, digest, isNative }: PackedFile): boolean {
  const file = join(folder, path)
  if (statSync(file).size !== size) return false
  return !isNative || sha256(readFileSync(file)) === digest
}

/** Beside its place first: what is found there is whole, whatever happens in between. */
function unpack(): void {
  console.error(`millrace: Unpacking to ${folder} (once for each version).`)
  const fresh = `${folder}.${process.pid}`
  try {
    const bytes = zstdDecompressSync(Buffer.from(getRawAsset('files')))
    let at = 0
    for (const packed of index.files) {
      write(join(fresh, packed.path), bytes.subarray(at, at + packed.size), packed)
      at += packed.size
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (!isUnpacked()) throw error // another start was faster
  }
}

function write(file: string, bytes: Buffer, { path, digest, isProgram }: PackedFile): void {
  if (sha256(bytes) !== digest)
    throw new Error(`${path} has not the expected content: the executable is damaged. Download it again.`)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const target = openSync(file, 'wx')
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(target, bytes, written)
    fsyncSync(target)
  } finally {
    closeSync(target)
  }
  if (isProgram) chmodSync(file, 0o755)
}

function start(): void {
  const node = join(folder, index.node)
  const args = [join(folder, index.main), ...process.argv.slice(2)]
  const env = { ...process.env, MILLRACE_EXECUTABLE: process.execPath }
  if (process.platform !== 'win32') {
    process.on('warning', () => {}) // execve is experimental
    process.execve?.(node, [node, ...args], env)
  }
  const { status } = spawnSync(node, args, { stdio: 'inherit', env })
  process.exit(status ?? 1)
}
