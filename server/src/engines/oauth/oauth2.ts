// OAuth 2.0 by openid-client, over the guarded way out. Failures have four names: the server cannot be reached, it answers with
// an invalid response, it refuses, or it reports that the grant is invalid (RFC 6749, 5.2: invalid_grant).

import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  None,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client'
import { PlatformError } from '../../kit/errors.ts'
import type { GuardedSend } from './guarded-send.ts'
import { readTokenAnswer, strictAnswer } from './provider-answer.ts'

export interface Oauth2Server {
  readonly authUrl: string
  readonly tokenUrl: string
  readonly revokeUrl?: string | undefined
  /** Known: an `iss` parameter and an id token are compared with it. */
  readonly issuer?: string | undefined
  readonly scope?: string | undefined
  readonly pkce: boolean
  readonly clientAuthentication: 'post' | 'basic'
  /** Added to the address that a person is sent to. */
  readonly authParameters: Readonly<Record<string, string>>
}

export interface OauthClient {
  readonly id: string
  readonly secret: string
}

export interface RoundTrip {
  readonly redirectUrl: string
  readonly state: string
  readonly codeVerifier: string
}

/** The members of a token answer as the provider wrote them; `access_token` is one of them. */
export type Tokens = Readonly<Record<string, unknown>>

export type Oauth2 = ReturnType<typeof createOauth2>

const TIMEOUT_MS = 20_000
const MAX_ANSWER_BYTES = 256 * 1024
/** How far the clock of an authorisation server may be off, for the times in id tokens. */
const CLOCK_TOLERANCE_SECONDS = 300

export function createOauth2({ send }: GuardedSend) {
  async function authorizationUrl(server: Oauth2Server, clientId: string, trip: RoundTrip): Promise<URL> {
    return buildAuthorizationUrl(configure(server, { id: clientId, secret: '' }).config, {
      ...server.authParameters,
      redirect_uri: trip.redirectUrl,
      state: trip.state,
      ...(server.scope !== undefined && { scope: server.scope }),
      ...(server.pkce && {
        code_challenge: await calculatePKCECodeChallenge(trip.codeVerifier),
        code_challenge_method: 'S256',
      }),
    })
  }

  /** `query` is what the provider put on the redirect address. */
  function redeem(server: Oauth2Server, client: OauthClient, trip: RoundTrip, query: URLSearchParams): Promise<Tokens> {
    const url = new URL(trip.redirectUrl)
    url.search = query.toString()
    if (server.issuer === undefined) url.searchParams.delete('iss')
    return withAnswer(server, client, (config) =>
      authorizationCodeGrant(config, url, {
        expectedState: trip.state,
        ...(server.pkce && { pkceCodeVerifier: trip.codeVerifier }),
      }),
    )
  }

  const refresh = (server: Oauth2Server, client: OauthClient, refreshToken: string): Promise<Tokens> =>
    withAnswer(server, client, (config) => refreshTokenGrant(config, refreshToken))

  async function revoke(server: Oauth2Server, client: OauthClient, token: string): Promise<void> {
    const { config } = configure(server, client)
    await tokenRevocation(config, token).catch((error: unknown) => {
      throw failureOf(error, config.serverMetadata().revocation_endpoint ?? '')
    })
  }

  async function withAnswer(
    server: Oauth2Server,
    client: OauthClient,
    ask: (config: Configuration) => Promise<unknown>,
  ): Promise<Tokens> {
    const { config, lastMembers } = configure(server, client)
    await ask(config).catch((error: unknown) => {
      throw failureOf(error, server.tokenUrl)
    })
    return lastMembers() ?? {}
  }

  function configure(server: Oauth2Server, client: OauthClient) {
    let members: Tokens | undefined
    const config = new Configuration(
      {
        issuer: server.issuer ?? new URL(server.tokenUrl).origin,
        authorization_endpoint: server.authUrl,
        token_endpoint: server.tokenUrl,
        ...(server.revokeUrl !== undefined && { revocation_endpoint: server.revokeUrl }),
      },
      client.id,
      { [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticationOf(server, client),
    )
    // Which addresses may be reached without TLS is decided where they are defined.
    allowInsecureRequests(config)
    config[customFetch] = async (url, { method, headers, body }) => {
      const answer = await send({
        method: method === 'GET' ? 'GET' : 'POST',
        url: new URL(url),
        headers: { ...headers, 'user-agent': 'millrace' },
        body: body?.toString() ?? '',
        timeoutMs: TIMEOUT_MS,
        maxAnswerBytes: MAX_ANSWER_BYTES,
      })
      const read = readTokenAnswer(answer)
      members = read.members
      return strictAnswer(read, server.issuer !== undefined)
    }
    return { config, lastMembers: () => members }
  }

  return { authorizationUrl, redeem, refresh, revoke }
}

function authenticationOf({ clientAuthentication }: Oauth2Server, { secret }: OauthClient) {
  if (secret === '') return None()
  return clientAuthentication === 'basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}

/** Errors of openid-client carry `error` and `error_description` of the provider, or a status. */
function failureOf(error: unknown, address: string): PlatformError {
  const found = causes(error)
  const ours = found.find((one) => one instanceof PlatformError)
  const host = URL.canParse(address) ? new URL(address).host : address
  if (ours) {
    const reason = ours.message.replace(/\.$/, '')
    return ours.code === 'egress.refused' ? ours : new PlatformError('oauth.unreachable', { host, reason }, { cause: error })
  }
  const said = found.find((one): one is ProviderError => typeof (one as Partial<ProviderError>)?.error === 'string')
  if (said) {
    const reason = [said.error, said.error_description].filter((text) => typeof text === 'string' && text !== '').join(': ')
    const code = said.error === 'invalid_grant' ? 'oauth.grantGone' : 'oauth.refused'
    return new PlatformError(code, { host, reason: reason.slice(0, 500) })
  }
  const status = found.map((one) => statusOf(one)).find((one) => one !== undefined)
  if (status !== undefined && status >= 500)
    return new PlatformError('oauth.unreachable', { host, reason: `it answered with status ${status}` })
  const reason =
    status !== undefined && status >= 300 && status < 400
      ? `it answered with a redirect (status ${status}), which is not followed`
      : status !== undefined && status !== 200
        ? `it answered with status ${status}`
        : messageOf(error)
  return new PlatformError('oauth.badAnswer', { host, reason }, { cause: error })
}

interface ProviderError {
  readonly error: string
  readonly error_description?: unknown
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = []
  for (let one = error; one !== undefined && one !== null && found.length < 8; one = (one as { cause?: unknown }).cause)
    found.push(one)
  return found
}

const statusOf = (value: unknown): number | undefined => {
  const status = (value as { status?: unknown })?.status
  return value instanceof Response || typeof status === 'number' ? Number(status) : undefined
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 300)
