// The one error type of the platform. Match on `code`, never on the text.

import { ERRORS, type ErrorCode, type ErrorKind } from '../../../contract/error-codes.ts'
import type { FailureFacts } from '../../../contract/failure-causes.ts'

export type ErrorDetails = Readonly<Record<string, string | number>>

/** One field of a request that is wrong, for `errors[]` in the body. */
export interface FieldError {
  readonly key: string
  readonly message: string
}

export interface ErrorExtras {
  readonly errors?: readonly FieldError[]
  /** Data for programs, put into the body as `params`. */
  readonly params?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
  /** The finished sentence, where it is not the one of the code. */
  readonly text?: string
  /** For codes that clients expect with two statuses. */
  readonly kind?: ErrorKind
  /** Further details, for the cause of a failed job. */
  readonly facts?: FailureFacts
}

export class PlatformError extends Error {
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: ErrorDetails
  readonly errors: readonly FieldError[] | undefined
  readonly params: Readonly<Record<string, unknown>> | undefined
  readonly facts: FailureFacts

  constructor(code: ErrorCode, details: ErrorDetails = {}, extras: ErrorExtras = {}) {
    super(extras.text ?? textOf(code, details), extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'PlatformError'
    this.code = code
    this.kind = extras.kind ?? ERRORS[code].kind
    this.details = details
    this.errors = extras.errors
    this.params = extras.params
    this.facts = extras.facts ?? {}
  }
}

const textOf = (code: ErrorCode, details: ErrorDetails): string =>
  ERRORS[code].text.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? '?'))

/** Gives a foreign failure a name; one that already has a name keeps it. */
export function named(code: ErrorCode, details: ErrorDetails, cause: unknown): PlatformError {
  return cause instanceof PlatformError ? cause : new PlatformError(code, details, { cause })
}
