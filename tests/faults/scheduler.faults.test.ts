// Invariant 9: a schedule fires exactly once per due minute, whatever is killed when, and on however many nodes.
// The clock of the stack is set ahead before every start, so that a due minute comes seconds after it.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { sharedByNodes } from '../support/servers/shared-by-nodes.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const ROUNDS = kills(2, 100)
const NODE_ROUNDS = process.env.MILLRACE_LONG ? 20 : 1
/** Enough that firing takes a while, and a kill or another node can come in between. */
const SCHEDULES = 25
const MINUTE = 60_000
const PERIOD = 10 * MINUTE

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

/** A component that ends at once, a configuration of it, and active schedules for it. */
async function activeSchedules(stack: Stack, schedules: number, cronTab: string): Promise<void> {
  await addComponent(stack.dataDir)
  await until('the component is known', async () => (await stack.get('/v2/storage/components/test.true')).status === 200)
  const make = async (component: string, configuration: object) =>
    (await stack.post(`/v2/storage/components/${component}/configs`, { name: 'c', configuration })).body as { id: string }
  const target = { componentId: 'test.true', configurationId: (await make('test.true', {})).id, mode: 'run' }
  const schedule = { cronTab, timezone: 'UTC', state: 'enabled' }
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

async function restart(stack: Stack): Promise<{ readonly readyMs: number }> {
  await stack.kill()
  return stack.start()
}

/** `2026-01-31T12:00:00+0000`, as the API writes it. */
const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+0000`

/** The jobs seen so far, by schedule and due minute. A second run of a minute fails the test, and so does one from `first` on that was left out. */
function createLedger(schedules: number, first: string) {
  const jobs = new Map<string, string>()
  const ran = new Map<string, number>()

  function note(seen: readonly Execution[]): void {
    for (const { scheduleId, dueTime, jobId, status } of seen) {
      const name = `schedule ${scheduleId} at ${dueTime}`
      assert.ok(status === 'started' || (status === 'skipped' && dueTime < first), `${name}: ${status}`)
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
      () => `${due} is acted on: ${JSON.stringify(seen.slice(0, 3))}`,
      async () => {
        seen = await executions(stack)
        return new Set(seen.filter(({ dueTime }) => dueTime === due).map(({ scheduleId }) => scheduleId)).size === schedules
      },
    )
    note(seen)
  }

  return { jobs, follow, allRan: (due: string) => ran.get(due) === schedules }
}

test(`${ROUNDS} kills around the due second: exactly one run per due minute`, async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_ROLES: 'api,scheduler' } })
  await activeSchedules(stack, SCHEDULES, '*/10 * * * *')
  await stack.kill()
  /** Starts the stack at a time of its own clock; answers that clock. */
  async function startAt(time: number) {
    const offsetMs = Math.round(time - Date.now())
    const { readyMs } = await stack.start({ MILLRACE_TEST_CLOCK_OFFSET_MS: String(offsetMs) })
    return { readyMs, now: () => Date.now() + offsetMs }
  }
  const minutes: string[] = []
  let due = Math.ceil(Date.now() / PERIOD) * PERIOD + PERIOD
  const { jobs, follow, allRan } = createLedger(SCHEDULES, timestamp(due))
  let typicalStartMs = 3000
  let hits = 0
  for (; hits < ROUNDS; due += PERIOD) {
    const killAt = due - 200 + chance() * 500
    const { readyMs, now } = await startAt(due - typicalStartMs * 1.5 - 1500)
    // A start that took longer than expected is killed too late to be interesting. Its due minute must run all the same; the round is
    // repeated, with more time for the start.
    if (now() <= killAt) hits++
    typicalStartMs = now() <= killAt ? (typicalStartMs + readyMs) / 2 : 2 * readyMs
    await sleep(Math.max(0, killAt - now())) // the moment of death is the random input of this test
    await stack.kill()
    // Back inside the due minute, or minutes later but inside the grace window: what the kill prevented is made up for, nothing else.
    await startAt(due + 1000 + chance() * (chance() < 0.5 ? 30_000 : 420_000))
    minutes.push(timestamp(due))
    await follow(stack, timestamp(due))
    await stack.kill()
  }
  t.diagnostic(
    `${minutes.length} due minutes, ${hits} kills around the due second, ${minutes.length - hits} starts too slow for it`,
  )
  assert.deepEqual(
    minutes.filter((minute) => !allRan(minute)),
    [],
    'every due minute ran',
  )
  await startAt(due - PERIOD + 500_000)
  assert.deepEqual((await queuedJobs(stack)).toSorted(), [...jobs.values()].toSorted(), 'every job belongs to one due minute')
})

test('two nodes that share PostgreSQL and S3 run each due minute once', async (t) => {
  const env = { ...(await sharedByNodes(t)), MILLRACE_ROLES: 'api,scheduler' }
  const one = await startStack(t, { env })
  const { readyMs } = await restart(one)
  await activeSchedules(one, SCHEDULES, '* * * * *')
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-stack-'))
  await addComponent(dataDir)
  const two = await startStack(t, { env, existing: { dataDir, masterToken: one.masterToken } })
  let due = Math.ceil(Date.now() / MINUTE) * MINUTE + 5 * MINUTE
  const { jobs, follow, allRan } = createLedger(SCHEDULES, timestamp(due))
  for (let round = 0; round < NODE_ROUNDS; round++, due += MINUTE) {
    await Promise.all([one.kill(), two.kill()])
    // Two start at once, so each takes longer than one alone.
    const offset = { MILLRACE_TEST_CLOCK_OFFSET_MS: String(Math.round(due - 3 * readyMs - 3000 - Date.now())) }
    await Promise.all([one.start(offset), two.start(offset)])
    await follow(one, timestamp(due))
    assert.ok(allRan(timestamp(due)))
  }
  assert.deepEqual((await queuedJobs(two)).toSorted(), [...jobs.values()].toSorted(), 'every job belongs to one due minute')
})
