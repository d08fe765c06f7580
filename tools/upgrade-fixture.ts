// Writes tests/fixtures/data-folder-<version>.tar.gz: the data folder of a stack of this version that holds something of everything.
// `node tools/upgrade-fixture.ts`, once for each release (RELEASING.md); tests/faults/upgrade.test.ts starts later versions on it.
// The keys in it belong to nothing else.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rename } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Stack, startStackProcess } from '../tests/support/stack-process.ts'

const FIXTURES = fileURLToPath(new URL('../tests/fixtures', import.meta.url))
const COMPONENT = 'keboola.ex-generic-v2'
const CONFIGS = `/v2/storage/components/${COMPONENT}/configs`
const SECRET = 'canary-of-the-upgrade-fixture'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
const cleanUps: (() => unknown)[] = []
const stack = await startStackProcess(
  { after: (work) => cleanUps.push(work as () => unknown) },
  { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1' } },
)
const facts = await fill(stack)
assert.equal(await stack.stop(), 0)
const folder = await mkdtemp(join(tmpdir(), 'millrace-fixture-'))
writeFileSync(join(folder, 'facts.json'), JSON.stringify({ ...facts, masterToken: stack.masterToken, secret: SECRET }, null, 2))
await rename(stack.dataDir, join(folder, 'data'))
const archive = join(FIXTURES, `data-folder-${version}.tar.gz`)
execFileSync('tar', [
  '--create',
  '--gzip',
  '--exclude=data/cache',
  '--file',
  archive,
  '--directory',
  folder,
  'data',
  'facts.json',
])
rmSync(folder, { recursive: true })
for (const work of cleanUps) await work()
console.log(`Wrote ${archive}, ${Math.round(readFileSync(archive).length / 1024)} KiB.`)

/** Something of everything that must outlive an upgrade. Answers what a client would have written down. */
async function fill(stack: Stack) {
  await make(stack, '/v2/storage/buckets', { name: 'main', stage: 'in' })
  const tables = '/v2/storage/buckets/in.c-main/tables'
  await form(stack, tables, { name: 'orders', primaryKey: 'id', dataString: 'id,amount\n1,10\n2,20\n3,30\n' })
  const keptJob = await make(stack, '/v2/storage/tables/in.c-main.orders/snapshots', { description: 'before' })
  await finished(stack, `/v2/storage/jobs/${keptJob.id}`)
  await form(stack, '/v2/storage/tables/in.c-main.orders/import', { incremental: '1', dataString: 'id,amount\n3,33\n4,40\n' })
  const typedJob = await make(stack, '/v2/storage/buckets/in.c-main/tables-definition', {
    name: 'prices',
    primaryKeysNames: ['item'],
    columns: [
      { name: 'item', basetype: 'STRING' },
      { name: 'price', definition: { type: 'NUMERIC', length: '10,2' } },
    ],
  })
  await finished(stack, `/v2/storage/jobs/${typedJob.id}`)
  await form(stack, '/v2/storage/tables/in.c-main.prices/import', { dataString: 'item,price\nflour,1.25\n' })
  await make(stack, '/v2/storage/buckets/in.c-main/table-aliases', {
    name: 'large-orders',
    sourceTable: 'in.c-main.orders',
    aliasFilter: { column: 'amount', values: ['40'] },
  })
  await make(stack, '/v2/storage/tables/in.c-main.orders/metadata', {
    provider: 'user',
    metadata: [{ key: 'owner', value: 'finance' }],
  })

  const upload = new FormData()
  upload.set('data', new Blob(['a file, byte by byte\n']), 'note.txt')
  upload.set('isPermanent', '1')
  upload.append('tags[]', 'kept')
  const file = (await (await send(stack, '/import/upload-file', upload)).json()) as { id: number }

  const api = createServer((request, response) => {
    const isKnown = request.headers['x-key'] === SECRET
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end('[{"id":"c1","name":"Ada"}]')
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/` // a TCP server has an address with a port
  await make(stack, CONFIGS, {
    configurationId: 'shop',
    name: 'Shop',
    configuration: {
      parameters: {
        api: { baseUrl, http: { headers: { 'X-Key': { attr: '#key' } } } },
        config: { '#key': SECRET, outputBucket: 'shop' },
      },
    },
  })
  await make(stack, `${CONFIGS}/shop/rows`, {
    rowId: 'customers',
    name: 'Customers',
    configuration: { parameters: { config: { jobs: [{ endpoint: 'customers', dataType: 'customers' }] } } },
  })
  await request(stack, 'PUT', `${CONFIGS}/shop`, {
    description: 'All customers of the shop',
    changeDescription: 'said what it is',
  })
  await make(stack, CONFIGS, { configurationId: 'gone', name: 'Gone' })
  await request(stack, 'DELETE', `${CONFIGS}/gone`)
  const job = await make(stack, '/queue/jobs', { component: COMPONENT, config: 'shop', mode: 'run' })
  await finished(stack, `/queue/jobs/${job.id}`)
  api.close()

  const reader = await make(stack, '/v2/storage/tokens', { description: 'reader', bucketPermissions: { 'in.c-main': 'read' } })
  await make(stack, '/vault/variables', { key: 'colour', value: 'green' })
  const schedule = {
    schedule: { cronTab: '0 0 1 1 *', timezone: 'UTC', state: 'enabled' },
    target: { componentId: COMPONENT, configurationId: 'shop', mode: 'run' },
  }
  await make(stack, '/v2/storage/components/keboola.scheduler/configs', {
    configurationId: 'yearly',
    name: 'Yearly',
    configuration: schedule,
  })
  await make(stack, '/scheduler/schedules', { configurationId: 'yearly' })
  const branchJob = await make(stack, '/v2/storage/dev-branches', { name: 'feature' })
  await finished(stack, `/v2/storage/jobs/${branchJob.id}`)
  return { fileId: file.id, jobId: String(job.id), readerToken: String(reader.token) }
}

type Answered = Readonly<Record<string, unknown>>

async function request(stack: Stack, method: string, path: string, body?: unknown): Promise<Answered> {
  const answer = await stack.request(method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as Answered // JSON of our own API
}

function make(stack: Stack, path: string, body: unknown): Promise<Answered> {
  return request(stack, 'POST', path, body)
}

async function send(stack: Stack, path: string, body: FormData | URLSearchParams): Promise<Response> {
  const answer = await fetch(stack.url + path, { method: 'POST', headers: { 'x-storageapi-token': stack.masterToken }, body })
  assert.ok(answer.ok, `${path}: ${answer.status} ${answer.ok ? '' : await answer.text()}`)
  return answer
}

function form(stack: Stack, path: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  return send(stack, path, new URLSearchParams(fields))
}

async function finished(stack: Stack, path: string): Promise<void> {
  for (;;) {
    const { status, isFinished } = await request(stack, 'GET', path)
    if (status === 'error') throw new Error(`${path} failed.`)
    if (isFinished === true || status === 'success') return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
