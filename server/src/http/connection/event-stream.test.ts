import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { beginEvents } from './event-stream.ts'

test('a client is connected before the first event', async (t) => {
  const app = fastify({ forceCloseConnections: true })
  t.after(() => app.close())
  app.get('/', (_req, reply) => beginEvents(reply)) // and never writes
  const response = await fetch(await app.listen({ port: 0, host: '127.0.0.1' }))
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  await response.body?.cancel()
})
