// kill -9 of the stack while component jobs run: each job ends exactly once, data and state move together, nothing is published twice,
// no lock and no process is left. The component counts: it reads its state, appends that number to a table, and writes the next state.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = kills(2, 100)
const COUNTERS = 3

const COUNT = `
n=$(sed -n 's/.*"n":\\([0-9]*\\).*/\\1/p' "$KBC_DATADIR/in/state.json"); n=\${n:-0}
printf 'n\\n%s\\n' "$n" > "$KBC_DATADIR/out/tables/numbers"
echo '{"incremental":true,"destination":"numbers"}' > "$KBC_DATADIR/out/tables/numbers.manifest"
printf '{"n":%s}' $((n + 1)) > "$KBC_DATADIR/out/state.json"
`

interface Job {
  readonly id: string
  readonly status: string
  readonly config: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
}

function addCounter(stack: Stack): void {
  mkdirSync(join(stack.dataDir, 'components'), { recursive: true })
  const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', COUNT] }
  const description = {
    id: 'test.count',
    type: 'application',
    name: 'count',
    hasRun: true,
    data: { definition, default_bucket: true, network: 'none' },
  }
  writeFileSync(join(stack.dataDir, 'components/test.count.json'), JSON.stringify(description))
}

async function configure(stack: Stack): Promise<string> {
  const created = await stack.post('/v2/storage/components/test.count/configs', { name: 'c', configuration: {} })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  return (created.body as { id: string }).id
}

const getJob = async (stack: Stack, id: string): Promise<Job> => (await stack.get(`/queue/jobs/${id}`)).body as Job

test(`${KILLS} kills: jobs end once, state and data agree, nothing is published twice`, async (t) => {
  const stack = await startStack(t)
  addCounter(stack)
  await until('the counter is known', async () => (await stack.get('/v2/storage/components/test.count')).status === 200)
  const configs = await Promise.all(Array.from({ length: COUNTERS }, () => configure(stack)))
  const begun = performance.now()
  await runToSuccess(stack, configs[0]!)
  const jobMs = performance.now() - begun
  const created = new Map<string, string>()
  for (let round = 1; round <= KILLS; round++) {
    const before = created.size
    const clients = configs.map((config) => createUntilItDies(stack, config, created))
    await until('every configuration has a new job', () => created.size >= before + COUNTERS)
    await sleep((0.2 + 2 * chance()) * jobMs) // the moment of death is the random input of this test
    await stack.kill()
    await Promise.all(clients)
    await stack.start()
  }
  // A job may have been made although its answer was lost, so the list of jobs decides, not our memory.
  const list = async (): Promise<Job[]> => {
    const pages = await Promise.all(configs.map((config) => stack.get(`/queue/search/jobs?configId=${config}&limit=500`)))
    return pages.flatMap(({ body }) => body as Job[])
  }
  await until(
    () => `every job ends\n${stack.output()}`,
    async () => (await list()).every((job) => job.isFinished),
  )
  const jobs = await list()
  assert.deepEqual(
    [...created.keys()].filter((id) => !jobs.some((job) => job.id === id)),
    [],
    'an acknowledged job is gone',
  )

  const strange = jobs.filter(
    ({ status, result }) => status !== 'success' && !(status === 'error' && /was lost|was stopped/.test(result.message ?? '')),
  )
  assert.deepEqual(strange, [])
  t.diagnostic(`${jobs.filter(({ status }) => status === 'success').length} of ${jobs.length} jobs succeeded`)
  for (const config of configs) {
    const successes = jobs.filter((job) => job.config === config && job.status === 'success').map(({ id }) => id)
    await compare(stack, config, successes)
    // The configuration is free: the next job runs at once.
    await compare(stack, config, [...successes, await runToSuccess(stack, config)])
  }
  const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environOf(pid).includes(`TMPDIR=${stack.dataDir}/runs/`))
  assert.deepEqual(left, [], 'no process of a component is left')
})

async function runToSuccess(stack: Stack, config: string): Promise<string> {
  const { id } = (await stack.post('/queue/test.count/run', { config })).body as Job
  await until(`job ${id} ends`, async () => (await getJob(stack, id)).isFinished)
  assert.equal((await getJob(stack, id)).status, 'success')
  return id
}

/** A few jobs at a time, so that they run rather than queue up. */
async function createUntilItDies(stack: Stack, config: string, created: Map<string, string>): Promise<void> {
  try {
    for (;;) {
      const answer = await stack.post('/queue/test.count/run', { config })
      assert.equal(answer.status, 202, JSON.stringify(answer.body))
      const { id } = answer.body as Job
      created.set(id, config)
      for (;;) {
        if ((await getJob(stack, id)).isFinished) break
        await sleep(20)
      }
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    // The connection broke: what was not answered was not promised.
  }
}

/**
 * The table holds 0 to n-1, each once, the state is n, and n is the number of jobs that succeeded. Lineage names the last of them: what
 * it wrote and that it wrote it are one transaction.
 */
async function compare(stack: Stack, config: string, successes: readonly string[]): Promise<void> {
  const detail = (await stack.get(`/v2/storage/components/test.count/configs/${config}`)).body as {
    state: { component?: { n: number } }
  }
  const n = detail.state.component?.n ?? 0
  const table = `/v2/storage/tables/in.c-test-count-${config}.numbers`
  const preview = n === 0 ? '' : String((await stack.get(`${table}/data-preview?limit=1000`)).body)
  const numbers = [...preview.matchAll(/"(\d+)"/g)].map(([, number]) => Number(number)).sort((a, b) => a - b)
  assert.deepEqual(
    numbers,
    Array.from({ length: n }, (_, number) => number),
    `configuration ${config}: data and state disagree`,
  )
  const told = `configuration ${config}: ${successes.length} jobs succeeded and ${n} results were published`
  assert.equal(n, successes.length, told)
  if (n === 0) return
  const { writtenBy } = (await stack.get(`${table}/used-by`)).body as { writtenBy: { lastJobId: string }[] }
  const last = String(Math.max(...successes.map(Number)))
  assert.deepEqual(
    writtenBy.map(({ lastJobId }) => lastJobId),
    [last],
    'lineage names another job than the one that wrote last',
  )
  const states = (await stack.get(`/queue/jobs/${last}/states`)).body as { before: object; after: { component: { n: number } } }[]
  assert.deepEqual(
    states.map(({ after }) => after.component.n),
    [n],
    'the state that the last job left',
  )
}

function environOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}
