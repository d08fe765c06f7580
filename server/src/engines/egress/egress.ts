// One guarded HTTP request to an address that a user named. No redirects, no retries.
//  (1) every socket goes to an address that passed the egress rules, whatever the name resolves to;
//  (2) the exchange ends within its time limit, however slowly the other side sends;
//  (3) no more of a response is read than its limit.

import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import { createEgressGuard, type Resolve, refusalText } from '../../../../contract/egress-guard.ts'
import type { EgressPolicy } from '../../../../contract/egress-rules.ts'
import { PlatformError } from '../../kit/errors.ts'

export interface EgressOptions {
  readonly policy: EgressPolicy
  readonly resolveName?: Resolve
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  /** How much of an answer is kept; 4 KB by default. */
  readonly maxAnswerBytes?: number
}

export interface OutgoingAnswer {
  readonly status: number
  readonly contentType: string
  /** The beginning of the answer. */
  readonly text: string
}

/** An answer of any length, as it arrives. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** To be read to its end or left: either lets go of the connection. */
  readonly body: AsyncIterable<Buffer>
}

export interface Egress {
  /** Throws `egress.refused` for an address that could never be reached. */
  check(url: URL): void
  send(request: OutgoingRequest): Promise<OutgoingAnswer>
  /** A GET whose answer is not kept in memory; the signal ends it at any time. */
  open(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<OpenAnswer>
}

const DEFAULT_ANSWER_BYTES = 4096

export function createEgress({ policy, resolveName }: EgressOptions): Egress {
  const guard = createEgressGuard({
    policy,
    refusal: (host, port, why) => new PlatformError('egress.refused', { reason: refusalText(host, port, why) }),
    resolveName,
  })

  const check = (url: URL): void => guard.check(url.hostname, portOf(url))

  async function send({
    method,
    url,
    headers,
    body,
    timeoutMs,
    maxAnswerBytes = DEFAULT_ANSWER_BYTES,
  }: OutgoingRequest): Promise<OutgoingAnswer> {
    const signal = AbortSignal.timeout(timeoutMs)
    const bytes = Buffer.from(body)
    const request = requestTo(url, { method, headers: { ...headers, 'content-length': String(bytes.length) }, signal })
    try {
      const answer = await answerTo(request, bytes)
      const { statusCode: status = 0, headers } = answer
      return { status, contentType: headers['content-type'] ?? '', text: await beginningOf(answer, maxAnswerBytes) }
    } catch (error) {
      if (signal.aborted) throw new PlatformError('egress.timedOut', { limit: timeoutMs })
      throw failureOf(error)
    } finally {
      request.destroy()
    }
  }

  async function open(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<OpenAnswer> {
    const request = requestTo(url, { method: 'GET', headers, signal })
    const answer = await answerTo(request, Buffer.alloc(0)).catch((error: unknown) => {
      throw failureOf(error)
    })
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: bodyOf(request, answer) }
  }

  /** A connection of its own, never one that an earlier name left open. */
  function requestTo(url: URL, options: RequestOptions): ClientRequest {
    check(url)
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    return request(url, { ...options, agent: false, lookup: guard.lookupFor(portOf(url)) })
  }

  return { check, send, open }
}

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** Of node:http, unless the guard refused. */
const failureOf = (error: unknown): PlatformError =>
  error instanceof PlatformError
    ? error
    : new PlatformError('egress.failed', { reason: (error as Error).message }, { cause: error })

async function* bodyOf(request: ClientRequest, answer: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>
  } catch (error) {
    throw failureOf(error)
  } finally {
    request.destroy()
  }
}

const answerTo = (request: ClientRequest, body: Buffer): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.end(body)
  })

async function beginningOf(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
}
