// What a flow costs beside the jobs it runs: 200 tasks of a component that does nothing against the same 200 jobs without a flow, how soon
// the next phase starts, and what flows cost that only wait.

import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { startStack } from '../tests/faults/stack.ts'
import { until } from '../tests/support/until.ts'
import { inTurns, median, report } from './support/measure.ts'

const TASKS = 200
const ROUNDS = 3
const PHASES = 20
const WAITING = 200
/** Processor time is counted in steps of 10 ms; without this a step more would be a third more. */
const RESOLUTION_SECONDS = 0.1
const IDLE_MS = 10_000

const cleanups: Array<() => unknown> = []
// The rates that keep one token from taking all are not what is measured here.
const env = { MILLRACE_RATE_PER_TOKEN: '0', MILLRACE_RATE_PER_ADDRESS: '0' }
const stack = await startStack({ after: (work) => cleanups.push(work as () => unknown) }, { env }) // it passes one function without parameters
const headers = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }

const definition = { type: 'builtin', uri: '../bench/support/empty-component.ts', tag: '1' }
mkdirSync(`${stack.dataDir}/components`, { recursive: true })
writeFileSync(
  `${stack.dataDir}/components/empty.json`,
  JSON.stringify({ id: 'bench.empty', type: 'application', name: 'Empty', hasRun: true, data: { definition } }),
)
await until('the component is known', async () => (await stack.get('/v2/storage/components/bench.empty')).status === 200)

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
}

async function call<T>(method: string, path: string, json?: object): Promise<T> {
  const response = await fetch(stack.url + path, { method, headers, ...(json && { body: JSON.stringify(json) }) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T // the stack's own record
}

const configData = { parameters: {} }
const create = (): Promise<Job> => call('POST', '/queue/jobs', { component: 'bench.empty', configData })
const run = (flow: object, more: object = {}): Promise<Job> =>
  call('POST', '/queue/jobs', { component: 'platform.orchestrator', configData: flow, ...more })

async function finished({ id }: Job): Promise<void> {
  for (;;) {
    const job = await call<Job>('GET', `/queue/jobs/${id}`)
    if (job.isFinished && job.status !== 'success') throw new Error(`job ${id}: ${job.status} ${job.result.message}`)
    if (job.isFinished) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Of the server and everything it started, in seconds: what else the machine does is left out. */
function cpuSeconds(): number {
  const pid = readdirSync('/proc').find((one) => /^\d+$/.test(one) && isServer(one))
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

function isServer(pid: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return readlinkSync(`/proc/${pid}/cwd`) === stack.dataDir && /main\.ts/.test(command) && !/leash\.ts/.test(command)
  } catch {
    return false // it ended meanwhile
  }
}

async function measured(work: () => Promise<void>): Promise<number> {
  const before = cpuSeconds()
  await work()
  return cpuSeconds() - before
}

const task = (id: number, phase: number) => ({ id, name: `t${id}`, phase, task: { componentId: 'bench.empty', configData } })
const wide = { phases: [{ id: 0, name: 'all' }], tasks: Array.from({ length: TASKS }, (_, id) => task(id, 0)) }

for (let i = 0; i < 3; i++) await finished(await create()) // the first runs compile the program

const { flow, jobs } = await inTurns(ROUNDS, {
  jobs: () =>
    measured(async () => {
      const created = await Promise.all(Array.from({ length: TASKS }, create))
      for (const job of created.slice(-20)) await finished(job)
    }),
  flow: () => measured(async () => finished(await run(wide))),
})
report({
  bench: 'flow-overhead',
  ratio: flow / jobs,
  target: '<= 1.15',
  flowCpuSeconds: flow,
  jobsCpuSeconds: jobs,
  tasks: TASKS,
})

// A chain of phases with one task each: the time between the end of a task and the beginning of the next.
const chain = {
  phases: Array.from({ length: PHASES }, (_, id) => ({ id, name: `p${id}`, dependsOn: id === 0 ? [] : [id - 1] })),
  tasks: Array.from({ length: PHASES }, (_, id) => task(id, id)),
}
const chained = await run(chain)
await finished(chained)
const { startedAt, endedAt } = await timesOf(chained.id)
const gaps = startedAt.slice(1).map((at, index) => at - endedAt[index]!)
report({ bench: 'flow-next-phase', ratio: median(gaps) / 50, target: '<= 1', medianMs: median(gaps), worstMs: Math.max(...gaps) })

/** To the millisecond, from the metadata store: records show seconds. */
async function timesOf(flowId: string): Promise<{ startedAt: number[]; endedAt: number[] }> {
  const file = readdirSync(stack.dataDir).find((name) => /\.(db|sqlite)$/.test(name))
  const database = new DatabaseSync(`${stack.dataDir}/${file}`, { readOnly: true })
  const rows = database
    .prepare('select started_at, ended_at from queue_job where parent_job_id = ? order by id')
    .all(Number(flowId)) as { started_at: number; ended_at: number }[] // the selected columns
  database.close()
  return { startedAt: rows.map((row) => row.started_at), endedAt: rows.map((row) => row.ended_at) }
}

// Flows whose only task may start tomorrow: they wait, and must not be felt.
const idle = async () => {
  const before = cpuSeconds()
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  return cpuSeconds() - before
}
const without = await idle()
const later = { phases: [{ id: 0 }], tasks: [{ ...task(0, 0), task: { componentId: 'bench.empty', configData, delay: 86_400 } }] }
for (let i = 0; i < WAITING; i += 20) await Promise.all(Array.from({ length: 20 }, () => run(later)))
await until('all flows wait', async () => {
  const open = await call<Job[]>('GET', '/queue/search/jobs?componentId=platform.orchestrator&status=processing&limit=500')
  return open.length === WAITING
})
const waiting = await idle()
report({
  bench: 'flow-idle',
  ratio: (waiting + RESOLUTION_SECONDS) / (without + RESOLUTION_SECONDS),
  target: '<= 1.5',
  withoutSeconds: without,
  withSeconds: waiting,
  flows: WAITING,
})

for (const cleanup of cleanups) await cleanup()
