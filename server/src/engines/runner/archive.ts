// A zip archive of a data folder, for people who look into a run. Texts are masked on their way in; large files are packed as they are.

import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw } from 'node:zlib'
import { type DataFolder, listSlices, refuseStrangers } from './data-folder.ts'
import type { Mask } from './mask.ts'

/** Up to here a file is read whole and its secrets are hidden; beyond it is data, line by line. */
const MASKED_BYTES = 32 * 2 ** 20
const DEFLATED = 8
const SIZES_FOLLOW_AND_UTF8 = 0x0808

interface Entry {
  readonly name: Buffer
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/** Writes the archive beside the data folder and answers its path; it goes with the folder. */
export async function zipFolder(folder: DataFolder, name: string, mask: Mask): Promise<string> {
  const path = join(folder.root, name)
  await refuseStrangers(folder, '.')
  const paths = await listSlices(folder.data)
  await pipeline(
    Readable.from(
      zipped(
        paths.map((one) => ({ name: one, path: join(folder.data, one) })),
        mask,
      ),
    ),
    createWriteStream(path),
  )
  return path
}

async function* zipped(files: readonly { readonly name: string; readonly path: string }[], mask: Mask): AsyncGenerator<Buffer> {
  const entries: Entry[] = []
  let offset = 0
  for (const file of files) {
    const name = Buffer.from(file.name)
    const start = offset
    const header = localHeader(name)
    yield header
    offset += header.length
    let crc = 0
    let size = 0
    let packed = 0
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of await contentOf(file.path, mask)) {
        crc = crc32(chunk, crc)
        size += chunk.length
        yield chunk
      }
    }
    for await (const chunk of Readable.from(counted()).pipe(createDeflateRaw({ level: 3 })) as AsyncIterable<Buffer>) {
      packed += chunk.length
      yield chunk
    }
    const entry = { name, crc, packed, size, offset: start }
    const descriptor = Buffer.concat([Buffer.from('PK\x07\x08'), sizesOf(entry)])
    yield descriptor
    offset += packed + descriptor.length
    entries.push(entry)
  }
  yield directoryOf(entries, offset)
}

async function contentOf(path: string, mask: Mask): Promise<AsyncIterable<Buffer>> {
  const { size } = await lstat(path)
  if (size > MASKED_BYTES) return createReadStream(path)
  const bytes = await readFile(path)
  const text = bytes.toString('utf8')
  // Bytes that are no text stay as they are; a text with a secret in it never does.
  const masked = mask(text)
  return Readable.from([masked === text ? bytes : Buffer.from(masked)])
}

function sizesOf({ crc, packed, size }: Pick<Entry, 'crc' | 'packed' | 'size'>): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32LE(crc, 0)
  bytes.writeUInt32LE(packed, 4)
  bytes.writeUInt32LE(size, 8)
  return bytes
}

function localHeader(name: Buffer): Buffer {
  const bytes = Buffer.alloc(30)
  bytes.writeUInt32LE(0x04034b50, 0)
  bytes.writeUInt16LE(20, 4)
  bytes.writeUInt16LE(SIZES_FOLLOW_AND_UTF8, 6)
  bytes.writeUInt16LE(DEFLATED, 8)
  bytes.writeUInt16LE(name.length, 26)
  return Buffer.concat([bytes, name])
}

function directoryOf(entries: readonly Entry[], offset: number): Buffer {
  const records = entries.map((entry) => {
    const bytes = Buffer.alloc(46)
    bytes.writeUInt32LE(0x02014b50, 0)
    bytes.writeUInt16LE(20, 4)
    bytes.writeUInt16LE(20, 6)
    bytes.writeUInt16LE(SIZES_FOLLOW_AND_UTF8, 8)
    bytes.writeUInt16LE(DEFLATED, 10)
    sizesOf(entry).copy(bytes, 16)
    bytes.writeUInt16LE(entry.name.length, 28)
    bytes.writeUInt32LE(entry.offset, 42)
    return Buffer.concat([bytes, entry.name])
  })
  const directory = Buffer.concat(records)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([directory, end])
}
