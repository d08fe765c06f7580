// A file of answers, appended one by one and read in any order. A record: three numbers (length of the head, length of the body, checksum
// of both), the head as JSON, the body compressed. A process that is killed while it writes leaves a record that is not whole: it and
// whatever follows are cut off when the file is opened again.

import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { crc32, constants as zlib, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const NUMBERS = 12
/** The fastest level: JSON shrinks to a fifth all the same. */
const COMPRESSION = { params: { [zlib.ZSTD_c_compressionLevel]: 1 } }

export class AnswerLog {
  private readonly fd: number
  private end = 0
  private isOpen = true

  /** Calls `onRecord` for every whole record that is there. */
  constructor(path: string, onRecord: (head: string, at: number) => void) {
    this.fd = openSync(path, 'a+', 0o600)
    const size = fstatSync(this.fd).size
    for (let record = this.wholeRecordAt(0, size); record !== undefined; record = this.wholeRecordAt(this.end, size)) {
      onRecord(record.head, this.end)
      this.end += record.bytes
    }
    if (this.end < size) ftruncateSync(this.fd, this.end)
  }

  /** How long the file is. */
  get bytes(): number {
    return this.end
  }

  /** Answers where the record stands. It is with the system when this returns, so that it outlives the process. */
  add(head: string, body: Uint8Array): number {
    const headBytes = Buffer.from(head, 'utf8')
    const packed = zstdCompressSync(body, COMPRESSION)
    const record = Buffer.concat([Buffer.alloc(NUMBERS), headBytes, packed])
    record.writeUInt32LE(headBytes.length, 0)
    record.writeUInt32LE(packed.length, 4)
    record.writeUInt32LE(crc32(record.subarray(NUMBERS)), 8)
    for (let at = 0; at < record.length; ) at += writeSync(this.fd, record, at)
    const at = this.end
    this.end += record.length
    return at
  }

  read(at: number): { readonly head: string; readonly body: Buffer } {
    const record = this.wholeRecordAt(at, this.end)
    if (record === undefined) throw new Error('A kept answer is not where it was written.')
    return { head: record.head, body: zstdDecompressSync(record.body) }
  }

  clear(): void {
    ftruncateSync(this.fd, 0)
    this.end = 0
  }

  /** May be called more than once. */
  close(): void {
    if (this.isOpen) closeSync(this.fd)
    this.isOpen = false
  }

  private wholeRecordAt(at: number, size: number): { head: string; body: Buffer; bytes: number } | undefined {
    if (at + NUMBERS > size) return undefined
    const numbers = this.bytesAt(at, NUMBERS)
    const headLength = numbers.readUInt32LE(0)
    const bytes = NUMBERS + headLength + numbers.readUInt32LE(4)
    if (at + bytes > size) return undefined
    const content = this.bytesAt(at + NUMBERS, bytes - NUMBERS)
    if (crc32(content) !== numbers.readUInt32LE(8)) return undefined
    return { head: content.toString('utf8', 0, headLength), body: content.subarray(headLength), bytes }
  }

  private bytesAt(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let done = 0; done < length; ) {
      const count = readSync(this.fd, bytes, done, length - done, position + done)
      if (count === 0) throw new Error('The file of kept answers is shorter than what was written to it.')
      done += count
    }
    return bytes
  }
}
