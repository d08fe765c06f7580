// Redirects (spec extractor 10.3). The address changes hands here, so credentials must not travel with it: on the way to
// another origin everything that is secret is left behind (spec extractor 26).

import { UserError } from '../errors.ts'
import { addressText, resolveAddress, sameOrigin } from './address.ts'
import type { HttpRequest, HttpResponse, Send } from './exchange.ts'
import { withoutHeaders } from './headers.ts'

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export interface RedirectDeps {
  /** For requests to the origin that the job requested: signs. */
  readonly send: Send
  /** For requests to any other origin: does not sign. */
  readonly sendUnsigned: Send
  /** True for a header value that carries a secret. */
  readonly isSecret: (value: string) => boolean
}

const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization', 'host'])

export function withRedirects({ send, sendUnsigned, isSecret }: RedirectDeps): Send {
  return async (first) => {
    let request = first
    for (let hop = 0; ; hop++) {
      const response = await (sameOrigin(request.address, first.address) ? send : sendUnsigned)(request)
      const location = response.headers.location
      if (!REDIRECTS.has(response.status) || location === undefined) return response
      if (hop === MAX_REDIRECTS) {
        throw new UserError(
          `Will not follow more than ${MAX_REDIRECTS} redirects (${first.method} ${addressText(first.address)}).`,
        )
      }
      request = follow(request, response, location, isSecret)
    }
  }
}

function follow(
  request: HttpRequest,
  { status }: HttpResponse,
  location: string,
  isSecret: RedirectDeps['isSecret'],
): HttpRequest {
  const address = resolveAddress(request.address, location)
  const stays = sameOrigin(address, request.address)
  const headers = stays
    ? request.headers
    : withoutHeaders(request.headers, (name, value) => CREDENTIAL_HEADERS.has(name) || isSecret(value))
  const keepsBody = status === 307 || status === 308
  if (request.method === 'GET' || !keepsBody) return { ...withoutBody(request), method: 'GET', address, headers }
  if (!stays && request.body !== undefined && isSecret(request.body)) {
    throw new UserError(
      `The API answered ${status} and sends the request on to ${addressText(address)}. Its body holds a secret, so it was not sent there. ` +
        'Use the final address as endpoint.',
    )
  }
  return { ...request, address, headers }
}

const withoutBody = ({ body: _, ...request }: HttpRequest) => request
