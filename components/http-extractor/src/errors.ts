// Two ways to end a run early. Which one decides the exit code; nothing else does.

import type { FailureFacts } from '../../../contract/failure-causes.ts'

/** Details for the log line, beside the message. Never a secret: the log redacts by value, but keep it short anyway. */
export type ErrorContext = Readonly<Record<string, unknown>>

/** The user can act on it: the configuration, what the API answered, data that fits no table. Exit code 1. */
export class UserError extends Error {
  #context: ErrorContext
  #facts: FailureFacts = {}

  constructor(message: string, context: ErrorContext = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'UserError'
    this.#context = context
  }

  get context(): ErrorContext {
    return this.#context
  }

  /** What a caller further out adds: which job, which page. Existing details stay. */
  addContext(outer: ErrorContext): void {
    this.#context = { ...outer, ...this.#context }
  }

  get facts(): FailureFacts {
    return this.#facts
  }

  /** For out/failure.json. What is already known stays. */
  withFacts(outer: FailureFacts): this {
    const request = { ...outer.request, ...this.#facts.request }
    this.#facts = { ...outer, ...this.#facts, ...(Object.keys(request).length > 0 ? { request } : {}) }
    return this
  }
}

/** Only we (or the platform that started us) can act on it. Exit code 2. */
export class ApplicationError extends Error {
  readonly context: ErrorContext

  constructor(message: string, context: ErrorContext = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ApplicationError'
    this.context = context
  }
}
