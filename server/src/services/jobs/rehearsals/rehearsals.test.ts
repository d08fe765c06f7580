import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, before } from 'node:test'
import { type Job, type ShellStack, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import type { RequestOptions } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { summaryOf } from './found.ts'
import { planRehearsal } from './plan.ts'

const SQL = 'keboola.duckdb-transformation'
const EXTRACTOR = 'keboola.ex-generic-v2'

const startProject = shareShellStack({
  worker: { jobs: 4, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] },
})

interface Sample {
  readonly kind: string
  readonly before: readonly (string | null)[] | null
  readonly after: readonly (string | null)[] | null
}

interface Rehearsal {
  readonly state: string
  readonly summary: string
  readonly isCurrent: boolean
  readonly jobId: string | null
  readonly steps: readonly { readonly configurationId: string; readonly status: string; readonly error: string | null }[]
  readonly notRun: readonly { readonly configurationId: string; readonly reason: string }[]
  readonly tables: readonly {
    readonly id: string
    readonly added: number
    readonly removed: number
    readonly changed: number
    readonly addedColumns: readonly string[]
    readonly columns: readonly string[]
    readonly samples: readonly Sample[]
  }[]
  readonly hiddenTables: number
  readonly deliveries: readonly { readonly configurationId: string; readonly rows: number }[]
}

/** An API that counts its requests. */
const api = createServer((request, response) => {
  requests.push(request.url ?? '')
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify([1, 2, 3].map((id) => ({ id, price: id * 10 }))))
})
const requests: string[] = []
before(() => new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve)))
after(() => api.close())
const apiUrl = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}/`

const SECRETS = { '#token': 'production token 17', '#password': 'production password 4' }
const extractor = (jobs: readonly object[], more: object = {}) => ({
  parameters: {
    api: { baseUrl: apiUrl(), authentication: { type: 'basic' } },
    config: { record: true, outputBucket: 'shop', username: 'shop', ...SECRETS, jobs, ...more },
  },
})
const ORDERS = { endpoint: 'orders', params: { key: { attr: '#token' } } }

const transformation = (statement: string, input: string, output: string, more: object = {}) => ({
  parameters: { blocks: [{ name: 'b', codes: [{ name: 'c', script: [statement] }] }] },
  storage: {
    input: { tables: [{ source: input, destination: 'given' }] },
    output: { tables: [{ source: 'made', destination: output, ...more }] },
  },
})

async function run(stack: ShellStack, component: string, config: string): Promise<void> {
  const job = (await stack.request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })).json<Job>()
  const ended = await stack.wait(job)
  assert.equal(ended.status, 'success', JSON.stringify(ended))
}

/** Orders from an API, prices with VAT from them, their sum from those, and a writer that would send the sum. */
async function start() {
  const stack = await startProject()
  await stack.add('test.send', 'echo sent >> "$KBC_DATADIR/../../../sent"', {}, { type: 'writer' })
  const orders = await stack.configure(EXTRACTOR, extractor([ORDERS]))
  await run(stack, EXTRACTOR, orders)
  const vat = await stack.configure(
    SQL,
    transformation('CREATE TABLE made AS SELECT id, price FROM given', 'in.c-shop.orders', 'out.c-shop.vat', {
      primary_key: ['id'],
    }),
  )
  await run(stack, SQL, vat)
  const sum = await stack.configure(
    SQL,
    transformation('CREATE TABLE made AS SELECT sum(price::int) AS total FROM given', 'out.c-shop.vat', 'out.c-shop.sum'),
  )
  await run(stack, SQL, sum)
  const writer = await stack.configure('test.send', {
    storage: { input: { tables: [{ source: 'out.c-shop.sum', destination: 'sum.csv' }] } },
  })
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'agent', canManageBuckets: true, onlyProposes: true },
    })
  ).json<{ token: string }>()
  const asAgent = (method: string, path: string, options: RequestOptions = {}) =>
    stack.request(method, path, { token, ...options })
  const change = async (component: string, id: string, configuration: object) => {
    const changed = await asAgent('PUT', `/v2/storage/components/${component}/configs/${id}`, { json: { configuration } })
    assert.equal(changed.status, 200, changed.text)
  }
  const place = async () =>
    `/v2/storage/proposals/${(await asAgent('GET', '/v2/storage/proposals')).json<{ id: number }[]>()[0]!.id}`
  const rehearse = async (ask: typeof asAgent = asAgent): Promise<Rehearsal> => {
    const began = await ask('POST', `${await place()}/rehearsal`)
    assert.equal(began.status, 202, began.text)
    return until('the rehearsal has ended', async () => {
      const answer = await ask('GET', `${await place()}/rehearsal`)
      assert.equal(answer.status, 200, answer.text)
      const found = answer.json<Rehearsal>()
      return found.state === 'finished' && found
    })
  }
  return { stack, token, asAgent, orders, vat, sum, writer, change, place, rehearse }
}

const rowsOf = async (stack: ShellStack, table: string) =>
  (await stack.request('GET', `/v2/storage/tables/${table}/rows`)).json<{ rows: unknown[] }>().rows

test('a proposal is rehearsed: rows of every table behind it are compared, and nothing leaves the stack', async () => {
  const { stack, asAgent, vat, writer, change, rehearse, place } = await start()
  const asked = requests.length
  await change(
    SQL,
    vat,
    transformation(
      "CREATE TABLE made AS SELECT id, CASE WHEN id = '2' THEN 99 ELSE price::int END AS price FROM given WHERE id::int < 3",
      'in.c-shop.orders',
      'out.c-shop.vat',
      {
        primary_key: ['id'],
      },
    ),
  )
  const missing = await asAgent('GET', `${await place()}/rehearsal`)
  assert.equal(missing.json<Rehearsal>().state, 'none', missing.text)

  const found = await rehearse()
  assert.deepEqual(
    found.steps.map(({ status, error }) => ({ status, error })),
    [
      { status: 'success', error: null },
      { status: 'success', error: null },
    ],
  )
  assert.deepEqual(
    found.tables.map(({ id, added, removed, changed }) => ({ id, added, removed, changed })),
    [
      { id: 'out.c-shop.sum', added: 1, removed: 1, changed: 0 },
      { id: 'out.c-shop.vat', added: 0, removed: 1, changed: 1 },
    ],
  )
  assert.equal(found.summary, '4 rows differ in 2 tables.')
  const [sums, prices] = found.tables
  assert.deepEqual(sums!.samples, [
    { kind: 'added', before: null, after: ['109'] },
    { kind: 'removed', before: ['60'], after: null },
  ])
  assert.deepEqual(prices!.samples, [
    { kind: 'changed', before: ['2', '20'], after: ['2', '99'] },
    { kind: 'removed', before: ['3', '30'], after: null },
  ])
  assert.deepEqual(
    found.deliveries.map(({ configurationId, rows }) => ({ configurationId, rows })),
    [{ configurationId: writer, rows: 2 }],
    'what would be sent is said, and not sent',
  )
  assert.equal(found.isCurrent, true)
  assert.deepEqual(await rowsOf(stack, 'out.c-shop.sum'), [['60']], 'production is as it was')
  assert.equal(requests.length, asked, 'no request to the outside')

  // Once more, with another content: what the first has left does not count.
  await change(
    SQL,
    vat,
    transformation('CREATE TABLE made AS SELECT id, price FROM given', 'in.c-shop.orders', 'out.c-shop.vat', {
      primary_key: ['id'],
      incremental: true,
    }),
  )
  assert.equal((await asAgent('GET', `${await place()}/rehearsal`)).json<Rehearsal>().isCurrent, false)
  assert.equal((await rehearse((...args) => stack.request(...args))).summary, 'No row differs.')
})

test('an extractor is rehearsed against its recording, without a request and without secrets', async () => {
  const { stack, orders, asAgent, change, rehearse } = await start()
  const asked = requests.length
  await change(EXTRACTOR, orders, extractor([ORDERS], { userData: { source: 'shop' } }))
  const found = await rehearse()
  assert.deepEqual(
    found.steps.map(({ status, error }) => ({ status, error })),
    Array.from({ length: 3 }, () => ({ status: 'success', error: null })),
  )
  assert.deepEqual(found.tables.find(({ id }) => id === 'in.c-shop.orders')?.addedColumns, ['source'])
  assert.equal(requests.length, asked, 'no request to the outside')
  assert.equal((await rowsOf(stack, 'in.c-shop.orders')).length, 3)

  // Its secrets are not opened: the request fits the recording with placeholders, which are all that an agent can write to a table.
  const place = `/v2/storage/components/${EXTRACTOR}/configs/${orders}`
  const { configuration } = (await asAgent('GET', place)).json<{ configuration: ReturnType<typeof extractor> }>()
  assert.match(JSON.stringify(configuration), /"#token":"KBC::/)
  Object.assign(configuration.parameters.config, { userData: { stolen: { attr: '#token' }, other: { attr: '#password' } } })
  await change(EXTRACTOR, orders, configuration)
  const withSecrets = await rehearse()
  assert.equal(withSecrets.steps[0]!.error, null)
  const written = withSecrets.tables.find(({ id }) => id === 'in.c-shop.orders')!
  assert.deepEqual(written.addedColumns, ['stolen', 'other'])
  const branches = (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number; isDefault: boolean }[]>()
  const branch = branches.find(({ isDefault }) => !isDefault)!.id
  const rows = await stack.request('GET', `/v2/storage/branch/${branch}/tables/in.c-shop.orders/data-preview`)
  assert.match(rows.text, /rehearsalPlaceholder/)
  assert.doesNotMatch(rows.text + JSON.stringify(withSecrets), /production (?:token|password)/)

  // A URL that was never requested has no recorded answer.
  await change(EXTRACTOR, orders, extractor([{ endpoint: 'others' }]))
  const other = await rehearse()
  assert.match(other.steps[0]!.error ?? '', /The archive holds no \(further\) answer for GET .*others/)
  assert.match(other.summary, /1 configuration failed/)
  assert.equal(requests.length, asked)
})

test('what cannot be rehearsed is named, and another project sees nothing of it', async () => {
  const { stack, asAgent, change, rehearse, place, writer, vat } = await start()
  const fresh = await asAgent('POST', `/v2/storage/components/${EXTRACTOR}/configs`, {
    json: { name: 'new', configuration: extractor([ORDERS]) },
  })
  assert.equal(fresh.status, 201, fresh.text)
  await change('test.send', writer, { parameters: { to: 'elsewhere' } })
  const found = await rehearse()
  assert.match(found.steps[0]!.error ?? '', /has no recording of a run in production/)
  assert.deepEqual(found.notRun, [
    { componentId: 'test.send', configurationId: writer, reason: 'test.send reaches other systems' },
  ])
  assert.match(found.summary, /1 configuration could not be rehearsed/)
  const other = await stack.newProject()
  for (const method of ['GET', 'POST'])
    assert.equal((await stack.request(method, `${await place()}/rehearsal`, { token: other.masterToken })).status, 404)
  const weak = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'weak' } })).json<{ token: string }>()
    .token
  assert.equal((await stack.request('POST', `${await place()}/rehearsal`, { token: weak })).status, 404)
  const direct = await stack.request('POST', '/queue/jobs', { json: { component: SQL, config: '1', mode: 'rehearse' } })
  assert.equal(direct.status, 400, 'such jobs come from rehearsals only')

  // Two at once are one. Without the token that proposes nothing is compared, and the result states it.
  const statement = "CREATE TABLE made AS SELECT id, '0' AS price FROM given"
  await change(SQL, vat, transformation(statement, 'in.c-shop.orders', 'out.c-shop.vat'))
  const rehearsal = `${await place()}/rehearsal`
  const both = await Promise.all([asAgent('POST', rehearsal), stack.request('POST', rehearsal)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [202, 409], both.map(({ text }) => text).join('\n'))
  const { jobId } = both.find(({ status }) => status === 202)!.json<Rehearsal>()
  await until(
    'its job has ended',
    async () => (await stack.request('GET', `/queue/jobs/${jobId}`)).json<{ isFinished: boolean }>().isFinished,
  )
  const id = (await asAgent('GET', '/v2/storage/tokens/verify')).json<{ id: string }>().id
  assert.equal((await stack.request('DELETE', `/v2/storage/tokens/${id}`)).status, 204)
  const unread = (await stack.request('GET', rehearsal)).json<Rehearsal>()
  assert.equal(unread.state, 'finished')
  assert.match(unread.summary, /^No table was compared\. 2 tables were left out of the comparison\./)
})

test('a summary says what was not compared', () => {
  const table = { rowsBefore: 1, rowsAfter: 1, added: 0, removed: 0, changed: 0, addedColumns: [], removedColumns: [] }
  const of = (id: string, more: object = {}) => ({ ...table, columns: [], samples: [], id, ...more })
  const said = (tables: ReturnType<typeof of>[], tablesLeftOut: number, readable = tables) =>
    summaryOf(readable, { steps: [], tables, tablesLeftOut }, { notRun: [] })
  assert.equal(said([of('a')], 0), 'No row differs.')
  assert.equal(said([], 1), 'No table was compared. 1 table was left out of the comparison.')
  assert.equal(said([of('a', { problem: 'too large' })], 0), '1 table could not be compared: a.')
  assert.equal(
    said([of('a'), of('b', { problem: 'too large' })], 2),
    'No row differs in 1 table. 1 table could not be compared: b. 2 tables were left out of the comparison.',
  )
  assert.equal(said([of('a', { added: 1 })], 0, []), '1 table that the caller may not read differs.')
  assert.equal(said([of('a', { added: 2 })], 0), '2 rows differ in 1 table.')
})

test('steps come after those that write what they read, and circles end', () => {
  const uses = (configurationId: string, reads: string[], writes: string[]) => ({
    componentId: 'a',
    configurationId,
    reads,
    writes,
  })
  const plan = planRehearsal({
    changed: [{ componentId: 'a', configurationId: '1' }],
    uses: [
      uses('3', ['t1', 't2'], ['t3']),
      uses('2', ['t1'], ['t2']),
      uses('1', ['t0'], ['t1']),
      uses('4', ['t3'], ['t2', 't3']),
    ],
    problemOf: () => undefined,
    isDelivery: () => false,
  })
  assert.deepEqual(
    plan.levels.map((level) => level.map(({ configurationId }) => configurationId)),
    [['1'], ['2'], ['3'], ['4']],
  )
  assert.deepEqual(plan.writes, ['t1', 't2', 't3'])
})
