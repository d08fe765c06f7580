// Errors of Azure's protocol, translated from the S3 errors of the rest of the module.

import { AZURE_VERSION } from '../../../../engines/object-store/shared-access.ts'
import { type S3ErrorCode, toS3Error } from '../s3-errors.ts'
import { element, xmlDocument } from '../xml.ts'

export class BlobError extends Error {
  readonly code: string
  readonly status: number

  constructor(status: number, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BlobError'
    this.status = status
    this.code = code
  }
}

/** Codes of S3 that mean the same under another name; the status is Azure's. */
const SAME_AS: Partial<Record<S3ErrorCode, readonly [status: number, code: string]>> = {
  AccessDenied: [403, 'AuthorizationPermissionMismatch'],
  BadDigest: [400, 'Md5Mismatch'],
  EntityTooLarge: [413, 'RequestBodyTooLarge'],
  IncompleteBody: [400, 'InvalidInput'],
  InsufficientStorage: [507, 'InsufficientStorage'],
  InvalidDigest: [400, 'InvalidMd5'],
  InvalidPart: [400, 'InvalidBlockList'],
  InvalidRange: [416, 'InvalidRange'],
  InvalidURI: [400, 'InvalidUri'],
  MalformedXML: [400, 'InvalidXmlDocument'],
  MetadataTooLarge: [400, 'MetadataTooLarge'],
  NoSuchKey: [404, 'BlobNotFound'],
  NoSuchUpload: [400, 'InvalidBlockList'],
  PreconditionFailed: [412, 'ConditionNotMet'],
  ServiceUnavailable: [503, 'ServerBusy'],
}

export function toBlobError(cause: unknown): BlobError {
  if (cause instanceof BlobError) return cause
  const error = toS3Error(cause)
  const [status, code] = SAME_AS[error.code] ?? [error.status, error.code]
  return new BlobError(status, code, error.message, error.cause ?? error)
}

export const blobErrorDocument = ({ code, message }: BlobError): string =>
  xmlDocument(element('Error', [element('Code', code), element('Message', message)]))

export const blobErrorHeaders = ({ code }: BlobError): Record<string, string> => ({
  'x-ms-error-code': code,
  'x-ms-version': AZURE_VERSION,
})
