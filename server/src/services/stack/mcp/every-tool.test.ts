// Every tool through the official client: a tool that is added without a call here fails the test.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type Agent, connectAgent } from '../../../../../tests/support/clients/agent-client.ts'
import { type Job, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import { MAX_ANSWER_TOKENS } from './answer.ts'
import { tokensOf } from './token-count.ts'

const startProject = shareShellStack()

const ALL = '?groups=look,query,run,build,admin'
const MANIFESTS = 'platform.ex-manifest'

interface Saved {
  readonly configuration: { readonly component: string; readonly id: string; readonly version: number }
  readonly problems: readonly unknown[]
}

/** Remembers which tools were called, and holds each answer to its size. */
function watched(agent: Agent) {
  const called = new Set<string>()
  return {
    called,
    use: async <T = Record<string, unknown>>(name: string, args: Record<string, unknown> = {}): Promise<T> => {
      const { isError, text, value } = await agent.call(name, args)
      assert.equal(isError, false, `${name}: ${text}`)
      assert.ok(tokensOf(text) <= MAX_ANSWER_TOKENS, `${name} has ${tokensOf(text)} tokens`)
      assert.equal(typeof value.truncated, 'boolean', name)
      called.add(name)
      return value as T
    },
  }
}

test('every tool works through the official client', { timeout: 240_000 }, async (t) => {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  const tokenOf = async (json: object) =>
    (await stack.request('POST', '/v2/storage/tokens', { json: { canManageBuckets: true, ...json } })).json<{ token: string }>()
      .token
  const person = await tokenOf({ description: 'person' })
  const proposerToken = await tokenOf({ description: 'agent', onlyProposes: true })
  const agent = await connectAgent(t, stack.url, { token: stack.masterToken, query: ALL })
  const { use, called } = watched(agent)
  /** A call that a person allows. */
  const allowed = async (name: string, args: Record<string, unknown>) => {
    const refused = await agent.call(name, args)
    assert.equal(refused.value.code, 'agents.needsPerson', `${name}: ${refused.text}`)
    const id = /request=([\w-]+)$/.exec(String(refused.value.confirm))![1]!
    const decided = await stack.request('POST', `/v2/storage/agent-requests/${id}/decide`, {
      ...{ json: { isAllowed: true }, token: person },
    })
    assert.equal(decided.status, 200, decided.text)
    return use(name, args)
  }

  // Connect.
  await use('who_am_i')
  const shops = await use<{ items: { name: string }[]; total: number }>('choose_connector', { search: 'shop' })
  assert.deepEqual(
    shops.items.map(({ name }) => name),
    ['sample-shop'],
  )
  assert.ok((await use<{ total: number }>('choose_connector')).total > 3)
  const shop = await use<{ connector: { settings: object; required: string[] }; items: { stream: string }[] }>(
    'choose_connector',
    { connector: 'sample-shop' },
  )
  assert.ok(shop.items.some(({ stream }) => stream === 'orders'))
  const wrong = await agent.call('add_connector', { connector: 'sample-shop', streams: ['nothing'] })
  assert.match(String(wrong.value.error), /has no stream nothing\. Its streams: .*orders/)
  const added = await use<Saved & { missing: string[] }>('add_connector', {
    connector: 'sample-shop',
    settings: { base_url: `${stack.url}/sample` },
    streams: ['orders'],
  })
  const place = { component: MANIFESTS, configuration: added.configuration.id }
  assert.match(
    (await use<{ link: string }>('request_secret', { ...place, pointer: '/parameters/config/#password' })).link,
    /agents/,
  )
  const shown = await use<{ items: { content: { parameters: object } }[] }>('get_configuration', place)
  assert.deepEqual(
    shown.items.map(({ content }) => content.parameters),
    [{ stream: 'orders' }],
  )
  const address = `${stack.url}/sample/customers`
  const byCurl = await use<{ data: { proposal: object } }>('propose_extractor', { curl: `curl ${address}` })
  const byWords = await use<{ data: { proposal: object; connectors: { name: string }[] } }>('propose_extractor', {
    description: `Read the customers of the sample-shop at ${address}.`,
  })
  assert.deepEqual(byWords.data.proposal, byCurl.data.proposal)
  assert.deepEqual(
    byWords.data.connectors.map(({ name }) => name),
    ['sample-shop'],
  )
  const session = (await stack.request('POST', '/sample/login', { json: { username: 'ada', password: 'lovelace' } })).json<{
    token: string
  }>()
  const api = { baseUrl: `${stack.url}/sample/`, http: { headers: { 'X-Sample-Session': session.token } } }
  const tried = await use<{ data: { notice: string; result: object } }>('test_configuration', {
    content: { parameters: { api, config: { jobs: [{ endpoint: 'customers', dataField: 'customers' }] } } },
  })
  assert.match(JSON.stringify(tried.data.result), /"email"|"address"/)

  // Tables, tests, files.
  const table = 'in.c-main.orders'
  await use('create_table', { table, columns: [{ name: 'id' }, { name: 'state' }], primaryKey: ['id'], csv: 'id,state\n1,new\n' })
  const loaded = await use<{ table: { rows: number } }>('load_table', { table, csv: 'id,state\n1,paid\n2,new\n' })
  assert.equal(loaded.table.rows, 2, 'added by their key')
  const texts = { table, description: 'What customers buy', columns: { state: 'new or paid' } }
  assert.equal((await use<{ described: number }>('document_table', texts)).described, 2)
  assert.match((await agent.call('load_table', { table })).text, /either csv or file/)
  const csv = await use<{ data: { file: number; link: string; notice: string } }>('export_rows', {
    sql: 'SELECT * FROM "in.c-main"."orders" ORDER BY id',
  })
  assert.equal(await (await fetch(csv.data.link)).text(), 'id,state\n1,paid\n2,new\n')
  const whole = await use<{ data: { link: string } }>('export_rows', { table, format: 'jsonl' })
  assert.match(await (await fetch(whole.data.link)).text(), /"state":"paid"/)
  await allowed('load_table', { table, file: csv.data.file, isReplaced: true })
  const { test: made } = await use<{ test: { id: string } }>('save_test', {
    ...{ table, name: 'known states', type: 'acceptedValues', parameters: { column: 'state', values: ['new'] } },
  })
  const failed = await use<{ status: string; data: { results: { status: string }[]; examples: unknown[] } }>('run_tests', {
    table,
  })
  assert.equal(failed.status, 'failed')
  assert.equal(failed.data.examples.length, 1)
  await use('save_test', { test: made.id, parameters: { column: 'state', values: ['new', 'paid'] }, severity: 'warn' })
  assert.equal((await use<{ status: string }>('run_tests', { table })).status, 'passed')
  assert.match((await agent.call('save_test', { name: 'x' })).text, /either table or test/)
  const described = await use<{ tests: { test: string; severity: string }[]; data: { sample: unknown[] } }>('describe_table', {
    table,
  })
  assert.deepEqual(
    described.tests.map((one) => [one.test, one.severity]),
    [[made.id, 'warn']],
  )
  await allowed('delete_test', { test: made.id })
  assert.equal((await use<{ items: unknown[] }>('list_tables')).items.length, 1)
  assert.equal((await use<{ items: unknown[] }>('read_rows', { table })).items.length, 2)
  await use('query', { sql: 'SELECT 1' })

  // Configurations.
  assert.ok((await use<{ items: unknown[] }>('list_components', { type: 'writer' })).items.length > 2)
  await use('describe_component', { component: 'platform.wr-http' })
  const generic = { component: 'ex-generic-v2' }
  const examples = await use<{ component: { examples: { configurations: object[] } } }>('describe_component', {
    ...{ ...generic, part: 'examples' },
  })
  assert.ok(examples.component.examples.configurations.length > 1, JSON.stringify(examples))
  const first = await use<{ component: { examples: { parameters: object } } }>('describe_component', {
    ...{ ...generic, part: 'examples', at: '/configurations/0' },
  })
  assert.ok(first.component.examples.parameters, JSON.stringify(first))
  const schema = await use<{ truncated: boolean }>('describe_component', { ...generic, part: 'configurationSchema' })
  assert.equal(schema.truncated, true)
  const narrow = await use<{ truncated: boolean; component: { configurationSchema: { type: string } } }>('describe_component', {
    ...{ ...generic, part: 'configurationSchema', at: '/properties/api/properties/baseUrl' },
  })
  assert.equal(narrow.truncated, false)
  assert.ok(narrow.component.configurationSchema, JSON.stringify(narrow))
  const content = { parameters: { a: 1 } }
  await use('validate_configuration', { component: 'test.noop', content })
  const saved = await use<Saved>('create_configuration', { component: 'test.noop', name: 'c', content })
  const noop = { component: 'test.noop', configuration: saved.configuration.id }
  await use('update_configuration', { ...noop, set: { '/parameters/a': 2 } })
  await use('update_configuration', { ...noop, version: 1 })
  const row = await use<Saved>('create_configuration', { component: 'test.noop', rowOf: noop.configuration, name: 'r', content })
  assert.match((await agent.call('update_configuration', { ...noop, version: 1, name: 'x' })).text, /in another call/)
  assert.ok((await use<{ items: unknown[] }>('configuration_history', noop)).items.length > 2)
  assert.equal((await use<{ items: unknown[] }>('list_configurations', { component: 'test.noop' })).items.length, 1)
  await use('find', { text: 'orders' })
  await allowed('delete_configuration', { ...noop, row: row.configuration.id })
  await use('create_transformation', {
    name: 'Copy',
    statements: ['create table made as select * from orders'],
    inputs: [{ source: table, destination: 'orders' }],
    outputs: [{ source: 'made', destination: 'out.c-main.made' }],
  })
  const flow = await use<Saved>('create_flow', { name: 'Daily', steps: [{ name: 'Step', tasks: [noop] }] })
  const daily = { component: flow.configuration.component, configuration: flow.configuration.id }
  const { schedule } = await use<{ schedule: { id: string } }>('set_schedule', { ...daily, cron: '0 5 * * *' })
  assert.equal((await use<{ items: unknown[] }>('list_schedules')).items.length, 1)
  await allowed('delete_schedule', { schedule: schedule.id })

  // Deliveries. A new host after reading rows needs a person; the stack's own sample shop is none that production names, so it does.
  const delivery = {
    ...{ component: 'platform.wr-http', name: 'To the CRM', table, isChangesOnly: true },
    ...{ connection: { api: { baseUrl: 'https://crm.example.com/' } }, parameters: { request: { path: 'orders' } } },
  }
  await allowed('create_delivery', delivery)
  const deliveries = await use<{ items: { table: string; state: string }[] }>('list_deliveries')
  assert.deepEqual(
    deliveries.items.map((one) => [one.table, one.state]),
    [[table, 'never']],
  )

  // Jobs.
  const { job } = await use<{ job: Job }>('run_configuration', noop)
  await stack.wait((await stack.request('GET', `/queue/jobs/${job.id}`)).json<Job>())
  await use('get_job', { job: job.id, waitSeconds: 5 })
  await use('explain_job', { job: job.id })
  const again = await use<{ job: Job }>('control_job', { job: job.id, action: 'rerun' })
  assert.notEqual(again.job.id, job.id)
  assert.match((await agent.call('control_job', { job: job.id, action: 'stop' })).text, /parameter action/)
  await use('list_jobs')
  await use('project_overview')
  await use('read_docs', { question: 'data tests' })
  await use('list_events')
  await use('list_tokens')
  await use('review_proposals')
  await use('delete_table', { table, isDryRun: true })
  await allowed('delete_table', { table })

  // What only tokens have that propose.
  const proposer = await connectAgent(t, stack.url, { token: proposerToken, query: ALL })
  const proposing = watched(proposer)
  await proposing.use('choose_connector', { connector: 'sample-shop' })
  await proposing.use('propose_extractor', { curl: `curl ${address}` })
  await proposing.use('add_connector', {
    connector: 'sample-shop',
    settings: { base_url: 'https://x.example' },
    streams: ['orders'],
  })
  // Actions that reach other systems are refused to it, whatever they are called.
  for (const [action, parameters] of [
    ['catalogue', { catalogue: 'https://x.example/index.json' }],
    ['connector', { name: 'https://x.example/manifest.yaml' }],
    ['connector', { name: '{{ vault.address }}' }],
    ['testConnection', {}],
  ] as const) {
    const json = { componentId: MANIFESTS, action, configData: { parameters } }
    const refused = await stack.request('POST', '/sync-actions/actions', { token: proposerToken, json })
    assert.equal(refused.status, 403, refused.text)
    assert.match(refused.text, /proposals\.notPossible/)
  }
  await proposing.use('my_proposal')
  await proposing.use('rehearse_proposal')
  await proposing.use('submit_proposal', { title: 'Shop' })

  const known = [...(await agent.tools()), ...(await proposer.tools())].map(({ name }) => name)
  const missing = [...new Set(known)].filter((name) => !called.has(name) && !proposing.called.has(name))
  assert.deepEqual(missing, [], 'tools without a call in this test')
})
