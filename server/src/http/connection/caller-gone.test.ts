import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import Fastify from 'fastify'
import { callerGone } from './caller-gone.ts'

/** A server whose hook takes until `admit` is called; resolves with the signal of its one request. */
async function startSlowHook(t: { after(close: () => Promise<void>): void }) {
  const app = Fastify()
  const hookBegun = Promise.withResolvers<import('node:http').ServerResponse>()
  const admitted = Promise.withResolvers<void>()
  const signal = Promise.withResolvers<AbortSignal>()
  app.addHook('onRequest', async (_req, reply) => {
    hookBegun.resolve(reply.raw)
    await admitted.promise
  })
  app.get('/', async (_req, reply) => {
    const gone = callerGone(reply)
    signal.resolve(gone)
    return String(gone.aborted)
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  return { url, hookBegun: hookBegun.promise, admit: () => admitted.resolve(), signal: signal.promise }
}

test('a caller who left while hooks were running is gone at once', async (t) => {
  const { url, hookBegun, admit, signal } = await startSlowHook(t)
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const response = await hookBegun
  socket.destroy()
  if (!response.destroyed) await once(response, 'close')
  admit()
  assert.equal((await signal).aborted, true)
})

test('a caller is gone when the response has ended, not before', async (t) => {
  const { url, admit, signal } = await startSlowHook(t)
  admit()
  const answer = await fetch(url)
  const gone = await signal
  assert.equal(await answer.text(), 'false')
  if (!gone.aborted) await once(gone, 'abort')
})
