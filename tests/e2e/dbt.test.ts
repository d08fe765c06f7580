// platform.dbt: a dbt project as a job, isolated, in a workspace of its configuration. dbt itself is stood in for; `npm run test:dbt` has the real one.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { strToU8, zipSync } from 'fflate'
import { createIsolation } from '../../server/src/engines/runner/isolation.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { startGitServer } from '../support/servers/git-server.ts'
import { type Job, type ShellStack, shareShellStack } from '../support/shell-stack.ts'

const COMPONENT = 'platform.dbt'
const PROGRAM = ['node', fileURLToPath(new URL('../support/servers/dbt-stand-in.mjs', import.meta.url))]
const path = process.env.PATH ?? DEFAULT_WORKER.path
// The program stands for one of the node, which the operator lets components read.
const readable = [
  fileURLToPath(new URL('../support/servers', import.meta.url)),
  fileURLToPath(new URL('../../node_modules', import.meta.url)),
]
const isolation = { mode: 'auto', readable, uid: 65_534 } as const
const { problem } = await createIsolation({ ...isolation, path, hidden: [] })()
const folder = mkdtempSync(join(tmpdir(), 'millrace-dbt-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const startStack = shareShellStack({
  worker: {
    ...{ ...DEFAULT_WORKER, path, isolation, egressAllow: ['127.0.0.1'] },
    folders: { read: { models: folder }, write: {} },
  },
})

interface Node {
  readonly name: string
  readonly status: string
  readonly rows: number | null
  readonly durationMs: number
  readonly message: string | null
  readonly tableId: string | null
}
type DbtJob = Job & { readonly result: { readonly message: string; readonly dbt?: { readonly nodes: readonly Node[] } } }

const MODELS = [
  {
    name: 'stg_orders',
    materialized: 'view',
    sql: 'select id, customer, total::decimal(10,2) as total from "in.c-raw"."orders"',
  },
  {
    name: 'customers',
    sql: 'select customer, sum(total) as spent, count(*) as orders from "default"."analytics"."stg_orders" group by customer',
    depends: ['model.shop.stg_orders'],
  },
]
const TEST = {
  kind: 'test',
  name: 'not_null_customers_customer',
  attached: 'model.shop.customers',
  depends: ['model.shop.customers'],
}

const writeModels = (models: readonly object[]) => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'dbt_project.yml'), 'name: shop\n')
  writeFileSync(join(folder, 'models.json'), JSON.stringify(models))
}
const PARAMETERS = {
  project: { folder: 'models' },
  program: PROGRAM,
  buckets: [{ schema: 'analytics', bucket: 'out.c-analytics' }],
}

async function run(stack: ShellStack, config: string, configData?: object): Promise<DbtJob> {
  const json = { component: COMPONENT, config, mode: 'run', ...(configData && { configData }) }
  const started = await stack.request('POST', '/queue/jobs', { json })
  assert.equal(started.status, 201, started.text)
  return (await stack.wait(started.json<Job>())) as DbtJob
}

async function startProject() {
  const stack = await startStack()
  const client = tableClient(stack)
  await client.bucket('raw')
  await client.create('in.c-raw', 'orders', 'id,customer,total\n1,ann,10.5\n2,bob,4\n3,ann,1\n')
  return { stack, client }
}
const rowsOf = async (stack: ShellStack, table: string) =>
  (await stack.request('GET', `/v2/storage/tables/${table}/data-preview`)).text.trim().split('\n').sort()

test('a project from a folder becomes typed tables with lineage, tests, a record for each model and its artefacts', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack } = await startProject()
  writeModels([...MODELS, { ...TEST, sql: 'select * from analytics.customers where customer is null' }])
  const config = await stack.configure(COMPONENT, { parameters: PARAMETERS })
  const job = await run(stack, config)
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  assert.deepEqual(await rowsOf(stack, 'out.c-analytics.customers'), [
    '"ann","11.50","2"',
    '"bob","4.00","1"',
    '"customer","spent","orders"',
  ])
  assert.deepEqual(
    job.result.dbt?.nodes.map(({ name, status, rows, tableId }) => [name, status, rows, tableId]),
    [
      ['stg_orders', 'success', null, 'out.c-analytics.stg_orders'],
      ['customers', 'success', 2, 'out.c-analytics.customers'],
      ['not_null_customers_customer', 'pass', null, null],
    ],
  )
  assert.equal(job.result.dbt?.nodes[1]?.durationMs, 250)

  const table = (await stack.request('GET', '/v2/storage/tables/out.c-analytics.customers')).json<{
    definition: { columns: { name: string; definition: { type: string } }[] }
  }>()
  assert.deepEqual(
    table.definition.columns.map(({ name, definition }) => [name, definition.type]),
    [
      ['customer', 'STRING'],
      ['orders', 'INTEGER'],
      ['spent', 'NUMERIC'],
    ],
  )
  const { edges } = (await stack.request('GET', '/v2/storage/lineage?tableId=out.c-analytics.customers')).json<{
    edges: { from: string; to: string; columns?: { column: string; from: { tableId: string; column: string }[] | null }[] }[]
  }>()
  const columns = edges.flatMap((edge) => (edge.to.includes('out.c-analytics.customers') ? (edge.columns ?? []) : []))
  assert.deepEqual(
    columns.find(({ column }) => column === 'spent')?.from,
    [{ tableId: 'out.c-analytics.stg_orders', column: 'total' }],
    JSON.stringify(edges),
  )
  assert.match(JSON.stringify(edges), /in\.c-raw\.orders/, 'the source of the project is read')

  const files = (await stack.request('GET', `/v2/storage/files?tags[]=jobId-${job.id}&limit=20`)).json<
    { name: string; tags: string[] }[]
  >()
  assert.deepEqual(files.map(({ name }) => name).sort(), [
    'catalog.json',
    'dbt.log',
    'manifest.json',
    'pending.json',
    'run_results.json',
  ])
  assert.ok(files.every(({ tags }) => tags.includes('dbt-good') && tags.includes(`configId-${config}`)))

  const [dataTest] = (await stack.request('GET', '/v2/storage/data-tests?tableId=out.c-analytics.customers')).json<
    { id: string; name: string; type: string; severity: string }[]
  >()
  assert.deepEqual([dataTest?.name, dataTest?.type, dataTest?.severity], ['not_null_customers_customer', 'dbt', 'stop'])
  const [results] = (await stack.request('GET', '/v2/storage/tables/out.c-analytics.customers/data-tests/runs')).json<
    { status: string; trigger: string; runId: string }[]
  >()
  assert.deepEqual([results?.status, results?.trigger, results?.runId], ['passed', 'dbt', job.id])
})

test('a failed model leaves the tables as they were; its run again builds what failed and publishes everything at once', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack } = await startProject()
  writeModels(MODELS)
  const config = await stack.configure(COMPONENT, { parameters: PARAMETERS })
  assert.equal((await run(stack, config)).status, 'success')
  const [stg, customers] = MODELS
  const first = { name: 'bigger', sql: 'select 7 as id' }
  const last = { name: 'summary', sql: 'select count(*) as n from analytics.customers', depends: ['model.shop.customers'] }
  writeModels([
    first,
    { ...stg, sql: `${stg?.sql} where total::int > 1` },
    { ...customers, sql: 'select nothing from nowhere' },
    last,
  ])
  const failed = await run(stack, config)
  assert.equal(failed.status, 'error')
  assert.match(
    failed.result.message,
    /^1 of 4 nodes failed, and 1 was skipped\. model\.shop\.customers: Database Error in model customers .*nowhere/,
  )
  assert.deepEqual(
    failed.result.dbt?.nodes.map(({ name, status }) => [name, status]),
    [
      ['bigger', 'success'],
      ['stg_orders', 'success'],
      ['customers', 'error'],
      ['summary', 'skipped'],
    ],
  )
  assert.equal((await rowsOf(stack, 'out.c-analytics.customers')).length, 3)
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-analytics.bigger')).status, 404)

  writeModels([first, { ...stg, sql: `${stg?.sql} where total::int > 1` }, { ...customers }, last])
  const again = await run(stack, config, { parameters: { ...PARAMETERS, retry: true } })
  assert.equal(again.status, 'success', JSON.stringify(again.result))
  assert.deepEqual(
    again.result.dbt?.nodes.map(({ name }) => name),
    ['customers', 'summary'],
  )
  assert.deepEqual(await rowsOf(stack, 'out.c-analytics.bigger'), ['"7"', '"id"'], 'the failed run had built it')
  assert.deepEqual(await rowsOf(stack, 'out.c-analytics.customers'), [
    '"ann","10.50","1"',
    '"bob","4.00","1"',
    '"customer","spent","orders"',
  ])

  writeModels([first, { ...stg }, { ...customers }, last])
  const modified = await run(stack, config, { parameters: { ...PARAMETERS, onlyModified: true } })
  assert.equal(modified.status, 'success', JSON.stringify(modified.result))
  assert.deepEqual(
    modified.result.dbt?.nodes.map(({ name }) => name),
    ['stg_orders', 'customers', 'summary'],
  )
})

test('a test of dbt that fails stops the tables, and is a failed run of the data tests of its table', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack } = await startProject()
  writeModels(MODELS)
  const environment = { '#DBT_ENV_SECRET_KEY': 'open-sesame' }
  const config = await stack.configure(COMPONENT, { parameters: { ...PARAMETERS, environment } })
  assert.equal((await run(stack, config)).status, 'success')
  const told = 'return process.env.DBT_ENV_SECRET_KEY'
  writeModels([...MODELS, { ...TEST, told, sql: "select * from analytics.customers where customer = 'bob'" }])
  const job = await run(stack, config)
  assert.equal(job.status, 'error')
  assert.match(job.result.message, /^1 of 3 nodes failed\. test\.shop\.not_null_customers_customer: Got 1 results/)
  const [results] = (await stack.request('GET', '/v2/storage/tables/out.c-analytics.customers/data-tests/runs')).json<
    { status: string; results: { failures: number; message: string }[] }[]
  >()
  assert.equal(results?.status, 'failed')
  assert.deepEqual(
    results?.results.map(({ failures }) => failures),
    [1],
  )
  assert.match(results?.results[0]?.message ?? '', /^Got 1 results, configured to fail if != 0, told \[hidden\]$/)
  const files = (await stack.request('GET', `/v2/storage/files?tags[]=jobId-${job.id}&limit=20`)).json<
    { id: number; name: string }[]
  >()
  const kept = files.find(({ name }) => name === 'run_results.json')
  const { url } = (await stack.request('GET', `/v2/storage/files/${kept?.id}`)).json<{ url: string }>()
  const text = await (await fetch(url)).text()
  assert.match(text, /told \[hidden\]/)
  assert.doesNotMatch(text + JSON.stringify(job), /open-sesame/)
  const events = await stack.request('GET', '/v2/storage/tables/out.c-analytics.customers/events?limit=5')
  assert.match(events.text, /storage\.dataTestsFailed/)
})

test('the code of a project sees neither the stack nor another workspace, nor tables that its caller may not read', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack, client } = await startProject()
  await client.bucket('secret')
  await client.create('in.c-secret', 'keys', 'key\nhidden\n')
  const hostile = `
    const { existsSync } = require('node:fs'); const net = require('node:net'); const pg = require('pg')
    const open = (port) => new Promise((resolve) => net.connect(port, '127.0.0.1', () => resolve('open')).on('error', () => resolve('closed')))
    const as = async (change) => { const other = new pg.Client({ ...client.connectionParameters, ...change }); try { await other.connect(); return 'in' } catch (error) { return error.code } finally { await other.end().catch(() => {}) } }
    const read = await client.query('select * from "in.c-secret"."keys"').then(() => 'read', (error) => error.code)
    return 'SEEN ' + [existsSync('/var'), existsSync('/root/.ssh'), 'MILLRACE_DATA_DIR' in process.env, await open(${new URL(stack.url).port}), await as({ password: 'guess' }), read].join(' ')`
  writeModels([{ name: 'spy', sql: 'select 1 as id', run: hostile }])
  const token = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: {
        description: 'limited',
        bucketPermissions: { 'in.c-raw': 'read' },
        componentAccess: [COMPONENT],
      },
    })
  ).json<{ token: string }>().token
  const config = await stack.configure(COMPONENT, { parameters: { ...PARAMETERS, buckets: [] } })
  const started = await stack.request('POST', '/queue/jobs', { token, json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(started.status, 201, started.text)
  const job = await stack.wait(started.json<Job>())
  const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=100`)).text
  assert.equal(/SEEN [^"]*/.exec(events)?.[0], 'SEEN false false false closed 28P01 42501', events)

  writeModels([{ name: 'copied', sql: 'select * from "in.c-secret"."keys"' }])
  const other = await stack.configure(COMPONENT, { parameters: { ...PARAMETERS, buckets: [] } })
  assert.equal((await run(stack, other)).status, 'success')
  const configData = { parameters: { ...PARAMETERS, buckets: [] } }
  const again = await stack.request('POST', '/queue/jobs', {
    token,
    json: { component: COMPONENT, config: other, mode: 'run', configData },
  })
  const { status, result } = (await stack.wait(again.json<Job>())) as DbtJob
  assert.equal(status, 'error', 'the workspace has what its creator may read')
  assert.match(result.message, /which another token created\. Run it with that token or one with canManageBuckets/)
})

test('the alias of a model cannot lead out of the data folder', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack } = await startProject()
  const target = join(folder, 'outside')
  writeFileSync(target, 'as before')
  const alias = `x/${'../'.repeat(20)}${target.slice(1)}`
  writeModels([...MODELS, { name: 'escape', alias, sql: "select 'written by a model' as text" }])
  const job = await run(stack, await stack.configure(COMPONENT, { parameters: PARAMETERS }))
  assert.equal(job.status, 'error', JSON.stringify(job.result))
  assert.match(job.result.message, /the relation of model\.shop\.escape cannot be a table: .* Only alphanumeric characters/)
  assert.equal(readFileSync(target, 'utf8'), 'as before')
  assert.equal(existsSync(`${target}.manifest`), false)
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-analytics.customers')).status, 404)
})

test('a project in a zip file runs; a project that cannot be used is refused with a sentence', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack } = await startProject()
  const upload = async (name: string, bytes: Uint8Array) => {
    const body = new FormData()
    body.append('data', new Blob([new Uint8Array(bytes)]), name)
    return (await stack.request('POST', '/import/upload-file', { body })).json<{ id: number }>().id
  }
  const models = JSON.stringify([{ name: 'one', sql: 'select 1 as id' }])
  const id = await upload(
    'shop.zip',
    zipSync({ 'shop-main/dbt_project.yml': strToU8('name: shop\n'), 'shop-main/models.json': strToU8(models) }),
  )
  const job = await run(
    stack,
    await stack.configure(COMPONENT, { parameters: { ...PARAMETERS, docs: false, project: { file: { id } } } }),
  )
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  assert.deepEqual(await rowsOf(stack, 'out.c-analytics.one'), ['"1"', '"id"'])

  const refused = async (parameters: object): Promise<string> => {
    const ended = await run(stack, await stack.configure(COMPONENT, { parameters: { ...PARAMETERS, ...parameters } }))
    assert.equal(ended.status, 'error')
    return ended.result.message
  }
  assert.match(await refused({ project: {} }), /parameters\.project must name one of git/)
  assert.match(await refused({ project: { folder: 'others' } }), /"others", and the operator of this stack has named models/)
  assert.match(await refused({ project: { file: { id: 1e9 } } }), /the file 1000000000 does not exist/)
  assert.match(
    await refused({ project: { file: { id: await upload('out.zip', zipSync({ '../out': strToU8('x') })) } } }),
    /leads out of it/,
  )
  assert.match(
    await refused({ project: { file: { id: await upload('bad.zip', strToU8('nothing')) } } }),
    /not a zip file that can be read/,
  )
  assert.match(await refused({ project: { folder: 'models', path: '../x' } }), /must stay within the project/)
  assert.match(await refused({ environment: { PATH: '/tmp' } }), /names of variables begin with DBT_/)
  assert.match(await refused({ vars: { a: [{ '#key': 'x' }] } }), /parameters\.vars has the secret "#key"/)
  const git = { repository: 'http://git.example/shop.git', '#password': 'x' }
  assert.match(await refused({ project: { git } }), /must begin with https:\/\/, because its credentials/)
  assert.match(await refused({ thread: 4 }), /parameters/)
})

test('a project in git runs at the commit of its branch, with credentials; a repository that cannot be read is refused with a sentence', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const { stack } = await startProject()
  const git = await startGitServer(t, '/team/shop.git')
  git.credentials = { username: 'bot', password: 'wonderland' }
  const files = (value: number) => ({
    'dbt/dbt_project.yml': 'name: shop\n',
    'dbt/models.json': JSON.stringify([{ name: 'versions', sql: `select ${value} as id` }]),
  })
  await git.commit(files(1))
  await git.branch('release')
  const newest = await git.commit(files(2))
  const project = (more: object = {}) => ({
    ...{ ...PARAMETERS, docs: false },
    project: { git: { repository: git.url, username: 'bot', '#password': 'wonderland', ...more }, path: 'dbt' },
  })
  const config = await stack.configure(COMPONENT, { parameters: project() })
  const job = await run(stack, config)
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  assert.deepEqual(await rowsOf(stack, 'out.c-analytics.versions'), ['"2"', '"id"'])
  const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=100`)).text
  assert.ok(events.includes(newest), 'the job names the commit')
  assert.ok(!events.includes('wonderland'))
  const released = await run(stack, config, { parameters: project({ ref: 'release' }) })
  assert.equal(released.status, 'success', JSON.stringify(released.result))
  assert.deepEqual(await rowsOf(stack, 'out.c-analytics.versions'), ['"1"', '"id"'])

  const refused = async (more: object): Promise<string> => {
    const ended = await run(stack, config, { parameters: project(more) })
    assert.equal(ended.status, 'error')
    return ended.result.message
  }
  assert.match(await refused({ '#password': 'other' }), /cannot be fetched from .*shop\.git.*parameters\.project\.git/)
  assert.match(await refused({ ref: 'gone' }), /cannot be fetched from .*gone/)
  assert.match(await refused({ repository: `${git.origin}/team/other.git` }), /cannot be fetched from/)
  assert.match(await refused({ repository: '/etc' }), /must be an address that begins with https:\/\//)
  assert.match(await refused({ repository: 'https://169.254.169.254/x.git' }), /cannot be fetched from/)
})
