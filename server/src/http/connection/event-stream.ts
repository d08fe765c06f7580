// Server-sent events: routes that return a list return a stream to clients that accept one.

import type { FastifyReply, FastifyRequest } from 'fastify'

export const asksForEvents = (req: FastifyRequest): boolean => String(req.headers.accept ?? '').includes('text/event-stream')

/** From here on the handler writes to `reply.raw` and ends it. */
export function beginEvents(reply: FastifyReply): void {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  reply.raw.flushHeaders() // else they wait for the first event, and the client for its connection
}
