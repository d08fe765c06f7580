import { createHash } from 'node:crypto'
import type { Bytes } from '../../../../engines/object-store/object-store.ts'
import { parseRange } from '../conditions.ts'
import { noSuchKey, type Operation, sendXml } from '../operation.ts'
import { headerOf } from '../s3-call.ts'
import { answer, element } from '../xml.ts'
import { copySource } from './copy-object.ts'
import { getUpload, partNumberOf } from './upload-part.ts'

export const uploadPartCopy: Operation = {
  name: 'UploadPartCopy',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { call, store, response } = context
    const number = partNumberOf(call)
    const source = await copySource(context) // first: whether an upload exists is not revealed without read access to the source
    const { uploadId } = await getUpload(context)
    const found = await store.get(source.key, parseRange(headerOf(call, 'x-amz-copy-source-range'), source.sizeBytes))
    if (!found) throw noSuchKey(source.key)
    const md5 = createHash('md5')
    const part = await store.multipart.putPart(call.key, uploadId, number, hashed(found.body, md5), {
      etag: () => md5.digest('hex'),
    })
    sendXml(
      response,
      answer('CopyPartResult', [
        element('LastModified', new Date(part.modifiedMs).toISOString()),
        element('ETag', `"${part.etag}"`),
      ]),
    )
  },
}

async function* hashed(body: Bytes, hash: ReturnType<typeof createHash>): Bytes {
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
}
