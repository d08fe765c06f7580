import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { prepareFile } from '../../../../../tests/support/clients/file-client.ts'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { type Job, type ShellStack, shellStack } from '../../../../../tests/support/shell-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import type { ProjectLimit } from '../../../model/project-limits.ts'
import type { UsageLine } from './usage-lines.ts'

let stack: ShellStack
let client: TableClient
/** The configuration whose runs copy the orders. */
let copying: string
let admin: Awaited<ReturnType<typeof newStackAdmin>>
let stop: (() => Promise<void>) | undefined
before(async () => {
  stack = await shellStack({ after: (work: () => Promise<void>) => (stop = work) } as never, {
    sql: { memoryMb: 512, diskMb: 64 },
  })
  client = tableClient(stack)
  admin = await newStackAdmin(stack)
  await client.bucket('main')
  await client.bucket('result', 'out')
  copying = await stack.configure('platform.sql-transformation', {})
})
test.after(() => stop?.())

/** As a stack admin does. */
const setLimit = (name: ProjectLimit, value: number | undefined) => {
  const path = `/manage/projects/${stack.projectId}/limits`
  return value === undefined ? admin.ok('DELETE', `${path}/${name}`) : admin.ok('POST', path, { limits: [{ name, value }] })
}

async function usage(query = ''): Promise<UsageLine[]> {
  const answer = await stack.request('GET', `/billing/usage${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<UsageLine[]>()
}

async function copyOrders(): Promise<Job> {
  const configData = {
    parameters: { blocks: [{ name: 'b', codes: [{ name: 'c', script: ['create table copy as select * from orders'] }] }] },
    storage: {
      input: { tables: [{ source: 'in.c-main.orders', destination: 'orders' }] },
      output: { tables: [{ source: 'copy', destination: 'out.c-result.copy' }] },
    },
  }
  return stack.wait(await start('platform.sql-transformation', configData, copying))
}

async function start(component: string, configData: object, config?: string): Promise<Job> {
  const started = await stack.request('POST', '/queue/jobs', { json: { component, configData, config, mode: 'run' } })
  assert.equal(started.status, 201, started.text)
  return started.json<Job>()
}

test('loads, jobs and queries are counted by day and component', async () => {
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n3,Ostrava\n')
  assert.equal((await copyOrders()).status, 'success')
  const query = await stack.request('POST', '/v2/storage/query', { json: { sql: 'select 1' } })
  assert.equal(query.status, 200, query.text)
  const byComponent = await until('the query is counted', async () => {
    const lines = await usage('?groupBy=component')
    return (lines.find(({ componentId }) => componentId === '')?.sqlSeconds ?? 0) > 0 && lines
  })
  const outside = byComponent.find(({ componentId }) => componentId === '')!
  const ofJob = byComponent.find(({ componentId }) => componentId?.includes('transformation'))!
  assert.deepEqual([outside.jobs, outside.rowsLoaded], [0, 3])
  assert.deepEqual([ofJob.jobs, ofJob.failedJobs, ofJob.rowsLoaded], [1, 0, 3])
  assert.ok(ofJob.jobSeconds > 0 && ofJob.sqlSeconds > 0 && ofJob.bytesRead > 0 && outside.bytesLoaded > 0)
  assert.equal(outside.bytesRead, 0)
  await client.exported('in.c-main.orders')
  const byConfiguration = await usage('?groupBy=configuration')
  const lineOf = (id: string) => byConfiguration.find(({ configurationId }) => configurationId === id)!
  assert.deepEqual([lineOf(copying).jobs, lineOf(copying).bytesRead], [1, ofJob.bytesRead])
  assert.ok(lineOf('').bytesRead > 0, 'an export is counted')

  const [all] = await usage('?groupBy=')
  assert.deepEqual([all!.jobs, all!.rowsLoaded], [1, 6])
  assert.deepEqual(await usage('?from=2001-01-01&to=2001-01-31'), [])
  const csv = await stack.request('GET', '/billing/usage?format=csv&groupBy=day,component')
  assert.match(csv.text, /^"day","componentId","jobs","failedJobs",.*\n"\d{4}-\d\d-\d\d","","0",/)
  for (const path of ['/billing/usage?groupBy=week', '/billing/usage?from=2026-02-01&to=2026-01-01', '/billing/usage?from=x'])
    assert.equal((await stack.request('GET', path)).status, 400, path)
})

test('credits are hours of jobs, and POST answers the same', async () => {
  const credits = (await stack.request('GET', '/billing/credits')).json<{ remaining: number; consumed: number }>()
  assert.ok(credits.consumed > 0 && credits.remaining > 900_000)
  assert.deepEqual((await stack.request('POST', '/billing/credits', { json: {} })).json(), credits)
})

test('storage is counted over time', async () => {
  await stack.platform.usage.measureStorage()
  await until('some time has passed', async () => {
    await stack.platform.usage.measureStorage()
    const rows = await stack.platform.usage.totals()
    return rows.some(({ byte_seconds }) => byte_seconds > 0)
  })
})

test('a limit of rows per day ends the job that exceeds it, and its table stays as it was', async () => {
  await setLimit('storage.maxRowsPerDay', 7)
  const failed = await copyOrders()
  assert.equal(failed.status, 'error')
  assert.match(
    failed.result.message,
    /limit of 7 rows loaded in a day \(UTC\) for the project is reached; this request would need 9/,
  )
  assert.equal((await client.detail('out.c-result.copy')).rowsCount, 3)
  assert.equal((await client.load('in.c-main.orders', 'id,city\n4,Plzen\n', { incremental: 1 })).status, 'success', '7 of 7')
  await assert.rejects(client.load('in.c-main.orders', 'id,city\n5,Plzen\n', { incremental: 1 }), /usage\.limitReached/)
  await setLimit('storage.maxRowsPerDay', undefined)
  assert.equal((await copyOrders()).status, 'success')
})

test('a limit of bytes refuses a load, which leaves the table as it was', async () => {
  const before = (await client.detail('in.c-main.orders')).rowsCount
  await setLimit('storage.maxBytes', 1)
  await assert.rejects(client.load('in.c-main.orders', 'id,city\n6,Plzen\n', { incremental: 1 }), /usage\.limitReached/)
  assert.equal((await client.detail('in.c-main.orders')).rowsCount, before)
  await setLimit('storage.maxBytes', undefined)
})

/** What a component leaves that writes these tables, and two files. */
const leave = async (tables: readonly string[]): Promise<Job> => {
  await stack.add(
    'test.results',
    `for t in ${tables.join(' ')}; do printf 'id\\n1\\n' > "$KBC_DATADIR/out/tables/$t"; done
     for f in one two; do echo x > "$KBC_DATADIR/out/files/$f"; done`,
  )
  const output = { tables: tables.map((source) => ({ source, destination: `out.c-result.${source}` })) }
  return stack.wait(await start('test.results', { storage: { output } }))
}
const isThere = async (table: string) => (await stack.request('GET', `/v2/storage/tables/out.c-result.${table}`)).status === 200

test('what a job stores counts together: two tables that only fit alone, two files where one may be added', async () => {
  await setLimit('storage.maxBytes', 1)
  const tooMuch = await leave(['a'])
  assert.equal(tooMuch.status, 'error')
  const [, needed] = /limit of 1 bytes in tables and files for the project is reached; this request would need (\d+)/.exec(
    tooMuch.result.message,
  )!
  await setLimit('storage.maxBytes', Number(needed))
  assert.match((await leave(['a', 'b'])).result.message, /bytes in tables and files/)
  await setLimit('storage.maxBytes', undefined)

  const files = async () => (await stack.request('GET', '/v2/storage/files')).json<object[]>().length
  const before = await files()
  await setLimit('storage.maxFiles', before + 1)
  const failed = await leave(['a'])
  assert.equal(failed.status, 'error')
  assert.ok(
    failed.result.message.includes(
      `limit of ${before + 1} files for the project is reached; this request would need ${before + 2}`,
    ),
    failed.result.message,
  )
  assert.deepEqual([await isThere('a'), await isThere('b'), await files()], [false, false, before], 'nothing of it was stored')
  await setLimit('storage.maxFiles', undefined)
  assert.equal((await leave(['a'])).status, 'success')
  assert.deepEqual([await isThere('a'), await files()], [true, before + 2])
})

test('a limit of jobs at once lets further jobs wait, and say so', async () => {
  await stack.add('test.wait', 'while [ ! -e "$HOME/never" ]; do sleep 0.05; done')
  await setLimit('components.jobsParallelism', 1)
  const jobs = [await start('test.wait', {}), await start('test.wait', {})]
  const reason = await until(
    'the second says why it waits',
    async () => (await stack.request('GET', jobs[1]!.url)).json<Job>().waitingReason,
  )
  assert.match(reason, /the project runs 1 jobs at once/)
  for (const { id } of jobs) await stack.request('POST', `/queue/jobs/${id}/kill`)
  await setLimit('components.jobsParallelism', undefined)
})

test('metrics of Prometheus have the usage of every project', async () => {
  const lines = (await stack.request('GET', '/metrics', { token: null })).text.split('\n')
  for (const name of ['job_seconds', 'sql_seconds', 'rows_loaded', 'bytes_loaded', 'storage_byte_hours']) {
    const line = lines.find((one) => one.startsWith(`millrace_project_${name}{project="${stack.projectId}"} `))
    assert.ok(Number(line?.split(' ')[1]) > 0, `${name}: ${line}`)
  }
})

test('limits of bytes and files refuse what would exceed them, and tokens show them', async () => {
  await setLimit('storage.maxFiles', 1)
  const refused = await stack.request('POST', '/v2/storage/files/prepare', { json: { name: 'more.csv', federationToken: 1 } })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /limit of 1 files.*storage\.maxFiles/)
  await setLimit('storage.maxFiles', undefined)
  await setLimit('storage.maxBytes', 10)
  assert.equal(
    (await stack.request('POST', '/v2/storage/files/prepare', { json: { name: 'a.csv', sizeBytes: 100 } })).status,
    403,
  )
  const verified = (await stack.request('GET', '/v2/storage/tokens/verify')).json<{
    owner: { limits: Record<string, unknown> }
  }>()
  assert.deepEqual(verified.owner.limits['storage.maxBytes'], { name: 'storage.maxBytes', value: 10 })
  const limits = (await stack.request('GET', '/billing/limits')).json<{ name: string; value: number | null }[]>()
  assert.deepEqual(
    limits.filter(({ value }) => value !== null).map(({ name, value }) => [name, value]),
    [['storage.maxBytes', 10]],
  )
  await setLimit('storage.maxBytes', undefined)
  assert.ok((await prepareFile(stack, { name: 'a.csv' })).id)
  const unknown = await admin.call('POST', `/manage/projects/${stack.projectId}/limits`, {
    json: { limits: [{ name: 'storage.maxDoors', value: 1 }] },
  })
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /storage.maxDoors.* is not a project limit/)
  const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'admin' })
  const refusedMember = await member.call('DELETE', `/manage/projects/${stack.projectId}/limits/storage.maxBytes`)
  assert.deepEqual([refusedMember.status, refusedMember.json().code], [403, 'people.adminNeeded'])
  const events = (await stack.request('GET', '/v2/storage/events?limit=100')).json<{ event: string; message: string }[]>()
  assert.ok(events.some(({ message }) => message === 'Set the limit storage.maxBytes to 10'))
})

test('a limited token sees credits, and not what others did', async () => {
  const made = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'limited' } })
  const { token } = made.json<{ token: string }>()
  assert.equal((await stack.request('GET', '/billing/usage', { token })).status, 403)
  assert.equal((await stack.request('GET', '/billing/credits', { token })).status, 200)
  const viewer = await newMember(stack, admin, { projectId: stack.projectId, role: 'viewer' })
  assert.equal((await viewer.in(stack.projectId).call('GET', '/billing/usage')).status, 200, 'a viewer reads everything')
})
