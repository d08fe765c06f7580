// Links that carry their own permission: a signed request in the form of a URL.

import {
  ALGORITHM,
  canonicalQuery,
  canonicalRequest,
  formatAmzDate,
  scopeText,
  signatureOf,
  signingKey,
  stringToSign,
  UNSIGNED_PAYLOAD,
  uriEncodePath,
} from './signature-v4.ts'

export interface SigningCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface PresignRequest {
  readonly method: string
  /** Scheme, host and port: `http://127.0.0.1:8001`. */
  readonly endpoint: string
  readonly bucket: string
  readonly key: string
  readonly region: string
  readonly now: Date
  readonly expiresInSeconds: number
  readonly query?: Readonly<Record<string, string>>
}

export function presign(request: PresignRequest, credentials: SigningCredentials): string {
  const endpoint = new URL(request.endpoint)
  const amzDate = formatAmzDate(request.now)
  const scope = { date: amzDate.slice(0, 8), region: request.region, service: 's3' }
  const path = `${endpoint.pathname.replace(/\/$/, '')}/${request.bucket}/${request.key}`
  const query: [string, string][] = [
    ...Object.entries(request.query ?? {}),
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${credentials.accessKeyId}/${scopeText(scope)}`],
    ['X-Amz-Date', amzDate],
    ['X-Amz-Expires', String(request.expiresInSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ]
  if (credentials.sessionToken) query.push(['X-Amz-Security-Token', credentials.sessionToken])
  const headers = [['host', endpoint.host]] as const
  const canonical = canonicalRequest({ method: request.method, path, query, headers, payloadHash: UNSIGNED_PAYLOAD })
  const signature = signatureOf(signingKey(credentials.secretAccessKey, scope), stringToSign(amzDate, scope, canonical))
  return `${endpoint.origin}${uriEncodePath(path)}?${canonicalQuery(query)}&X-Amz-Signature=${signature}`
}
