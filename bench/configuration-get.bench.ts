// GET of a configuration with 50 rows through the whole stack, against a bare Fastify route that answers the same bytes.

import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, requestsPerSecond, startBare } from './support/measure.ts'

const ROWS = 50
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const headers = { 'x-storageapi-token': stack.masterToken }
const path = '/v2/storage/components/platform.ex-http/configs/bench'

await stack.post('/v2/storage/components/platform.ex-http/configs', {
  name: 'bench',
  configurationId: 'bench',
  configuration: { parameters: { api: { baseUrl: 'https://example.com' }, '#token': 'secret' } },
})
for (let i = 0; i < ROWS; i++) {
  await stack.post(`${path}/rows`, {
    rowId: `row-${i}`,
    name: `Row ${i}`,
    configuration: { parameters: { endpoint: `items/${i}`, query: { page: i } } },
  })
}
const answer = await stack.get(path)
const bare = await startBare('./bare-route.ts', JSON.stringify(answer.body))
const shape = { connections: 16, durationMs: 2000, headers }
const ours = { ...shape, url: stack.url + path }
const theirs = { ...shape, url: `${bare.url}/` }
await requestsPerSecond({ ...ours, durationMs: 1000 }) // warm
await requestsPerSecond({ ...theirs, durationMs: 1000 })
const perSecond = await inTurns(5, { ours: () => requestsPerSecond(ours), bare: () => requestsPerSecond(theirs) })
report({
  bench: 'configuration-get',
  ratio: perSecond.ours / perSecond.bare,
  target: '>= 0.5',
  rows: ROWS,
  answerBytes: JSON.stringify(answer.body).length,
  oursPerSecond: Math.round(perSecond.ours),
  barePerSecond: Math.round(perSecond.bare),
})
await bare.stop()
for (const cleanup of cleanups) await cleanup()
