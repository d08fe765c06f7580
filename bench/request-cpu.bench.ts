// Requests per second of the server's processor time, against a bare Fastify route that answers a body of the same size. The stack logs as in production.
// Processor time is read from the kernel, so a busy machine and the client beside it change little; of all bursts the median counts.

import { readdirSync, readFileSync } from 'node:fs'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, requestsPerSecond, startBare } from './support/measure.ts'
import { serverOf } from './support/server-process.ts'

const ROUNDS = 7
const BURST_MS = 700
const WARM_BURSTS = 25
const CLIENTS = 16
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const server = serverOf(stack.dataDir)
const headers = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }

const configurations = '/v2/storage/components/platform.ex-http/configs'
const configuration = { parameters: { api: { baseUrl: 'https://example.com' }, text: 'x'.repeat(500) } }
await stack.post(configurations, { name: 'bench', configurationId: 'bench' })
await stack.request('PUT', `${configurations}/bench`, { configuration })
for (let row = 0; row < 10; row++)
  await stack.post(`${configurations}/bench/rows`, { rowId: `r${row}`, configuration: JSON.stringify(configuration) })

let updates = 0
interface Operation {
  readonly name: string
  readonly target: number
  readonly method: string
  readonly path: string
  readonly body?: () => string
}

const OPERATIONS: readonly Operation[] = [
  { name: 'index', target: 0.5, method: 'GET', path: '/v2/storage' },
  { name: 'verify', target: 0.6, method: 'GET', path: '/v2/storage/tokens/verify' },
  { name: 'configuration', target: 0.5, method: 'GET', path: `${configurations}/bench` },
  {
    ...{ name: 'update', target: 0.3, method: 'PUT', path: `${configurations}/bench` },
    body: () => JSON.stringify({ configuration: { ...configuration, updates: updates++ } }),
  },
  {
    name: 'prepare',
    target: 0.3,
    method: 'POST',
    path: '/v2/storage/files/prepare',
    body: () => '{"name":"a.csv","federationToken":1}',
  },
]

/** Milliseconds of processor time of a process, all threads. */
function cpuMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]))
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6
}

/** Until the compiler of V8 has nothing left to do: three bursts in a row that need the same, or enough of them. */
async function warm(burst: () => Promise<number>): Promise<void> {
  let [before, same] = [0, 0]
  for (let bursts = 0; bursts < WARM_BURSTS && same < 3; bursts++) {
    const rate = await burst()
    same = Math.abs(rate - before) < 0.1 * rate ? same + 1 : 0
    before = rate
  }
}

for (const { name, target, method, path, body = () => '' } of OPERATIONS) {
  const first = body()
  const answer = await stack.request(method, path, first === '' ? undefined : JSON.parse(first))
  if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
  const bare = await startBare('./bare-route.ts', 'x', String(JSON.stringify(answer.body).length))
  const perCpuSecond = (pid: number, url: string, how: string, shape: () => string) => async (): Promise<number> => {
    const before = cpuMs(pid)
    const perSecond = await requestsPerSecond({
      ...{ url, method: how, headers, body: how === 'GET' ? '' : shape },
      ...{ connections: CLIENTS, durationMs: BURST_MS },
    })
    return (perSecond * BURST_MS) / (cpuMs(pid) - before)
  }
  const candidates = {
    ours: perCpuSecond(server, stack.url + path, method, body),
    bare: perCpuSecond(bare.pid, `${bare.url}/`, method === 'PUT' ? 'POST' : method, body),
  }
  for (const burst of Object.values(candidates)) await warm(burst)
  const rate = await inTurns(ROUNDS, candidates)
  report({
    bench: `request-cpu-${name}`,
    ratio: rate.ours / rate.bare,
    target: `>= ${target}`,
    oursUs: Math.round(1e6 / rate.ours),
    bareUs: Math.round(1e6 / rate.bare),
  })
  await bare.stop()
}
for (const cleanup of cleanups) await cleanup()
process.exit(0)
