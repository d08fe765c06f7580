// Attributes of an object: from headers and back.

import type { ObjectAttributes, ObjectInfo } from '../../../engines/object-store/object-store.ts'
import { defined } from '../../../kit/defined.ts'
import { headerOf, type S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

const META = 'x-amz-meta-'
const MAX_METADATA_BYTES = 2048
const CANNED_ACLS = new Set([
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
])

export function attributesOf(call: S3Call): ObjectAttributes {
  checkAcl(call)
  const metadata = metadataOf(call)
  const encryption = encryptionOf(call)
  const text = (name: string) => headerOf(call, name)
  // `aws-chunked` is how the body travelled, not what the object is.
  const encoding = (text('content-encoding') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== 'aws-chunked')
    .join(', ')
  return {
    ...entry('contentType', text('content-type')),
    ...entry('contentDisposition', text('content-disposition')),
    ...entry('contentLanguage', text('content-language')),
    ...entry('cacheControl', text('cache-control')),
    ...entry('expires', text('expires')),
    ...entry('contentEncoding', encoding || undefined),
    ...entry('encryption', encryption),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

const entry = <K extends keyof ObjectAttributes>(name: K, value: string | undefined): Partial<Record<K, string>> =>
  // The key is K and the value a string: TypeScript widens computed names.
  value === undefined ? {} : ({ [name]: value } as Record<K, string>)

function metadataOf(call: S3Call): Record<string, string> {
  const metadata: Record<string, string> = {}
  let size = 0
  for (const name of Object.keys(call.headers)) {
    if (!name.startsWith(META)) continue
    const value = headerOf(call, name) ?? ''
    size += name.length - META.length + value.length
    metadata[name.slice(META.length)] = value
  }
  if (size > MAX_METADATA_BYTES)
    throw new S3Error('MetadataTooLarge', `Your metadata headers exceed the maximum allowed size of ${MAX_METADATA_BYTES} bytes.`)
  return metadata
}

function checkAcl(call: S3Call): void {
  const acl = headerOf(call, 'x-amz-acl')
  if (acl !== undefined && !CANNED_ACLS.has(acl)) throw new S3Error('InvalidArgument', `"${acl}" is not a canned ACL.`)
}

function encryptionOf(call: S3Call): string | undefined {
  if (headerOf(call, 'x-amz-server-side-encryption-customer-algorithm'))
    throw new S3Error('NotImplemented', 'Encryption with customer keys (SSE-C) is not supported.')
  const encryption = headerOf(call, 'x-amz-server-side-encryption')
  if (encryption !== undefined && encryption !== 'AES256')
    throw new S3Error(
      'InvalidEncryptionAlgorithmError',
      'The encryption request you specified is not valid. Supported value: AES256.',
    )
  return encryption
}

/** The headers of a GET or HEAD answer. */
export function headersOf(call: S3Call, info: ObjectInfo): Record<string, string> {
  const { attributes, checksum } = info
  const override = (name: string, stored: string | undefined) => safeHeader(call.query.get(`response-${name}`)) ?? stored
  const withChecksum = checksum && headerOf(call, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED'
  return defined({
    'accept-ranges': 'bytes',
    'last-modified': new Date(info.modifiedMs).toUTCString(),
    etag: `"${info.etag}"`,
    'content-type': override('content-type', attributes.contentType) ?? 'binary/octet-stream',
    'content-disposition': override('content-disposition', attributes.contentDisposition),
    'content-encoding': override('content-encoding', attributes.contentEncoding),
    'content-language': override('content-language', attributes.contentLanguage),
    'cache-control': override('cache-control', attributes.cacheControl),
    expires: override('expires', attributes.expires),
    'x-amz-server-side-encryption': attributes.encryption,
    ...Object.fromEntries(Object.entries(attributes.metadata ?? {}).map(([name, value]) => [META + name, value])),
    ...(withChecksum && { [`x-amz-checksum-${checksum.algorithm}`]: checksum.value, 'x-amz-checksum-type': checksum.type }),
  })
}

/** A value from the query as header bytes: UTF-8, without anything that could start another header. */
function safeHeader(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (/\p{Cc}/u.test(value)) throw new S3Error('InvalidArgument', 'A response- parameter contains control characters.')
  return Buffer.from(value).toString('latin1')
}
