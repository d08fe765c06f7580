// Work for a caller ends when the connection does.

import type { FastifyReply } from 'fastify'

/**
 * Aborted when the response has ended, however it ended. A connection that closed while hooks were
 * still running has had its `close` event, so the listener alone would never be called.
 */
export function callerGone(reply: FastifyReply, reason?: unknown): AbortSignal {
  const gone = new AbortController()
  if (reply.raw.destroyed) gone.abort(reason)
  else reply.raw.once('close', () => gone.abort(reason))
  return gone.signal
}
