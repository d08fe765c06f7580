// GET and POST of a small authenticated resource through the whole stack, against a bare Fastify route that answers as many bytes.

import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, requestsPerSecond, startBare } from './support/measure.ts'

const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const headers = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }
const shape = { connections: 16, durationMs: 2000, headers }

for (const { bench, method, path, body } of [
  { bench: 'http-index', method: 'GET', path: '/v2/storage', body: '' },
  { bench: 'http-get', method: 'GET', path: '/v2/storage/tokens/verify', body: '' },
  { bench: 'http-post', method: 'POST', path: '/v2/storage/webalize/display-name', body: '{"displayName":"Sales (2026)"}' },
]) {
  const answer = await stack.request(method, path, body === '' ? undefined : JSON.parse(body))
  const bare = await startBare('./bare-route.ts', 'x', String(JSON.stringify(answer.body).length)) // a body of the same size
  const ours = { ...shape, method, body, url: stack.url + path }
  const theirs = { ...shape, method, body, url: `${bare.url}/` }
  await requestsPerSecond({ ...ours, durationMs: 1000 }) // warm
  await requestsPerSecond({ ...theirs, durationMs: 1000 })
  const perSecond = await inTurns(5, { ours: () => requestsPerSecond(ours), bare: () => requestsPerSecond(theirs) })
  report({
    bench,
    ratio: perSecond.ours / perSecond.bare,
    target: '>= 0.5',
    oursPerSecond: Math.round(perSecond.ours),
    barePerSecond: Math.round(perSecond.bare),
  })
  await bare.stop()
}
for (const cleanup of cleanups) await cleanup()
