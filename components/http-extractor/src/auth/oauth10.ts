// type oauth10: OAuth 1.0 with HMAC-SHA1 (RFC 5849), signature in the Authorization header.

import { createHmac, randomBytes } from 'node:crypto'
import { UserError } from '../errors.ts'
import { originOf } from '../http/address.ts'
import type { HttpRequest } from '../http/exchange.ts'
import { headerValue, withHeaders } from '../http/headers.ts'
import { parseQuery } from '../http/query.ts'
import { isScalar, memberOf } from '../json/json.ts'
import { toText } from '../json/text.ts'
import { rawEncode } from '../percent.ts'
import type { AuthDeps, Authentication } from './authentication.types.ts'
import { readCredentials, readData } from './credentials.ts'
import { nowSeconds } from './expressions.ts'

export const oauth10Schema = {
  title: 'OAuth 1.0',
  description: 'Signs every request with the credentials of the OAuth broker.',
  properties: { type: { const: 'oauth10' } },
  required: ['type'],
} as const

export function createOauth10(deps: AuthDeps): Authentication {
  const credentials = readCredentials(deps, '1.0')
  const data = readData(credentials, deps)
  const part = (name: string) => {
    const value = memberOf(data, name)
    if (!isScalar(value)) throw new UserError(`Missing '${name}' in '#data' for OAuth 1.0 authorization.`)
    return toText(value)
  }
  const token = part('oauth_token')
  const key = `${rawEncode(credentials.appSecret)}&${rawEncode(part('oauth_token_secret'))}`

  return async (request) => {
    const oauth: [string, string][] = [
      ['oauth_consumer_key', credentials.appKey],
      ['oauth_nonce', randomBytes(16).toString('hex')],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', String(nowSeconds(deps.now))],
      ['oauth_token', token],
      ['oauth_version', '1.0'],
    ]
    const signature = createHmac('sha1', key).update(signatureBase(request, oauth)).digest('base64')
    const header = [...oauth, ['oauth_signature', signature] as const]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}="${rawEncode(value)}"`)
      .join(', ')
    return { ...request, headers: withHeaders(request.headers, [['Authorization', `OAuth ${header}`]]) }
  }
}

/** RFC 5849 section 3.4.1: method, address without query, and all parameters: query, form body and the OAuth ones. */
function signatureBase({ method, address, headers, body }: HttpRequest, oauth: readonly (readonly [string, string])[]): string {
  const isForm = headerValue(headers, 'content-type')?.startsWith('application/x-www-form-urlencoded')
  const pairs = [...parseQuery(address.query), ...(isForm ? parseQuery(body) : []), ...oauth]
  const parameters = pairs
    .map(([name, value = '']) => `${rawEncode(name)}=${rawEncode(value)}`)
    .sort()
    .join('&')
  return [method, `${originOf(address)}${address.path}`, parameters].map(rawEncode).join('&')
}
