// Bytes into a new file, synced and hashed on the way.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'

export interface Hashed {
  readonly sizeBytes: number
  readonly sha256: string
}

const CHUNK_BYTES = 1024 * 1024

export async function writeHashed(path: string, body: Readable): Promise<Hashed> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let sizeBytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      hash.update(chunk)
      sizeBytes += chunk.length
      for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten
    }
    await file.datasync()
  } finally {
    await file.close()
  }
  return { sizeBytes, sha256: hash.digest('hex') }
}

export const hashFile = (path: string): Promise<Hashed> => hashBytes(openBytes(path))

export async function hashBytes(body: Readable): Promise<Hashed> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    sizeBytes += chunk.length
  }
  return { sizeBytes, sha256: hash.digest('hex') }
}

export const openBytes = (path: string): Readable => createReadStream(path, { highWaterMark: CHUNK_BYTES })

export async function syncPath(path: string): Promise<void> {
  if (process.platform === 'win32') return // it cannot open a directory; its rename is durable by the journal
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}
