// Messages about unusable responses (spec extractor 10.5): which request, what came back, what to change.

import type { CauseKind } from '../../../../contract/failure-causes.ts'
import { UserError } from '../errors.ts'
import { addressText } from './address.ts'
import { shownRequest } from './confidential.ts'
import type { HttpRequest, HttpResponse } from './exchange.ts'

const EXCERPT = 120

export const excerpt = (body: Buffer, length = EXCERPT) => {
  const text = body.subarray(0, length * 4).toString()
  return text.length > length ? `${text.slice(0, length)} (truncated...)` : text
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'Check the credentials in api.authentication.',
  403: 'The credentials are known but do not permit this request.',
  404: "Check api.baseUrl (it usually ends with a slash) and the job's endpoint.",
  405: "Check the job's method.",
  415: "Check the job's method and the Content-Type header.",
  429: 'The API limits the number of requests; see api.retryConfig.',
}

export function failedRequest(response: HttpResponse, request: HttpRequest, what: string): UserError {
  const { status, statusText, body } = response
  const side = status < 500 ? 'Client' : 'Server'
  const hint = HINTS[status]
  const error = new UserError(
    `The API request failed: [${status}] ${side} error: \`${request.method} ${addressText(request.address)}\` resulted in a ` +
      `\`${status} ${statusText}\` response: ${excerpt(body)}${hint ? ` ${hint}` : ''}`,
    { request: what, status, body: excerpt(body, 1000) },
  )
  return error.withFacts({
    kind: what === 'login' ? 'login.failed' : kindOfStatus(status),
    request: { ...shown(request), status },
  })
}

const BY_STATUS: Readonly<Record<number, CauseKind>> = {
  401: 'http.unauthorized',
  403: 'http.forbidden',
  404: 'http.notFound',
  410: 'http.notFound',
  420: 'http.tooManyRequests',
  429: 'http.tooManyRequests',
}

const kindOfStatus = (status: number): CauseKind => BY_STATUS[status] ?? (status < 500 ? 'http.rejected' : 'http.serverError')

/** A request as a failure shows it. */
export const shown = (request: HttpRequest) => ({
  method: request.method,
  url: addressText(shownRequest(request).address),
})

/** An answer that should be JSON, or of its `kind`, and is not. */
export function undecodable(
  what: string,
  why: Error,
  request: HttpRequest,
  { status, body, headers }: HttpResponse,
  kind = 'JSON decode error: ',
): UserError {
  return new UserError(
    `${what}: ${kind}${why.message} ` +
      `(${request.method} ${addressText(request.address)} answered ${status} with ${body.length === 0 ? 'an empty body' : excerpt(body)})`,
    { contentType: headers['content-type'] ?? null },
  ).withFacts({ kind: 'response.unreadable', request: { ...shown(request), status } })
}
