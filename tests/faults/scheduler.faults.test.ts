// Invariant 9: a schedule fires exactly once per due minute, whatever is killed when, and on however many nodes.
// The clock of the stack is set ahead before every start, so that a due minute comes seconds after it.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshPostgres } from '../support/on-both-databases.ts'
import { BUCKET, REGION, startS3 } from '../support/start-s3.ts'
import { type Stack, startStack, until } from './stack.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 100 : 8
const NODE_ROUNDS = process.env.MILLRACE_LONG ? 20 : 2
/** Enough that firing takes a while, and a kill or another node can come in between. */
const SCHEDULES = 25
const MINUTE = 60_000

interface Execution {
  readonly scheduleId: string
  readonly jobId: string | null
  readonly dueTime: string
  readonly status: string
}

async function addComponent(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, 'components'), { recursive: true })
  const data = { definition: { type: 'command', uri: '', tag: '1', command: ['/bin/true'] } }
  const description = { id: 'test.true', type: 'application', name: 'true', hasRun: true, data }
  await writeFile(join(dataDir, 'components', 'test.true.json'), JSON.stringify(description))
}

/** A component that ends at once, a configuration of it, and active schedules that are due every minute. */
async function everyMinute(stack: Stack, schedules: number): Promise<void> {
  await addComponent(stack.dataDir)
  await until(async () => (await stack.get('/v2/storage/components/test.true')).status === 200)
  const make = async (component: string, configuration: object) =>
    (await stack.post(`/v2/storage/components/${component}/configs`, { name: 'c', configuration })).body as { id: string }
  const target = { componentId: 'test.true', configurationId: (await make('test.true', {})).id, mode: 'run' }
  const schedule = { cronTab: '* * * * *', timezone: 'UTC', state: 'enabled' }
  for (let n = 0; n < schedules; n++) {
    const { id } = await make('platform.scheduler', { schedule, target })
    const activated = await stack.post('/scheduler/schedules', { configurationId: id })
    assert.ok(activated.status < 300, JSON.stringify(activated.body))
  }
}

async function executions(stack: Stack): Promise<readonly Execution[]> {
  const schedules = (await stack.get('/scheduler/schedules')).body as {
    id: string
    executions: Omit<Execution, 'scheduleId'>[]
  }[]
  return schedules.flatMap(({ id, executions }) => executions.map((execution) => ({ ...execution, scheduleId: id })))
}

async function queuedJobs(stack: Stack): Promise<readonly string[]> {
  const ids: string[] = []
  for (;;) {
    const page = (await stack.get(`/queue/jobs?limit=100&offset=${ids.length}`)).body as { id: string; component: string }[]
    ids.push(...page.map((job) => String(job.id)))
    if (page.length < 100) return ids
  }
}

/** `2026-01-31T12:00:00+0000`, as the API writes it. */
const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+0000`

/** The jobs seen so far, by schedule and due minute. A second run of a minute fails the test. */
function createLedger(schedules: number) {
  const jobs = new Map<string, string>()
  const ran = new Map<string, number>()

  function note(seen: readonly Execution[]): void {
    for (const { scheduleId, dueTime, jobId, status } of seen) {
      const name = `schedule ${scheduleId} at ${dueTime}`
      assert.ok(status === 'started' || status === 'skipped', `${name}: ${status}`)
      if (status === 'skipped') continue
      if (!jobs.has(name)) {
        jobs.set(name, String(jobId))
        ran.set(dueTime, (ran.get(dueTime) ?? 0) + 1)
      } else assert.equal(jobs.get(name), jobId, `${name} ran twice`)
    }
  }

  /** Waits until every schedule has acted on that minute. */
  async function follow(stack: Stack, due: string): Promise<void> {
    let seen: readonly Execution[] = []
    await until(
      async () => {
        seen = await executions(stack)
        return new Set(seen.filter(({ dueTime }) => dueTime === due).map(({ scheduleId }) => scheduleId)).size === schedules
      },
      40_000,
      () => `${due} was never acted on: ${JSON.stringify(seen.slice(0, 3))}`,
    )
    note(seen)
  }

  const look = async (stack: Stack) => note(await executions(stack))
  return { jobs, follow, look, allRan: (due: string) => ran.get(due) === schedules }
}

test(`${ROUNDS} kills around the due second: exactly one run per due minute`, async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_ROLES: 'api,scheduler' } })
  await everyMinute(stack, SCHEDULES)
  await stack.kill()
  const { jobs, follow, look, allRan } = createLedger(SCHEDULES)
  const minutes: number[] = []
  /** Minutes that passed while the stack was starting: they fall under the rules of catching up, at most one run. */
  const late = new Set<number>()
  let due = Math.ceil(Date.now() / MINUTE) * MINUTE + 5 * MINUTE
  let typicalStartMs = 3000
  for (let round = 1; round <= ROUNDS; round++) {
    // Still inside the minute before, so a run of that minute which the last kill prevented is on time yet.
    const leadMs = Math.min(50_000, typicalStartMs * 1.5 + 1500)
    const offsetMs = Math.round(due - leadMs - Date.now())
    const stackNow = () => Date.now() + offsetMs
    const { readyMs } = await stack.start({ MILLRACE_TEST_CLOCK_OFFSET_MS: String(offsetMs) })
    typicalStartMs = (typicalStartMs + readyMs) / 2
    const isOnTime = stackNow() < due - 2000
    const previous = minutes.at(-1)
    if (previous !== undefined && isOnTime) await follow(stack, timestamp(previous))
    if (previous !== undefined && !isOnTime) late.add(previous)
    await look(stack)
    const killAt = due - 200 + Math.random() * 500
    await sleep(Math.max(0, killAt - stackNow())) // the moment of death is the random input of this test
    await stack.kill()
    minutes.push(due)
    due = Math.max(due, Math.floor(stackNow() / MINUTE) * MINUTE) + MINUTE
  }
  const last = minutes.at(-1)!
  await stack.start({ MILLRACE_TEST_CLOCK_OFFSET_MS: String(Math.round(Math.max(last, due - MINUTE) + 5000 - Date.now())) })
  await follow(stack, timestamp(due - MINUTE))
  for (const minute of minutes) assert.ok(late.has(minute) || allRan(timestamp(minute)), `${timestamp(minute)} did not run`)
  assert.ok(late.size < ROUNDS / 2, 'most starts were quick enough to prove something')
  assert.deepEqual((await queuedJobs(stack)).toSorted(), [...jobs.values()].toSorted(), 'every job belongs to one due minute')
})

test('two nodes that share PostgreSQL and S3 run each due minute once', async (t) => {
  const database = await freshPostgres()
  const s3 = await startS3()
  t.after(() => s3.close())
  const env = {
    MILLRACE_DATABASE_URL: (database.location as { url: string }).url, // freshPostgres answers a url
    MILLRACE_S3_ENDPOINT: s3.endpoint,
    MILLRACE_S3_REGION: REGION,
    MILLRACE_S3_BUCKET: BUCKET,
    MILLRACE_S3_ACCESS_KEY_ID: s3.sessions.root.accessKeyId,
    MILLRACE_S3_SECRET_ACCESS_KEY: s3.sessions.root.secretAccessKey,
    MILLRACE_ENCRYPTION_KEY: 'ab'.repeat(32),
    MILLRACE_ROLES: 'api,scheduler',
  }
  const one = await startStack(t, { env })
  await everyMinute(one, SCHEDULES)
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-stack-'))
  await addComponent(dataDir)
  const two = await startStack(t, { env, existing: { dataDir, masterToken: one.masterToken } })
  t.after(() => database.remove())
  const { jobs, follow, allRan } = createLedger(SCHEDULES)
  let due = Math.ceil(Date.now() / MINUTE) * MINUTE + 5 * MINUTE
  for (let round = 0; round < NODE_ROUNDS; round++, due += MINUTE) {
    await Promise.all([one.kill(), two.kill()])
    const offset = { MILLRACE_TEST_CLOCK_OFFSET_MS: String(Math.round(due - 8000 - Date.now())) }
    await Promise.all([one.start(offset), two.start(offset)])
    await follow(one, timestamp(due))
    assert.ok(allRan(timestamp(due)))
  }
  assert.deepEqual((await queuedJobs(two)).toSorted(), [...jobs.values()].toSorted(), 'every job belongs to one due minute')
})
