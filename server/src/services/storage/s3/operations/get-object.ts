import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { freeChunk } from '../../../../kit/chunk-memory.ts'
import { headersOf } from '../object-headers.ts'
import { noSuchKey, type Operation } from '../operation.ts'
import { beginRead } from './begin-read.ts'

export const getObject: Operation = {
  name: 'GetObject',
  need: ({ key }) => ({ action: 'read', key }),
  async run(context) {
    const { call, store, response } = context
    const begun = await beginRead(context)
    if (!begun) return
    const { range } = begun
    // Opened after the checks, so the answer describes what is sent even if the key was replaced in between.
    const found = await store.get(call.key, range)
    if (!found) throw noSuchKey(call.key)
    const size = found.info.sizeBytes
    const end = range && Math.min(range.end, size - 1)
    const headers = headersOf(call, found.info)
    if (range && end !== undefined) {
      headers['content-range'] = `bytes ${range.start}-${end}/${size}`
      // The checksum of the whole does not apply to a part.
      for (const name of Object.keys(headers)) if (name.startsWith('x-amz-checksum-')) delete headers[name]
    }
    headers['content-length'] = String(range && end !== undefined ? Math.max(0, end - range.start + 1) : size)
    response.writeHead(range ? 206 : 200, headers)
    await sendBody(found.body, response)
  },
}

/**
 * Like a pipeline, but the memory of a chunk is free again as soon as it is with the kernel. Resolves when the response was sent or the
 * client is gone, which is no failure of ours; rejects when the bytes cannot be read.
 */
export function sendBody(body: Readable, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      body.destroy()
      resolve()
    }
    response.once('close', stop)
    body.once('error', reject)
    body.once('end', () => response.end())
    body.on('data', (chunk: Buffer) => {
      body.pause()
      response.write(chunk, (error) => {
        if (error) return stop() // also when the client was gone before the first byte
        freeChunk(chunk)
        body.resume()
      })
    })
  })
}
