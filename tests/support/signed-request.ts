// A request signed by hand, so that a test can get every part of it wrong on purpose.

import { request as httpRequest } from 'node:http'
import type { SigningCredentials } from '../../server/src/engines/object-store/presign.ts'
import {
  ALGORITHM,
  canonicalRequest,
  formatAmzDate,
  scopeText,
  sha256Hex,
  signatureOf,
  signingKey,
  stringToSign,
  uriEncodePath,
} from '../../server/src/engines/object-store/signature-v4.ts'

export interface RawRequest {
  readonly method?: string
  /** Decoded; encoded for the wire unless `rawUrl` is given. */
  readonly path: string
  readonly query?: readonly (readonly [string, string])[]
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly now?: Date
  readonly region?: string
  readonly service?: string
  /** Default: the hash of the body. */
  readonly payloadHash?: string
  /** Changes the finished headers before they are sent. */
  readonly tamper?: (headers: Record<string, string>) => void
  readonly rawUrl?: string
  readonly host?: string
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The Code element of an error document. */
  readonly code: string
}

export function signHeaders(endpoint: string, request: RawRequest, credentials: SigningCredentials): Record<string, string> {
  const { method = 'GET', path, query = [], body = '', now = new Date(), region = 'us-east-1', service = 's3' } = request
  const amzDate = formatAmzDate(now)
  const scope = { date: amzDate.slice(0, 8), region, service }
  const payloadHash = request.payloadHash ?? sha256Hex(body)
  const headers: Record<string, string> = {
    host: request.host ?? new URL(endpoint).host,
    'x-amz-date': amzDate,
    'x-amz-content-sha256': payloadHash,
    ...(credentials.sessionToken && { 'x-amz-security-token': credentials.sessionToken }),
    ...request.headers,
  }
  const signed = Object.keys(headers).sort()
  const canonical = canonicalRequest({ method, path, query, headers: Object.entries(headers), payloadHash })
  const signature = signatureOf(signingKey(credentials.secretAccessKey, scope), stringToSign(amzDate, scope, canonical))
  headers.authorization = `${ALGORITHM} Credential=${credentials.accessKeyId}/${scopeText(scope)}, SignedHeaders=${signed.join(';')}, Signature=${signature}`
  return headers
}

export async function sendSigned(endpoint: string, request: RawRequest, credentials: SigningCredentials): Promise<RawAnswer> {
  const headers = signHeaders(endpoint, request, credentials)
  request.tamper?.(headers)
  const query = (request.query ?? []).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  const url = request.rawUrl ?? uriEncodePath(request.path) + (query && `?${query}`)
  return sendRaw(endpoint, request.method ?? 'GET', url, headers, request.body)
}

/** node:http and not fetch: fetch would tidy up the path and the headers. */
export function sendRaw(
  endpoint: string,
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
): Promise<RawAnswer> {
  const { hostname, port } = new URL(endpoint)
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { hostname, port, method, path: url, headers: { 'content-length': Buffer.byteLength(body), ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            code: /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '',
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
