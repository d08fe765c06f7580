// Retries (spec extractor 10.4): which answers and failures are tried again, and how long to wait before.

import { UserError } from '../errors.ts'
import type { Log } from '../log.ts'
import { requestLine } from './confidential.ts'
import type { HttpRequest, HttpResponse, Send } from './exchange.ts'
import { shown } from './response.ts'
import { TransportError } from './transport-error.ts'

export interface RetryRules {
  readonly maxRetries: number
  /** Lower case. */
  readonly retryHeader: string
  readonly httpCodes: ReadonlySet<number>
  readonly curlCodes: ReadonlySet<number>
}

export const DEFAULT_RETRY: RetryRules = {
  maxRetries: 10,
  retryHeader: 'retry-after',
  httpCodes: new Set([500, 502, 503, 504, 408, 420, 429]),
  curlCodes: new Set([6, 7, 28, 35, 52, 56]),
}

export interface RetryDeps {
  readonly rules: RetryRules
  readonly nowSeconds: () => number
  readonly sleep: (seconds: number) => Promise<void>
  readonly log: Log
  /** The API has sent a wait time, which applies to other requests too. */
  readonly pause: (request: HttpRequest, seconds: number) => void
}

const DAY_SECONDS = 86_400
const WORTH_SAYING_SECONDS = 15
const MAX_WAIT_SECONDS = DAY_SECONDS / 2

/** Seconds to wait as the server requested; 0 when its answer has no usable value. */
export function delayFromHeader(value: string | undefined, nowSeconds: number): number {
  if (value === undefined) return 0
  const text = value.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const n = Number(text)
    return n < nowSeconds - DAY_SECONDS ? n : Math.max(0, n - nowSeconds) // a large number is a Unix time
  }
  if (!/^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|\+0000)$/i.test(text)) return 0
  const at = Date.parse(text)
  return Number.isNaN(at) ? 0 : Math.max(0, at / 1000 - nowSeconds)
}

/** Wait before the nth retry: what the server requests, otherwise 1, 2, 4, 8 ... seconds. */
const delayOf = (headerDelay: number, retry: number) => (headerDelay > 0 ? headerDelay : 2 ** (retry - 1))

export function withRetries(send: Send, { rules, nowSeconds, sleep, log, pause }: RetryDeps): Send {
  return async (request) => {
    for (let retry = 1; ; retry++) {
      const outcome = await send(request).catch((error: unknown) => {
        if (error instanceof TransportError && rules.curlCodes.has(error.curlCode) && retry <= rules.maxRetries) return error
        throw error
      })
      const isFailure = outcome instanceof TransportError
      if (!isFailure && !(rules.httpCodes.has(outcome.status) && retry <= rules.maxRetries)) return outcome
      const asked = isFailure ? 0 : delayFromHeader(outcome.headers[rules.retryHeader], nowSeconds())
      const delay = patience(request, delayOf(asked, retry))
      if (asked > 0) pause(request, asked)
      log.debug(`Http request failed, retrying in ${delay.toFixed(1)} seconds [${retry}x].`, {
        request: requestLine(request),
        ...(isFailure ? { message: outcome.message } : describe(outcome)),
      })
      if (delay >= WORTH_SAYING_SECONDS) log.info(`Waiting ${Math.round(delay)} seconds before the request is tried again.`)
      await sleep(delay)
    }
  }
}

/** The run does not wait for a server whose Retry-After lies in the next century. */
function patience(request: HttpRequest, delay: number): number {
  if (delay <= MAX_WAIT_SECONDS) return delay
  throw new UserError(
    `The API asks to wait ${Math.round(delay)} seconds before the next attempt (${requestLine(request)}), ` +
      `and the run waits at most ${MAX_WAIT_SECONDS}.`,
  ).withFacts({ kind: 'http.tooManyRequests', request: shown(request) })
}

const describe = ({ status, body }: HttpResponse) => ({ status, body: body.subarray(0, 300).toString() })
