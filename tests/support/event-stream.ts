// A client of server-sent events for tests: what arrived so far, and how it ended.

import { once } from 'node:events'
import { request } from 'node:http'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventStream {
  readonly status: number
  readonly events: StreamEvent[]
  isOver(): boolean
  close(): void
}

export async function openEventStream(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
  const asked = request(url, { headers: { accept: 'text/event-stream', ...headers } }).end()
  const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
  const events: StreamEvent[] = []
  let rest = ''
  let isOver = false
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? ''
      if (field('event') !== '') events.push({ id: field('id'), event: field('event'), data: JSON.parse(field('data')) })
    }
  })
  response.on('error', () => {}) // a stack that is killed
  response.on('close', () => {
    isOver = true
  })
  return { status: response.statusCode ?? 0, events, isOver: () => isOver, close: () => asked.destroy() }
}
