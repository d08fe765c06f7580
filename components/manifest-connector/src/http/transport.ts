// The one way out: undici's request through the egress guard, redirects followed, bodies decompressed, sizes limited.

import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import type { Egress } from '../../../http-extractor/src/http/egress.ts'
import { Agent, buildConnector, request as requestBy } from '../../../http-extractor/src/http/undici.ts'
import { ConnectorError, messageOf } from '../errors.ts'
import { HttpResponse } from './response.ts'
import { portOf } from './url.ts'

export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Its answer holds credentials. */
  readonly isLogin?: true
}

/** No usable answer: the connection failed. Tried again like a server error. */
export class TransportError extends ConnectorError {}

export type Send = (request: HttpRequest) => Promise<HttpResponse>

/** Marks every request as a login. */
export const asLogin =
  (send: Send): Send =>
  (request) =>
    send({ ...request, isLogin: true })

export interface Transport {
  readonly send: Send
  close(): Promise<void>
}

const MAX_REDIRECTS = 30
const MAX_BODY = 512 * 1024 * 1024
const USER_AGENT = 'millrace-manifest-connector/0.1'
/** The connection is ours to manage. */
const OWN = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'host',
])

/** A byte for each character; the reference fails with others, too. */
function headerText(name: string, value: string): string {
  const odd = [...value].find((character) => character > '\xff')
  if (odd === undefined) return value
  throw new ConnectorError(
    `The header ${name} has the character '${odd}'. Values of headers can have characters of Latin-1 only.`,
  )
}

export function createTransport(egress: Egress, timeoutMs = 300_000): Transport {
  const agent = new Agent({
    connect: egress.guard((lookup) => buildConnector({ lookup, timeout: 30_000, allowH2: false })),
    connections: 32,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 10_000,
    allowH2: false,
  })

  async function sendOnce(request: HttpRequest): Promise<HttpResponse> {
    const url = URL.canParse(request.url) ? new URL(request.url) : undefined
    if (!url || !/^https?:$/.test(url.protocol))
      throw new ConnectorError(`'${request.url.slice(0, 200)}' is not an address of http or https.`)
    // The text of the address is kept: the parser would decode and sort what servers sign.
    const path = request.url.slice(request.url.indexOf('/', request.url.indexOf('//') + 2))
    await egress.admit({ hostname: url.hostname, port: portOf(url), path: url.pathname })
    const headers: string[] = ['User-Agent', USER_AGENT, 'Accept', '*/*', 'Accept-Encoding', 'gzip, deflate']
    for (const [name, value] of Object.entries(request.headers)) {
      if (OWN.has(name.toLowerCase())) continue
      const known = headers.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === name.toLowerCase())
      headers.splice(known < 0 ? headers.length : known, known < 0 ? 0 : 2, name, headerText(name, value))
    }
    try {
      const answer = await requestBy.call(agent, {
        origin: url.origin,
        path,
        method: request.method as 'GET',
        headers,
        body: request.body ?? null,
        responseHeaders: 'raw',
      })
      const raw = answer.headers as unknown as readonly string[] // by responseHeaders
      const pairs = Array.from({ length: raw.length / 2 }, (_, i) => [raw[i * 2]!, raw[i * 2 + 1]!] as const)
      const body = unpacked(await bodyOf(answer.body), pairs.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1])
      return new HttpResponse(answer.statusCode, pairs, body, request.url)
    } catch (error) {
      if (error instanceof ConnectorError || (error as Error).name === 'EgressError') throw error
      throw new TransportError(`${request.method} ${url.origin}${url.pathname} got no answer: ${messageOf(error)}`, error)
    }
  }

  async function send(first: HttpRequest): Promise<HttpResponse> {
    let request = first
    for (let i = 0; i <= MAX_REDIRECTS; i++) {
      const response = await sendOnce(request)
      const location = [301, 302, 303, 307, 308].includes(response.status) ? response.header('location') : undefined
      if (location === undefined) return response
      request = redirected(request, new URL(location, request.url), response.status)
    }
    throw new ConnectorError(`${first.method} ${first.url.split('?')[0]}: more than ${MAX_REDIRECTS} redirects.`)
  }

  return { send, close: () => agent.destroy() }
}

function redirected(request: HttpRequest, to: URL, status: number): HttpRequest {
  const from = new URL(request.url)
  const dropsBody =
    (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST')
  const upgraded =
    from.hostname === to.hostname &&
    from.protocol === 'http:' &&
    to.protocol === 'https:' &&
    portOf(from) === 80 &&
    portOf(to) === 443
  const drops = (name: string) =>
    (name === 'authorization' && from.origin !== to.origin && !upgraded) ||
    name === 'cookie' ||
    (dropsBody && /^content-/.test(name))
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !drops(name.toLowerCase())))
  return dropsBody ? { method: 'GET', url: to.href, headers } : { ...request, url: to.href, headers }
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_BODY) throw new ConnectorError(`An answer is larger than ${MAX_BODY} bytes.`)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
}

/** A body that does not match its header stays as it is. */
function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === undefined || body.length === 0) return body
  const options = { maxOutputLength: MAX_BODY }
  try {
    switch (encoding.trim().toLowerCase()) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(body, options)
      case 'deflate':
        return (body[0]! & 0x0f) === 8 ? inflateSync(body, options) : inflateRawSync(body, options)
      case 'br':
        return brotliDecompressSync(body, options)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new ConnectorError(`A compressed answer unpacks to more than ${MAX_BODY} bytes.`)
  }
  return body
}
