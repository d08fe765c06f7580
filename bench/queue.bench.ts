// Jobs through the whole stack: dispatch of a built-in component that has nothing to do, the way from queue to success when idle, and
// whether ten thousand queued jobs slow down a client that polls one.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { until } from '../tests/support/until.ts'
import { median, report } from './support/measure.ts'

const JOBS = 200
const QUEUED = 10_000
const POLLS = 2_000
const TARGET_PER_CORE = 20
const BARE_STARTS = 40
const EMPTY = fileURLToPath(new URL('support/empty-component.ts', import.meta.url))
const TARGET_IDLE_MS = 150

const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
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

const create = (more: object = {}): Promise<Job> =>
  call('POST', '/queue/jobs', { component: 'bench.empty', configData: { parameters: {} }, ...more })

async function finished({ id }: Job, everyMs: number): Promise<void> {
  for (;;) {
    const job = await call<Job>('GET', `/queue/jobs/${id}`)
    if (job.isFinished && job.status !== 'success') throw new Error(`job ${id}: ${job.status} ${job.result.message}`)
    if (job.isFinished) return
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

function cpuSeconds(): number {
  const server = readdirSync('/proc').find(
    (pid) => /^\d+$/.test(pid) && readLink(`/proc/${pid}/cwd`) === stack.dataDir && isServer(pid),
  )
  return cpuSecondsOf(server)
}

/** Of a process and of its children that have ended. */
function cpuSecondsOf(pid: string | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

/** What Node alone can do: a job is a process, and a process that does nothing takes this long by itself. */
function bareStartsPerCoreSecond(): number {
  const before = cpuSecondsOf('self')
  for (let i = 0; i < BARE_STARTS; i++)
    spawnSync(process.execPath, [EMPTY], { env: { NODE_COMPILE_CACHE: `${stack.dataDir}/cache/bare` } })
  return BARE_STARTS / (cpuSecondsOf('self') - before)
}

const isServer = (pid: string): boolean =>
  /main\.ts/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) && !/leash\.ts/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

async function pollP99(id: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < POLLS; i++) {
    const started = performance.now()
    await call('GET', `/queue/jobs/${id}`)
    times.push(performance.now() - started)
  }
  return times.sort((a, b) => a - b)[Math.floor(POLLS * 0.99)]!
}

// Idle: one job at a time.
for (let i = 0; i < 3; i++) await finished(await create(), 5) // the first runs compile the program
const idle: number[] = []
for (let i = 0; i < 15; i++) {
  const started = performance.now()
  await finished(await create(), 2)
  idle.push(performance.now() - started)
}
report({ bench: 'queue-idle', ratio: median(idle) / TARGET_IDLE_MS, target: '<= 1', milliseconds: Math.round(median(idle)) })

// Many at once. The client polls the last ones only; jobs start in order. Counted in processor time of the stack and everything it
// started, so that what else the machine does is left out.
const started = performance.now()
const cpuBefore = cpuSeconds()
const jobs = await Promise.all(Array.from({ length: JOBS }, () => create()))
for (const job of jobs.slice(-20)) await finished(job, 50)
const perCoreSecond = JOBS / (cpuSeconds() - cpuBefore)
report({
  bench: 'queue-dispatch',
  ratio: perCoreSecond / TARGET_PER_CORE,
  target: '>= 1',
  perCoreSecond: Math.round(perCoreSecond),
  perSecond: Math.round(JOBS / ((performance.now() - started) / 1000)),
  cores: availableParallelism(),
  bareStartsPerCoreSecond: Math.round(bareStartsPerCoreSecond()),
})

// Queued for tomorrow: they wait, and must not be felt.
const watched = await create({ delay: '86400' })
const before = await pollP99(watched.id)
for (let i = 0; i < QUEUED; i += 50) await Promise.all(Array.from({ length: 50 }, () => create({ delay: '86400' })))
const after = await pollP99(watched.id)
report({ bench: 'queue-depth', ratio: after / before, target: '<= 3', idleP99Ms: before, queuedP99Ms: after, queued: QUEUED })

for (const cleanup of cleanups) await cleanup()
