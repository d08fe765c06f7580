import { pipeline } from 'node:stream/promises'
import { checkConditions, parseRange } from '../conditions.ts'
import { headersOf } from '../object-headers.ts'
import { noSuchKey, type Operation, sendEmpty } from '../operation.ts'
import { headerOf } from '../s3-call.ts'

export const getObject: Operation = {
  name: 'GetObject',
  need: ({ key }) => ({ action: 'read', key }),
  async run({ call, store, response }) {
    const info = await store.head(call.key)
    if (!info) throw noSuchKey(call.key)
    if (checkConditions(call, info) === 'not-modified') return sendEmpty(response, 304, { etag: `"${info.etag}"` })
    const range = parseRange(headerOf(call, 'range'), info.sizeBytes)
    // Opened after the checks, so the answer describes what is sent even if the key was replaced in between.
    const found = await store.get(call.key, range)
    if (!found) throw noSuchKey(call.key)
    const size = found.info.sizeBytes
    const end = range && Math.min(range.end, size - 1)
    const headers = headersOf(call, found.info)
    if (range && end !== undefined) {
      headers['content-range'] = `bytes ${range.start}-${end}/${size}`
      // A checksum of the whole says nothing about a part of it.
      for (const name of Object.keys(headers)) if (name.startsWith('x-amz-checksum-')) delete headers[name]
    }
    headers['content-length'] = String(range && end !== undefined ? Math.max(0, end - range.start + 1) : size)
    response.writeHead(range ? 206 : 200, headers)
    await pipeline(found.body, response)
  },
}
