// The one place where an error becomes a status code and a body.

import type { FastifyError } from 'fastify'
import type { ErrorCode, ErrorKind } from '../../../contract/error-codes.ts'
import { isDatabaseAway, isUnstorableText } from '../engines/metadata-db/dialects.ts'
import { diskFullError } from '../kit/disk-full.ts'
import { PlatformError } from '../kit/errors.ts'
import { InvalidRequest, validationError } from './validation.ts'

const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'not-allowed': 405,
  conflict: 409,
  'too-large': 413,
  unprocessable: 422,
  'too-many': 429,
  bug: 500,
  'not-built': 501,
  transient: 503,
  full: 507,
}

export interface ErrorBody {
  readonly error: string
  /** Empty for a missing token: clients compare that (spec storage 1.2). A number in the dialect of the other services. */
  readonly code: string | number
  readonly exceptionId: string
  readonly status: string
  readonly message?: string
  readonly context?: { readonly stringCode: string }
  readonly errors?: readonly { readonly key: string; readonly message: string }[]
  readonly params?: Readonly<Record<string, unknown>>
}

export const statusOf = (error: PlatformError): number => STATUS[error.kind]

/** `storage` names its errors by `code`; the services around it put the status there and the name into `context.stringCode` (spec platform 9.2). */
export function errorBody(error: PlatformError, exceptionId: string, dialect: 'storage' | 'service' = 'storage'): ErrorBody {
  const name = error.code === 'storage.tokenMissing' ? '' : error.code
  return {
    error: error.message,
    code: dialect === 'storage' ? name : statusOf(error),
    exceptionId,
    status: 'error',
    ...(dialect === 'service' && { message: error.message, context: { stringCode: name } }),
    ...(error.errors && { errors: error.errors }),
    ...(error.params && { params: error.params }),
  }
}

/**
 * Names whatever a handler, a hook or Fastify itself threw. An unnamed error is our bug, and its text stays in the log.
 * `clientLeft`: the request broke off, so a broken connection is theirs; otherwise it is one of ours, to a database or an object store.
 */
export function platformErrorOf(error: unknown, validationCode: ErrorCode, clientLeft = false): PlatformError {
  const full = diskFullError(error)
  if (full) return full
  if (error instanceof PlatformError) return error
  if (error instanceof InvalidRequest) return validationError(validationCode, error.errors)
  const code = (error as Partial<FastifyError> | undefined)?.code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new PlatformError('bodyTooLarge', { limit: 'number of' }, { cause: error })
  const status = (error as Partial<FastifyError> | undefined)?.statusCode
  if (status !== undefined && status >= 400 && status < 500) {
    const reason = error instanceof Error ? error.message : 'it is malformed.'
    return new PlatformError('malformedRequest', { reason }, { cause: error })
  }
  if (isUnstorableText(error))
    return new PlatformError('malformedRequest', { reason: 'it holds a NUL character, which cannot be stored as text.' })
  if (isDatabaseAway(error)) return new PlatformError('unavailable', { what: 'The metadata database' }, { cause: error })
  if (clientLeft && isAborted(error))
    return new PlatformError('malformedRequest', { reason: 'the connection was closed before the end of the body.' })
  return new PlatformError('internalError', {}, { cause: error })
}

const isAborted = (error: unknown) =>
  error instanceof Error &&
  ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'].includes((error as NodeJS.ErrnoException).code ?? '')
