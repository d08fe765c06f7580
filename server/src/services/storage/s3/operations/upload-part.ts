import { defined } from '../../../../kit/defined.ts'
import { type Operation, type S3Context, sendEmpty } from '../operation.ts'
import { openPayload } from '../payload.ts'
import type { S3Call } from '../s3-call.ts'
import { S3Error } from '../s3-errors.ts'

export const uploadPart: Operation = {
  name: 'UploadPart',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { call, store, response } = context
    const number = partNumberOf(call)
    const upload = await getUpload(context)
    const { body, etag, checksum } = openPayload(context)
    const part = await store.multipart.putPart(call.key, upload.uploadId, number, body, { etag, checksum })
    sendEmpty(
      response,
      200,
      defined({
        etag: `"${part.etag}"`,
        'x-amz-server-side-encryption': upload.attributes.encryption,
        ...(part.checksum && { [`x-amz-checksum-${part.checksum.algorithm}`]: part.checksum.value }),
      }),
    )
  },
}

export function partNumberOf({ query }: S3Call): number {
  const text = query.get('partNumber') ?? ''
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 10_000)
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
      ArgumentName: 'partNumber',
      ArgumentValue: text,
    })
  return Number(text)
}

export async function getUpload({ call, store }: S3Context) {
  const upload = await store.multipart.find(call.key, call.query.get('uploadId') ?? '')
  if (!upload)
    throw new S3Error(
      'NoSuchUpload',
      'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
    )
  return upload
}
