// The errors of the S3 protocol: code and status as AWS documents them, and how the engine's errors translate.

import { PlatformError } from '../../../kit/errors.ts'
import { element, xmlDocument } from './xml.ts'

const STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  // AWS answers 400; we answer 403 as for every other wrong credential, and SDKs read the code, not the status.
  ExpiredToken: 403,
  IncompleteBody: 400,
  InsufficientStorage: 507,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidEncryptionAlgorithmError: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidToken: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const

export type S3ErrorCode = keyof typeof STATUS

export class S3Error extends Error {
  readonly code: S3ErrorCode
  readonly status: number
  /** Further elements of the error document, such as ActualObjectSize. */
  readonly extras: Readonly<Record<string, string>>

  constructor(code: S3ErrorCode, message: string, extras: Readonly<Record<string, string>> = {}, cause?: unknown) {
    super(message, { cause })
    this.name = 'S3Error'
    this.code = code
    this.status = STATUS[code]
    this.extras = extras
  }
}

/** Any failure as an error of the protocol. Unexpected failures are internal errors. */
export function toS3Error(cause: unknown): S3Error {
  if (cause instanceof S3Error) return cause
  if (cause instanceof PlatformError) {
    const code = FROM_ENGINE[cause.code]
    if (code) return new S3Error(code, cause.message, {}, cause)
  }
  return new S3Error('InternalError', 'We encountered an internal error. Please try again.', {}, cause)
}

const FROM_ENGINE: Readonly<Record<string, S3ErrorCode>> = {
  'storage.full': 'InsufficientStorage',
  'storage.invalidKey': 'InvalidURI',
  'storage.invalidPart': 'InvalidPart',
  'storage.preconditionFailed': 'PreconditionFailed',
  'storage.unavailable': 'ServiceUnavailable',
  'storage.uploadNotFound': 'NoSuchUpload',
}

export const errorDocument = (error: S3Error, resource: string, requestId: string): string =>
  xmlDocument(
    element('Error', [
      element('Code', error.code),
      element('Message', error.message),
      ...Object.entries(error.extras).map(([name, value]) => element(name, value)),
      element('Resource', resource),
      element('RequestId', requestId),
      element('HostId', requestId),
    ]),
  )
