// The writer in a whole stack: only what has changed, receipts in the project, a failed run that is continued, and no delivery from a branch.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendAgain } from '../../../contract/send-again.ts'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { startApi } from './harness.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
const COMPONENT = 'platform.wr-http'
const PEOPLE = 'in.c-crm.people'

async function run(stack: ShellStack, config: string, more: object = {}): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run', ...more } })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

const people = async (stack: ShellStack, rows: readonly (readonly (string | null)[])[]) => {
  await makeTable(stack, PEOPLE, { columns: { id: 'INTEGER', name: 'STRING' }, primaryKey: ['id'] })
  await fillTable(stack, PEOPLE, ['id', 'name'], rows)
}

const configurationOf = (url: string) => ({
  parameters: {
    api: { baseUrl: url },
    '#bearerToken': 'open-sesame',
    requests: { upsert: { path: 'people/{{id}}' } },
    idempotencyHeader: 'Idempotency-Key',
    answerFields: [{ column: 'remote_id', path: 'id' }],
  },
  storage: { input: { tables: [{ source: PEOPLE, changed_since: 'adaptive' }] } },
})

test('changed rows are delivered with receipts, and a run that fails is continued by the next', async (t) => {
  let isBroken = true
  const { url, got } = await startApi(t, ({ url: path }) => {
    const id = Number(path.split('/').at(-1))
    return isBroken && id >= 20 ? { status: 422, body: { error: 'closed' } } : { status: 200, body: { id: `r${id}` } }
  })
  const stack = await startProject()
  await people(
    stack,
    Array.from({ length: 60 }, (_, at) => [String(at), at === 3 ? null : `n${at}`]),
  )
  const config = await stack.configure(COMPONENT, configurationOf(url))
  const failed = await run(stack, config)
  assert.equal(failed.status, 'error')
  assert.match(failed.result.message, /rows were not delivered, which is more than 10 %/)
  const before = got.length
  isBroken = false
  const continued = await run(stack, config)
  assert.equal(continued.status, 'success', continued.result.message)
  assert.equal(got.length - before, 40, 'what was delivered is not sent again')
  assert.equal(got.find(({ url: path }) => path.endsWith('/3'))?.body, '{"id":3,"name":null}')
  const sql = `select status, count(*)::int, count(distinct delivery)::int, count(distinct remote_id)::int from "out.c-platform-wr-http-${config}".receipts group by 1 order by 1`
  const receipts = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  const [delivered, rejected] = receipts.json<{ rows: [string, number, number, number][] }>().rows
  assert.deepEqual(delivered, ['delivered', 60, 1, 60])
  assert.equal(rejected?.[0], 'rejected')
  await fillTable(stack, PEOPLE, ['id', 'name'], [['7', 'new']], true)
  assert.equal((await run(stack, config)).status, 'success')
  assert.deepEqual(
    got.slice(before + 40).map(({ body }) => body),
    ['{"id":7,"name":"new"}'],
  )
  const events = (await stack.request('GET', `/v2/storage/events?runId=${continued.id}&limit=200`)).text
  assert.ok(!events.includes('open-sesame'))
})

test('chosen rows are sent again, deleted ones too, and neither they nor a dry run count as a delivery', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200, body: {} }))
  const stack = await startProject()
  await people(stack, [
    ['1', "Ann's"],
    ['2', 'Bob'],
    ['3', null],
  ])
  const { parameters } = configurationOf(url)
  const requests = { upsert: { path: 'people/{{id}}' }, delete: { path: 'people/{{id}}' } }
  const configuration = {
    parameters: { ...parameters, requests },
    storage: { input: { tables: [{ source: PEOPLE, changes: true }] } },
  }
  const config = await stack.configure(COMPONENT, configuration)
  const deliveries = async () =>
    (await stack.request('GET', '/v2/storage/deliveries'))
      .json<{ configurationId: string; state: string; lastDelivery: { jobId: string; counts: object } | null }[]>()
      .find(({ configurationId }) => configurationId === config)
  const dry = { ...configuration, parameters: { ...configuration.parameters, dryRun: true } }
  const place = `/v2/storage/components/${COMPONENT}/configs/${config}`
  const configured = async (json: object) =>
    assert.equal((await stack.request('PUT', place, { json: { configuration: json } })).status, 200)
  await configured(dry)
  assert.equal((await run(stack, config)).status, 'success')
  assert.deepEqual([got.length, (await deliveries())?.state], [0, 'never'])
  await configured(configuration)
  const first = await run(stack, config)
  assert.equal(first.status, 'success', first.result.message)
  assert.equal(got.length, 3, 'what the dry run read was still to be delivered')
  assert.deepEqual((await deliveries())?.lastDelivery?.counts, { delivered: 3, rejected: 0, failed: 0 })

  await fillTable(
    stack,
    PEOPLE,
    ['id', 'name'],
    [
      ['1', "Ann's"],
      ['2', 'Bert'],
    ],
  )
  const rows = [
    { key: ['1'], operation: 'create' },
    { key: ['2'], operation: 'update' },
    { key: ['3'], operation: 'delete' },
  ]
  const configData = sendAgain({ componentId: COMPONENT, configuration, key: ['id'], rows })
  const again = await run(stack, config, { configData })
  assert.equal(again.status, 'success', again.result.message)
  assert.deepEqual(
    got
      .slice(3)
      .map(({ method, url: path, body }) => `${method} ${path} ${body}`)
      .toSorted(),
    ['DELETE /v1/people/3 ', `PUT /v1/people/1 {"id":1,"name":"Ann's"}`, 'PUT /v1/people/2 {"id":2,"name":"Bert"}'],
  )
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const byCommand = await runCli(['delivery', 'again', COMPONENT, config, '--key', '1'], env)
  assert.equal(byCommand.code, 0, byCommand.err)
  assert.equal(got.pop()?.body, `{"id":1,"name":"Ann's"}`)
  assert.match((await runCli(['delivery', 'list'], env)).out, / in\.c-crm\.people +\d+ s behind .*3 delivered/)
  const shown = await deliveries()
  assert.deepEqual([shown?.state, shown?.lastDelivery?.jobId], ['behind', first.id])
  assert.equal((await run(stack, config)).status, 'success')
  assert.equal(got.length, 8, 'the changes are still delivered by the next run')
})

test('a form sees the requests before anything is sent, and a development branch sends nothing by itself', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const stack = await startProject()
  await people(stack, [['1', 'Ann']])
  const ask = async (action: string) =>
    (
      await stack.request('POST', '/sync-actions/actions', {
        json: { componentId: COMPONENT, action, configData: configurationOf(url) },
      })
    ).json()
  const { requests, operations } = (await ask('preview')) as { requests: Record<string, unknown>[]; operations: object }
  assert.deepEqual(operations, { upsert: 1 })
  assert.deepEqual([requests[0]?.method, requests[0]?.url, requests[0]?.body], ['PUT', `${url}people/1`, '{"id":1,"name":"Ann"}'])
  assert.equal(got.length, 0)
  assert.equal((await ask('testConnection')).status, 'success')
  assert.equal(got[0]?.headers.authorization, 'Bearer open-sesame')
  const config = await stack.configure(COMPONENT, configurationOf(url))
  const made = await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } })
  const { id } = (await stack.wait(made.json<Job>())).results as { id: number }
  const answer = await stack.request('POST', '/queue/jobs', {
    json: { component: COMPONENT, config, mode: 'run', branchId: String(id) },
  })
  assert.match(answer.text, /in a development branch it may change things outside the project/)
  assert.equal(got.length, 1)
})

test('receipts that storage refuses leave the delivery as it was: the next run sends nothing again and stores them', async (t) => {
  const { url, got } = await startApi(t, ({ url: path }) => ({ status: 200, body: { id: `r${path.split('/').at(-1)}` } }))
  const stack = await startProject()
  await people(
    stack,
    Array.from({ length: 30 }, (_, at) => [String(at), `n${at}`]),
  )
  const config = await stack.configure(COMPONENT, configurationOf(url))
  const receipts = `out.c-platform-wr-http-${config}.receipts`
  await makeTable(stack, receipts, { columns: { delivery: 'INTEGER', seq: 'INTEGER' }, primaryKey: ['delivery', 'seq'] })
  const refused = await run(stack, config)
  assert.equal(refused.status, 'error')
  assert.equal(got.length, 30)
  assert.equal((await run(stack, config)).status, 'error', 'they are refused again')
  assert.equal(got.length, 30, 'the rows were not sent again')
  assert.equal((await stack.request('DELETE', `/v2/storage/tables/${receipts}`)).status, 204)
  const stored = await run(stack, config)
  assert.equal(stored.status, 'success', stored.result.message)
  assert.equal(got.length, 30)
  const counted = await stack.request('POST', '/v2/storage/query', {
    json: { sql: `select count(*)::int, count(remote_id)::int from "out.c-platform-wr-http-${config}".receipts` },
  })
  assert.deepEqual(counted.json<{ rows: unknown }>().rows, [[30, 30]])
  for (const name of ['other', 'n7']) {
    await fillTable(stack, PEOPLE, ['id', 'name'], [['7', name]], true)
    assert.equal((await run(stack, config)).status, 'success')
  }
  assert.equal(got.length, 32, 'a delivery that has ended is not continued')
})

test('changes since the last run are delivered by their kind, with deleted rows; a query is a source, too', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const stack = await startProject()
  await people(stack, [
    ['1', 'Ann'],
    ['2', 'Bob'],
    ['3', null],
  ])
  const requests = { upsert: { path: 'people/{{id}}' }, delete: { path: 'people/{{id}}' } }
  const parameters = { api: { baseUrl: url }, requests }
  const config = await stack.configure(COMPONENT, {
    parameters,
    storage: { input: { tables: [{ source: PEOPLE, changes: true }] } },
  })
  const sent = async () => {
    got.length = 0
    const job = await run(stack, config)
    assert.equal(job.status, 'success', job.result.message)
    return got.map(({ method, url: path, body }) => `${method} ${path.split('/').at(-1)} ${body}`).toSorted()
  }
  assert.deepEqual(await sent(), ['PUT 1 {"id":1,"name":"Ann"}', 'PUT 2 {"id":2,"name":"Bob"}', 'PUT 3 {"id":3,"name":null}'])
  assert.deepEqual(await sent(), [])
  await fillTable(
    stack,
    PEOPLE,
    ['id', 'name'],
    [
      ['1', 'Ann'],
      ['2', 'Bea'],
      ['4', ''],
    ],
    true,
  )
  const removed = await stack.request('DELETE', `/v2/storage/tables/${PEOPLE}/rows?whereColumn=id&whereValues[]=3`)
  assert.ok(removed.status < 300, removed.text)
  if (removed.status === 202) await stack.wait(removed.json<Job>())
  assert.deepEqual(await sent(), ['DELETE 3 ', 'PUT 2 {"id":2,"name":"Bea"}', 'PUT 4 {"id":4,"name":""}'])
  assert.deepEqual(await sent(), [])

  const query = `select id * 10 as id, upper(name) as name, name = 'Ann' as first, 1.5 as rate from "in.c-crm"."people" where id < 3;`
  const ofQuery = { parameters: { ...parameters, requests: { upsert: { path: 'people/{{id}}' } } } }
  const rows = await stack.configure(COMPONENT, {
    ...ofQuery,
    storage: { input: { tables: [{ query, destination: 'rows' }] } },
  })
  got.length = 0
  const job = await run(stack, rows)
  assert.equal(job.status, 'success', job.result.message)
  assert.deepEqual(got.map(({ body }) => body).toSorted(), [
    '{"id":10,"name":"ANN","first":true,"rate":1.5}',
    '{"id":20,"name":"BEA","first":false,"rate":1.5}',
  ])
  for (const [table, words] of [
    [{ query }, /storage.input.tables\[0\].destination is missing/],
    [{ query, destination: 'rows', changed_since: '-1 day' }, /query and changed_since exclude each other/],
    [{ source: PEOPLE, changes: true, changed_since: 'adaptive' }, /changes and changed_since exclude each other/],
    [{ query: 'select * from "in.c-crm"."nothing"', destination: 'rows' }, /nothing/],
    [{ query: 'selec', destination: 'rows' }, /Input mapping/],
  ] as const) {
    const answer = await stack.request('POST', '/queue/jobs', {
      json: { component: COMPONENT, configData: { ...ofQuery, storage: { input: { tables: [table] } } }, mode: 'run' },
    })
    const ended = answer.status === 201 ? await stack.wait(answer.json<Job>()) : undefined
    assert.match(ended?.result.message ?? answer.text, words)
    assert.notEqual(ended?.result.error?.type, 'application')
  }
})

test('a delivery says how far its target is behind, and what failed', async (t) => {
  let isBroken = false
  const { url } = await startApi(t, () => ({ status: isBroken ? 422 : 200 }))
  const stack = await startProject()
  await people(stack, [['1', 'Ann']])
  const config = await stack.configure(COMPONENT, {
    ...configurationOf(url),
    storage: { input: { tables: [{ source: PEOPLE }] } },
  })
  interface Delivery {
    readonly configurationId: string
    readonly tableId: string
    readonly state: string
    readonly behindSeconds: number | null
    readonly lastDelivery: { readonly jobId: string } | null
    readonly failure: { readonly jobId: string } | null
  }
  const shown = async () => {
    const answer = await stack.request('GET', '/v2/storage/deliveries')
    assert.equal(answer.status, 200, answer.text)
    const all = answer.json<Delivery[]>()
    assert.deepEqual(
      all.map(({ configurationId, tableId }) => [configurationId, tableId]),
      [[config, PEOPLE]],
    )
    return all[0]!
  }
  assert.deepEqual([(await shown()).state, (await shown()).behindSeconds], ['never', null])
  const first = await run(stack, config)
  const current = await shown()
  assert.deepEqual([current.state, current.behindSeconds, current.lastDelivery?.jobId], ['current', 0, first.id])
  await fillTable(stack, PEOPLE, ['id', 'name'], [['2', 'Bob']], true)
  const behind = await shown()
  assert.equal(behind.state, 'behind')
  assert.ok(behind.behindSeconds !== null && behind.behindSeconds >= 0)
  isBroken = true
  const failed = await run(stack, config)
  assert.deepEqual([(await shown()).state, (await shown()).failure?.jobId], ['behind', failed.id])
  isBroken = false
  await run(stack, config)
  assert.deepEqual([(await shown()).state, (await shown()).failure], ['current', null])
})
