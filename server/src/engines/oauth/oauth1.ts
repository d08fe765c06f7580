// OAuth 1.0a with HMAC-SHA1 (RFC 5849): the two token requests of the round trip, and signed requests.

import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { uriEncode } from '../../kit/text/uri-encode.ts'
import type { GuardedAnswer, GuardedSend } from './guarded-send.ts'
import type { OauthClient, Tokens } from './oauth2.ts'
import { formOf } from './provider-answer.ts'

export interface Oauth1Token {
  readonly token: string
  readonly secret: string
}

export interface SignedRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly client: OauthClient
  readonly token?: Oauth1Token | undefined
  /** `oauth_` parameters of the step: a callback, a verifier. */
  readonly parameters?: Readonly<Record<string, string>>
}

export type Oauth1 = ReturnType<typeof createOauth1>

const TIMEOUT_MS = 20_000
const MAX_ANSWER_BYTES = 64 * 1024

export function createOauth1({ send }: GuardedSend, clock: Clock) {
  async function ask(request: SignedRequest): Promise<GuardedAnswer> {
    const { method, url } = request
    try {
      return await send({
        method,
        url,
        headers: { authorization: headerOf(request), 'user-agent': 'millrace' },
        body: '',
        timeoutMs: TIMEOUT_MS,
        maxAnswerBytes: MAX_ANSWER_BYTES,
      })
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code === 'egress.refused') throw error
      throw new PlatformError('oauth.unreachable', { host: url.host, reason: error.message.replace(/\.$/, '') }, { cause: error })
    }
  }

  const headerOf = ({ method, url, client, token, parameters = {} }: SignedRequest): string =>
    authorizationHeader({
      method,
      url,
      client,
      token,
      oauth: {
        ...parameters,
        oauth_consumer_key: client.id,
        oauth_nonce: randomBytes(16).toString('hex'),
        oauth_signature_method: 'HMAC-SHA1',
        oauth_timestamp: String(Math.floor(clock.now().getTime() / 1000)),
        oauth_version: '1.0',
        ...(token && { oauth_token: token.token }),
      },
    })

  async function requestToken(url: string, client: OauthClient, callback: string): Promise<Oauth1Token> {
    const tokens = await tokensFrom({ method: 'POST', url: new URL(url), client, parameters: { oauth_callback: callback } })
    return { token: String(tokens.oauth_token), secret: String(tokens.oauth_token_secret) }
  }

  const accessToken = (url: string, client: OauthClient, token: Oauth1Token, verifier: string): Promise<Tokens> =>
    tokensFrom({ method: 'POST', url: new URL(url), client, token, parameters: { oauth_verifier: verifier } })

  async function tokensFrom(request: SignedRequest): Promise<Tokens> {
    const { host } = request.url
    const { status, text } = await ask(request)
    if (status >= 500) throw new PlatformError('oauth.unreachable', { host, reason: `it answered with status ${status}` })
    if (status >= 400) throw new PlatformError('oauth.refused', { host, reason: `status ${status}: ${text.slice(0, 200)}` })
    const tokens = formOf(text)
    if (status !== 200 || !tokens.oauth_token || !tokens.oauth_token_secret)
      throw new PlatformError('oauth.badAnswer', { host, reason: `it answered with status ${status} and without a token` })
    return tokens
  }

  return { requestToken, accessToken, ask }
}

interface Unsigned extends Pick<SignedRequest, 'method' | 'url' | 'client' | 'token'> {
  readonly oauth: Readonly<Record<string, string>>
}

export function authorizationHeader({ method, url, client, token, oauth }: Unsigned): string {
  const key = `${uriEncode(client.secret)}&${uriEncode(token?.secret ?? '')}`
  const signature = createHmac('sha1', key)
    .update(signatureBase(method, url, oauth))
    .digest('base64')
  const header = Object.entries({ ...oauth, oauth_signature: signature })
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}="${uriEncode(value)}"`)
  return `OAuth ${header.join(', ')}`
}

/** RFC 5849, 3.4.1: the method, the address without its query, and all parameters in order. */
function signatureBase(method: string, url: URL, oauth: Readonly<Record<string, string>>): string {
  const parameters = [...url.searchParams, ...Object.entries(oauth)]
    .map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    .sort()
    .join('&')
  return [method, `${url.origin}${url.pathname}`, parameters].map(uriEncode).join('&')
}
