// One API node and two workers on a shared PostgreSQL and S3; one worker is killed in the middle. Every job ends exactly once, and
// one that may be repeated starts again by itself.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sharedByNodes } from '../support/servers/shared-by-nodes.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const JOBS = process.env.MILLRACE_LONG ? 100 : 12

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
}

const APPEND =
  'printf "id\\n%s\\n" "$KBC_RUNID" > "$KBC_DATADIR/out/tables/ran"; echo \'{"incremental":true,"destination":"in.c-runs.ran"}\' > "$KBC_DATADIR/out/tables/ran.manifest"'

/** A data folder with the component from the start: a worker has no API that would show when it has it. */
function dataFolder(t: TestContext, script: string, data: object = {}): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-worker-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  mkdirSync(join(dataDir, 'components'))
  const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', script] }
  writeFileSync(
    join(dataDir, 'components/test.ran.json'),
    JSON.stringify({ id: 'test.ran', type: 'application', name: 'ran', hasRun: true, data: { definition, ...data } }),
  )
  return dataDir
}

/** Starts nodes on a PostgreSQL and an S3 of their own. */
async function nodesOf(t: TestContext, newDataFolder: () => string) {
  const shared = {
    ...(await sharedByNodes(t)),
    MILLRACE_WORKER_JOBS: '3',
    MILLRACE_ISOLATION: 'off',
  }
  const masterToken = `1-1-${randomBytes(24).toString('hex')}`
  return (role: string): Promise<Stack> =>
    startStack(t, { env: { ...shared, MILLRACE_ROLES: role }, existing: { dataDir: newDataFolder(), masterToken } })
}

test(`a worker dies during ${JOBS} jobs on two workers; every job ends once and is published at most once`, async (t) => {
  const startNode = await nodesOf(t, () => dataFolder(t, `${APPEND}; sleep 0.3`))
  const api = await startNode('api')
  const workers = [await startNode('worker'), await startNode('worker')] as const
  assert.equal((await api.get('/v2/storage/components/test.ran')).status, 200)
  assert.equal((await workers[0].get('/v2/storage/components/test.ran')).status, 503)

  const created: Job[] = []
  for (let i = 0; i < JOBS; i++) {
    const answer = await api.post('/queue/jobs', { component: 'test.ran', configData: {} })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    created.push(answer.body as Job)
  }
  const read = (): Promise<Job[]> => Promise.all(created.map(async ({ id }) => (await api.get(`/queue/jobs/${id}`)).body as Job))
  const countEnded = async (): Promise<number> => (await read()).filter(({ isFinished }) => isFinished).length
  await until('a quarter of the jobs have ended', async () => (await countEnded()) >= JOBS / 4)
  await workers[0].kill()
  await until(
    () => `every job ends\n${workers[1].output()}`,
    async () => (await countEnded()) === JOBS,
  )

  const jobs = await read()
  const succeeded = jobs.filter(({ status }) => status === 'success').map(({ id }) => id)
  const lost = jobs.filter(({ status }) => status !== 'success')
  assert.ok(
    lost.length <= 3,
    `only what the dead worker had begun is lost: ${JSON.stringify(lost.map(({ id, status, result }) => [id, status, result.message]))}`,
  )
  for (const { status, result } of lost)
    assert.match(`${status}: ${result.message}`, /^error: The worker that ran this job was lost/)
  const preview = String((await api.get('/v2/storage/tables/in.c-runs.ran/data-preview?limit=1000')).body)
  const published = [...preview.matchAll(/"(\d+)"/g)].map(([, id]) => id!)
  assert.deepEqual(published.sort(), succeeded.sort(), 'what succeeded is published, once, and nothing else is')
})

/** The first run is never done; the next one appends its run to a table. */
function stuckOnce(t: TestContext): { readonly hasBegun: () => boolean; readonly newDataFolder: () => string } {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-stuck-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const mark = join(folder, 'begun')
  const script = `if [ ! -e ${mark} ]; then touch ${mark}; while :; do sleep 1; done; fi; ${APPEND}`
  return { hasBegun: () => existsSync(mark), newDataFolder: () => dataFolder(t, script, { repeatable: true }) }
}

async function assertRepeated(api: Stack, { id }: Job, output: () => string): Promise<void> {
  const read = async () => (await api.get(`/queue/jobs/${id}`)).body as Job
  await until(
    () => `the job ends\n${output()}`,
    async () => (await read()).isFinished,
  )
  const { status, result } = await read()
  assert.equal(status, 'success', JSON.stringify(result))
  const preview = String((await api.get('/v2/storage/tables/in.c-runs.ran/data-preview?limit=1000')).body)
  assert.deepEqual(
    [...preview.matchAll(/"(\d+)"/g)].map(([, run]) => run),
    [id],
  )
  const events = (await api.get(`/v2/storage/events?runId=${id}&limit=100`)).body as { readonly message: string }[]
  assert.equal(
    events.filter(({ message }) => message === 'The worker that ran this job was lost. The job starts again.').length,
    1,
  )
}

test('a repeatable job whose worker is killed starts again on another worker and is published once', async (t) => {
  const { hasBegun, newDataFolder } = stuckOnce(t)
  const startNode = await nodesOf(t, newDataFolder)
  const api = await startNode('api')
  const first = await startNode('worker')
  const created = await api.post('/queue/jobs', { component: 'test.ran', configData: {} })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  await until('it runs', hasBegun)
  const second = await startNode('worker')
  await first.kill()
  await assertRepeated(api, created.body as Job, second.output)
  const metrics = String((await second.get('/metrics')).body)
  assert.match(metrics, /^millrace_leases_lost_total\{outcome="repeated"\} 1$/m)
  assert.match(metrics, /^millrace_leases_lost_total\{outcome="ended"\} 0$/m)
})

for (const end of ['kill', 'stop'] as const)
  test(`a repeatable job starts again when a stack on SQLite does (${end})`, async (t) => {
    const { hasBegun, newDataFolder } = stuckOnce(t)
    const masterToken = `1-1-${randomBytes(24).toString('hex')}`
    const stack = await startStack(t, {
      env: { MILLRACE_ISOLATION: 'off' },
      existing: { dataDir: newDataFolder(), masterToken },
    })
    const created = await stack.post('/queue/jobs', { component: 'test.ran', configData: {} })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    await until('it runs', hasBegun)
    await stack[end]()
    await stack.start()
    await assertRepeated(stack, created.body as Job, stack.output)
  })
