// A request until it is good: the error handler decides, the waits are those of the reference.

import type { Clock } from '../clock.ts'
import type { ErrorHandler, Resolution } from '../errors/error-handler.ts'
import { ConnectorError } from '../errors.ts'
import type { HttpResponse } from './response.ts'
import { type HttpRequest, type Send, TransportError } from './transport.ts'

/** Why a try has to be repeated: each kind counts its own tries, as the reference's nested decorators do. */
class Retry extends Error {
  readonly kind: 'default' | 'rate' | 'user'
  readonly seconds: number
  readonly failure: ConnectorError
  constructor(kind: Retry['kind'], seconds: number, failure: ConnectorError) {
    super(failure.message)
    this.kind = kind
    this.seconds = seconds
    this.failure = failure
  }
}

/** The API refused a request for good. */
export class StatusError extends ConnectorError {
  /** Undefined: no answer. */
  readonly status: number | undefined
  constructor(message: string, status: number | undefined) {
    super(message)
    this.status = status
  }
}

/** The API requests that the pages are read from the start again. */
export class PaginationReset extends ConnectorError {}

/** The API requires a page with fewer records. */
export class PageTooLarge extends ConnectorError {}

/** The API requires a smaller window. */
export class WindowTooLarge extends ConnectorError {}

export interface RetryDeps {
  readonly clock: Clock
  readonly send: Send
  readonly errors: ErrorHandler
  /** Learns which answers are good. */
  readonly accept?: ((response: HttpResponse) => void) | undefined
  /** Before the second and every later try: the authenticator gets to refresh its header. */
  readonly reauthenticate: (request: HttpRequest, force: boolean) => Promise<HttpRequest>
}

export interface Outcome {
  readonly response: HttpResponse
  readonly ignored: boolean
}

export async function sendWithRetries(
  first: HttpRequest,
  { clock, send, errors, accept, reauthenticate }: RetryDeps,
): Promise<Outcome> {
  const maxTries = Math.max(0, errors.maxRetries) + 1
  let attempts = 0
  let request = first
  let refresh = false

  async function once(): Promise<Outcome> {
    attempts++
    if (attempts > 1) request = await reauthenticate(request, refresh)
    let response: HttpResponse | undefined
    let failure: TransportError | undefined
    try {
      response = await send(request)
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
      failure = error
    }
    const resolution = await errors.interpret(response)
    return settle(resolution, response, failure)
  }

  async function settle(
    resolution: Resolution,
    response: HttpResponse | undefined,
    failure: TransportError | undefined,
  ): Promise<Outcome> {
    const { action } = resolution
    if (response && (action === 'SUCCESS' || action === 'IGNORE')) {
      accept?.(response)
      return { response, ignored: action === 'IGNORE' }
    }
    const error = failure ?? failureOf(request, response, resolution)
    if (action === 'RESET_PAGINATION') throw new PaginationReset(error.message)
    if (action === 'REDUCE_PAGE_SIZE') throw new PageTooLarge(error.message)
    if (action === 'SPLIT_REQUEST_WINDOW') throw new WindowTooLarge(error.message)
    if (action === 'FAIL' || action === 'IGNORE' || action === 'SUCCESS') throw error
    refresh = action === 'REFRESH_TOKEN_THEN_RETRY'
    const seconds = await errors.backoff(response, attempts)
    if (seconds) throw new Retry('user', seconds, error)
    throw new Retry(action === 'RATE_LIMITED' ? 'rate' : 'default', 0, error)
  }

  const repeated =
    (kind: Retry['kind'], inner: () => Promise<Outcome>, waitOf: (tries: number, retry: Retry) => number) =>
    async (): Promise<Outcome> => {
      const start = clock.elapsed()
      for (let tries = 1; ; tries++) {
        try {
          return await inner()
        } catch (error) {
          if (!(error instanceof Retry) || error.kind !== kind) throw error
          const elapsed = clock.elapsed() - start
          if (tries === maxTries || (kind !== 'rate' && elapsed >= errors.maxTime)) throw error.failure
          await clock.wait(waitOf(tries, error), 'backoff')
        }
      }
    }

  const doubling = (tries: number) => 2 ** (tries - 1)
  const user = repeated('user', once, (_tries, retry) => retry.seconds + 1)
  const rate = repeated('rate', user, doubling)
  return repeated('default', rate, doubling)()
}

function failureOf(request: HttpRequest, response: HttpResponse | undefined, { message }: Resolution): ConnectorError {
  const where = `${request.method} ${request.url.split('?')[0]}`
  const detail = message ? ` ${message}` : ''
  const body = response ? response.text().slice(0, 300) : ''
  return new StatusError(
    `${where} failed with status ${response?.status ?? 'none'}.${detail}${body ? ` The server answered: ${body}` : ''}`,
    response?.status,
  )
}
