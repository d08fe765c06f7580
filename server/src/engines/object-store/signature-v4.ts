// AWS Signature Version 4 as pure functions; both the checking side (services/s3) and the signing side (links) use them.
// The steps and their names are those of the AWS documentation "Create a signed AWS API request".

import { createHash, createHmac, createSecretKey } from 'node:crypto'
import { uriEncode } from '../../kit/text/uri-encode.ts'

export const ALGORITHM = 'AWS4-HMAC-SHA256'
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export interface SigningScope {
  /** `20260131` */
  readonly date: string
  readonly region: string
  readonly service: string
}

export interface CanonicalParts {
  readonly method: string
  /** Decoded: `/bucket/a key`. */
  readonly path: string
  /** Decoded, in any order, without `X-Amz-Signature`. */
  readonly query: readonly (readonly [string, string])[]
  /** Lower-case name and value of each signed header, in any order. */
  readonly headers: readonly (readonly [string, string])[]
  readonly payloadHash: string
}

export const uriEncodePath = (path: string): string => path.split('/').map(uriEncode).join('/')

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export function canonicalQuery(query: CanonicalParts['query']): string {
  return query
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort((a, b) => byText(a[0], b[0]) || byText(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

export function canonicalRequest({ method, path, query, headers, payloadHash }: CanonicalParts): string {
  const sorted = [...headers].sort((a, b) => byText(a[0], b[0]))
  return [
    method,
    uriEncodePath(path),
    canonicalQuery(query),
    ...sorted.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    sorted.map(([name]) => name).join(';'),
    payloadHash,
  ].join('\n')
}

export const scopeText = ({ date, region, service }: SigningScope): string => `${date}/${region}/${service}/aws4_request`

export const sha256Hex = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

/** Node takes more than twice as long with bytes as with a key made of them. */
export const hmac = (key: string | Uint8Array, data: string): Buffer =>
  createHmac('sha256', typeof key === 'string' ? key : createSecretKey(key))
    .update(data)
    .digest()

export const stringToSign = (amzDate: string, scope: SigningScope, canonical: string): string =>
  [ALGORITHM, amzDate, scopeText(scope), sha256Hex(canonical)].join('\n')

export const signingKey = (secretAccessKey: string, { date, region, service }: SigningScope): Buffer =>
  hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), service), 'aws4_request')

export const signatureOf = (key: Uint8Array, text: string): string => hmac(key, text).toString('hex')

/** `20260131T120000Z` */
export const formatAmzDate = (date: Date): string => `${date.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`

/** `undefined` when the text is not such a date. */
export function parseAmzDate(text: string): Date | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(date.getTime()) ? undefined : date
}
