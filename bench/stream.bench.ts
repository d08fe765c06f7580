// Records of 64 clients that are acknowledged when they are durable, against a bare Fastify route that appends to a file with one fsync
// for all that wait. The source has a sink, so batches are loaded into their table meanwhile.

import { startStack } from '../tests/faults/stack.ts'
import { inTurns, report, requestsPerSecond, startBare } from './support/measure.ts'

const SOURCES = '/stream/v1/branches/default/sources'
const cleanups: Array<() => unknown> = []
const stack = await startStack({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
await stack.post(SOURCES, { name: 'bench', sourceId: 'bench' })
const columns = [
  { type: 'uuid', name: 'id' },
  { type: 'path', name: 'order', path: 'order.id' },
  { type: 'body', name: 'body' },
]
await stack.post(`${SOURCES}/bench/sinks`, { name: 'bench', table: { tableId: 'in.c-bench.records', mapping: { columns } } })
const { http } = (await stack.get(`${SOURCES}/bench`)).body as { http: { url: string } }
const shape = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ order: { id: 4711, items: ['a', 'b', 'c'], total: 12.5 }, at: '2026-01-31T12:00:00Z' }),
  connections: 64,
  durationMs: 3000,
}
const bare = await startBare('./bare-append.ts')
const ours = { ...shape, url: stack.url + new URL(http.url).pathname }
const theirs = { ...shape, url: `${bare.url}/` }
await requestsPerSecond({ ...ours, durationMs: 1000 }) // warm
await requestsPerSecond({ ...theirs, durationMs: 1000 })
const perSecond = await inTurns(5, { ours: () => requestsPerSecond(ours), bare: () => requestsPerSecond(theirs) })
report({
  bench: 'stream',
  ratio: perSecond.ours / perSecond.bare,
  target: '>= 0.5',
  oursPerSecond: Math.round(perSecond.ours),
  barePerSecond: Math.round(perSecond.bare),
})
await bare.stop()
for (const cleanup of cleanups) await cleanup()
