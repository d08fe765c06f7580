import { defined } from '../../../../kit/defined.ts'
import { demandEncryption } from '../authorize.ts'
import { requestedAlgorithm } from '../checksums.ts'
import { attributesOf } from '../object-headers.ts'
import { type Operation, sendXml } from '../operation.ts'
import { headerOf } from '../s3-call.ts'
import { S3Error } from '../s3-errors.ts'
import { answer, element } from '../xml.ts'

export const createMultipartUpload: Operation = {
  name: 'CreateMultipartUpload',
  need: ({ key }) => ({ action: 'write', key }),
  async run({ call, auth, store, response, bucket }) {
    const attributes = attributesOf(call)
    demandEncryption(auth.principal, attributes.encryption)
    const algorithm = requestedAlgorithm(call)
    const type = headerOf(call, 'x-amz-checksum-type')
    if (type !== undefined && type !== 'COMPOSITE' && type !== 'FULL_OBJECT')
      throw new S3Error('InvalidRequest', 'x-amz-checksum-type must be COMPOSITE or FULL_OBJECT.')
    const uploadId = await store.multipart.create(call.key, { ...attributes, ...(type && { checksumType: type }) })
    sendXml(
      response,
      answer('InitiateMultipartUploadResult', [
        element('Bucket', bucket),
        element('Key', call.key),
        element('UploadId', uploadId),
      ]),
      defined({
        'x-amz-server-side-encryption': attributes.encryption,
        'x-amz-checksum-algorithm': algorithm?.toUpperCase(),
        'x-amz-checksum-type': algorithm && (type ?? (algorithm === 'crc64nvme' ? 'FULL_OBJECT' : 'COMPOSITE')),
      }),
    )
  },
}
