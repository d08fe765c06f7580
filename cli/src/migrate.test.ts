// A project moves between two stacks through the public API alone: by hand over a folder, and in one command that is killed on the way.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../../tests/support/child-environment.ts'
import { newProjectClient, type ProjectClient } from '../../tests/support/project-client.ts'
import { runCli } from '../../tests/support/run-cli.ts'
import { startTestStack } from '../../tests/support/test-stack.ts'
import { until } from '../../tests/support/until.ts'

interface Report {
  readonly moved: Record<string, number>
  readonly notMoved: { readonly what: string; readonly reason: string }[]
  readonly secrets: { readonly place: string; readonly path: string; readonly link: string }[]
}

const SHOP = 'components/keboola.ex-generic-v2/configs/shop'

/** One of everything that moves. */
async function fill({ ok, finished, call }: ProjectClient): Promise<void> {
  const job = async (path: string, json: object) => {
    const ended = await finished(await ok<{ id: number }>('POST', path, json))
    assert.equal(ended.status, 'success', JSON.stringify(ended))
  }
  await ok('POST', 'buckets', { name: 'main', description: 'What we sell', displayName: 'sales' })
  await ok('POST', 'buckets/in.c-main/metadata', { provider: 'user', metadata: [{ key: 'owner', value: 'Ann' }] })
  const dataString = 'id,name\n1,"a ""quoted"", ž\nline"\n2,\nid,name\n' // the last row looks like the header
  await ok('POST', 'buckets/in.c-main/tables', { name: 'orders', dataString, primaryKey: 'id' })
  await ok('POST', 'tables/in.c-main.orders/metadata', {
    provider: 'user',
    metadata: [{ key: 'KBC.description', value: 'Orders' }],
  })
  await ok('POST', 'columns/in.c-main.orders.name/metadata', {
    provider: 'user',
    metadata: [{ key: 'KBC.description', value: 'Name' }],
  })
  await job('buckets/in.c-main/tables-definition', {
    name: 'prices',
    primaryKeysNames: ['item'],
    columns: [
      { name: 'item', definition: { type: 'VARCHAR', length: '20', nullable: false } },
      { name: 'price', basetype: 'NUMERIC' },
    ],
  })
  await ok('POST', 'tables/in.c-main.prices/import', { dataString: 'item,price\nflour,1.25\nsalt,\n' })
  const aliasFilter = { column: 'id', operator: 'eq', values: ['1'] }
  await ok('POST', 'buckets/in.c-main/table-aliases', { name: 'first', sourceTable: 'in.c-main.orders', aliasFilter })

  await ok('POST', 'components/keboola.ex-generic-v2/configs', {
    configurationId: 'shop',
    name: 'Shop',
    configuration: { parameters: { '#key': 'secret', z: 1, a: [1.5, null] } },
    changeDescription: 'begun',
  })
  await ok('POST', `${SHOP}/rows`, { rowId: 'b', name: 'Row b', configuration: { n: 1 }, changeDescription: 'a row' })
  await ok('POST', `${SHOP}/rows`, { rowId: 'a', name: 'Row a', configuration: { '#token': 'other' } })
  await ok('PUT', `${SHOP}/rows/b`, { configuration: { n: 2 }, changeDescription: 'more' })
  await ok('PUT', `${SHOP}/state`, { state: { seen: 7 } })
  await ok('POST', `branch/default/${SHOP}/metadata`, { metadata: [{ key: 'folder', value: 'Shops' }] })
  const task = {
    id: 't',
    name: 'Shop',
    phase: 'p',
    task: { mode: 'run', componentId: 'keboola.ex-generic-v2', configId: 'shop' },
  }
  await ok('POST', 'components/keboola.orchestrator/configs', {
    configurationId: 'nightly',
    name: 'Nightly',
    configuration: { phases: [{ id: 'p', name: 'All', dependsOn: [] }], tasks: [task] },
  })
  const target = { componentId: 'keboola.orchestrator', configurationId: 'nightly', mode: 'run' }
  const schedule = { cronTab: '0 2 * * *', timezone: 'UTC', state: 'enabled' }
  await ok('POST', 'components/keboola.scheduler/configs', {
    configurationId: 'at-two',
    name: 'At two',
    configuration: { schedule, target },
  })
  await ok('POST', '/scheduler/schedules', { configurationId: 'at-two' })
  await ok('POST', 'components/keboola.variables/configs', {
    configurationId: 'v',
    name: 'V',
    configuration: { variables: [{ name: 'x', type: 'string' }] },
  })
  const recipient = { channel: 'email', address: 'ann@example.com' }
  await ok('POST', '/notification/project-subscriptions', { event: 'job-failed', filters: [], recipient })
  await ok('POST', '/vault/variables', { key: 'colour', value: 'green', flags: [] })
  await ok('POST', '/vault/variables', { key: 'hidden', value: 'v', flags: ['encrypted'] })
  const form = new FormData()
  form.set('data', new Blob(['a file\n']), 'note.txt')
  form.set('tags[]', 'kept')
  assert.ok((await call('POST', '/import/upload-file', { body: form })).status < 300)
}

/** What a project has, without what differs by nature: times, ids of tokens, ciphers stay as they are. */
async function contentOf({ ok, call }: ProjectClient) {
  const rows = async (table: string) => (await call('GET', `tables/${table}/data-preview`)).text.split('\n').sort().join('\n')
  const pairs = (items: { key: string; value: string; provider?: string }[]) =>
    items.filter(({ provider }) => provider !== 'storage').map(({ key, value }) => `${key}=${value}`)
  type Described = {
    metadata: { key: string; value: string }[]
    columnMetadata: Record<string, { key: string; value: string }[]>
    primaryKey: string[]
    isTyped: boolean
    definition?: { columns: unknown[] }
  }
  const orders = await ok<Described>('GET', 'tables/in.c-main.orders')
  const prices = await ok<Described>('GET', 'tables/in.c-main.prices')
  const bucket = await ok<{ description: string; displayName: string; metadata: { key: string; value: string }[] }>(
    'GET',
    'buckets/in.c-main',
  )
  const shop = await ok<{
    name: string
    version: number
    configuration: unknown
    state: unknown
    rows: { id: string; name: string; configuration: unknown }[]
  }>('GET', SHOP)
  const versions = await ok<{ version: number; changeDescription: string }[]>('GET', `${SHOP}/versions`)
  return {
    bucket: [bucket.description, bucket.displayName, pairs(bucket.metadata)],
    orders: [
      await rows('in.c-main.orders'),
      orders.primaryKey,
      orders.isTyped,
      pairs(orders.metadata),
      pairs(orders.columnMetadata.name ?? []),
    ],
    prices: [await rows('in.c-main.prices'), prices.primaryKey, prices.isTyped, prices.definition?.columns],
    alias: await rows('in.c-main.first'),
    shop: [
      shop.name,
      shop.version,
      shop.configuration,
      shop.state,
      shop.rows.map(({ id, name, configuration }) => [id, name, configuration]),
    ],
    versions: versions.map(({ version, changeDescription }) => [version, changeDescription]),
    metadata: pairs(await ok('GET', `branch/default/${SHOP}/metadata`)),
    flow: (await ok('GET', 'components/keboola.orchestrator/configs/nightly')).configuration,
    variables: (await ok('GET', 'components/keboola.variables/configs/v')).configuration,
    schedule: (await ok('GET', 'components/keboola.scheduler/configs/at-two')).configuration,
    subscriptions: (await ok<{ event: string }[]>('GET', '/notification/project-subscriptions')).map(({ event }) => event),
    files: (await ok<{ name: string; tags: string[] }[]>('GET', 'files?tags[]=kept')).map(({ name, tags }) => [name, tags]),
    vault: (await ok<{ key: string; value: string }[]>('GET', '/vault/variables'))
      .filter(({ key }) => key === 'colour')
      .map(({ value }) => value),
  }
}

async function twoStacks(t: TestContext) {
  const [from, to] = [await startTestStack(t), await startTestStack(t)]
  const source = await newProjectClient(from, 'source')
  await fill(source)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-migrate-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return { from, to, source, folder }
}

test('a project moves between two stacks by a folder; what cannot move is reported, and a second time changes nothing', async (t) => {
  const { from, to, source, folder } = await twoStacks(t)
  const target = await newProjectClient(to, 'target')
  await to.platform.tokens.setProject(target.projectId, { provider: 'azure' }) // the command line uploads to either
  const env = (url: string, token: string) => ({ MILLRACE_URL: url, MILLRACE_TOKEN: token })
  const exported = await runCli(['export-project', folder, '--files', '--json'], env(from.url, source.masterToken))
  assert.equal(exported.code, 0, exported.err)
  const imported = await runCli(['import-project', folder, '--json'], env(to.url, target.masterToken))
  assert.equal(imported.code, 0, imported.out + imported.err)
  const report = imported.json<Report>()
  assert.deepEqual(
    [report.moved.buckets, report.moved.tables, report.moved.aliases, report.moved.configurations, report.moved.files], // two of the files are those of the loads above
    [1, 2, 1, 4, 3],
  )
  assert.deepEqual(
    report.notMoved.map(({ what }) => what),
    ['schedule at-two'],
  )
  assert.deepEqual(
    report.secrets.map(({ path }) => path),
    ['parameters.#key', '#token', 'hidden'],
  )
  assert.equal(report.secrets[0]?.link, `${to.url}/console/components/keboola.ex-generic-v2/shop`)
  assert.deepEqual(await contentOf(target), await contentOf(source))
  assert.deepEqual(await target.ok('GET', '/scheduler/schedules'), [], 'no schedule is active')

  const again = await runCli(['import-project', folder, '--json'], env(to.url, target.masterToken))
  assert.deepEqual([again.code, again.json<Report>().moved], [0, {}], again.err)
  assert.deepEqual(await contentOf(target), await contentOf(source))

  // Another project that has such a table and such a configuration already: both stay, the rest comes.
  const taken = await newProjectClient(to, 'taken')
  await taken.ok('POST', 'buckets', { name: 'main' })
  await taken.ok('POST', 'buckets/in.c-main/tables', { name: 'orders', dataString: 'mine\n1\n' })
  await taken.ok('POST', 'components/keboola.ex-generic-v2/configs', { configurationId: 'shop', name: 'Mine' })
  const partial = await runCli(['import-project', folder, '--json'], env(to.url, taken.masterToken))
  assert.equal(partial.code, 1)
  const left = partial.json<Report>().notMoved.map(({ what, reason }) => `${what}: ${reason}`)
  assert.ok(left.includes('table in.c-main.orders: The project has one already; it was left as it is.'), left.join('\n'))
  assert.ok(left.includes('configuration shop of keboola.ex-generic-v2: The project has one already; it was left as it is.'))
  assert.equal((await taken.call('GET', 'tables/in.c-main.orders/data-preview')).text, '"mine"\n"1"\n')
  assert.equal((await taken.ok('GET', SHOP)).name, 'Mine')
  assert.match((await taken.call('GET', 'tables/in.c-main.prices/data-preview')).text, /flour/)

  const nothing = await mkdtemp(join(tmpdir(), 'millrace-migrate-'))
  t.after(() => rm(nothing, { recursive: true, force: true }))
  await writeFile(join(nothing, 'x'), '')
  const refused = await runCli(['import-project', nothing], env(to.url, target.masterToken))
  assert.equal(refused.code, 1)
  assert.match(refused.err, /is not the folder of a project/)
})

test('a migration that is killed on the way goes on when it is run again', async (t) => {
  const { from, to, source, folder } = await twoStacks(t)
  const target = await newProjectClient(to, 'target')
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const args = [
    'migrate',
    '--from',
    from.url,
    '--token',
    source.masterToken,
    '--to',
    to.url,
    '--folder',
    join(folder, 'project'),
    '--files',
    '--json',
  ]
  const env = { MILLRACE_TOKEN: target.masterToken }
  const child = spawn(process.execPath, [main, ...args], { env: { ...childEnvironment(), ...env }, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await until('the import has begun', async () => (await target.call('GET', 'buckets/in.c-main')).status === 200)
  child.kill('SIGKILL')
  await ended
  const { code, out, err } = await runCli(args, env)
  assert.equal(code, 0, out + err)
  assert.deepEqual(await contentOf(target), await contentOf(source))
  const report = JSON.parse(await readFile(join(folder, 'project', 'report.json'), 'utf8')) as Report
  assert.equal(report.secrets.length, 3)
  const wrong = await runCli(['migrate', '--from', from.url, '--token', '1-no', '--folder', join(folder, 'other')], env)
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /401/)
})
