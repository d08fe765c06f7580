// The content of a file for people who look at it: some bytes from anywhere, unpacked, and how its CSV seems to be written. Streams,
// and stops as soon as it has the requested part: a small file that unpacks to a large one costs no more than the part that is shown.

import { pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { type SniffedCsv, type SniffHints, sniffCsv } from '../../../engines/table-engine/csv/csv-sniff.ts'
import { type FileFormat, formatOf } from '../../../engines/table-engine/formats/file-format.ts'
import { sniffJson } from '../../../engines/table-engine/formats/json-sniff.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { FileSlice, FileSlices } from './file-slices.ts'
import type { FileRecord } from './files.store.ts'
import type { FileBranch } from './files.ts'

export type Compression = 'gzip' | 'zstd'

export interface FileHead {
  readonly bytes: Buffer
  readonly compression: Compression | null
  /** There is more behind these bytes. */
  readonly isCut: boolean
}

export interface SniffedFile extends SniffedCsv {
  readonly format: FileFormat
  readonly compression: Compression | null
  readonly sampledBytes: number
  readonly isWhole: boolean
}

export interface HeadRequest {
  readonly offset: number
  readonly limit: number
  /** Bytes as they are stored, whatever they are. */
  readonly raw?: boolean | undefined
  /** Of one slice only, counted from 0; of all of them joined by default. */
  readonly slice?: number | undefined
}

export interface NamedSlice {
  readonly name: string
  readonly sizeBytes: number
}

export interface FileHeadDeps {
  readonly getFile: (actor: Actor, id: number, branch?: FileBranch) => Promise<FileRecord>
  readonly slices: Pick<FileSlices, 'of'>
  readonly objects: Pick<ObjectStore, 'get'>
}

export const MAX_HEAD_BYTES = 4 << 20
/** What is packed can only be read from its start: a place further behind costs too much. */
const MAX_PACKED_OFFSET = 256 << 20
/** Guesses hold the event loop, and more lines seldom change them. */
const SNIFFED_BYTES = 1 << 18

const MAGIC: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
]
const MAGIC_BYTES = 4

export type FileHeads = ReturnType<typeof createFileHeads>

export function createFileHeads({ getFile, slices, objects }: FileHeadDeps) {
  /** Bytes of the file, of a sliced one as if its slices were joined. */
  async function head(actor: Actor, id: number, request: HeadRequest, branch?: FileBranch): Promise<FileHead> {
    const { offset, limit, raw, slice } = request
    const file = await getFile(actor, id, branch)
    const parts = chosen(id, await slices.of(file), slice)
    const compression = raw ? null : await compressionOf(parts.find(({ sizeBytes }) => sizeBytes > 0))
    if (compression && offset > MAX_PACKED_OFFSET)
      throw new PlatformError('storage.files.noHead', {
        id,
        reason: `it is packed as ${compression} and can be read up to byte ${MAX_PACKED_OFFSET} only; byte ${offset} was requested`,
      })
    const found = await collect(compression ? unpackedFrom(id, parts, compression, offset) : storedFrom(parts, offset), limit)
    return { ...found, compression }
  }

  /** What a file consists of, in the order of its manifest. */
  async function list(actor: Actor, id: number, branch?: FileBranch): Promise<readonly NamedSlice[]> {
    const file = await getFile(actor, id, branch)
    const name = ({ key }: FileSlice) => (file.isSliced ? key.slice(file.key.length) : file.name)
    return (await slices.of(file)).map((slice) => ({ name: name(slice), sizeBytes: slice.sizeBytes }))
  }

  async function sniff(actor: Actor, id: number, hints: Omit<SniffHints, 'isWhole'>, branch?: FileBranch): Promise<SniffedFile> {
    const { bytes, compression, isCut } = await head(actor, id, { offset: 0, limit: SNIFFED_BYTES }, branch)
    return sniffed(bytes, compression, !isCut, hints)
  }

  async function* storedFrom(parts: readonly FileSlice[], offset: number): AsyncGenerator<Buffer> {
    let before = 0
    for (const { key, sizeBytes } of parts) {
      const start = Math.max(0, offset - before)
      before += sizeBytes
      if (start < sizeBytes) yield* bytesOf({ key, sizeBytes }, start)
    }
  }

  /** Every slice is packed by itself; one that is not, among others that are, is taken as it is. */
  async function* unpackedFrom(
    id: number,
    parts: readonly FileSlice[],
    first: Compression,
    offset: number,
  ): AsyncGenerator<Buffer> {
    let toSkip = offset
    for (const [i, part] of parts.entries()) {
      const compression = i === 0 ? first : await compressionOf(part)
      for await (const chunk of compression ? unpack(id, bytesOf(part), compression) : bytesOf(part)) {
        if (chunk.length > toSkip) yield chunk.subarray(toSkip)
        toSkip = Math.max(0, toSkip - chunk.length)
      }
    }
  }

  async function* bytesOf({ key, sizeBytes }: FileSlice, start = 0): AsyncGenerator<Buffer> {
    const found = await objects.get(key, start > 0 ? { start, end: sizeBytes - 1 } : undefined)
    if (!found) throw new PlatformError('storage.files.notFound') // deleted since
    yield* found.body as AsyncIterable<Buffer>
  }

  async function compressionOf(part: FileSlice | undefined): Promise<Compression | null> {
    if (!part || part.sizeBytes < MAGIC_BYTES) return null
    const found = await objects.get(part.key, { start: 0, end: MAGIC_BYTES - 1 })
    if (!found) return null
    const chunks: Buffer[] = []
    for await (const chunk of found.body as AsyncIterable<Buffer>) chunks.push(chunk)
    return packedAs(Buffer.concat(chunks))
  }

  return { head, list, sniff }
}

function chosen(id: number, parts: readonly FileSlice[], slice: number | undefined): readonly FileSlice[] {
  if (slice === undefined) return parts
  const found = parts[slice]
  if (!found)
    throw new PlatformError('storage.files.noHead', {
      id,
      reason: `slice ${slice} does not exist; it has ${parts.length}, from 0 on`,
    })
  return [found]
}

/** How the CSV in a request is written; packed or not. */
export async function sniffBytes(bytes: Buffer, hints: SniffHints): Promise<SniffedFile> {
  const compression = packedAs(bytes)
  if (!compression) return sniffed(bytes.subarray(0, SNIFFED_BYTES), null, hints.isWhole && bytes.length <= SNIFFED_BYTES, hints)
  const found = await collect(unpack(undefined, Readable.from([bytes]), compression, hints.isWhole), SNIFFED_BYTES)
  return sniffed(found.bytes, compression, hints.isWhole && !found.isCut, hints)
}

const sniffed = (
  bytes: Buffer,
  compression: Compression | null,
  isWhole: boolean,
  hints: Omit<SniffHints, 'isWhole'>,
): SniffedFile => {
  const format = formatOf(bytes)
  const found = format === 'csv' ? sniffCsv(bytes, { ...hints, isWhole }) : { ...NOT_CSV, ...contentOf(format, bytes) }
  return { ...found, format, compression, sampledBytes: bytes.length, isWhole }
}

/** Settings of lines apply to CSV only. */
const NOT_CSV = {
  encoding: 'utf-8',
  hasByteOrderMark: false,
  delimiter: ',',
  enclosure: '"',
  lineEnd: 'lf',
  hasHeader: true,
} as const

/** The columns of the others are read by the load: the beginning of a file does not have them. */
const contentOf = (format: Exclude<FileFormat, 'csv'>, bytes: Buffer) =>
  format === 'json'
    ? sniffJson(bytes.toString('utf8').replace(/^\uFEFF/, ''))
    : { columns: [], rows: 0, preview: [], problems: [], isLoadable: true }

const packedAs = (start: Buffer): Compression | null =>
  MAGIC.find(([, magic]) => magic.every((byte, i) => start[i] === byte))?.[0] ?? null

/** With a beginning of packed bytes instead of all of them, what can be unpacked is enough. */
async function* unpack(
  id: number | undefined,
  packed: AsyncIterable<Buffer>,
  compression: Compression,
  isWhole = true,
): AsyncGenerator<Buffer> {
  const unpacker = compression === 'gzip' ? createGunzip() : createZstdDecompress()
  pipeline(Readable.from(packed), unpacker, () => {}) // what goes wrong is thrown by the loop below
  try {
    for await (const chunk of unpacker) yield chunk as Buffer
  } catch (error) {
    if (error instanceof PlatformError) throw error
    if (!isWhole) return
    throw new PlatformError('storage.files.damaged', { id: id ?? 'of the request', compression }, { cause: error })
  }
}

async function collect(chunks: AsyncIterable<Buffer>, limit: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const kept: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    kept.push(chunk)
    size += chunk.length
    if (size > limit) break
  }
  return { bytes: Buffer.concat(kept).subarray(0, limit), isCut: size > limit }
}
