// Archives of artifacts: tar in gzip (POSIX 1003.1, pax), plain files only. Written by us, read by us and by any tar; what is
// read may come from any user, so no name leads out of the folder and no archive grows beyond its limit.

import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { defined } from '../../kit/defined.ts'
import { named, PlatformError } from '../../kit/errors.ts'
import { listSlices } from './data-folder.ts'

const BLOCK = 512
const PLAIN = new Set(['0', '\0'])
const PAX = 'x'
const LARGEST_PAX = 2 ** 20

/** Packs the plain files under a folder into a file; the caller has refused everything else that may lie there. */
export async function packFolder(folder: string, archive: string, signal: AbortSignal): Promise<void> {
  const names = await listSlices(folder)
  await pipeline(Readable.from(packed(folder, names)), createGzip({ level: 3 }), createWriteStream(archive), { signal })
}

async function* packed(folder: string, names: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const name of names) {
    const path = join(folder, name)
    const { size } = await lstat(path)
    const long = Buffer.byteLength(name) > 100 || size >= 8 ** 11 || /[^\x20-\x7e]/.test(name)
    if (long) yield* entry('pax', PAX, Buffer.from(paxRecord('path', name) + paxRecord('size', String(size))))
    yield header(long ? 'file' : name, '0', size)
    if (size > 0) yield* createReadStream(path, { end: size - 1 })
    yield padding(size)
  }
  yield Buffer.alloc(2 * BLOCK)
}

function* entry(name: string, type: string, content: Buffer): Generator<Uint8Array> {
  yield header(name, type, content.length)
  yield content
  yield padding(content.length)
}

/** `23 path=some/long/name\n`, where the number counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes
  while (length !== bytes + String(length).length) length = bytes + String(length).length
  return `${length}${rest}`
}

function header(name: string, type: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0, 100)
  block.write('0000644\0', 100)
  block.write('0000000\0', 108)
  block.write('0000000\0', 116)
  block.write(
    `${Math.min(size, 8 ** 11 - 1)
      .toString(8)
      .padStart(11, '0')}\0`,
    124,
  )
  block.write(`${'0'.repeat(11)}\0`, 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

/** Unpacks plain files below `folder` and removes the archive. Folders, links and whatever else it may hold are passed over. */
export async function unpackFile(folder: string, archive: string, limitBytes: number, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(
      createReadStream(archive),
      createGunzip(),
      (source: AsyncIterable<Buffer>) => unpack(folder, createBlocks(source, limitBytes)),
      { signal },
    )
  } catch (cause) {
    throw named('runner.invalidArchive', { reason: cause instanceof Error ? cause.message : '' }, cause)
  } finally {
    await rm(archive, { force: true })
  }
}

async function unpack(folder: string, blocks: Blocks): Promise<void> {
  let long: { readonly path?: string; readonly size?: number } = {}
  for (;;) {
    const block = await blocks.take(BLOCK)
    if (block.length === 0 || block.every((byte) => byte === 0)) break
    const type = String.fromCharCode(block[156]!)
    const size = long.size ?? octal(block.subarray(124, 136))
    if (type === PAX) {
      if (size > LARGEST_PAX) throw new PlatformError('runner.invalidArchive', { reason: 'one of its names is too long' })
      long = readPax((await collect(blocks.stream(size))).toString('utf8'))
      await blocks.take(padding(size).length)
      continue
    }
    const name = long.path ?? fullName(block)
    if (PLAIN.has(type)) await receive(join(folder, safePath(name)), blocks.stream(size))
    else for await (const _ of blocks.stream(size));
    await blocks.take(padding(size).length)
    long = {}
  }
  await blocks.drain()
}

async function receive(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await pipeline(content, createWriteStream(path))
}

function safePath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.includes('..') || name.includes('\0'))
    throw new PlatformError('runner.invalidArchive', { reason: `"${name.slice(0, 100)}" is not a valid name of a file in it` })
  return parts.join('/')
}

function fullName(block: Buffer): string {
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? text(block.subarray(345, 500)) : ''
  return (prefix === '' ? '' : `${prefix}/`) + text(block.subarray(0, 100))
}

const text = (field: Buffer): string => field.toString('utf8').replace(/\0.*$/s, '')

function octal(field: Buffer): number {
  const digits = text(field).trim()
  if (!/^[0-7]{1,11}$/.test(digits)) throw new PlatformError('runner.invalidArchive', { reason: 'it is not a tar archive' })
  return Number.parseInt(digits, 8)
}

function readPax(records: string): { readonly path?: string; readonly size?: number } {
  const value = (key: string) => new RegExp(`(?:^|\\n)\\d+ ${key}=([^\\n]*)`).exec(records)?.[1]
  const [path, size] = [value('path'), value('size')]
  return { ...defined({ path }), ...(size !== undefined && /^\d{1,15}$/.test(size) && { size: Number(size) }) }
}

interface Blocks {
  /** Exactly so many bytes; fewer only when the archive has ended at once. */
  take(bytes: number): Promise<Buffer>
  stream(bytes: number): AsyncGenerator<Buffer>
  drain(): Promise<void>
}

function createBlocks(source: AsyncIterable<Buffer>, limitBytes: number): Blocks {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  let read = 0

  async function more(): Promise<boolean> {
    const { value, done } = await chunks.next()
    if (done) return false
    read += value.length
    if (read > limitBytes)
      throw new PlatformError('runner.invalidArchive', { reason: `unpacked it has more than ${limitBytes} bytes` })
    rest = rest.length === 0 ? value : Buffer.concat([rest, value])
    return true
  }

  async function* stream(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (rest.length === 0 && !(await more())) throw new PlatformError('runner.invalidArchive', { reason: 'it ends too early' })
      const piece = rest.subarray(0, left)
      rest = rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }

  return {
    stream,
    async take(bytes) {
      if (bytes > 0 && rest.length === 0 && !(await more())) return Buffer.alloc(0)
      return collect(stream(bytes))
    },
    async drain() {
      rest = Buffer.alloc(0)
      while (await more()) rest = Buffer.alloc(0)
    },
  }
}

async function collect(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}
