// Calls of this stack's own routes, in this process, with the credentials of the caller: rights, limits and validation are those of the
// routes.

import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify'
import { PlatformError } from '../../kit/errors.ts'
import { parseExact } from '../../kit/text/exact-numbers.ts'
import { INNER_CALL } from '../../model/agent-token.ts'

/** A route refused the call; the body is what an HTTP client would have received. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>
type Json = Readonly<Record<string, unknown>>

export interface InnerApi {
  get<T = Json>(path: string, query?: Query): Promise<T>
  /** Undefined where the route answers 403, 404 or 501: for parts of an answer that a caller may lack. */
  find<T = Json>(path: string, query?: Query): Promise<T | undefined>
  /** With `version`, nothing but this version is changed: 409 otherwise. */
  send<T = Json>(method: HTTPMethods, path: string, body?: unknown, version?: number): Promise<T>
}

/** Paths with every value encoded. A value that would make it another address is refused: empty, or a step of a path. */
export const path = (parts: TemplateStringsArray, ...values: readonly string[]): string =>
  parts.reduce((built, part, index) => `${built}${encodeURIComponent(idOf(values[index - 1]))}${part}`)

function idOf(value: string | undefined): string {
  if (value === undefined || value.trim() === '' || value === '.' || value === '..')
    throw new PlatformError('mcp.invalidCall', { reason: `"${value ?? ''}" is not an id. Call find or a list to get ids.` })
  return value
}

/** What identifies the caller and the address of the stack; nothing else of the outer request reaches the inner ones. */
const FORWARDED = [
  'x-storageapi-token',
  'authorization',
  'cookie',
  'x-kbc-projectid',
  'x-kbc-runid',
  'origin',
  'referer',
  'sec-fetch-site',
  'host',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'user-agent',
] as const

const MAX_BYTES = 8 << 20
const STORAGE = '/v2/storage'

/** `branch`: where requests for the storage go; undefined: to the default branch. */
export function createInnerApi(app: FastifyInstance, request: FastifyRequest, branch: string | undefined): InnerApi {
  const headers: Record<string, string> = { ...INNER_CALL }
  for (const name of FORWARDED) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  headers.accept = 'application/json'

  const inBranch = (url: string): string =>
    branch !== undefined && url.startsWith(`${STORAGE}/`)
      ? `${STORAGE}${path`/branch/${branch}`}${url.slice(STORAGE.length)}`
      : url

  async function call<T>(method: HTTPMethods, url: string, query: Query, body?: unknown, version?: number): Promise<T> {
    const response = await app.inject({
      method: method as 'GET', // its types name fewer methods
      url: inBranch(url),
      query: Object.fromEntries(
        Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      ),
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(version !== undefined && { 'if-match': String(version) }),
      },
      remoteAddress: request.raw.socket.remoteAddress ?? '127.0.0.1',
      ...(body !== undefined && { payload: JSON.stringify(body) }),
      payloadAsStream: true,
    })
    const read = await readAtMost(response.stream(), MAX_BYTES)
    const value = read === '' ? {} : parse(read)
    if (response.statusCode < 400) return value as T
    const { error, message, code, context } = value as {
      error?: unknown
      message?: unknown
      code?: unknown
      context?: { stringCode?: unknown }
    }
    const named = String(context?.stringCode ?? code ?? 'unknown')
    throw new Refused(response.statusCode, named, String(error ?? message ?? 'The request failed.'))
  }

  return {
    get: (url, query = {}) => call('GET', url, query),
    find: async (url, query = {}) => {
      try {
        return await call('GET', url, query)
      } catch (error) {
        if (error instanceof Refused && [403, 404, 501].includes(error.status)) return undefined
        throw error
      }
    },
    send: (method, url, body, version) => call(method, url, {}, body, version),
  }
}

async function readAtMost(stream: AsyncIterable<Buffer | string> & { destroy(): unknown }, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > maxBytes) {
      stream.destroy()
      throw new PlatformError('mcp.answerTooLarge', { max: `${maxBytes >> 20} MB` })
    }
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(body: string): unknown {
  try {
    return parseExact(body)
  } catch {
    return { error: body.slice(0, 500) }
  }
}
