// Between the words of the AWS SDK and ours.

import {
  type _Object,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
  type MultipartUpload,
  type Part,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { named, PlatformError } from '../../kit/errors.ts'
import type { ObjectAttributes, ObjectInfo, PartInfo, UploadInfo } from './object-store.ts'

export const withoutQuotes = (etag: string): string => etag.replaceAll('"', '')

export const isAbsent = (cause: unknown): boolean =>
  cause instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(cause.name)

export const toS3Attributes = (attributes: ObjectAttributes = {}) => ({
  ContentType: attributes.contentType,
  ContentDisposition: attributes.contentDisposition,
  ContentEncoding: attributes.contentEncoding,
  ContentLanguage: attributes.contentLanguage,
  CacheControl: attributes.cacheControl,
  Metadata: attributes.metadata && { ...attributes.metadata },
  ...(attributes.encryption === 'AES256' && { ServerSideEncryption: 'AES256' as const }),
})

function attributesOf(found: HeadObjectCommandOutput | GetObjectCommandOutput): ObjectAttributes {
  const metadata = found.Metadata
  return {
    ...(found.ContentType && { contentType: found.ContentType }),
    ...(found.ContentDisposition && { contentDisposition: found.ContentDisposition }),
    ...(found.ContentEncoding && { contentEncoding: found.ContentEncoding }),
    ...(found.ContentLanguage && { contentLanguage: found.ContentLanguage }),
    ...(found.CacheControl && { cacheControl: found.CacheControl }),
    ...(found.ServerSideEncryption && { encryption: found.ServerSideEncryption }),
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
  }
}

const infoOf = (key: string, found: HeadObjectCommandOutput | GetObjectCommandOutput, sizeBytes: number): ObjectInfo => ({
  key,
  sizeBytes,
  etag: withoutQuotes(found.ETag ?? ''),
  modifiedMs: found.LastModified?.getTime() ?? 0,
  attributes: attributesOf(found),
})

const ERRORS: Readonly<Record<string, 'storage.preconditionFailed' | 'storage.uploadNotFound' | 'storage.invalidPart'>> = {
  PreconditionFailed: 'storage.preconditionFailed',
  ConditionalRequestConflict: 'storage.preconditionFailed',
  NoSuchUpload: 'storage.uploadNotFound',
  InvalidPart: 'storage.invalidPart',
}

export const fromSdk = {
  head: (key: string, found: HeadObjectCommandOutput): ObjectInfo => infoOf(key, found, found.ContentLength ?? 0),

  /** Of a range, the size of the whole is in Content-Range. */
  get: (key: string, found: GetObjectCommandOutput): ObjectInfo =>
    infoOf(key, found, Number(found.ContentRange?.split('/')[1] ?? found.ContentLength ?? 0)),

  /** Lists are requested with encoded keys, because XML cannot carry every character. */
  listed: (object: _Object): ObjectInfo => ({
    key: decodeURIComponent((object.Key ?? '').replaceAll('+', ' ')),
    sizeBytes: object.Size ?? 0,
    etag: withoutQuotes(object.ETag ?? ''),
    modifiedMs: object.LastModified?.getTime() ?? 0,
    attributes: {},
  }),

  part: (part: Part): PartInfo => ({
    number: part.PartNumber ?? 0,
    sizeBytes: part.Size ?? 0,
    etag: withoutQuotes(part.ETag ?? ''),
    modifiedMs: part.LastModified?.getTime() ?? 0,
  }),

  upload: (upload: MultipartUpload): UploadInfo => ({
    uploadId: upload.UploadId ?? '',
    key: decodeURIComponent((upload.Key ?? '').replaceAll('+', ' ')),
    startedMs: upload.Initiated?.getTime() ?? 0,
    attributes: {},
  }),

  error(cause: unknown, what: string, key = ''): PlatformError {
    const code = cause instanceof S3ServiceException ? ERRORS[cause.name] : undefined
    if (code)
      return new PlatformError(
        code,
        { key: key || what, condition: 'see the conditions of the request', number: '?', etag: '?' },
        { cause },
      )
    return named('storage.unavailable', { what }, cause)
  },
}
