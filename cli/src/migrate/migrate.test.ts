// A project moves between two stacks through the public API alone: by hand over a folder, and in one command that is killed on the way.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { childEnvironment } from '../../../tests/support/child-environment.ts'
import { newProjectClient, type ProjectClient } from '../../../tests/support/clients/project-client.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack, type TestStack } from '../../../tests/support/test-stack.ts'
import { until } from '../../../tests/support/until.ts'
import { clientOf } from '../client.ts'
import { uploadSlices } from '../storage/file-upload.ts'

interface Report {
  readonly moved: Record<string, number>
  readonly notMoved: { readonly what: string; readonly reason: string }[]
  readonly secrets: { readonly place: string; readonly path: string; readonly link: string }[]
  readonly rewritten: { readonly place: string; readonly was: string }[]
  readonly tokens: { readonly was: string; readonly id: string; readonly description: string; readonly token: string }[]
  readonly addresses: { readonly source: string; readonly address: string }[]
}

interface Subscription {
  readonly event: string
  readonly filters: readonly { readonly value: unknown }[]
  readonly recipient: unknown
}

const SILENT = { onProgress: () => {}, onResume: () => {} }
const STREAMS = '/stream/v1/branches/default/sources'
const SHOP = 'components/keboola.ex-generic-v2/configs/shop'

/** Another project of a stack, which shares a bucket with all. */
async function share(stack: TestStack): Promise<number> {
  const suppliers = await newProjectClient(stack, 'suppliers')
  await suppliers.ok('POST', 'buckets', { name: 'offers' })
  await suppliers.ok('POST', 'buckets/in.c-offers/tables', { name: 'list', dataString: 'item\nflour\n' })
  await suppliers.succeed('POST', 'buckets/in.c-offers/share-organization')
  return suppliers.projectId
}

/** One of everything that moves. */
async function fill(t: TestContext, stack: TestStack, { ok, finished, call, masterToken }: ProjectClient): Promise<void> {
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
  await ok('POST', 'buckets/in.c-main/table-aliases', { name: 'whole', sourceTable: 'in.c-main.orders' })
  await ok('POST', 'buckets/in.c-main/table-aliases', { name: 'again', sourceTable: 'in.c-main.whole' })
  const linked = { name: 'offers', displayName: 'Offers', sourceProjectId: await share(stack), sourceBucketId: 'in.c-offers' }
  await ok('POST', 'buckets', linked)
  await ok('POST', 'buckets/in.c-main/table-aliases', { name: 'offered', sourceTable: 'in.c-offers.list' })

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
  const filters = [{ field: 'job.component.id', value: 'keboola.ex-generic-v2' }]
  await ok('POST', '/notification/project-subscriptions', { event: 'job-failed', filters, recipient })
  await ok('POST', '/notification/project-subscriptions', { event: 'job-failed', recipient }) // G12: of the default branch
  await ok('POST', '/vault/variables', { key: 'colour', value: 'green', flags: [] })
  await ok('POST', '/vault/variables', { key: 'hidden', value: 'v', flags: ['encrypted'] })
  const form = new FormData()
  form.set('data', new Blob(['a file\n']), 'note.txt')
  form.set('tags[]', 'kept')
  assert.ok((await call('POST', '/import/upload-file', { body: form })).status < 300)
  await uploadSlices(clientOf(stack.url, masterToken), await slices(t), { name: 'parts.csv', tags: ['sliced'], ...SILENT })

  const { id: tokenId } = await ok<{ id: string }>('POST', 'tokens', {
    description: 'nightly runs',
    componentAccess: ['keboola.orchestrator'],
    bucketPermissions: { 'in.c-main': 'read' },
  })
  for (const runWithTokenId of [Number(tokenId), Number((await ok<{ id: string }>('GET', 'tokens/verify')).id)])
    await ok('POST', 'triggers', {
      component: 'keboola.orchestrator',
      configurationId: 'nightly',
      coolDownPeriodMinutes: 7,
      runWithTokenId,
      tableIds: runWithTokenId === Number(tokenId) ? ['in.c-main.orders'] : ['in.c-main.orders', 'in.c-main.prices'],
    })
  await ok('POST', STREAMS, { sourceId: 'clicks', name: 'Clicks', description: 'of the shop' })
  const settings = [{ key: 'storage.level.target.import.trigger.count', value: 321 }]
  await ok('PATCH', `${STREAMS}/clicks/settings`, { settings })
  const columns = [
    { type: 'uuid', name: 'id' },
    { type: 'path', name: 'page', path: 'page', rawString: true },
  ]
  const table = { type: 'keboola', tableId: 'in.c-main.clicks', mapping: { columns } }
  await ok('POST', `${STREAMS}/clicks/sinks`, { sinkId: 'all', name: 'All', table })
  await ok('PUT', `${STREAMS}/clicks/disable`)
  await fillBranch({ ok, job })
}

/** A branch in which a configuration was changed, one made and one deleted, with a table and a file of its own. */
async function fillBranch({ ok, job }: Pick<ProjectClient, 'ok'> & { job: (path: string, json: object) => Promise<void> }) {
  await job('dev-branches', { name: 'trial', description: 'What if' })
  const { id } = await trialOf({ ok })
  await ok('POST', `branch/${id}/metadata`, { metadata: [{ key: 'ticket', value: '42' }] })
  await ok('PUT', `branch/${id}/${SHOP}/rows/b`, { configuration: { n: 3 } })
  await ok('DELETE', `branch/${id}/${SHOP}/rows/a`)
  await ok('POST', `branch/${id}/components/keboola.ex-generic-v2/configs`, { configurationId: 'extra', name: 'Extra' })
  await ok('DELETE', `branch/${id}/components/keboola.variables/configs/v`)
  await ok('POST', `branch/${id}/buckets`, { name: 'main' })
  await ok('POST', `branch/${id}/buckets/in.c-main/tables`, { name: 'orders', dataString: 'id\n9\n' })
}

const trialOf = async ({ ok }: Pick<ProjectClient, 'ok'>) => {
  const found = (await ok<{ id: number; name: string; description: string }[]>('GET', 'dev-branches')).find(
    ({ name }) => name === 'trial',
  )
  assert.ok(found, 'the branch is there')
  return found
}

/** Two slices, one of them packed, in files. */
async function slices(t: TestContext): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-slices-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const paths = [join(folder, 'one'), join(folder, 'two.gz')]
  await writeFile(paths[0]!, '1,a\n')
  await writeFile(paths[1]!, gzipSync('2,b\n'))
  return paths
}

/** What a project has, without what differs by nature: times, ids of tokens, ciphers stay as they are. */
async function contentOf(client: ProjectClient) {
  const { ok, call } = client
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
  const { id: main } = await ok<{ id: number }>('GET', 'dev-branches/default')
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
    subscriptions: (await ok<Subscription[]>('GET', '/notification/project-subscriptions')).map(
      ({ event, filters, recipient }) => [
        event,
        filters.map((one) => (one.value === String(main) ? { ...one, value: 'default' } : one)),
        recipient,
      ],
    ),
    files: (await ok<{ name: string; tags: string[] }[]>('GET', 'files?tags[]=kept')).map(({ name, tags }) => [name, tags]),
    vault: (await ok<{ key: string; value: string }[]>('GET', '/vault/variables'))
      .filter(({ key }) => key === 'colour')
      .map(({ value }) => value),
    aliases: [await rows('in.c-main.again'), await rows('in.c-offers.list'), await rows('in.c-main.offered')],
    sliced: await slicedRows(client),
    ...(await accessOf(client)),
    stream: await streamOf(client),
    branch: await branchOf(client),
  }
}

/** The sliced file as a table, which is how slices and their packing are read. */
async function slicedRows({ ok, call, succeed }: ProjectClient): Promise<string> {
  const [file] = await ok<{ id: number; isSliced: boolean }[]>('GET', 'files?tags[]=sliced')
  assert.equal(file?.isSliced, true)
  await succeed('POST', 'buckets/in.c-main/tables-async', { name: 'parts', dataFileId: file.id, columns: ['id', 'name'] })
  const { text } = await call('GET', 'tables/in.c-main.parts/data-preview')
  await ok('DELETE', 'tables/in.c-main.parts')
  return text
}

interface Scoped {
  readonly id: string
  readonly description: string
  readonly isMasterToken: boolean
  readonly componentAccess: string[]
  readonly bucketPermissions: object
}

async function accessOf({ ok }: ProjectClient) {
  const all = await ok<Scoped[]>('GET', 'tokens')
  const nameOf = (id: number) => {
    const found = all.find((one) => one.id === String(id))
    return found?.isMasterToken ? 'the master token' : found?.description
  }
  type Trigger = { component: string; configurationId: string; coolDownPeriodMinutes: number; runWithTokenId: number }
  const triggers = await ok<(Trigger & { tables: { tableId: string }[] })[]>('GET', 'triggers')
  return {
    tokens: all
      .filter(({ isMasterToken, description }) => !isMasterToken && !description.startsWith('[_internal]'))
      .map(({ description, componentAccess, bucketPermissions }) => [description, componentAccess, bucketPermissions]),
    triggers: triggers
      .map(({ component, configurationId, coolDownPeriodMinutes, runWithTokenId, tables }) => [
        nameOf(runWithTokenId),
        component,
        configurationId,
        coolDownPeriodMinutes,
        tables.map(({ tableId }) => tableId).sort(),
      ])
      .sort(),
  }
}

async function streamOf({ ok }: ProjectClient) {
  const { name, description, disabled } = await ok<{ name: string; description: string; disabled?: object }>(
    'GET',
    `${STREAMS}/clicks`,
  )
  const { settings } = await ok<{ settings: { key: string; value: unknown }[] }>('GET', `${STREAMS}/clicks/settings`)
  const { sinks } = await ok<{ sinks: { sinkId: string; name: string; table: object }[] }>('GET', `${STREAMS}/clicks/sinks`)
  return [
    [name, description, disabled !== undefined],
    settings.map(({ key, value }) => [key, value]),
    sinks.map(({ sinkId, name: named, table }) => [sinkId, named, table]),
  ]
}

async function branchOf({ ok, call }: ProjectClient) {
  const { id, description } = await trialOf({ ok })
  type Configuration = { id: string; name: string; rows: { id: string; configuration: unknown }[] }
  const components = await ok<{ id: string; configurations: Configuration[] }[]>(
    'GET',
    `branch/${id}/components?include=configuration,rows`,
  )
  const metadata = await ok<{ key: string; value: string }[]>('GET', `branch/${id}/metadata`)
  return {
    description,
    metadata: metadata.map(({ key, value }) => `${key}=${value}`),
    configurations: components.map((one) => [
      one.id,
      one.configurations.map(({ id: of, name, rows }) => [of, name, rows.map((row) => [row.id, row.configuration])]),
    ]),
    orders: (await call('GET', `branch/${id}/tables/in.c-main.orders/data-preview`)).text,
  }
}

async function twoStacks(t: TestContext) {
  const [from, to] = [await startTestStack(t), await startTestStack(t)]
  const source = await newProjectClient(from, 'source')
  await fill(t, from, source)
  await share(to)
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
  const shopFile = join(folder, 'configurations', 'keboola.ex-generic-v2', 'shop.json')
  const apiRequest = { headers: { 'X-Token': 'token' } }
  const login = { parameters: { api: { authentication: { type: 'login', apiRequest } } } }
  const old = { ...JSON.parse(await readFile(shopFile, 'utf8')), id: 'old', rows: [], versions: [], configuration: login }
  await writeFile(join(folder, 'configurations', 'keboola.ex-generic-v2', 'old.json'), JSON.stringify(old))
  const imported = await runCli(['import-project', folder, '--json'], env(to.url, target.masterToken))
  assert.equal(imported.code, 0, imported.out + imported.err)
  const report = imported.json<Report>()
  assert.deepEqual(
    [report.moved.buckets, report.moved.tables, report.moved.aliases, report.moved.configurations], // with those of the branch
    [2, 3, 4, 5],
  )
  assert.deepEqual(
    report.rewritten.map(({ place, was }) => [place, was]),
    [['configuration old of keboola.ex-generic-v2', 'token']],
  )
  const { configuration } = await target.ok<{ configuration: typeof login }>('GET', SHOP.replace('shop', 'old'))
  assert.deepEqual(configuration.parameters.api.authentication.apiRequest, { headers: { 'X-Token': { response: 'token' } } })
  const { 'linked buckets': links, branches, tokens, triggers, streams } = report.moved
  assert.deepEqual([links, branches, tokens, triggers, streams], [1, 1, 1, 2, 1])
  assert.deepEqual(
    report.notMoved.map(({ what }) => what),
    ['schedule at-two'],
  )
  assert.deepEqual(
    report.secrets.map(({ path }) => path),
    ['parameters.#key', '#token', 'hidden'],
  )
  const [made] = report.tokens
  const verified = await target.call('GET', 'tokens/verify', { token: made?.token ?? '' })
  assert.equal(verified.json<{ description: string }>().description, 'nightly runs', verified.text)
  assert.match(report.addresses[0]?.address ?? '', new RegExp(`^${to.url}/stream/${target.projectId}/clicks/`))
  assert.equal(report.secrets[0]?.link, `${to.url}/console/components/keboola.ex-generic-v2/shop`)
  assert.equal(report.secrets[2]?.link, `${to.url}/console/vault?set=hidden`)
  for (const { link, path } of report.secrets) assert.ok(link.startsWith(`${to.url}/console`), `${path}: ${link}`)
  assert.deepEqual(await contentOf(target), await contentOf(source))
  assert.deepEqual(await target.ok('GET', '/scheduler/schedules'), [], 'no schedule is active')

  const again = await runCli(['import-project', folder, '--json'], env(to.url, target.masterToken))
  assert.deepEqual([again.code, again.json<Report>().moved], [0, {}], again.err)
  assert.deepEqual(again.json<Report>().tokens, report.tokens, 'values of tokens are kept in the folder')
  assert.deepEqual(await contentOf(target), await contentOf(source))

  // Another project that has such a table and such a configuration already: both stay, the rest comes.
  const taken = await newProjectClient(to, 'taken')
  await taken.ok('POST', 'buckets', { name: 'main' })
  await taken.ok('POST', 'buckets/in.c-main/tables', { name: 'orders', dataString: 'mine\n1\n' })
  await taken.ok('POST', 'components/keboola.ex-generic-v2/configs', { configurationId: 'shop', name: 'Mine' })
  const partial = await runCli(['import-project', folder, '--json'], env(to.url, taken.masterToken))
  assert.equal(partial.code, 1)
  const left = partial.json<Report>().notMoved.map(({ what, reason }) => `${what}: ${reason}`)
  assert.ok(left.includes('table in.c-main.orders: It already exists in the project and was not changed.'), left.join('\n'))
  assert.ok(left.includes('configuration shop of keboola.ex-generic-v2: It already exists in the project and was not changed.'))
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
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
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
