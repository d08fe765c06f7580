/** Pages put aside on disk until the structure of a type is complete. A record: two lengths, the header as JSON, the body. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

const BATCH = 1 << 16

/** A file of records, written once from start to end, then read once. */
export class Spool {
  private readonly fd: number
  private isOpen = true
  private pending: Uint8Array[] = []
  private pendingBytes = 0

  constructor(path: string) {
    this.fd = openSync(path, 'w+', 0o600)
  }

  add(header: string, body: Uint8Array | string): void {
    const head = Buffer.from(header, 'utf8')
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body
    const lengths = Buffer.alloc(12)
    lengths.writeUInt32LE(head.length, 0)
    lengths.writeBigUInt64LE(BigInt(bytes.length), 4)
    this.pending.push(lengths, head, bytes)
    this.pendingBytes += lengths.length + head.length + bytes.length
    if (this.pendingBytes > BATCH) this.flush()
  }

  *records(): Generator<{ readonly header: string; readonly body: Buffer }> {
    this.flush()
    const size = fstatSync(this.fd).size
    for (let at = 0; at < size; ) {
      const lengths = this.read(at, 12)
      const headLength = lengths.readUInt32LE(0)
      const bodyLength = Number(lengths.readBigUInt64LE(4))
      const header = this.read(at + 12, headLength).toString('utf8')
      yield { header, body: this.read(at + 12 + headLength, bodyLength) }
      at += 12 + headLength + bodyLength
    }
  }

  /** May be called more than once. */
  close(): void {
    if (this.isOpen) closeSync(this.fd)
    this.isOpen = false
  }

  private read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let done = 0; done < length; ) {
      const count = readSync(this.fd, bytes, done, length - done, position + done)
      if (count === 0) throw new Error('The spool file is shorter than what was written to it.')
      done += count
    }
    return bytes
  }

  private flush(): void {
    for (const chunk of this.pending) for (let at = 0; at < chunk.length; ) at += writeSync(this.fd, chunk, at)
    this.pending = []
    this.pendingBytes = 0
  }
}
