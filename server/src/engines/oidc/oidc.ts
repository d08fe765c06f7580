// Sign-in with any OpenID Connect provider, found by its discovery document: authorization code with PKCE, state and nonce. What the provider
// returns is checked, also its signature; a provider that is down, slow or wrong gives an error with a sentence.

import * as oidc from 'openid-client'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** How long one answer of the provider may take. */
  readonly timeoutSeconds?: number
}

/** What only the browser that began the sign-in has. */
export interface OidcAttempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface OidcIdentity {
  /** Issuer and subject: the person, whatever else changes about them. */
  readonly subject: string
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly name: string | undefined
}

const DISCOVERED_MS = 3_600_000
const TIMEOUT_SECONDS = 10
/** How far the clock of the provider may be off. */
const TOLERANCE_SECONDS = 60
const LONGEST_REASON = 300

export type OidcClient = ReturnType<typeof createOidcClient>

export function createOidcClient(
  { issuer, clientId, clientSecret, timeoutSeconds = TIMEOUT_SECONDS }: OidcSettings,
  clock: Clock,
) {
  let known: { readonly configuration: oidc.Configuration; readonly at: number } | undefined

  /** Keys and addresses change seldom; a provider that was down is requested again the next time. */
  async function discovered(): Promise<oidc.Configuration> {
    const now = clock.now().getTime()
    if (known && Math.abs(now - known.at) < DISCOVERED_MS) return known.configuration
    const metadata = {
      client_secret: clientSecret,
      [oidc.clockTolerance]: TOLERANCE_SECONDS,
      [oidc.clockSkew]: Math.round((now - systemClock.now().getTime()) / 1000), // the clock of the stack counts
    }
    const server = new URL(issuer)
    const configuration = await oidc
      .discovery(server, clientId, metadata, undefined, {
        timeout: timeoutSeconds,
        execute: server.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
      })
      .catch((cause: unknown) => {
        throw new PlatformError('people.oidcUnavailable', { issuer, reason: reasonOf(cause) }, { cause })
      })
    oidc.enableNonRepudiationChecks(configuration) // the signature too, not only the connection it came over
    known = { configuration, at: now }
    return configuration
  }

  async function begin(redirectUri: string): Promise<{ readonly url: string; readonly attempt: OidcAttempt }> {
    const configuration = await discovered()
    const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() }
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, attempt }
  }

  /** `callback`: the address that the provider sent the browser to, with its query. */
  async function finish(callback: string, { state, nonce, verifier }: OidcAttempt): Promise<OidcIdentity> {
    const configuration = await discovered()
    try {
      const answer = await oidc.authorizationCodeGrant(configuration, new URL(callback), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = answer.claims()! // there is an ID token: it was expected
      const more = claims.email === undefined ? await oidc.fetchUserInfo(configuration, answer.access_token, claims.sub) : claims
      return {
        subject: `${claims.iss} ${claims.sub}`,
        email: textOf(more.email),
        isEmailVerified: more.email_verified === true || more.email_verified === 'true',
        name: textOf(more.name),
      }
    } catch (cause) {
      known = undefined // perhaps its keys have changed
      if (isUnreachable(cause)) throw new PlatformError('people.oidcUnavailable', { issuer, reason: reasonOf(cause) }, { cause })
      throw new PlatformError('people.oidcRefused', { issuer, reason: reasonOf(cause) }, { cause })
    }
  }

  return { issuer, begin, finish }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The connection failed, or the provider had a failure of its own; anything else is its response. */
function isUnreachable(error: unknown): boolean {
  const { name, cause, status } = error as {
    name?: string
    cause?: { name?: string; code?: string; status?: number }
    status?: number
  }
  const answered = status ?? cause?.status ?? 0
  return name === 'TimeoutError' || cause?.name === 'TimeoutError' || error instanceof TypeError || answered >= 500
}

/** The message of the library, for the log and the operator; it contains no secret. */
const reasonOf = (error: unknown): string => {
  const {
    message,
    error_description: description,
    cause,
  } = error as { message?: string; error_description?: string; cause?: { message?: string; code?: string } }
  return [message, description, cause?.message ?? cause?.code]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(': ')
    .slice(0, LONGEST_REASON)
}
