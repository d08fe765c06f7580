// A folder of built files in memory: a request for one never touches the disk, and an address can never lead out of the folder.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

export interface StaticFile {
  readonly type: string
  readonly bytes: Buffer
  /** The same, compressed on first use; undefined where that saves nothing. */
  brotli(): Promise<Buffer | undefined>
  readonly etag: string
}

/** By path below the folder, with forward slashes. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}
const compress = promisify(brotliCompress)
const BROTLI_LEVEL = 5

/** Empty when the folder is not there. */
export async function readStaticFiles(folder: string): Promise<StaticFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
  const read = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(folder.length + 1).replaceAll(sep, '/'), await staticFile(path)] as const
  })
  return new Map(await Promise.all(read))
}

async function staticFile(path: string): Promise<StaticFile> {
  const bytes = await readFile(path)
  const pack = async (): Promise<Buffer | undefined> => {
    const packed = await compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } })
    return packed.length < bytes.length ? packed : undefined
  }
  let packed: Promise<Buffer | undefined> | undefined
  let etag: string | undefined
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    bytes,
    brotli() {
      packed ??= pack()
      return packed
    },
    get etag() {
      etag ??= `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      return etag
    },
  }
}
