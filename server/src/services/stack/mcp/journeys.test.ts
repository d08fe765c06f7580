// Whole journeys of an agent that only proposes, through the official client; a person accepts.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { type Agent, connectAgent } from '../../../../../tests/support/clients/agent-client.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const SQL = 'keboola.duckdb-transformation'
const EXTRACTOR = 'keboola.ex-generic-v2'
const KEY = 'the-key-of-the-api'

const startProject = shareShellStack({ worker: { jobs: 4, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })

interface Saved {
  readonly configuration: { readonly component: string; readonly id: string }
  readonly problems: readonly unknown[]
}

interface Review {
  readonly hosts: readonly { readonly host: string; readonly isNew: boolean }[]
  readonly schedules: readonly { readonly configurationId: string; readonly cronTab: string }[]
  readonly changes: readonly unknown[]
  readonly storageChanges: readonly { readonly kind: string; readonly name: string; readonly change: string }[]
}

/** An agent that shows pages to its person, who enters the key of the API there. */
async function proposingAgent(t: Parameters<typeof connectAgent>[0], stack: ShellStack): Promise<Agent> {
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'agent', canManageBuckets: true, onlyProposes: true },
    })
  ).json<{ token: string }>()
  return connectAgent(t, stack.url, {
    token,
    onPage: async ({ url }) => {
      const id = new URL(url).searchParams.get('request')
      const entered = await stack.request('POST', `/v2/storage/agent-requests/${id}/decide`, {
        json: { isAllowed: true, value: KEY },
      })
      assert.equal(entered.status, 200, entered.text)
      return 'accept'
    },
  })
}

/** The person reads the review and accepts. */
async function accepted(stack: ShellStack, agent: Agent, title: string, runs: readonly object[] = []): Promise<Review> {
  const { proposal } = await agent.use<{ proposal: { id: number } }>('submit_proposal', { title, run: runs })
  const address = `/v2/storage/proposals/${proposal.id}`
  const review = (await stack.request('GET', address)).json<Review>()
  assert.doesNotMatch(JSON.stringify(review), new RegExp(KEY))
  assert.equal((await stack.request('POST', `${address}/accept`)).status, 200)
  await until('it is applied', async () => (await stack.request('GET', address)).json<{ state: string }>().state === 'accepted')
  return review
}

async function run(stack: ShellStack, component: string, config: string): Promise<Job> {
  const job = await stack.request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })
  return stack.wait(job.json<Job>())
}

interface Schedule {
  readonly configurationId: string
  readonly schedule: { readonly cronTab: string }
  readonly nextExecutionTime: string | null
}

const schedulesOf = async (stack: ShellStack): Promise<Schedule[]> =>
  (await stack.request('GET', '/scheduler/schedules')).json<Schedule[]>()

test('a change of an active schedule is used when a person accepts it, and undone with the proposal', async () => {
  const stack = await startProject()
  const target = await stack.configure(SQL, { parameters: { blocks: [] } })
  const content = (cronTab: string) => ({
    schedule: { cronTab, timezone: 'UTC', state: 'enabled' },
    target: { componentId: SQL, configurationId: target, mode: 'run' },
  })
  const [active, idle] = [
    await stack.configure('keboola.scheduler', content('0 1 * * *')),
    await stack.configure('keboola.scheduler', content('0 2 * * *')),
  ]
  const started = await stack.request('POST', '/scheduler/schedules', { json: { configurationId: active } })
  assert.equal(started.status, 201, started.text)

  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'agent', canManageBuckets: true, onlyProposes: true },
    })
  ).json<{ token: string }>()
  for (const [id, cronTab] of [
    [active, '0 5 * * *'],
    [idle, '0 6 * * *'],
  ] as const) {
    const json = { configuration: content(cronTab) }
    const changed = await stack.request('PUT', `/v2/storage/components/keboola.scheduler/configs/${id}`, { token, json })
    assert.equal(changed.status, 200, changed.text)
  }
  const [proposal] = (await stack.request('GET', '/v2/storage/proposals', { token })).json<{ id: number }[]>()
  const place = `/v2/storage/proposals/${proposal!.id}`
  assert.equal((await stack.request('POST', `${place}/submit`, { token, json: { title: 'Later' } })).status, 200)
  assert.equal((await stack.request('POST', `${place}/accept`)).status, 200)
  const crons = async () => (await schedulesOf(stack)).map(({ configurationId, schedule }) => [configurationId, schedule.cronTab])
  await until('it is applied', async () => (await stack.request('GET', place)).json<{ state: string }>().state === 'accepted')
  assert.deepEqual(await crons(), [[active, '0 5 * * *']], 'a schedule that is not active stays so')
  assert.equal((await stack.request('POST', `${place}/undo`)).status, 200)
  assert.deepEqual(await crons(), [[active, '0 1 * * *']])
})

test('from "pull this API" to a scheduled, tested table, by a proposal that a person accepts', async (t) => {
  const server = createServer((request, response) => {
    const isAllowed = new URL(request.url ?? '', 'http://api').searchParams.get('key') === KEY
    response.writeHead(isAllowed ? 200 : 401, { 'content-type': 'application/json' })
    response.end(isAllowed ? '[{"id":1,"city":"Brno"},{"id":2,"city":"Prague"}]' : '{"error":"no key"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stack = await startProject()
  const agent = await proposingAgent(t, stack)

  const { data } = await agent.use<{ data: { proposal: object } }>('propose_extractor', { curl: `curl ${api}/cities` })
  assert.match(JSON.stringify(data.proposal), /cities/)
  const parameters = {
    api: { baseUrl: `${api}/`, authentication: { type: 'query', query: { key: { attr: '#key' } } } },
    config: { '#key': '', outputBucket: 'shop', jobs: [{ endpoint: 'cities', dataType: 'cities' }] },
  }
  const pulled = await agent.use<{ secrets: { state: string; configuration: string }[] }>('create_configuration', {
    ...{ component: EXTRACTOR, name: 'Cities', content: { parameters } },
  })
  assert.deepEqual(
    pulled.secrets.map(({ state }) => state),
    ['entered'],
  )
  const source = { component: EXTRACTOR, configuration: pulled.secrets[0]!.configuration }
  const cities = { table: 'in.c-shop.cities', columns: [{ name: 'id' }, { name: 'city' }], primaryKey: ['id'] }
  const withRows = await agent.call('create_table', { ...cities, csv: 'id,city\n1,Brno\n' })
  assert.equal(withRows.value.code, 'proposals.noRows', withRows.text)
  const { table } = await agent.use<{ table: { id: string } }>('create_table', cities)
  await agent.use('document_table', { table: table.id, description: 'Cities of the API', columns: { city: 'Its name' } })
  await agent.use('save_test', { table: table.id, name: 'ids', type: 'unique', parameters: { columns: ['id'] } })
  assert.equal((await agent.use<{ status: string }>('run_tests', { table: table.id })).status, 'passed')
  const counted = await agent.use<Saved>('create_transformation', {
    name: 'Count',
    statements: ['create table counted as select count(*) as cities from cities'],
    inputs: [{ source: 'in.c-shop.cities', destination: 'cities' }],
    outputs: [{ source: 'counted', destination: 'out.c-shop.counted' }],
  })
  const flow = await agent.use<Saved>('create_flow', {
    name: 'Daily',
    steps: [
      { name: 'Pull', tasks: [source] },
      { name: 'Count', tasks: [{ component: SQL, configuration: counted.configuration.id }] },
    ],
  })
  assert.deepEqual(flow.problems, [])
  assert.deepEqual(counted.problems, [], 'the branch has the table')
  const place = { component: flow.configuration.component, configuration: flow.configuration.id }
  await agent.use('set_schedule', { ...place, cron: '30 2 * * *' })
  assert.equal((await stack.request('GET', `/v2/storage/components/${EXTRACTOR}/configs`)).json<unknown[]>().length, 0)

  assert.equal((await stack.request('GET', '/v2/storage/tables')).text, '[]', 'production has no table yet')
  const review = await accepted(stack, agent, 'Pull the cities every night', [place])
  assert.deepEqual(review.hosts, [{ host: new URL(api).host, isNew: true }])
  assert.equal(review.changes.length, 4)
  const [schedule] = review.schedules
  const [active] = await schedulesOf(stack)
  assert.deepEqual([active?.configurationId, active?.schedule.cronTab], [schedule!.configurationId, '30 2 * * *'])
  assert.ok(active?.nextExecutionTime, 'who accepts a schedule starts it, too')

  assert.deepEqual(
    review.storageChanges.map(({ kind, name, change }) => `${change} ${kind} ${name}`),
    ['created table in.c-shop.cities', 'created dataTest ids'],
  )
  const started = await until('the flow is started', async () => {
    const { proposal } = await agent.use<{ proposal: { runs: { jobId: string | null }[] } }>('my_proposal')
    return proposal.runs[0]?.jobId
  })
  const job = await stack.wait((await stack.request('GET', `/queue/jobs/${started}`)).json<Job>())
  assert.equal(job.status, 'success', JSON.stringify(job))
  const rows = await agent.use<{ items: unknown[][] }>('query', { sql: 'SELECT cities FROM "out.c-shop"."counted"' })
  assert.deepEqual(rows.items.map(String), ['2'])
  const runs = await stack.request('GET', `/v2/storage/tables/${table.id}/data-tests/runs`)
  assert.deepEqual(
    runs.json<{ status: string; trigger: string }[]>().map(({ status, trigger }) => `${trigger} ${status}`),
    ['load passed'],
  )
  const described = await agent.use<{ tests: unknown[]; table: { description: string }; columns: object[] }>('describe_table', {
    table: table.id,
  })
  assert.equal(described.tests.length, 1)
  assert.equal(described.table.description, 'Cities of the API')
  assert.deepEqual(described.columns, [{ name: 'id' }, { name: 'city', description: 'Its name' }])
})

test('a failing job is explained and repaired by a proposal that was rehearsed', async (t) => {
  const stack = await startProject()
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
    form: { name: 'orders', dataString: 'id,price\n1,10\n2,20\n' },
  })
  const content = (script: string) => ({
    parameters: { blocks: [{ name: 'b', codes: [{ name: 'c', script: [script] }] }] },
    storage: {
      input: { tables: [{ source: 'in.c-shop.orders', destination: 'orders' }] },
      output: { tables: [{ source: 'sums', destination: 'out.c-shop.sums' }] },
    },
  })
  const configuration = await stack.configure(SQL, content('create table sums as select sum(price::int) as total from orders'))
  assert.equal((await run(stack, SQL, configuration)).status, 'success')
  const broken = content('create table sums as select sum(amount::int) as total from orders')
  await stack.request('PUT', `/v2/storage/components/${SQL}/configs/${configuration}`, { json: { configuration: broken } })
  const failed = await run(stack, SQL, configuration)
  assert.equal(failed.status, 'error')

  const agent = await proposingAgent(t, stack)
  const why = await agent.use<{
    cause: { kind: string }
    sinceLastGoodRun: {
      isConfigurationChanged: boolean
      configVersion: string
      differences: { pointer: string; before: string; after: string }[]
    }
    data: { message: string }
  }>('explain_job', { job: String(failed.id) })
  assert.match(why.data.message, /amount/)
  assert.equal(why.sinceLastGoodRun.isConfigurationChanged, true)
  assert.deepEqual(
    why.sinceLastGoodRun.differences.map(({ pointer, before, after }) => [pointer, before, after]),
    [
      [
        '/configuration/parameters/blocks/0/codes/0/script/0',
        '"create table sums as select sum(price::int) as total from orders"',
        '"create table sums as select sum(amount::int) as total from orders"',
      ],
    ],
  )
  const table = await agent.use<{ columns: { name: string }[] }>('describe_table', { table: 'in.c-shop.orders' })
  assert.deepEqual(
    table.columns.map(({ name }) => name),
    ['id', 'price'],
  )
  await agent.use('update_configuration', {
    ...{ component: SQL, configuration, change: 'The column is price' },
    set: { '/parameters/blocks/0/codes/0/script/0': 'create table sums as select 2 * sum(price::int) as total from orders' },
  })
  const rehearsed = await until('it is rehearsed', async () => {
    const { rehearsal } = await agent.use<{ rehearsal: { state: string; summary: string } }>('rehearse_proposal')
    return rehearsal.state !== 'running' && rehearsal
  })
  assert.equal(rehearsed.summary, '2 rows differ in 1 table.', JSON.stringify(rehearsed))
  await accepted(stack, agent, 'Repair the sums')
  assert.equal((await run(stack, SQL, configuration)).status, 'success')
  const rows = await agent.use<{ items: unknown[][] }>('query', { sql: 'SELECT total FROM "out.c-shop"."sums"' })
  assert.deepEqual(rows.items.map(String), ['60'])
})
