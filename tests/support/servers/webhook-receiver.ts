// A receiver of webhooks on a port of its own, which answers as a test sets.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestScope } from '../test-stack.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface WebhookReceiver {
  readonly url: string
  readonly received: Received[]
  /** How it answers from now on; 200 by default. */
  answerWith(answer: (response: ServerResponse) => void): void
}

export async function startReceiver(t: TestScope): Promise<WebhookReceiver> {
  const received: Received[] = []
  let answer = (response: ServerResponse): void => void response.end('thanks')
  const server = createServer(async (request, response) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await text(request).catch(() => '') })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (how) => {
      answer = how
    },
  }
}
