// What no call causes: long runs, missed schedules, tables nobody writes to, a full disk. One stack, whose clock the tests move.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startReceiver, type WebhookReceiver } from '../../../../../tests/support/servers/webhook-receiver.ts'
import { type Job, shellStack } from '../../../../../tests/support/shell-stack.ts'
import type { TestScope, TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const HOUR_MS = 3_600_000
const cleanups: (() => unknown)[] = []
const scope: TestScope = { after: (work) => cleanups.push(work) }
let aheadMs = 0
let stack: Awaited<ReturnType<typeof shellStack>>
let receiver: WebhookReceiver

before(async () => {
  receiver = await startReceiver(scope)
  stack = await shellStack(scope, {
    clock: { now: () => new Date(Date.now() + aheadMs) },
    worker: { egressAllow: ['127.0.0.1'] },
  })
  await stack.add('test.waits', `until [ -e ${go()} ]; do sleep 0.05; done`)
})
after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

/** While this file is there, jobs of test.waits end. */
const go = (): string => join(stack.dataDir, 'go')
const letRun = (): void => writeFileSync(go(), '')
const hold = (): void => rmSync(go(), { force: true })

async function post(path: string, json: object, method = 'POST') {
  const answer = await stack.request(method, path, { json })
  assert.ok(answer.status < 300, answer.text)
  return answer
}

/** A receiver's path of its own for each subscription; answers what arrived there. */
async function subscribe(path: string, event: string, filters: object[] = []): Promise<() => Record<string, unknown>[]> {
  const recipient = { channel: 'webhook', url: `${receiver.url}/${path}` }
  const { warnings } = (await post('/notification/project-subscriptions', { event, filters, recipient })).json<{
    warnings: unknown
  }>()
  assert.deepEqual(warnings, [])
  return () => receiver.received.filter((one) => one.path === `/${path}`).map(({ body }) => JSON.parse(body))
}

const start = async (component: string, config: string): Promise<Job> =>
  (await stack.request('POST', '/queue/jobs', { json: { component, config } })).json<Job>()
const isProcessing = async ({ id }: Job) => (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>().status === 'processing'

test('a job that runs longer than its last runs is told about once, when it is over the percentage asked for', async () => {
  const config = await stack.configure('test.waits', {})
  const usual = await subscribe('long', 'job-processing-long', [{ field: 'job.configuration.id', value: config }])
  const late = await subscribe('later', 'job-processing-long', [
    { field: 'durationOvertimePercentage', operator: '>', value: 10_000_000 },
  ])
  letRun()
  await stack.wait(await start('test.waits', config))
  hold()
  const job = await start('test.waits', config)
  await until('it runs', () => isProcessing(job))
  aheadMs += 60_000
  const [message] = await until('the message arrives', () => usual().length > 0 && usual())
  assert.deepEqual(message!.job, {
    ...(message!.job as object),
    id: job.id,
    configuration: { id: config, name: 'c' },
  })
  assert.equal(message!.uniqueId, `job-${job.id}`)
  assert.ok(Number(message!.currentDuration) >= 60 && Number(message!.averageDuration) < 60, JSON.stringify(message))
  assert.ok(Number(message!.durationOvertimePercentage) >= 20)
  // Looked at again, and the other subscription, too: an hour later the job is far over every average.
  const again = await subscribe('again', 'job-processing-long')
  aheadMs += 1000 * HOUR_MS
  await until('the newer subscriptions have theirs', () => again().length === 1 && late().length === 1)
  assert.equal(usual().length, 1)
  letRun()
  await stack.wait(job)
})

test('a phase that runs longer than in the last runs is told about once', async () => {
  const phases = [
    { id: 1, name: 'quick', dependsOn: [] },
    { id: 2, name: 'Slow phase', dependsOn: [1] },
  ]
  const task = (id: number, phase: number) => ({ id, name: 't', phase, task: { componentId: 'test.waits', configData: {} } })
  const config = await stack.configure('platform.orchestrator', { phases, tasks: [task(1, 1), task(2, 2)] })
  letRun()
  await stack.wait(await start('platform.orchestrator', config))
  const told = await subscribe('phase', 'phase-job-processing-long')
  hold()
  const job = await start('platform.orchestrator', config)
  await until('it runs', () => isProcessing(job))
  // A list shows how far a flow is, as its record does.
  const [listed] = await until('its phase has begun', async () => {
    const jobs = (await stack.request('GET', `/queue/search/jobs?id=${job.id}`)).json<
      { result: { phases?: { status: string }[] } }[]
    >()
    return jobs[0]?.result.phases?.[0]?.status === 'processing' && jobs
  })
  assert.deepEqual(
    listed!.result.phases!.map(({ status }) => status),
    ['processing', 'waiting'],
  )
  aheadMs += 60_000
  const [message] = await until('the message arrives', () => told().length > 0 && told())
  assert.deepEqual(message!.phase, { id: '1', name: 'quick' })
  assert.equal((message!.job as { id: string }).id, job.id)
  letRun()
  await stack.wait(job)
  assert.equal(told().length, 1)
})

test('a schedule that missed its time, and one that stops, say so', async () => {
  const target = await stack.configure('test.waits', {})
  const told = await subscribe('schedule', 'schedule-missed')
  const schedule = await stack.configure('platform.scheduler', {
    schedule: { cronTab: '0 * * * *', timezone: 'UTC', state: 'enabled' },
    target: { componentId: 'test.waits', configurationId: target, mode: 'run' },
  })
  await post('/scheduler/schedules', { configurationId: schedule })
  aheadMs += 3 * HOUR_MS
  const [missed] = await until('the message arrives', () => told().length > 0 && told())
  assert.match(String(missed!.reason), /passed while the stack was not running/)
  assert.equal((missed!.schedule as { configurationId: string }).configurationId, schedule)
  assert.equal((missed!.job as { configuration: { id: string } }).configuration.id, target)
  await stack.request('DELETE', `/v2/storage/components/platform.scheduler/configs/${schedule}`)
  aheadMs += HOUR_MS
  await until('it says that it stopped', () => told().some(({ reason }) => /was deleted/.test(String(reason))))
})

test('a table that is not updated for the hours asked for is told about once, and again after its next update', async () => {
  const load = (table: string) => post('/v2/storage/buckets/in.c-watch/tables', { name: table, dataString: 'id\n1\n' })
  await post('/v2/storage/buckets', { name: 'watch', stage: 'in' })
  await load('old')
  await load('other')
  const refused = await stack.request('POST', '/notification/project-subscriptions', {
    json: { event: 'table-not-updated', recipient: { channel: 'webhook', url: receiver.url } },
  })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Set the number of hours/)
  const told = await subscribe('table', 'table-not-updated', [
    { field: 'hoursSinceUpdate', operator: '>=', value: 24 },
    { field: 'table.id', value: 'in.c-watch.old' },
  ])
  const disk = await subscribe('disk', 'storage-nearly-full', [{ field: 'usedPercentage', operator: '>=', value: 0 }])
  const never = await subscribe('never', 'storage-nearly-full', [{ field: 'usedPercentage', operator: '>', value: 100 }])
  await until('the disk is told about', () => disk().length === 1)
  assert.equal(told().length, 0)
  aheadMs += 25 * HOUR_MS
  const [message] = await until('the message arrives', () => told().length > 0 && told())
  assert.deepEqual([(message!.table as { id: string }).id, message!.hoursSinceUpdate], ['in.c-watch.old', 25])
  await until('the next day the disk is told about again', () => disk().length === 2)
  await post('/v2/storage/tables/in.c-watch.old/import', { dataString: 'id\n2\n' })
  aheadMs += 25 * HOUR_MS
  await until('the second message arrives', () => told().length === 2)
  assert.equal(never().length, 0)
})

test("the message of a flow's notification task reaches its receiver, and none of its failure stops the flow", async () => {
  const recipients = [
    { channel: 'webhook', url: `${receiver.url}/flow` },
    { channel: 'webhook', url: 'http://169.254.169.254/' },
  ]
  const config = await stack.configure('platform.flow', {
    phases: [{ id: 'a', name: 'A' }],
    tasks: [
      { id: 't', name: 't', phase: 'a', task: { type: 'notification', title: 'Done', message: 'All is loaded.', recipients } },
    ],
  })
  const job = await stack.wait(await start('platform.flow', config))
  assert.equal(job.status, 'success', JSON.stringify(job))
  const [message] = await until('it arrives', () => {
    const found = receiver.received.filter(({ path }) => path === '/flow')
    return found.length > 0 && found
  })
  const body = JSON.parse(message!.body) as { title: string; message: string; job: { id: string } }
  assert.deepEqual([body.title, body.message, body.job.id], ['Done', 'All is loaded.', job.id])
  await until('the other is refused', async () => {
    const answer = await (stack as TestStack).request('GET', '/notification/deliveries?limit=10')
    return answer
      .json<{ attempts: { error: string | null }[] }[]>()
      .some(({ attempts }) => /not allowed/.test(attempts[0]?.error ?? ''))
  })
})

test('a figure of a dashboard beyond its bound is told about once a day, and a broken one does not hide it', async () => {
  const saved = async (name: string, sql: string) =>
    (await post('/v2/storage/saved-queries', { name, sql })).json<{ id: string }>().id
  const tile = async (id: string, sql: string, alert: object) => ({
    ...{ id, queryId: await saved(`figure ${id}`, sql), title: `Figure ${id}`, type: 'figure', width: 1 },
    alert,
  })
  const tiles = [
    await tile('broken', 'SELECT * FROM "in.c-none"."none"', { operator: 'above', value: 0 }),
    await tile('high', "SELECT 'now' AS at, 12 AS n", { operator: 'above', value: 10 }),
    await tile('fine', 'SELECT 5 AS n', { operator: 'below', value: 5 }),
  ]
  const { id } = (await post('/v2/storage/dashboards', { name: 'Figures', tiles })).json<{ id: string }>()
  const day = 24 * HOUR_MS
  aheadMs += (1.5 * day - ((Date.now() + aheadMs) % day)) % day // noon: the day does not end in between
  const told = await subscribe('figures', 'dashboard-alert', [{ field: 'dashboard.id', value: id }])
  await until('a message', () => told().length > 0)
  aheadMs += 2 * 60_000
  const second = await subscribe('figures-again', 'dashboard-alert', [{ field: 'dashboard.id', value: id }])
  await until('the next look', () => {
    aheadMs += 60_000
    return second().length > 0
  })
  const [message] = told()
  const { tile: about, value, operator, bound } = message as { tile: object; value: number; operator: string; bound: number }
  assert.deepEqual(
    { about, value, operator, bound },
    { about: { id: 'high', title: 'Figure high' }, value: 12, operator: 'above', bound: 10 },
  )
  assert.equal(told().length, 1)
})

test('data tests that fail or warn send a message, and a flow decides by them', async () => {
  await post('/v2/storage/buckets', { stage: 'in', name: 'tested' })
  const table = 'in.c-tested.t'
  await stack.add('test.writes', 'printf "id\\n1\\n2\\n" > "$KBC_DATADIR/out/tables/t.csv"')
  const storage = { output: { tables: [{ source: 't.csv', destination: table }] } }
  const config = await stack.configure('test.writes', { storage })
  assert.equal((await stack.wait(await start('test.writes', config))).status, 'success')
  const test = { tableId: table, name: 'few', type: 'rowCount', parameters: { max: 1 }, severity: 'warn' }
  const { id } = (await post('/v2/storage/data-tests', test)).json<{ id: string }>()
  const all = await subscribe('tests', 'data-tests-failed', [{ field: 'table.id', value: table }])
  const failures = await subscribe('failures', 'data-tests-failed', [{ field: 'tests.status', value: 'failed' }])

  const at = (task: string, value: string) => ({ type: 'task', task, value })
  const equals = (left: object, value: unknown) => ({
    ...{ type: 'operator', operator: 'EQUALS' },
    operands: [left, { type: 'const', value }],
  })
  const writes = { type: 'job', componentId: 'test.writes', configId: config }
  const said = (name: string) => ({ id: name, name, phase: name, task: { type: 'variable', name, value: 'yes' } })
  const flow = await stack.configure('keboola.flow', {
    phases: [
      {
        ...{ id: 'write', name: 'write' },
        next: [
          { id: 'a', goto: 'stopped', condition: equals(at('load', 'job.result.error.cause.kind'), 'load.testsFailed') },
          { id: 'b', goto: 'warned', condition: equals(at('load', 'length(job.result.output.tables[].warnings[])'), 1) },
          { id: 'c', goto: null },
        ],
      },
      { id: 'stopped', name: 'stopped', next: [{ id: 'd', goto: null }] },
      { id: 'warned', name: 'warned', next: [{ id: 'e', goto: null }] },
    ],
    tasks: [{ id: 'load', name: 'load', phase: 'write', task: writes }, said('stopped'), said('warned')],
  })
  const phasesOf = async () => {
    const { result } = await stack.wait(await start('keboola.flow', flow))
    const { phases } = result as unknown as { phases: { id: string; status: string }[] }
    return phases.flatMap(({ id: phase, status }) => (status === 'success' ? [phase] : []))
  }
  assert.deepEqual(await phasesOf(), ['write', 'warned'])
  const [warned] = await until('the warning arrives', () => all().length > 0 && all())
  assert.deepEqual(warned?.tests, { ...(warned?.tests as object), status: 'warning', isLoad: true, failed: ['few'] })
  await post(`/v2/storage/data-tests/${id}`, { severity: 'stop' }, 'PUT')
  assert.deepEqual(await phasesOf(), ['stopped'])
  const [failed] = await until('the failure arrives', () => failures().length > 0 && failures())
  assert.equal(failed?.errorMessage, 'Data tests failed: few.')
  assert.equal(failures().length, 1)
})
