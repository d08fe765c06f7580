// Good answers to GET requests of parent streams, each requested once per run. Bounded: what does not fit is requested again.

import { HttpResponse } from './response.ts'
import type { HttpRequest, Send } from './transport.ts'

const MAX_BYTES = 32 * 1024 * 1024
/** What an answer takes beside its body: a small one is mostly this. */
const ENTRY_BYTES = 2048

export interface ResponseCache {
  wrap(send: Send): Send
}

/** A response keeps what it was parsed to: several times its body, and records that a stream may change while another reads them. */
const fresh = ({ status, rawHeaders, body, url }: HttpResponse): HttpResponse => new HttpResponse(status, rawHeaders, body, url)

export function createResponseCache(maxBytes = MAX_BYTES): ResponseCache {
  const answers = new Map<string, Promise<HttpResponse>>()
  let size = 0

  const keyOf = ({ method, url, body }: HttpRequest) => `${method} ${url}\n${body ?? ''}`

  function wrap(send: Send): Send {
    return async (request) => {
      if (request.method !== 'GET') return send(request)
      const key = keyOf(request)
      const known = answers.get(key)
      if (known) {
        const answer = await known.catch(() => undefined)
        if (answer?.status === 200) return fresh(answer)
      }
      const answer = send(request)
      answers.set(key, answer)
      try {
        const response = await answer
        const bytes = response.body.length + 2 * key.length + ENTRY_BYTES
        if (response.status !== 200 || size + bytes > maxBytes) answers.delete(key)
        else size += bytes
        return fresh(response)
      } catch (error) {
        answers.delete(key)
        throw error
      }
    }
  }
  return { wrap }
}
