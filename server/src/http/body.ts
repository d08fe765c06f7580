// Bodies: JSON, urlencoded and multipart all become one object; the text of a JSON body is kept for modules that store it exactly.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PlatformError } from '../kit/errors.ts'
import { shapeProblem } from '../kit/text/json-text.ts'
import { fromPairs, parseForm } from './forms/form.ts'
import { boundaryOf, readParts } from './forms/multipart.ts'

/** Registers the parsers. Routes with `config.body: 'stream'` receive the raw request and read it themselves; `'text'` gives a string, `'bytes'` a buffer. */
export function registerBodyParsers(app: FastifyInstance, idleMs: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => {
    endWhenIdle(payload, idleMs)
    if (request.routeOptions.config.body === 'stream') return done(null, payload)
    if (request.is404) return done(null) // it is not read
    parseBody(request, payload).then(
      (body) => done(null, body),
      (error: Error) => done(error),
    )
  })
}

/** A body may arrive slowly but not stall: Node ends a connection that times out. The limit does not apply to the work after it has arrived. */
function endWhenIdle(payload: IncomingMessage, idleMs: number): void {
  if (!(payload.socket instanceof Socket)) return // a request that tests inject has none
  payload.socket.setTimeout(idleMs)
  payload.once('end', () => payload.socket.setTimeout(0))
}

/** For routes that take a stream or an ordinary body, and decide themselves. */
export async function parseBody(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  const type = mediaTypeOf(request.headers['content-type'])
  const { bodyLimit: limit, config } = request.routeOptions // created by Fastify at each access
  const announced = request.headers['content-length']
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (config.body === 'bytes') return unpacked(await readBytes(payload, limit, announced), encoding, limit)
  if (type === 'multipart/form-data') {
    if (encoding === 'identity') return await readFields(payload, limit, announced)
    throw malformed(
      `Content-Encoding "${encoding.slice(0, 40)}" is not supported for multipart/form-data. Send the form as it is.`,
    )
  }
  const text = textOf(await unpacked(await readBytes(payload, limit, announced), encoding, limit))
  if (config.body === 'text') {
    if (isJson(type) && text.trim() !== '') parseJson(text) // a body that claims to be JSON must be JSON
    return text
  }
  request.rawBody = text
  if (text.trim() === '') return {}
  if (isJson(type)) return parseJson(text)
  if (type === 'application/x-www-form-urlencoded') return parseUrlencoded(text)
  throw malformed(
    `Content-Type "${type.slice(0, 80)}" is not understood. Send application/json, application/x-www-form-urlencoded or multipart/form-data.`,
  )
}

/** The whole content of a body: the JSON that was sent, JSON of a form, or the text of other bodies. Nothing of a stream. */
export function textOfBody({ body, rawBody, headers, routeOptions }: FastifyRequest): string {
  if (routeOptions.config.body === 'stream') return ''
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body.toString()
  return isJson(mediaTypeOf(headers['content-type'])) ? rawBody : JSON.stringify(body)
}

const isJson = (type: string) => type === 'application/json' || type === 'text/json' || type.endsWith('+json')

const mediaTypeOf = (header: string | undefined): string => (header ?? '').split(';')[0]!.trim().toLowerCase()

export function parseJson(text: string): unknown {
  const problem = shapeProblem(text)
  if (problem !== undefined) throw malformed(`the body cannot be used because ${problem}.`)
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw malformed(`the body is not valid JSON${placeOf(error)}.`)
  }
}

/** Where the mistake is. The rest of the engine's message quotes the body, and the body may hold secrets. */
const placeOf = (error: unknown): string => /\(line \d+ column \d+\)/.exec(String(error))?.[0].replace('(', ' (') ?? ''

function parseUrlencoded(text: string): unknown {
  if (/^\s*[{[]/.test(text) && shapeProblem(text) === undefined && looksLikeJson(text)) {
    throw malformed(
      'the body is JSON but Content-Type says application/x-www-form-urlencoded. Send the header Content-Type: application/json.',
    )
  }
  return parseForm(text)
}

function looksLikeJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('the body is not valid UTF-8.')
  return bytes.toString('utf8')
}

/** By events and not by `for await`: this runs for every request with a body. */
function readBytes(payload: IncomingMessage, limit: number, announced: string | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (announced !== undefined && Number(announced) > limit) {
      reject(tooLarge(limit))
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    let ended = false
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else reject(tooLarge(limit))
    })
    payload.on('end', () => {
      ended = true
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    payload.on('error', reject)
    // An error costs more than the rest of this function, and every request closes.
    payload.on('close', () => ended || reject(malformed('the connection was closed before the end of the body.')))
  })
}

/** The limit holds for the unpacked body, too. */
async function unpacked(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  if (encoding === 'identity') return bytes
  if (encoding.toLowerCase() !== 'gzip')
    throw malformed(`Content-Encoding "${encoding.slice(0, 40)}" is not understood. Send gzip or none.`)
  return gunzipBytes(bytes, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : malformed('the body is not valid gzip.')
  })
}

/** Multipart text fields. A file part is read as a field too (curl's `--form field=@file`), within the body limit. */
async function readFields(payload: IncomingMessage, limit: number, announced: string | undefined): Promise<unknown> {
  if (announced !== undefined && Number(announced) > limit) throw tooLarge(limit)
  const boundary = boundaryOf(payload.headers['content-type'])
  if (boundary === undefined) throw malformed('a multipart/form-data body is expected here.')
  const pairs: [string, string][] = []
  // Not destroyed on the way out: after a refusal the answer still has to get through.
  for await (const part of readParts(upTo(limit, payload.iterator({ destroyOnReturn: false })), boundary)) {
    const chunks: Buffer[] = []
    for await (const chunk of part.body) chunks.push(chunk)
    pairs.push([part.name, Buffer.concat(chunks).toString('utf8')])
  }
  return fromPairs(pairs)
}

async function* upTo(limit: number, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    yield chunk
  }
}

const gunzipBytes: (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer> = promisify(gunzip)

const malformed = (reason: string) => new PlatformError('malformedRequest', { reason })
const tooLarge = (limit: number) => new PlatformError('bodyTooLarge', { limit })
