// Every release starts on the data folders of earlier ones: tests/fixtures/data-folder-<version>.tar.gz, each written by the stack of that
// version (tools/upgrade-fixture.ts) and never changed since. It describes their contents.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MIGRATIONS } from '../../server/src/engines/metadata-db/migrations/list.ts'
import { childEnvironment } from '../support/child-environment.ts'
import { icebergReader, type Loaded } from '../support/clients/iceberg-reader.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const FIXTURES = globSync(fileURLToPath(new URL('../fixtures/data-folder-*.tar.gz', import.meta.url)))
const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const KILLS = process.env.MILLRACE_LONG ? 30 : 3
const CONFIG = '/v2/storage/components/keboola.ex-generic-v2/configs/shop'

interface Facts {
  readonly masterToken: string
  readonly readerToken: string
  readonly secret: string
  readonly fileId: number
  readonly jobId: string
}

assert.ok(FIXTURES.length > 0, 'there is a data folder of an earlier release')
for (const archive of FIXTURES) {
  const version = basename(archive, '.tar.gz').replace('data-folder-', '')

  test(`the data folder of ${version} is served whole, and goes on working`, async (t) => {
    const { stack, facts } = await startOn(t, archive)
    await tablesAreThere(stack)
    await filesAreThere(stack, facts)
    await configurationsAreThere(stack)
    await permissionsAreThere(stack, facts)
    await otherEnginesReadThem(stack)
    await workGoesOn(t, stack, facts)
    assert.equal(await stack.stop(), 0)
    await stack.start()
    await tablesAreThere(stack)
  })
}

test('a start that is killed between migrations is continued by the next one', async (t) => {
  const archive = FIXTURES.toSorted()[0]! // of the oldest release: it has the most to migrate
  const { dataDir, facts } = await unpack(t, archive)
  const metadata = new DatabaseSync(join(dataDir, 'metadata.sqlite'), { readOnly: true })
  t.after(() => metadata.close())
  const applied = () => Number(metadata.prepare('select count(*) as n from migration').get()!.n)
  const counts = [applied()]
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...childEnvironment(), PORT: '0', MILLRACE_S3_PORT: '0', MILLRACE_DATA_DIR: dataDir },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    while (applied() === counts.at(-1) && child.exitCode === null) await setImmediate()
    child.kill('SIGKILL')
    await exited
    counts.push(applied())
  }
  const all = MIGRATIONS.length
  assert.ok(counts.at(-1)! < all, `killed after ${counts.join(', ')} of ${all} migrations`)
  const stack = await startStack(t, { existing: { dataDir, masterToken: facts.masterToken } })
  assert.equal(applied(), all)
  await tablesAreThere(stack)
  await configurationsAreThere(stack)
})

async function unpack(t: TestContext, archive: string): Promise<{ dataDir: string; facts: Facts }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  execFileSync('tar', ['--extract', '--gzip', '--file', archive, '--directory', folder])
  const facts = JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8')) as Facts // written by tools/upgrade-fixture.ts
  return { dataDir: join(folder, 'data'), facts }
}

async function startOn(t: TestContext, archive: string): Promise<{ stack: Stack; facts: Facts }> {
  const { dataDir, facts } = await unpack(t, archive)
  const stack = await startStack(t, {
    existing: { dataDir, masterToken: facts.masterToken },
    env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1' },
  })
  return { stack, facts }
}

async function tablesAreThere(stack: Stack): Promise<void> {
  assert.equal(await rowsOf(stack, 'in.c-main.orders'), '"amount","id"\n"10","1"\n"20","2"\n"33","3"\n"40","4"\n')
  assert.equal(await rowsOf(stack, 'in.c-main.large-orders'), '"amount","id"\n"40","4"\n')
  assert.equal(await rowsOf(stack, 'in.c-main.prices'), '"item","price"\n"flour","1.25"\n')
  const { isTyped, primaryKey } = await read(stack, '/v2/storage/tables/in.c-main.prices')
  assert.deepEqual([isTyped, primaryKey], [true, ['item']])
  const [metadata] = await read<Record<string, unknown>[]>(stack, '/v2/storage/tables/in.c-main.orders/metadata')
  assert.deepEqual([metadata?.key, metadata?.value], ['owner', 'finance'])
  const snapshots = await read<{ description: string }[]>(stack, '/v2/storage/tables/in.c-main.orders/snapshots')
  assert.deepEqual(
    snapshots.map(({ description }) => description),
    ['before'],
  )
}

/** Files of earlier versions, by the rules of Iceberg: delete files that name the bare key, and a column that came later. */
async function otherEnginesReadThem(stack: Stack): Promise<void> {
  const column = await stack.post('/v2/storage/tables/in.c-main.prices/columns', {
    name: 'unit',
    definition: { type: 'STRING', default: 'kg' },
  })
  assert.equal(column.status, 202, JSON.stringify(column.body))
  const job = `/v2/storage/jobs/${(column.body as { id: number }).id}`
  await until('the column is there', async () => (await read(stack, job)).status === 'success')
  const { url, masterToken } = stack
  const rowsBy = async (table: string): Promise<unknown> => {
    const address = `${url}/iceberg/v1/1/namespaces/in.c-main/tables/${table}`
    const headers = { authorization: `Bearer ${masterToken}`, 'x-iceberg-access-delegation': 'vended-credentials' }
    const reader = icebergReader((await (await fetch(address, { headers })).json()) as Loaded) // as the protocol defines
    return reader.rows().finally(reader.close)
  }
  assert.deepEqual(await rowsBy('orders'), [
    ['1', '10'],
    ['2', '20'],
    ['3', '33'],
    ['4', '40'],
  ])
  assert.deepEqual(await rowsBy('prices'), [['flour', '1.25', 'kg']])
  const removed = await stack.request('DELETE', '/v2/storage/tables/in.c-main.prices/columns/unit')
  const removal = `/v2/storage/jobs/${(removed.body as { id: number }).id}`
  await until('the column is gone', async () => (await read(stack, removal)).status === 'success')
}

async function filesAreThere(stack: Stack, { fileId }: Facts): Promise<void> {
  const file = await read(stack, `/v2/storage/files/${fileId}`)
  assert.deepEqual([file.name, file.tags], ['note.txt', ['kept']])
  assert.equal(await (await fetch(String(file.url))).text(), 'a file, byte by byte\n')
}

async function configurationsAreThere(stack: Stack): Promise<void> {
  const { name, version, rows, configuration } = await read<{
    name: string
    version: number
    rows: { id: string; name: string }[]
    configuration: { parameters: { config: Record<string, string> } }
  }>(stack, CONFIG)
  assert.deepEqual([name, version, rows.map((row) => [row.id, row.name])], ['Shop', 3, [['customers', 'Customers']]])
  assert.match(configuration.parameters.config['#key'] ?? '', /^KBC::/)
  const versions = await read<{ version: number; changeDescription: string }[]>(stack, `${CONFIG}/versions`)
  assert.deepEqual([versions.length, versions[0]?.changeDescription], [3, 'said what it is'])
  const deleted = await read<{ id: string }[]>(stack, `${CONFIG.replace('/shop', '')}?isDeleted=true`)
  assert.deepEqual(
    deleted.map(({ id }) => id),
    ['gone'],
  )
  const branches = await read<{ name: string }[]>(stack, '/v2/storage/dev-branches')
  assert.ok(branches.some((branch) => branch.name === 'feature'))
  const [schedule] = await read<{ configurationId: string; nextExecutionTime: string | null }[]>(stack, '/scheduler/schedules')
  assert.equal(schedule?.configurationId, 'yearly')
  assert.match(schedule.nextExecutionTime ?? '', /-01-01T00:00:00/)
  assert.deepEqual(
    (await read<{ key: string; value: string }[]>(stack, '/vault/variables')).map(({ key, value }) => [key, value]),
    [['colour', 'green']],
  )
}

async function permissionsAreThere(stack: Stack, { readerToken }: Facts): Promise<void> {
  const as = { 'x-storageapi-token': readerToken }
  assert.equal((await stack.get('/v2/storage/tables/in.c-main.orders/data-preview', as)).status, 200)
  assert.equal((await stack.request('DELETE', '/v2/storage/tables/in.c-main.orders', undefined, as)).status, 403)
}

/** The old job can be read, and the configuration runs again: its secret opens, and its results are loaded into the table of the old run. */
async function workGoesOn(t: TestContext, stack: Stack, { jobId, secret }: Facts): Promise<void> {
  assert.equal((await read(stack, `/queue/jobs/${jobId}`)).status, 'success')
  assert.equal(await rowsOf(stack, 'in.c-shop.customers'), '"id","name"\n"c1","Ada"\n')
  const api = createServer((request, response) => {
    const isKnown = request.headers['x-key'] === secret
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end('[{"id":"c2","name":"Grace"}]')
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  t.after(() => api.close())
  const stored = await read<{ configuration: { parameters: { api: { baseUrl: string } } } }>(stack, CONFIG)
  stored.configuration.parameters.api.baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/` // a TCP server has one
  assert.equal((await stack.request('PUT', CONFIG, { configuration: stored.configuration })).status, 200)
  const job = await stack.post('/queue/jobs', { component: 'keboola.ex-generic-v2', config: 'shop', mode: 'run' })
  assert.equal(job.status, 201, JSON.stringify(job.body))
  const path = `/queue/jobs/${(job.body as { id: string }).id}`
  await until('the job ends', async () => (await read(stack, path)).isFinished)
  assert.equal((await read(stack, path)).status, 'success', JSON.stringify((await stack.get(path)).body))
  assert.match(await rowsOf(stack, 'in.c-shop.customers'), /"c2","Grace"/)
}

/** As CSV, columns and rows in order: neither the place of a column nor that of a row is promised. */
async function rowsOf(stack: Stack, table: string): Promise<string> {
  const { status, body } = await stack.get(`/v2/storage/tables/${table}/data-preview?format=json`)
  assert.equal(status, 200, `${table}: ${JSON.stringify(body)}`)
  const { rows } = body as { rows: { columnName: string; value: string }[][] } // as the API document defines
  const cells = rows.map((row) => row.toSorted((a, b) => (a.columnName < b.columnName ? -1 : 1)))
  const names = cells[0]?.map(({ columnName }) => columnName) ?? []
  const lines = [names, ...cells.map((row) => row.map(({ value }) => value)).sort()]
  return lines.map((line) => `${line.map((value) => `"${value}"`).join()}\n`).join('')
}

async function read<T = Record<string, unknown>>(stack: Stack, path: string): Promise<T> {
  const { status, body } = await stack.get(path)
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
  return body as T // what the caller expects of our own API
}
