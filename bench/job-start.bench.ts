// What a job waits for: an empty job and a flow of twenty against a bare `node -e 0`, with processes that wait for jobs (ADR 0062) and
// without. A process that was started ahead shortens the wait, not the work: processor time is reported beside it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { until } from '../tests/support/until.ts'
import { inTurns, report } from './support/measure.ts'
import { serverOf } from './support/server-process.ts'

const ROUNDS = 25
const TASKS = 20
const FLOWS = 5
/** Between two jobs: a stack that rests. */
const PAUSE_MS = 400
const POLL_MS = 2

const cleanups: Array<() => unknown> = []
const after = (work: unknown) => cleanups.push(work as () => unknown) // it passes one function without parameters
const definition = { type: 'builtin', uri: '../bench/support/empty-component.ts', tag: '1' }

async function open(spares: number) {
  const env = { MILLRACE_SPARE_PROGRAMS: String(spares), MILLRACE_RATE_PER_TOKEN: '0', MILLRACE_RATE_PER_ADDRESS: '0' }
  const stack = await startStackProcess({ after }, { env })
  mkdirSync(`${stack.dataDir}/components`, { recursive: true })
  const description = { id: 'bench.empty', type: 'application', name: 'Empty', hasRun: true, data: { definition } }
  writeFileSync(`${stack.dataDir}/components/empty.json`, JSON.stringify(description))
  await until('the component is known', async () => (await stack.get('/v2/storage/components/bench.empty')).status === 200)
  const headers = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }
  const call = async (path: string, body?: object): Promise<Job> => {
    const response = await fetch(stack.url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Job // the stack's own record
  }
  /** Milliseconds from the request until a client sees the end. */
  const run = async (component: string, configData: object): Promise<number> => {
    await pause(PAUSE_MS)
    const started = performance.now()
    const { id } = await call('/queue/jobs', { component, configData })
    for (;;) {
      const job = await call(`/queue/jobs/${id}`)
      if (job.isFinished && job.status !== 'success') throw new Error(`job ${id}: ${job.status} ${job.result.message}`)
      if (job.isFinished) return performance.now() - started
      await pause(POLL_MS)
    }
  }
  const cpu = () => cpuSecondsOf(stack.dataDir)
  return { job: () => run('bench.empty', { parameters: {} }), flow: (flow: object) => run('platform.orchestrator', flow), cpu }
}

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function bare(): Promise<number> {
  const started = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - started
}

/** Of a server and of everything it started that has ended. */
function cpuSecondsOf(dataDir: string): number {
  const fields = readFileSync(`/proc/${serverOf(dataDir)}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

const task = (id: number, phase: number) => ({
  id,
  name: `t${id}`,
  phase,
  task: { componentId: 'bench.empty', configData: { parameters: {} } },
})
const chain = {
  phases: Array.from({ length: TASKS }, (_, id) => ({ id, name: `p${id}`, dependsOn: id === 0 ? [] : [id - 1] })),
  tasks: Array.from({ length: TASKS }, (_, id) => task(id, id)),
}
const wide = { phases: [{ id: 0, name: 'all' }], tasks: Array.from({ length: TASKS }, (_, id) => task(id, 0)) }

const [warm, cold] = [await open(4), await open(0)]
for (let i = 0; i < 3; i++) for (const stack of [warm, cold]) await stack.job() // the first runs compile the program

const used = { warm: 0, cold: 0 }
const counted = (name: 'warm' | 'cold', work: () => Promise<number>) => async () => {
  const stack = { warm, cold }[name]
  const before = stack.cpu()
  const ms = await work()
  used[name] += stack.cpu() - before
  return ms
}
const jobs = await inTurns(ROUNDS, { bare, warm: counted('warm', warm.job), cold: counted('cold', cold.job) })
report({
  bench: 'job-start',
  ratio: jobs.warm / jobs.bare,
  target: '<= 0.25',
  ms: jobs.warm,
  bareMs: jobs.bare,
  withoutSparesMs: jobs.cold,
  cpuMs: (used.warm * 1000) / ROUNDS,
  withoutSparesCpuMs: (used.cold * 1000) / ROUNDS,
})

for (const [name, flow] of Object.entries({ chain, wide })) {
  const flows = await inTurns(FLOWS, { bare, warm: () => warm.flow(flow), cold: () => cold.flow(flow) })
  report({
    bench: `job-start-flow-${name}`,
    ratio: flows.warm / (TASKS * flows.bare),
    target: '<= 0.25',
    ms: flows.warm,
    bareMs: TASKS * flows.bare,
    withoutSparesMs: flows.cold,
    tasks: TASKS,
  })
}

for (const cleanup of cleanups) await cleanup()
