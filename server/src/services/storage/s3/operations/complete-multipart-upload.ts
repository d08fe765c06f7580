import type { ObjectChecksum, PartInfo } from '../../../../engines/object-store/object-store.ts'
import { defined } from '../../../../kit/defined.ts'
import { ALGORITHMS, type Algorithm } from '../checksums.ts'
import { combineChecksums } from '../combine-checksums.ts'
import { type Operation, sendXml } from '../operation.ts'
import { readPayload } from '../payload.ts'
import { headerOf, type S3Call } from '../s3-call.ts'
import { S3Error } from '../s3-errors.ts'
import { answer, childOf, childrenOf, element, parseXml, textOf, type XmlNode } from '../xml.ts'
import { writeConditions } from './put-object.ts'
import { getUpload } from './upload-part.ts'

const MIN_PART_BYTES = 5 * 1024 * 1024
const MAX_XML_BYTES = 4 * 1024 * 1024

interface ChosenPart {
  readonly number: number
  readonly etag: string
  readonly node: XmlNode
}

export const completeMultipartUpload: Operation = {
  name: 'CompleteMultipartUpload',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { call, store, response, bucket } = context
    const upload = await getUpload(context)
    const chosen = parseParts(await readPayload(context, MAX_XML_BYTES))
    const stored = new Map((await store.multipart.listParts(call.key, upload.uploadId)).map((part) => [part.number, part]))
    const parts = chosen.map((wanted) => checkPart(wanted, stored.get(wanted.number)))
    const small = parts.slice(0, -1).find((part) => part.sizeBytes < MIN_PART_BYTES)
    if (small)
      throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', {
        ProposedSize: String(small.sizeBytes),
        MinSizeAllowed: String(MIN_PART_BYTES),
        PartNumber: String(small.number),
      })
    const checksum = wholeChecksum(call, parts, upload.attributes.checksumType)
    const info = await store.multipart.complete(call.key, upload.uploadId, chosen, {
      checksum: () => checksum,
      ...writeConditions(call),
    })
    sendXml(
      response,
      answer('CompleteMultipartUploadResult', [
        element('Location', `/${bucket}/${call.key}`),
        element('Bucket', bucket),
        element('Key', call.key),
        element('ETag', `"${info.etag}"`),
        ...(checksum
          ? [element(`Checksum${checksum.algorithm.toUpperCase()}`, checksum.value), element('ChecksumType', checksum.type)]
          : []),
      ]),
      defined({ 'x-amz-server-side-encryption': upload.attributes.encryption }),
    )
  },
}

function parseParts(xml: string): ChosenPart[] {
  const parts = childrenOf(childOf(parseXml(xml), 'CompleteMultipartUpload'), 'Part').map((node) => ({
    number: Number(textOf(node, 'PartNumber') ?? Number.NaN),
    etag: (textOf(node, 'ETag') ?? '').replaceAll('"', '').trim(),
    node,
  }))
  if (parts.length === 0 || parts.length > 10_000 || parts.some((part) => !Number.isInteger(part.number) || part.etag === ''))
    throw new S3Error('MalformedXML', 'A CompleteMultipartUpload document names 1 to 10000 parts by PartNumber and ETag.')
  if (parts.some((part, i) => i > 0 && part.number <= parts[i - 1]!.number))
    throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order. Parts must be ordered by part number.')
  return parts
}

function checkPart({ number, etag, node }: ChosenPart, part: PartInfo | undefined): PartInfo {
  const { checksum } = part ?? {}
  const claimed = checksum && textOf(node, `Checksum${checksum.algorithm.toUpperCase()}`)
  if (!part || part.etag !== etag || (claimed !== undefined && claimed !== checksum?.value))
    throw new S3Error(
      'InvalidPart',
      'One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag or checksum may not match.',
      {
        PartNumber: String(number),
        ETag: etag,
      },
    )
  return part
}

/** The checksum of the whole, when every part came with one of the same kind; compared with what the client expects. */
function wholeChecksum(
  call: S3Call,
  parts: readonly PartInfo[],
  asked: ObjectChecksum['type'] | undefined,
): ObjectChecksum | undefined {
  const algorithm = parts[0]?.checksum?.algorithm
  if (!algorithm || parts.some((part) => part.checksum?.algorithm !== algorithm)) return undefined
  const type = algorithm === 'crc64nvme' ? 'FULL_OBJECT' : (asked ?? typeHeader(call) ?? 'COMPOSITE')
  if (type === 'FULL_OBJECT' && algorithm.startsWith('sha'))
    throw new S3Error('InvalidRequest', `The FULL_OBJECT checksum type cannot be used with ${algorithm.toUpperCase()}.`)
  const values = parts.map((part) => ({ value: part.checksum!.value, sizeBytes: part.sizeBytes }))
  const checksum = { algorithm, type, value: combineChecksums(algorithm, type, values) }
  const expected = expectedChecksum(call, algorithm)
  if (expected !== undefined && expected !== checksum.value)
    throw new S3Error('BadDigest', `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`)
  return checksum
}

const typeHeader = (call: S3Call): ObjectChecksum['type'] | undefined => {
  const type = headerOf(call, 'x-amz-checksum-type')
  return type === 'COMPOSITE' || type === 'FULL_OBJECT' ? type : undefined
}

const expectedChecksum = (call: S3Call, algorithm: Algorithm): string | undefined =>
  ALGORITHMS.includes(algorithm) ? headerOf(call, `x-amz-checksum-${algorithm}`) : undefined
