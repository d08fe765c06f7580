// A login request holds credentials in every place, whatever their names: where it is shown, its values are masked.

import { MASK } from '../redaction.ts'
import { addressText, withQuery } from './address.ts'
import type { HttpRequest } from './exchange.ts'
import { headersOf } from './headers.ts'

/** The request as it may be shown: names stay, values of a login do not. */
export function shownRequest(request: HttpRequest): HttpRequest {
  if (!request.isLogin) return request
  const { address, headers, body } = request
  const query = address.query?.replace(/=[^&]*/g, `=${MASK}`)
  return {
    ...request,
    address: query === undefined ? address : withQuery(address, query),
    headers: headersOf([...headers.values()].map(([name]) => [name, MASK] as const)),
    ...(body === undefined ? {} : { body: MASK }),
  }
}

/** `GET https://api.example.com/users?page=1` */
export function requestLine(request: HttpRequest): string {
  return `${request.method} ${addressText(shownRequest(request).address)}`
}
