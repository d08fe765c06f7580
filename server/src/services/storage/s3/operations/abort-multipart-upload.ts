import { type Operation, sendEmpty } from '../operation.ts'
import { getUpload } from './upload-part.ts'

export const abortMultipartUpload: Operation = {
  name: 'AbortMultipartUpload',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { uploadId } = await getUpload(context)
    await context.store.multipart.abort(context.call.key, uploadId)
    sendEmpty(context.response, 204)
  },
}
