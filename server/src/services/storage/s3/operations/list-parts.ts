import { numberParameter, type Operation, sendXml } from '../operation.ts'
import { answer, element } from '../xml.ts'
import { getUpload } from './upload-part.ts'

export const listParts: Operation = {
  name: 'ListParts',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { call, store, response, bucket } = context
    const { uploadId } = await getUpload(context)
    const limit = Math.min(numberParameter(call, 'max-parts', 1000, [0, 2_147_483_647]), 1000)
    const after = numberParameter(call, 'part-number-marker', 0, [0, 2_147_483_647])
    const later = (await store.multipart.listParts(call.key, uploadId)).filter((part) => part.number > after)
    const page = later.slice(0, limit)
    const truncated = later.length > page.length
    sendXml(
      response,
      answer('ListPartsResult', [
        element('Bucket', bucket),
        element('Key', call.key),
        element('UploadId', uploadId),
        element('PartNumberMarker', after),
        ...(truncated ? [element('NextPartNumberMarker', page.at(-1)?.number ?? after)] : []),
        element('MaxParts', limit),
        element('IsTruncated', truncated),
        element('StorageClass', 'STANDARD'),
        ...page.map((part) =>
          element('Part', [
            element('PartNumber', part.number),
            element('LastModified', new Date(part.modifiedMs).toISOString()),
            element('ETag', `"${part.etag}"`),
            element('Size', part.sizeBytes),
            ...(part.checksum ? [element(`Checksum${part.checksum.algorithm.toUpperCase()}`, part.checksum.value)] : []),
          ]),
        ),
      ]),
    )
  },
}
