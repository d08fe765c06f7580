import { uriEncodePath } from '../../../../engines/object-store/signature-v4.ts'
import { numberParameter, type Operation, sendXml } from '../operation.ts'
import { answer, element } from '../xml.ts'

export const listMultipartUploads: Operation = {
  name: 'ListMultipartUploads',
  need: () => ({ action: 'administer' }),
  async run({ call, store, response, bucket }) {
    const encode = call.query.get('encoding-type') === 'url' ? uriEncodePath : (text: string) => text
    const prefix = call.query.get('prefix') ?? ''
    const keyMarker = call.query.get('key-marker') ?? ''
    const idMarker = call.query.get('upload-id-marker') ?? ''
    const limit = Math.min(numberParameter(call, 'max-uploads', 1000, [0, 2_147_483_647]), 1000)
    const uploads = await store.multipart.listUploads(prefix)
    // A marker of key and id points at one upload; of a key alone, past all uploads of that key.
    const at = idMarker === '' ? -1 : uploads.findIndex((upload) => upload.key === keyMarker && upload.uploadId === idMarker)
    const later =
      at >= 0
        ? uploads.slice(at + 1)
        : uploads.filter((upload) => keyMarker === '' || Buffer.compare(Buffer.from(upload.key), Buffer.from(keyMarker)) > 0)
    const page = later.slice(0, limit)
    const last = later.length > page.length ? page.at(-1) : undefined
    sendXml(
      response,
      answer('ListMultipartUploadsResult', [
        element('Bucket', bucket),
        element('KeyMarker', encode(keyMarker)),
        element('UploadIdMarker', idMarker),
        ...(last ? [element('NextKeyMarker', encode(last.key)), element('NextUploadIdMarker', last.uploadId)] : []),
        element('Prefix', encode(prefix)),
        element('MaxUploads', limit),
        element('IsTruncated', last !== undefined),
        ...page.map((upload) =>
          element('Upload', [
            element('Key', encode(upload.key)),
            element('UploadId', upload.uploadId),
            element('StorageClass', 'STANDARD'),
            element('Initiated', new Date(upload.startedMs).toISOString()),
          ]),
        ),
      ]),
    )
  },
}
