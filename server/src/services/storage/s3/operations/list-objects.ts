// ListObjectsV2 and its older form: the same listing with two forms of continuation.

import type { ObjectInfo, ObjectStore } from '../../../../engines/object-store/object-store.ts'
import { uriEncodePath } from '../../../../engines/object-store/signature-v4.ts'
import { type Visible, visibleIn } from '../authorize.ts'
import { numberParameter, type Operation, sendXml } from '../operation.ts'
import type { S3Call } from '../s3-call.ts'
import { S3Error } from '../s3-errors.ts'
import { answer, element, type Xml } from '../xml.ts'

interface Walk {
  readonly objects: readonly ObjectInfo[]
  readonly commonPrefixes: readonly string[]
  /** The last key or common prefix of this page, when there is more after it. */
  readonly next: string | undefined
}

/** Sorts after every key that starts with the prefix. */
const pastAll = (prefix: string): string => `${prefix}\u{10FFFF}\u{10FFFF}`

/** Keys in order that the reader sees, those with the delimiter after the prefix folded into one common prefix each. */
export async function walk(
  store: ObjectStore,
  query: { prefix: string; delimiter: string; after: string; limit: number },
  visible: Visible,
): Promise<Walk> {
  const { prefix, delimiter, limit } = query
  const objects: ObjectInfo[] = []
  const commonPrefixes: string[] = []
  let last = ''
  let after =
    delimiter !== '' && query.after.endsWith(delimiter) && query.after.length > prefix.length ? pastAll(query.after) : query.after
  if (limit === 0) return { objects, commonPrefixes, next: undefined }
  for (;;) {
    const page = await store.list({
      prefix: visible.within,
      after,
      limit: Math.min(1000, limit + 1 - objects.length - commonPrefixes.length),
    })
    let folded = false
    for (const object of page.objects) {
      if (!visible.shows(object.key)) {
        after = object.key
        continue
      }
      if (objects.length + commonPrefixes.length === limit) return { objects, commonPrefixes, next: last }
      const cut = delimiter === '' ? -1 : object.key.indexOf(delimiter, prefix.length)
      if (cut < 0) {
        objects.push(object)
        last = object.key
        after = object.key
        continue
      }
      last = object.key.slice(0, cut + delimiter.length)
      commonPrefixes.push(last)
      after = pastAll(last)
      folded = true
      break // the rest of this page may lie inside the prefix just folded
    }
    if (!page.more && !folded) return { objects, commonPrefixes, next: undefined }
  }
}

function parameters(call: S3Call) {
  const encoding = call.query.get('encoding-type')
  if (encoding !== undefined && encoding !== 'url')
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request')
  const encode = encoding === 'url' ? uriEncodePath : (text: string) => text
  const prefix = call.query.get('prefix') ?? ''
  const delimiter = call.query.get('delimiter') ?? ''
  const maxKeys = numberParameter(call, 'max-keys', 1000, [0, 2_147_483_647])
  return { encoding, encode, prefix, delimiter, maxKeys, limit: Math.min(maxKeys, 1000) }
}

type Parameters = ReturnType<typeof parameters>

const shared = (bucket: string, { encoding, encode, prefix, delimiter, maxKeys }: Parameters): Xml[] => [
  element('Name', bucket),
  element('Prefix', encode(prefix)),
  ...(delimiter ? [element('Delimiter', encode(delimiter))] : []),
  element('MaxKeys', maxKeys),
  ...(encoding ? [element('EncodingType', encoding)] : []),
]

const contents = (found: Walk, { encode }: Parameters): Xml[] => [
  ...found.objects.map((object) =>
    element('Contents', [
      element('Key', encode(object.key)),
      element('LastModified', new Date(object.modifiedMs).toISOString()),
      element('ETag', `"${object.etag}"`),
      ...(object.checksum
        ? [element('ChecksumAlgorithm', object.checksum.algorithm.toUpperCase()), element('ChecksumType', object.checksum.type)]
        : []),
      element('Size', object.sizeBytes),
      element('StorageClass', 'STANDARD'),
    ]),
  ),
  ...found.commonPrefixes.map((prefix) => element('CommonPrefixes', [element('Prefix', encode(prefix))])),
]

const need = ({ query }: S3Call) => ({ action: 'list', prefix: query.get('prefix') ?? '' }) as const

export const listObjectsV2: Operation = {
  name: 'ListObjectsV2',
  need,
  async run({ call, auth, store, response, bucket }) {
    const asked = parameters(call)
    const token = call.query.get('continuation-token')
    const startAfter = call.query.get('start-after') ?? ''
    const after = token === undefined ? startAfter : Buffer.from(token, 'base64url').toString()
    const found = await walk(store, { ...asked, after }, visibleIn(auth.principal, asked.prefix))
    const count = found.objects.length + found.commonPrefixes.length
    sendXml(
      response,
      answer('ListBucketResult', [
        ...shared(bucket, asked),
        element('KeyCount', count),
        element('IsTruncated', found.next !== undefined),
        ...(token === undefined ? [] : [element('ContinuationToken', token)]),
        ...(found.next === undefined ? [] : [element('NextContinuationToken', Buffer.from(found.next).toString('base64url'))]),
        ...(startAfter ? [element('StartAfter', asked.encode(startAfter))] : []),
        ...contents(found, asked),
      ]),
    )
  },
}

export const listObjects: Operation = {
  name: 'ListObjects',
  need,
  async run({ call, auth, store, response, bucket }) {
    const asked = parameters(call)
    const marker = call.query.get('marker') ?? ''
    const found = await walk(store, { ...asked, after: marker }, visibleIn(auth.principal, asked.prefix))
    sendXml(
      response,
      answer('ListBucketResult', [
        ...shared(bucket, asked),
        element('Marker', asked.encode(marker)),
        element('IsTruncated', found.next !== undefined),
        ...(found.next === undefined ? [] : [element('NextMarker', asked.encode(found.next))]),
        ...contents(found, asked),
      ]),
    )
  },
}
