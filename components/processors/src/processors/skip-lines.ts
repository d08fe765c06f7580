import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Folder, listItems, moveTo, outputPath, passOn, slicesOf } from '../folder.ts'
import { choice, integer, readParameters } from '../parameters.ts'

const NEWLINE = 0x0a
const CHUNK_BYTES = 2 ** 16

/** Removes physical lines from the top or the bottom of every file; quotes mean nothing to it. */
export async function skipLines(folder: Folder): Promise<void> {
  const { lines, direction_from } = readParameters(folder.parameters, {
    lines: integer(),
    direction_from: choice(['top', 'bottom'], 'top'),
  })
  for (const kind of ['tables', 'files'] as const) {
    for (const item of await listItems(folder, kind)) {
      for (const slice of await slicesOf(item)) {
        if (direction_from === 'bottom') await truncate(item.path + slice, await endWithout(item.path + slice, lines))
        else await dropTop(item.path + slice, outputPath(folder, kind, item.name + slice), lines)
      }
      if (direction_from === 'bottom') await passOn(folder, item)
      else if (item.manifest) await moveTo(`${item.path}.manifest`, outputPath(folder, kind, `${item.name}.manifest`))
    }
  }
}

async function dropTop(from: string, to: string, lines: number): Promise<void> {
  const start = await startAfter(from, lines)
  if (start === 0) return moveTo(from, to)
  await mkdir(dirname(to), { recursive: true })
  await pipeline(createReadStream(from, { start }), createWriteStream(to))
}

/** The offset behind the first `lines` line ends. */
async function startAfter(path: string, lines: number): Promise<number> {
  if (lines === 0) return 0
  let offset = 0
  let left = lines
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
      left -= 1
      if (left === 0) return offset + at + 1
    }
    offset += chunk.length
  }
  return offset
}

/** The size of a file without its last `lines` lines; a line end at the very end starts no further line. */
async function endWithout(path: string, lines: number): Promise<number> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    if (lines === 0) return size
    let left = lines
    for (let end = size; end > 0; end -= CHUNK_BYTES) {
      const start = Math.max(0, end - CHUNK_BYTES)
      const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start)
      for (let at = buffer.lastIndexOf(NEWLINE); at !== -1; at = at === 0 ? -1 : buffer.lastIndexOf(NEWLINE, at - 1)) {
        if (start + at === size - 1) continue
        left -= 1
        if (left === 0) return start + at + 1
      }
    }
    return 0
  } finally {
    await handle.close()
  }
}
