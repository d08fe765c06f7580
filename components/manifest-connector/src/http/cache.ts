// Good answers to GET requests of parent streams, each requested once per run. Bounded: what does not fit is requested again.

import type { HttpResponse } from './response.ts'
import type { HttpRequest, Send } from './transport.ts'

const MAX_BYTES = 64 * 1024 * 1024

export interface ResponseCache {
  wrap(send: Send): Send
}

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
        if (answer?.status === 200) return answer
      }
      const answer = send(request)
      answers.set(key, answer)
      try {
        const response = await answer
        if (response.status !== 200 || size + response.body.length > maxBytes) answers.delete(key)
        else size += response.body.length
        return response
      } catch (error) {
        answers.delete(key)
        throw error
      }
    }
  }
  return { wrap }
}
