// The HTTP client that isomorphic-git is given: every socket keeps to the egress rules, redirects are not followed, and an answer ends
// at a size and at a time.

import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git'
import { createEgressGuard, refusalText } from '../../../../contract/egress-guard.ts'
import type { EgressPolicy } from '../../../../contract/egress-rules.ts'

export interface GuardedHttpOptions {
  readonly policy: EgressPolicy
  readonly timeoutMs: number
  readonly maxBytes: number
}

export function createGuardedHttp({ policy, timeoutMs, maxBytes }: GuardedHttpOptions): HttpClient {
  const guard = createEgressGuard({ policy, refusal: (host, port, why) => new Error(refusalText(host, port, why)) })

  async function request({ url: address, method = 'GET', headers = {}, body }: GitHttpRequest): Promise<GitHttpResponse> {
    const url = new URL(address)
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    guard.check(url.hostname, port)
    const sent = Buffer.concat(await Array.fromAsync(body ?? []))
    const open = url.protocol === 'https:' ? requestHttps : requestHttp
    const options = {
      method,
      headers: { ...headers, 'content-length': String(sent.length) },
      agent: false,
      lookup: guard.lookupFor(port),
      signal: AbortSignal.timeout(timeoutMs),
    }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      open(url, options).once('response', resolve).once('error', reject).end(sent)
    }).catch((error: Error) => {
      throw error.name === 'TimeoutError' || error.name === 'AbortError'
        ? new Error(`${url.host} has not answered within ${timeoutMs / 1000} seconds.`)
        : error
    })
    const { statusCode = 0, statusMessage = '', headers: received } = answer
    if (statusCode >= 300 && statusCode < 400) {
      answer.destroy()
      throw new Error(`${url.host} answers with a redirect to ${received.location ?? 'nowhere'}. Name the final address.`)
    }
    return { url: address, method, statusCode, statusMessage, headers: plain(received), body: limited(answer, maxBytes) }
  }

  return { request }
}

const plain = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

async function* limited(answer: IncomingMessage, maxBytes: number): AsyncIterableIterator<Uint8Array> {
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`The repository is larger than ${maxBytes / 2 ** 20} MB.`)
    yield chunk
  }
}
