// Files that only grow, such as logs: what follows the position of the last run is read, up to the last whole row.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'

export interface Position {
  readonly bytes: number
  readonly lines: number
  /** Of the bytes before the position: another file of the same name has other ones. */
  readonly tail: string
  /** Columns of a CSV file. */
  readonly columns?: readonly string[]
}

const TAIL_BYTES = 1024

async function tailOf(path: string, bytes: number): Promise<string> {
  const start = Math.max(0, bytes - TAIL_BYTES)
  const handle = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes - start), 0, bytes - start, start)
    return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex').slice(0, 16)
  } finally {
    await handle.close()
  }
}

/** The position, if the file still begins as it did; otherwise it is read from the start. */
export async function positionIn(path: string, last: Position | undefined): Promise<Position | undefined> {
  if (!last || (await stat(path)).size < last.bytes) return undefined
  return (await tailOf(path, last.bytes)) === last.tail ? last : undefined
}

const LINE_END = 10

/** Where the last whole row ends: after a line end that is not within quotes. A row that is still being written waits for the next run. */
export async function endOfRows(path: string, from: Pick<Position, 'bytes' | 'lines'>, enclosure: string | undefined) {
  const quote = enclosure?.charCodeAt(0)
  let [at, end, lines, seen] = [from.bytes, from.bytes, from.lines, from.lines]
  let isQuoted = false
  for await (const chunk of createReadStream(path, { start: from.bytes }) as AsyncIterable<Buffer>)
    for (const byte of chunk) {
      at++
      if (byte === quote) isQuoted = !isQuoted
      else if (byte === LINE_END) {
        seen++
        if (!isQuoted) [end, lines] = [at, seen]
      }
    }
  return { bytes: end, lines, tail: await tailOf(path, end) }
}
