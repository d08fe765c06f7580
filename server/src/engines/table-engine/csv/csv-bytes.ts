// The bytes of a CSV slice, unpacked. Gzip is checked whole (DuckDB's reader accepts truncated and damaged gzip in silence) and bounded.

import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { PlatformError } from '../../../kit/errors.ts'

export interface LocalSlice {
  readonly path: string
  readonly gzip: boolean
  readonly name: string
}

export interface InflateLimits {
  readonly maxInflatedBytes: number
  readonly maxInflateRatio: number
}

const CHUNK_BYTES = 1 << 20
/** Below this a high ratio is nothing to worry about: short repetitive files are common. */
const RATIO_FREE_BYTES = 256 << 20

/** Chunks of the slice. The chunk is only valid until the next one is requested. */
export async function* readSlice(slice: LocalSlice, limits: InflateLimits): AsyncGenerator<Uint8Array> {
  if (slice.gzip) yield* inflated(slice, limits)
  else yield* plain(slice.path)
}

async function* plain(path: string): AsyncGenerator<Uint8Array> {
  await using file = await open(path)
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function* inflated(slice: LocalSlice, limits: InflateLimits): AsyncGenerator<Uint8Array> {
  const packed = (await stat(slice.path)).size
  if (packed === 0) return
  const source = createReadStream(slice.path, { highWaterMark: CHUNK_BYTES })
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  source.on('error', (error) => gunzip.destroy(error))
  let total = 0
  try {
    for await (const chunk of source.pipe(gunzip)) {
      const bytes: Uint8Array = chunk
      total += bytes.length
      const tooMuch = total > limits.maxInflatedBytes || (total > RATIO_FREE_BYTES && total / packed > limits.maxInflateRatio)
      if (tooMuch)
        throw invalidGzip(
          slice,
          `unpacks to more than ${total} bytes from ${packed}, which is beyond the limit. Send the file in smaller parts, or ask the operator for a higher limit.`,
        )
      yield bytes
    }
  } catch (error) {
    throw gzipProblem(slice, error)
  } finally {
    source.destroy()
    gunzip.destroy()
  }
}

function gzipProblem(slice: LocalSlice, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!code.startsWith('Z_')) return error
  const what =
    code === 'Z_BUF_ERROR'
      ? 'ends in the middle of its gzip data. The upload was probably cut off: send the file again.'
      : 'is not valid gzip. Send it without the .gz extension if it is plain CSV, or pack it again.'
  return invalidGzip(slice, what)
}

const invalidGzip = (slice: LocalSlice, what: string) =>
  new PlatformError('invalidCsv', { file: slice.name, reason: `Load error: The file ${slice.name} ${what}` })
