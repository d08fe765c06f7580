import { checkConditions, checkPartNumber, rangeOf } from '../conditions.ts'
import { headersOf } from '../object-headers.ts'
import { noSuchKey, type Operation, sendEmpty } from '../operation.ts'

export const headObject: Operation = {
  name: 'HeadObject',
  need: ({ key }) => ({ action: 'read', key }),
  async run({ call, store, response }) {
    checkPartNumber(call)
    const info = await store.head(call.key)
    if (!info) throw noSuchKey(call.key)
    if (checkConditions(call, info) === 'not-modified') return sendEmpty(response, 304, { etag: `"${info.etag}"` })
    const range = rangeOf(call, info)
    const headers = headersOf(call, info)
    if (range) headers['content-range'] = `bytes ${range.start}-${range.end}/${info.sizeBytes}`
    headers['content-length'] = String(range ? range.end - range.start + 1 : info.sizeBytes)
    response.writeHead(range ? 206 : 200, headers)
    response.end()
  },
}
