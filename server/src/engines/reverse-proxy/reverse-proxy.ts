// Forwards a request to one other HTTP server and streams its response back.
//  (1) nothing leads to another address than the one it was made for;
//  (2) the caller stays unknown to the other server: no token, cookie or origin is forwarded;
//  (3) a page of the other server can do nothing on the origin of this stack: no cookies are set, and its scripts do not run.

import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { PlatformError } from '../../kit/errors.ts'

export interface ProxiedRequest {
  readonly method: string
  /** Below the address, with the slash it begins with and the query, as the client wrote it. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Left out: the request has no body. */
  readonly body?: Readable | undefined
  /** The public URL of the server, which replaces its own address in redirects. */
  readonly publicPath: string
  readonly signal?: AbortSignal | undefined
}

export interface ProxiedAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: IncomingMessage
}

export interface ReverseProxy {
  readonly address: string
  forward(request: ProxiedRequest): Promise<ProxiedAnswer>
}

/** How long the other server may stay silent. */
const SILENT_MS = 60_000

/** Of one connection only (RFC 9110, 7.6.1), besides those that `Connection` names. */
export const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])
const WHO_ASKS = new Set(['host', 'cookie', 'authorization', 'origin', 'referer', 'x-storageapi-token', 'expect'])
/** Members of the stack's own protocol, tokens of managers among them, and headers of proxies in front of the stack. */
const OUR_OWN = /^x-(kbc|forwarded)-|^forwarded$/
const NOT_HANDED_BACK = new Set(['set-cookie', 'content-security-policy', 'clear-site-data', 'strict-transport-security'])

/** Its links work, since they are of this origin; nothing in it runs or sends a form. */
const NO_SCRIPTS = "sandbox allow-same-origin; script-src 'none'"

export interface ProxyOptions {
  readonly silentMs?: number
  /** Connects to the server where its address does not. */
  readonly dial?: (() => Socket) | undefined
}

export function createReverseProxy(address: string, { silentMs = SILENT_MS, dial }: ProxyOptions = {}): ReverseProxy {
  const base = new URL(address)
  const open = base.protocol === 'https:' ? requestHttps : requestHttp

  async function forward({ method, path, headers, body, publicPath, signal }: ProxiedRequest): Promise<ProxiedAnswer> {
    const url = addressBelow(base, path)
    if (!url) throw new PlatformError('proxy.outside', { path: path.slice(0, 200) })
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(new PlatformError('proxy.unreachable', { address, reason: error.message }, { cause: error }))
      const own = { ...requestHeaders(headers), 'x-forwarded-context': publicPath }
      const request = open(url, { method, headers: own, signal, ...(dial && { createConnection: dial }) })
      request.setTimeout(silentMs, () => request.destroy(new Error(`no answer within ${silentMs / 1000} seconds`)))
      request.once('response', resolve)
      request.on('error', failed)
      if (body) pipeline(body, request, (error) => error && failed(error))
      else request.end()
    })
    return { status: answer.statusCode ?? 502, headers: answerHeaders(answer.headers, base, publicPath), body: answer }
  }

  return { address, forward }
}

/** Undefined when the path leads elsewhere. */
function addressBelow(base: URL, path: string): URL | undefined {
  const text = `${base.href.replace(/\/+$/, '')}${path}`
  if (!path.startsWith('/') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const folder = base.pathname.replace(/\/*$/, '/')
  // `%2e%2e` is taken apart by the parser of addresses as `..` is; a backslash counts as a slash there.
  return url.origin === base.origin && `${url.pathname}/`.startsWith(folder) ? url : undefined
}

export const namedBy = ({ connection = '' }: IncomingHttpHeaders): ReadonlySet<string> =>
  new Set(connection.split(',').map((name) => name.trim().toLowerCase()))

function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const ofConnection = namedBy(headers)
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        !name.startsWith(':') && // of HTTP/2
        !HOP_BY_HOP.has(name) &&
        !WHO_ASKS.has(name) &&
        !OUR_OWN.test(name) &&
        !ofConnection.has(name),
    ),
  )
}

function answerHeaders(headers: IncomingHttpHeaders, base: URL, publicPath: string): OutgoingHttpHeaders {
  const ofConnection = namedBy(headers)
  const kept = Object.entries(headers).filter(
    ([name]) => !HOP_BY_HOP.has(name) && !NOT_HANDED_BACK.has(name) && !ofConnection.has(name),
  )
  return {
    ...Object.fromEntries(kept),
    ...(headers.location !== undefined && { location: publicLocation(headers.location, base, publicPath) }),
    'content-security-policy': NO_SCRIPTS,
  }
}

/** A redirect within the server stays below the public path; one to elsewhere is returned unchanged. */
function publicLocation(location: string, base: URL, publicPath: string): string {
  if (!URL.canParse(location, base.href)) return location
  const url = new URL(location, base)
  const folder = base.pathname.replace(/\/+$/, '')
  if (url.origin !== base.origin || !`${url.pathname}/`.startsWith(`${folder}/`)) return location
  if (folder === '' && url.pathname.startsWith(`${publicPath}/`)) return url.pathname + url.search // it uses its public address
  return publicPath + url.pathname.slice(folder.length) + url.search
}
