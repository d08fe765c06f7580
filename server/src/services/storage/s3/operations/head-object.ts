import { headersOf } from '../object-headers.ts'
import type { Operation } from '../operation.ts'
import { beginRead } from './begin-read.ts'

export const headObject: Operation = {
  name: 'HeadObject',
  need: ({ key }) => ({ action: 'head', key }),
  async run(context) {
    const { call, response } = context
    const begun = await beginRead(context)
    if (!begun) return
    const { info, range } = begun
    const headers = headersOf(call, info)
    if (range) headers['content-range'] = `bytes ${range.start}-${range.end}/${info.sizeBytes}`
    headers['content-length'] = String(range ? range.end - range.start + 1 : info.sizeBytes)
    response.writeHead(range ? 206 : 200, headers)
    response.end()
  },
}
