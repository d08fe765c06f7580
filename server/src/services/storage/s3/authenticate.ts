// Authenticates a request: Signature Version 4 in the Authorization header or in the query, with the store's own key or with
// temporary credentials. Nothing of the body is read here; payload.ts checks it against what was signed.

import { timingSafeEqual } from 'node:crypto'
import type { AccessScope } from '../../../engines/object-store/object-access.ts'
import type { SessionTokens } from '../../../engines/object-store/session-token.ts'
import {
  ALGORITHM,
  canonicalRequest,
  parseAmzDate,
  type SigningScope,
  signatureOf,
  signingKey,
  stringToSign,
  UNSIGNED_PAYLOAD,
} from '../../../engines/object-store/signature-v4.ts'
import type { Clock } from '../../../kit/clock.ts'
import { headerOf, type S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

/** Everything (the store's own key and its links) or the scope of temporary credentials. */
export type Principal = { readonly kind: 'root' } | { readonly kind: 'session'; readonly scope: AccessScope }

/** What signed chunks continue from. */
export interface SeedSignature {
  readonly signature: string
  readonly key: Uint8Array
  readonly amzDate: string
  readonly scope: SigningScope
}

export interface Authenticated {
  readonly principal: Principal
  /** `x-amz-content-sha256`: a hash, UNSIGNED-PAYLOAD or one of the STREAMING- forms. */
  readonly payloadHash: string
  readonly seed: SeedSignature
}

export interface AuthenticateDeps {
  readonly sessions: SessionTokens
  readonly region: string
  readonly clock: Clock
}

const SKEW_MS = 15 * 60 * 1000
const WEEK_SECONDS = 7 * 24 * 3600

interface Claim {
  readonly accessKeyId: string
  readonly scope: SigningScope
  readonly amzDate: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly sessionToken: string | undefined
  readonly payloadHash: string
  readonly query: S3Call['queryPairs']
}

export function authenticate(
  call: S3Call,
  { sessions, region, clock }: AuthenticateDeps,
  service: 's3' | 'sts' = 's3',
): Authenticated {
  const now = clock.now().getTime()
  refuseVersion2(call)
  const claim = call.query.has('X-Amz-Algorithm') ? claimInQuery(call, now) : claimInHeader(call, now)
  checkScope(claim, region, service)
  checkSignedHeaders(call, claim.signedHeaders)
  const { secretAccessKey, principal, expiresMs } = credentialsOf(claim, sessions)

  const key = signingKey(secretAccessKey, claim.scope)
  const canonical = canonicalRequest({
    method: call.method,
    path: call.path,
    query: claim.query,
    headers: claim.signedHeaders.map((name) => [name, headerOf(call, name) ?? '']),
    payloadHash: claim.payloadHash,
  })
  const expected = signatureOf(key, stringToSign(claim.amzDate, claim.scope, canonical))
  if (!equal(expected, claim.signature))
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      { CanonicalRequest: canonical },
    )
  // Only after the signature: whether a token has expired is not revealed without its secret.
  if (expiresMs !== undefined && now >= expiresMs) throw new S3Error('ExpiredToken', 'The provided token has expired.')
  const seed = { signature: claim.signature, key, amzDate: claim.amzDate, scope: claim.scope }
  return { principal, payloadHash: claim.payloadHash, seed }
}

/** Links and headers of the older signature have parameters of their own. */
function refuseVersion2(call: S3Call): void {
  const isVersion2 =
    headerOf(call, 'authorization')?.startsWith('AWS ') || (call.query.has('AWSAccessKeyId') && call.query.has('Signature'))
  if (isVersion2)
    throw new S3Error(
      'InvalidRequest',
      'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
    )
}

function claimInHeader(call: S3Call, now: number): Claim {
  const header = headerOf(call, 'authorization')
  if (header === undefined) throw new S3Error('AccessDenied', 'Access Denied: the request is not signed.')
  const malformed = (why: string) => new S3Error('AuthorizationHeaderMalformed', `The authorization header is malformed: ${why}.`)
  if (!header.startsWith(`${ALGORITHM} `)) throw malformed(`only ${ALGORITHM} is supported`)
  const fields = new Map(
    header
      .slice(ALGORITHM.length)
      .split(',')
      .map((field) => [field.slice(0, field.indexOf('=')).trim(), field.slice(field.indexOf('=') + 1).trim()]),
  )
  const credential = fields.get('Credential')
  const signature = fields.get('Signature')
  const signedHeaders = fields.get('SignedHeaders')
  if (!credential || !signature || !signedHeaders) throw malformed('Credential, SignedHeaders and Signature are required')
  const amzDate = headerOf(call, 'x-amz-date') ?? ''
  const signedAt = parseAmzDate(amzDate)
  if (!signedAt) throw new S3Error('AccessDenied', 'AWS authentication requires a valid x-amz-date header.')
  if (Math.abs(now - signedAt.getTime()) > SKEW_MS)
    throw new S3Error('RequestTimeTooSkewed', 'The difference between the request time and the current time is too large.', {
      RequestTime: amzDate,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(SKEW_MS),
    })
  const payloadHash = headerOf(call, 'x-amz-content-sha256')
  if (!payloadHash) throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')
  return {
    ...parseCredential(credential, malformed),
    amzDate,
    signature,
    signedHeaders: signedHeaders.split(';'),
    sessionToken: headerOf(call, 'x-amz-security-token'),
    payloadHash,
    query: call.queryPairs,
  }
}

function claimInQuery(call: S3Call, now: number): Claim {
  const malformed = (why: string) => new S3Error('AuthorizationQueryParametersError', `Error parsing the query: ${why}.`)
  const get = (name: string): string => {
    const value = call.query.get(name)
    if (!value) throw malformed(`${name} is missing`)
    return value
  }
  if (get('X-Amz-Algorithm') !== ALGORITHM) throw malformed(`X-Amz-Algorithm only supports ${ALGORITHM}`)
  const names = call.queryPairs.map(([name]) => name)
  if (new Set(names).size !== names.length) throw malformed('a parameter is given twice')
  const amzDate = get('X-Amz-Date')
  const signedAt = parseAmzDate(amzDate)
  if (!signedAt) throw malformed("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")
  const expires = Number(get('X-Amz-Expires'))
  if (!Number.isInteger(expires) || expires < 1 || expires > WEEK_SECONDS)
    throw malformed('X-Amz-Expires must be a number of seconds from 1 to 604800')
  if (signedAt.getTime() - now > SKEW_MS) throw new S3Error('AccessDenied', 'Request is not valid yet')
  if (now >= signedAt.getTime() + expires * 1000)
    throw new S3Error('AccessDenied', 'Request has expired', {
      'X-Amz-Expires': String(expires),
      Expires: new Date(signedAt.getTime() + expires * 1000).toISOString(),
      ServerTime: new Date(now).toISOString(),
    })
  return {
    ...parseCredential(get('X-Amz-Credential'), malformed),
    amzDate,
    signature: get('X-Amz-Signature'),
    signedHeaders: get('X-Amz-SignedHeaders').split(';'),
    sessionToken: call.query.get('X-Amz-Security-Token'),
    payloadHash: headerOf(call, 'x-amz-content-sha256') ?? UNSIGNED_PAYLOAD,
    query: call.queryPairs.filter(([name]) => name !== 'X-Amz-Signature'),
  }
}

function parseCredential(credential: string, malformed: (why: string) => S3Error): Pick<Claim, 'accessKeyId' | 'scope'> {
  const parts = credential.split('/')
  const [terminator, service, region, date] = parts.slice(-4).reverse()
  if (parts.length < 5 || terminator !== 'aws4_request' || !service || !region || !date)
    throw malformed('the Credential must be <access key>/YYYYMMDD/region/s3/aws4_request')
  return { accessKeyId: parts.slice(0, -4).join('/'), scope: { date, region, service } }
}

function checkScope({ scope, amzDate }: Claim, region: string, service: string): void {
  const wrong = (what: string, given: string, expected: string) =>
    new S3Error(
      'AuthorizationHeaderMalformed',
      `The authorization header is malformed; the ${what} '${given}' is wrong; expecting '${expected}'`,
      what === 'region' ? { Region: expected } : {},
    )
  if (scope.region !== region) throw wrong('region', scope.region, region)
  if (scope.service !== service) throw wrong('service', scope.service, service)
  if (scope.date !== amzDate.slice(0, 8)) throw wrong('date', scope.date, amzDate.slice(0, 8))
}

/** The host, and every x-amz- header: what is not signed could be added in transit. */
function checkSignedHeaders(call: S3Call, signed: readonly string[]): void {
  const unsigned = Object.keys(call.headers).filter(
    (name) => (name === 'host' || name.startsWith('x-amz-')) && !signed.includes(name),
  )
  if (unsigned.length > 0)
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned.join(', '),
    })
}

function credentialsOf(
  { accessKeyId, sessionToken }: Claim,
  sessions: SessionTokens,
): { secretAccessKey: string; principal: Principal; expiresMs?: number } {
  if (sessionToken === undefined) {
    if (accessKeyId === sessions.root.accessKeyId)
      return { secretAccessKey: sessions.root.secretAccessKey, principal: { kind: 'root' } }
    throw new S3Error('InvalidAccessKeyId', 'The access key id you provided does not exist in our records.')
  }
  const session = sessions.open(sessionToken)
  if (!session) throw new S3Error('InvalidToken', 'The provided token is malformed or otherwise invalid.')
  if (session.accessKeyId !== accessKeyId)
    throw new S3Error('InvalidAccessKeyId', 'The access key id does not belong to the session token.')
  return {
    secretAccessKey: session.secretAccessKey,
    principal: { kind: 'session', scope: session.scope },
    expiresMs: session.expiresMs,
  }
}

/** Compares bytes: texts of one length may have different numbers of them, and what a client sends may be any text. */
function equal(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
