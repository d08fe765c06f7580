// Reads a zip archive by its central directory: stored and deflated entries, sizes beyond 4 GB included.

import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createInflateRaw } from 'node:zlib'
import { UserError } from '../../http-extractor/src/errors.ts'

const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const ENTRY = 0x02014b50
const END_BYTES = 22
const LONGEST_COMMENT = 0xffff
const UNKNOWN_32 = 0xffffffff

interface Entry {
  readonly name: string
  readonly method: number
  readonly encrypted: boolean
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/** `place` returns where an entry goes, and refuses unsafe names. Folders appear with their first file. */
export async function unzip(path: string, place: (name: string) => Promise<string>): Promise<void> {
  const handle = await open(path, 'r')
  try {
    for (const entry of await readEntries(handle)) {
      if (entry.name.endsWith('/')) continue
      if (entry.encrypted) throw new UserError(`its entry "${entry.name}" is encrypted`)
      if (entry.method !== 0 && entry.method !== 8)
        throw new UserError(`its entry "${entry.name}" uses compression method ${entry.method}`)
      const header = await readAt(handle, entry.offset, 30)
      const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
      const target = createWriteStream(await place(entry.name))
      const packed = entry.packed === 0 ? Readable.from([]) : createReadStream(path, { start, end: start + entry.packed - 1 })
      if (entry.method === 8) await pipeline(packed, createInflateRaw(), target)
      else await pipeline(packed, target)
      if (target.bytesWritten !== entry.size) throw new UserError(`its entry "${entry.name}" is damaged`)
    }
  } finally {
    await handle.close()
  }
}

async function readEntries(handle: FileHandle): Promise<Entry[]> {
  const { offset, size } = await findDirectory(handle)
  const directory = await readAt(handle, offset, size)
  const entries: Entry[] = []
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === ENTRY; ) {
    const nameLength = directory.readUInt16LE(at + 28)
    const extraLength = directory.readUInt16LE(at + 30)
    const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength)
    const [fullSize, packed, start] = largeSizes(extra, [
      directory.readUInt32LE(at + 24),
      directory.readUInt32LE(at + 20),
      directory.readUInt32LE(at + 42),
    ])
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameLength).replaceAll('\\', '/'),
      method: directory.readUInt16LE(at + 10),
      encrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
      packed: packed!,
      size: fullSize!,
      offset: start!,
    })
    at += 46 + nameLength + extraLength + directory.readUInt16LE(at + 32)
  }
  return entries
}

async function findDirectory(handle: FileHandle): Promise<{ offset: number; size: number }> {
  const { size } = await handle.stat()
  const tailStart = Math.max(0, size - END_BYTES - LONGEST_COMMENT)
  const tail = await readAt(handle, tailStart, size - tailStart)
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END) continue
    if (at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR_64) {
      const end = await readAt(handle, Number(tail.readBigUInt64LE(at - 12)), 56)
      if (end.readUInt32LE(0) === END_64)
        return { size: Number(end.readBigUInt64LE(40)), offset: Number(end.readBigUInt64LE(48)) }
    }
    return { size: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) }
  }
  throw new UserError('it is not a zip archive')
}

/** Values that did not fit into 32 bits are in the extra field, in this order, those only. */
function largeSizes(extra: Buffer, values: readonly number[]): number[] {
  let at = 0
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== 1) at += 4 + extra.readUInt16LE(at + 2)
  let from = at + 4
  return values.map((value) => {
    if (value !== UNKNOWN_32 || from + 8 > extra.length) return value
    from += 8
    return Number(extra.readBigUInt64LE(from - 8))
  })
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw new UserError('it ends too early')
  return buffer
}
