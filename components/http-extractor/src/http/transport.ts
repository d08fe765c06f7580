// One request over the wire, with undici. No redirects, no retries: those are wrappers of their own.

import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import type { buildConnector as Connector } from 'undici'
import { UserError } from '../errors.ts'
import { addressText, originOf, targetOf } from './address.ts'
import type { Egress } from './egress.ts'
import type { HttpRequest, HttpResponse, Send } from './exchange.ts'
import { type Headers, underHeaders, withoutHeaders } from './headers.ts'
import { shown } from './response.ts'
import { namedTransportError, TransportError } from './transport-error.ts'
import { Agent, buildConnector, request as requestBy } from './undici.ts'

export interface TransportOptions {
  readonly egress: Egress
  readonly connectTimeoutMs: number
  /** For the whole exchange, from the first byte sent to the last received. */
  readonly requestTimeoutMs: number
  readonly maxBodyBytes: number
  /** To one host at the same time. */
  readonly connections: number
  readonly tls?: { readonly ca?: string; readonly certificate?: string }
  /** Opens sockets instead of the egress connector: the SSH tunnel, whose own connection passed the egress policy. */
  readonly connector?: Connector.connector
}

export interface Transport {
  readonly send: Send
  close(): Promise<void>
}

/** Below this an answer may unpack to any size; above it to at most a hundred times its own. */
const BOMB_FLOOR_BYTES = 32 * 1024 * 1024
const BOMB_RATIO = 100

const USER_AGENT = 'millrace-http-extractor/0.1'

export function createTransport(options: TransportOptions): Transport {
  const { egress, connectTimeoutMs, requestTimeoutMs, maxBodyBytes, tls } = options
  const connect =
    options.connector ??
    egress.guard((lookup) =>
      buildConnector({
        lookup,
        timeout: connectTimeoutMs,
        allowH2: false,
        ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
        // One text holds the certificate and its key; OpenSSL reads from it what it needs.
        ...(tls?.certificate === undefined ? {} : { cert: tls.certificate, key: tls.certificate }),
      }),
    )
  const agent = new Agent({
    connect,
    connections: options.connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    allowH2: false,
  })

  const send = (request: HttpRequest): Promise<HttpResponse> =>
    sendOnce(request).catch((error: unknown) => {
      throw error instanceof UserError ? error.withFacts({ request: shown(request) }) : error
    })

  async function sendOnce(request: HttpRequest): Promise<HttpResponse> {
    const where = `${request.method} ${addressText(request.address)}`
    // Behind a tunnel the same address is another machine.
    const isPlace = options.connector === undefined && (await egress.admit(request.address))
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), requestTimeoutMs)
    let began = false
    try {
      const answer = await requestBy.call(agent, {
        origin: originOf(request.address),
        path: targetOf(request.address),
        method: request.method,
        headers: sentHeaders(isPlace ? withoutHeaders(request.headers, (name) => name === 'host') : request.headers),
        body: request.body ?? null,
        signal: abort.signal,
      })
      began = true
      const headers = flatHeaders(answer.headers)
      const raw = await readBody(answer.body, maxBodyBytes, where)
      const body = await decodeBody(raw, headers['content-encoding'], maxBodyBytes, where)
      return { status: answer.statusCode, statusText: answer.statusText, headers, body }
    } catch (error) {
      if (abort.signal.aborted)
        throw new TransportError(28, `Operation timed out after ${requestTimeoutMs} milliseconds (${where})`)
      if ((error as NodeJS.ErrnoException).code === 'UND_ERR_INVALID_ARG') {
        throw new UserError(
          `The request cannot be sent: ${(error as Error).message} (${where}). Look for line breaks or other control characters in its headers.`,
        )
      }
      throw namedTransportError(error, where, began)
    } finally {
      clearTimeout(timer)
    }
  }

  return { send, close: () => agent.destroy() }
}

/** The connection is ours to manage: what would contradict it is not sent. */
const OWN = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'upgrade', 'expect', 'te', 'trailer'])
const DEFAULTS = [
  ['User-Agent', USER_AGENT],
  ['Accept-Encoding', 'gzip, deflate, br'],
] as const

function sentHeaders(headers: Headers): string[] {
  const sent = underHeaders(
    withoutHeaders(headers, (name) => OWN.has(name)),
    DEFAULTS,
  )
  // A header is bytes: text outside ASCII goes out as UTF-8, one byte per character of the string undici writes.
  return [...sent.values()].flatMap(([name, value]) => [name, Buffer.from(value, 'utf8').toString('latin1')])
}

function flatHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const flat: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  return flat
}

const tooLarge = (limit: number, where: string) =>
  new UserError(
    `The answer is larger than ${limit} bytes (${where}). Ask for smaller pages, or raise api.http.maxResponseBytes and the memory of the run.`,
  )

async function readBody(stream: AsyncIterable<Buffer>, limit: number, where: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > limit) throw tooLarge(limit, where) // leaving the loop destroys the stream
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }, done: (error: Error | null, result: Buffer) => void) => void

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  br: brotliDecompress,
  // "deflate" is meant to have a zlib header, and some servers leave it out.
  deflate: (body, options, done) => (((body[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw)(body, options, done),
}

async function decodeBody(body: Buffer, encoding: string | undefined, limit: number, where: string): Promise<Buffer> {
  if (encoding === undefined || body.length === 0) return body
  let decoded = body
  for (const name of encoding
    .toLowerCase()
    .split(',')
    .map((e) => e.trim())
    .reverse()) {
    if (name === '' || name === 'identity') continue
    const decoder = DECODERS[name]
    if (!decoder) throw new TransportError(61, `The answer comes in the unknown encoding '${name}' (${where})`)
    decoded = await unpack(
      decoder,
      decoded,
      Math.min(limit, Math.max(BOMB_FLOOR_BYTES, decoded.length * BOMB_RATIO)),
      name,
      where,
    )
  }
  return decoded
}

function unpack(decoder: Decoder, body: Buffer, limit: number, name: string, where: string): Promise<Buffer> {
  return new Promise((done, fail) => {
    decoder(body, { maxOutputLength: limit }, (error, result) => {
      if (!error) done(result)
      else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        fail(
          new UserError(
            `The compressed answer unpacks to more than ${limit} bytes, over ${BOMB_RATIO} times its size (${where}).`,
          ),
        )
      } else fail(new TransportError(61, `The answer is not valid ${name}: ${error.message} (${where})`))
    })
  })
}
