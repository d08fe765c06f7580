// An append-only log of records with group commit.
//  (1) append() resolves after the record is on disk: file and folder are synced;
//  (2) records that wait while a write is under way share the next one, up to MAX_WRITE_CHARS: one write and one fsync for all of them;
//  (3) a segment whose write failed takes nothing more: what was acknowledged before stays readable, what came after goes elsewhere;
//  (4) a record that was cut off ends its segment for readers; it was never acknowledged;
//  (5) a segment goes in two steps, so that data about it in other places is removed after it, also over a crash.

import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'

export interface Segment {
  readonly id: string
  readonly path: string
  readonly sizeBytes: number
}

export interface SegmentLimits {
  readonly records: number
  readonly bytes: number
  readonly ageMs: number
}

interface OpenSegment {
  readonly id: string
  readonly path: string
  readonly file: FileHandle
  readonly openedAt: number
  records: number
  bytes: number
}

interface Waiting {
  readonly records: readonly string[]
  readonly done: () => void
  readonly fail: (error: Error) => void
}

export type RecordLog = Awaited<ReturnType<typeof openRecordLog>>

/** Of one write: a flood of large records must not hold the event loop while all of them are encoded and summed. */
const MAX_WRITE_CHARS = 4 * 2 ** 20

/** Length and checksum before each record. */
const HEADER_BYTES = 8
const SUFFIX = '.log'
/** Of a segment that is not read any more. */
const REMOVED = '.removed'

/** Whatever an earlier process left in the folder is sealed. */
export async function openRecordLog(folder: string, now: () => number) {
  await mkdir(folder, { recursive: true })
  const sealed = new Map<string, Segment>()
  for (const name of (await readdir(folder)).filter((one) => one.endsWith(SUFFIX)).sort()) {
    const path = join(folder, name)
    sealed.set(name, { id: name.slice(0, -SUFFIX.length), path, sizeBytes: (await stat(path)).size })
  }
  let current: OpenSegment | undefined
  const waiting: Waiting[] = []
  let writing: Promise<void> | undefined
  let sealedBytes = [...sealed.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

  /** All of them in one write, or none. */
  const append = (records: readonly string[]): Promise<void> =>
    new Promise((done, fail) => {
      waiting.push({ records, done, fail })
      writing ??= writeAll()
    })

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, countWithin(waiting, MAX_WRITE_CHARS))
      try {
        current ??= await openSegment()
        await write(current, batch)
        for (const { done } of batch) done()
      } catch (error) {
        await seal().catch(() => {}) // (3): its file may be beyond use
        for (const { fail } of batch) fail(error as Error) // of node:fs
      }
    }
    writing = undefined // at once: a record that arrives from here on starts the next round
  }

  async function openSegment(): Promise<OpenSegment> {
    // Names sort by time, so that readers take the oldest first.
    const id = `${String(now()).padStart(15, '0')}-${randomUUID()}`
    const path = join(folder, id + SUFFIX)
    const file = await open(path, 'ax')
    await syncFolder(folder)
    return { id, path, file, openedAt: now(), records: 0, bytes: 0 }
  }

  async function write(segment: OpenSegment, batch: readonly Waiting[]): Promise<void> {
    const records = batch.flatMap((one) => one.records)
    const bytes = framed(records)
    await segment.file.appendFile(bytes)
    await segment.file.datasync()
    segment.records += records.length
    segment.bytes += bytes.length
  }

  async function seal(): Promise<void> {
    if (!current) return
    const { id, path, file, bytes } = current
    current = undefined
    sealed.set(id + SUFFIX, { id, path, sizeBytes: bytes })
    sealedBytes += bytes
    await file.close()
  }

  return {
    append,
    /** Seals the open segment when it has reached a limit. */
    async sealIfFull({ records, bytes, ageMs }: SegmentLimits): Promise<void> {
      await writing
      if (!current) return
      if (current.records >= records || current.bytes >= bytes || now() - current.openedAt >= ageMs) await seal()
    },
    /** The oldest first. */
    sealed: (): readonly Segment[] => [...sealed.values()],
    sizeBytes: (): number => sealedBytes + (current?.bytes ?? 0),
    /** `forget` runs after the last reader of the segment, and again when it was truncated. */
    async remove({ id, path, sizeBytes }: Segment, forget: (id: string) => Promise<void>): Promise<void> {
      await rename(path, join(folder, id + REMOVED))
      await syncFolder(folder)
      if (sealed.delete(id + SUFFIX)) sealedBytes -= sizeBytes
      await forget(id)
      await rm(join(folder, id + REMOVED), { force: true })
    },
    /** What a crash left half removed. */
    async finishRemovals(forget: (id: string) => Promise<void>): Promise<void> {
      for (const name of (await readdir(folder)).filter((one) => one.endsWith(REMOVED))) {
        await forget(name.slice(0, -REMOVED.length))
        await rm(join(folder, name), { force: true })
      }
    },
    async close(): Promise<void> {
      await writing
      await seal()
    },
  }
}

/** How many of those that wait have `limit` characters together; at least one. */
function countWithin(waiting: readonly Waiting[], limit: number): number {
  let chars = 0
  const over = waiting.findIndex(({ records }) => {
    for (const record of records) chars += record.length
    return chars > limit
  })
  return over < 0 ? waiting.length : Math.max(1, over)
}

/** All records in one buffer, each after its length and checksum. */
function framed(records: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(records.reduce((sum, text) => sum + HEADER_BYTES + Buffer.byteLength(text), 0))
  let at = 0
  for (const text of records) {
    const length = bytes.write(text, at + HEADER_BYTES)
    bytes.writeUInt32LE(length, at)
    bytes.writeUInt32LE(crc32(bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length)), at + 4)
    at += HEADER_BYTES + length
  }
  return bytes
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The whole records of a sealed segment; its size is bounded by the limits it was sealed by. */
export async function readSegment({ path }: Segment): Promise<Buffer[]> {
  const bytes = await readFile(path)
  const records: Buffer[] = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const end = at + HEADER_BYTES + bytes.readUInt32LE(at)
    const record = bytes.subarray(at + HEADER_BYTES, end)
    if (end > bytes.length || crc32(record) !== bytes.readUInt32LE(at + 4)) break
    records.push(record)
    at = end
  }
  return records
}

/** Names of the logs in a folder; none when it is not there yet. */
export async function listLogs(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Writes what is taken out of a log, piece by piece, and passes the path to `use`. */
export async function withTextFile<T>(folder: string, pieces: Iterable<string>, use: (path: string) => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${randomUUID()}.csv`)
  try {
    await pipeline(Readable.from(pieces), createWriteStream(path))
    return await use(path)
  } finally {
    await rm(path, { force: true })
  }
}
