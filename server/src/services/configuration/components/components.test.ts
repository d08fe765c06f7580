import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { createJsonFolder } from '../../../engines/json-folder/json-folder.ts'
import { BUILTIN } from './builtin.ts'
import { createComponents } from './components.ts'

const silent = { warn: () => {}, info: () => {} }

async function openFolder(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-components-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const components = createComponents({ folder: createJsonFolder(folder), log: silent })
  const write = async (file: string, content: unknown) => {
    await writeFile(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
    await components.reload()
  }
  return { components, write, folder }
}

test('the scheduler and the extractor are known by their own and by their public ids', async (t) => {
  const { components } = await openFolder(t)
  assert.equal(components.find('keboola.scheduler'), components.find('platform.scheduler'))
  assert.equal(components.canonicalId('platform.ex-http'), 'keboola.ex-generic-v2')
  assert.equal(components.canonicalId('platform.processor-rename-headers'), 'kds-team.processor-rename-headers')
  assert.equal(components.canonicalId('no.such'), 'no.such')
  assert.deepEqual(components.namesOf('ex-generic-v2'), ['keboola.ex-generic-v2', 'ex-generic-v2', 'platform.ex-http'])
  assert.deepEqual(['platform.ex-http', 'ex-generic-v2', 'platform.none', 'no.such'].map(components.listedId), [
    'keboola.ex-generic-v2',
    'ex-generic-v2',
    'platform.none',
    'no.such',
  ])
})

test('every program that we ship is the main.ts of its folder, which is what the package has', () => {
  const programs = BUILTIN.map(({ data }) => data.definition).filter(({ type, uri }) => type === 'builtin' && uri.includes('/'))
  assert.ok(programs.length > 20)
  for (const { uri } of programs) {
    assert.match(uri, /^[a-z-]+\/src\/main\.ts$/)
    assert.ok(existsSync(new URL(`../../../../../components/${uri}`, import.meta.url)), uri)
  }
})

test('a file of the folder is a component as soon as it is read, changes and goes', async (t) => {
  const { components, write, folder } = await openFolder(t)
  await components.reload()
  await write('mine.json', { id: 'acme.ex-one', aliases: ['acme.one'], type: 'extractor', name: 'One', data: { memory: '1g' } })
  const found = components.find('acme.one')
  assert.deepEqual([found?.name, found?.data.memory, found?.data.configuration_format, found?.version], ['One', '1g', 'json', 1])
  await write('mine.json', { id: 'acme.ex-one', type: 'extractor', name: 'Two, and longer' })
  assert.equal(components.find('acme.ex-one')?.name, 'Two, and longer')
  await rm(join(folder, 'mine.json'))
  await components.reload()
  assert.equal(components.find('acme.ex-one'), undefined)
})

test('a writer or application asks before it runs in a development branch, unless its description says otherwise', async (t) => {
  const { components, write } = await openFolder(t)
  const featuresOf = (id: string) => components.find(id)?.features
  await write('w.json', { id: 'acme.wr', type: 'writer', name: 'W' })
  await write('x.json', { id: 'acme.ex', type: 'extractor', name: 'E' })
  await write('y.json', { id: 'acme.app', type: 'application', name: 'A', features: [] })
  assert.deepEqual(featuresOf('acme.wr'), ['dev-branch-configuration-unsafe'])
  assert.deepEqual([featuresOf('acme.ex'), featuresOf('acme.app')], [[], []])
})

test('a broken file is named with its field, and what was good stays', async (t) => {
  const { components, write } = await openFolder(t)
  await write('a.json', { id: 'acme.a', name: 'A' })
  await write('a.json', { id: 'acme.a', name: 'A', data: { memory: 'lots' }, hasUI: 'yes' })
  assert.equal(components.find('acme.a')?.name, 'A')
  assert.ok(
    components.problems().some((problem) => /^a\.json: data\.memory: /.test(problem)),
    String(components.problems()),
  )
  assert.ok(components.problems().some((problem) => /^a\.json: hasUI: /.test(problem)))
  await write('b.json', '{"id": ')
  assert.ok(components.problems().some((problem) => /^b\.json: it is not valid JSON/.test(problem)))
  await write('b.json', '{"name":"no id"}')
  assert.ok(
    components.problems().some((problem) => /^b\.json: .*id/.test(problem)),
    String(components.problems()),
  )
  await write('b.json', '[]')
  await write('a.json', { id: 'acme.a', name: 'A2' })
  assert.deepEqual(components.problems(), ['b.json: the file is not a JSON object'])
})

test('ids and aliases that are taken are reported and change nothing', async (t) => {
  const { components, write } = await openFolder(t)
  await write('a.json', { id: 'acme.a', name: 'A', aliases: ['platform.scheduler'] })
  await write('b.json', { id: 'acme.a', name: 'B' })
  await write('c.json', { id: 'platform.scheduler', name: 'C' })
  assert.equal(components.canonicalId('platform.scheduler'), 'keboola.scheduler')
  assert.equal(components.find('acme.a')?.name, 'A')
  assert.equal(components.problems().length, 3, String(components.problems()))
})

test('detail needs no token, the index lists every component with every field of the specification', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-components-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await mkdir(join(dataDir, 'components'))
  const password = {
    definition: { type: 'dockerhub', uri: 'acme/x', tag: '1', repository: { region: 'eu', '#password': 'registry-canary' } },
  }
  await writeFile(join(dataDir, 'components', 'x.json'), JSON.stringify({ id: 'acme.x', name: 'X', data: password }))
  const { request } = await startTestStack(t, { dataDir })
  const detail = await request('GET', '/v2/storage/components/platform.scheduler', { token: null })
  assert.deepEqual([detail.status, detail.json().id], [200, 'keboola.scheduler'])
  const index = await request('GET', '/v2/storage', { token: null })
  const { components } = index.json<{ components: Record<string, unknown>[] }>()
  const fields =
    'id type name description longDescription version hasUI hasRun ico32 ico64 data flags configurationSchema emptyConfiguration uiOptions configurationDescription documentationUrl'
  const data =
    'definition vendor configuration_format network memory forward_token forward_token_details default_bucket default_bucket_stage staging_storage'
  for (const component of components) {
    for (const field of fields.split(' ')) assert.ok(field in component, `${component.id} ${field}`)
    for (const field of data.split(' ')) assert.ok(field in (component.data as object), `${component.id} data.${field}`)
  }
  assert.ok(components.some((component) => component.id === 'acme.x'))
  assert.ok(!index.text.includes('registry-canary'))
  assert.equal((await request('GET', '/v2/storage/components/no.such', { token: null })).status, 404)
  const unknown = await request('GET', '/v2/storage/components?include=nonsense')
  assert.deepEqual([unknown.status, unknown.json<{ errors: { key: string }[] }>().errors[0]?.key], [400, 'include'])
})

test('the encrypt endpoint takes JSON and text, needs no token and refuses the rest', async (t) => {
  const { request, projectId } = await startTestStack(t)
  const encrypt = (query: string, body: string, type: string) =>
    request('POST', `/encryption/encrypt?${query}`, { body, token: null, headers: { 'content-type': type } })
  const json = await encrypt(
    `projectId=${projectId}&componentId=keboola.ex-generic-v2`,
    '{"#a":"x","b":1.10}',
    'application/json',
  )
  assert.equal(json.headers.get('content-type'), 'application/json')
  assert.match(json.text, /^\{"#a":"KBC::ProjectSecure::[^"]+","b":1\.10\}$/)
  const text = await encrypt('', 'a secret', 'text/plain')
  assert.equal(text.headers.get('content-type')?.split(';')[0], 'text/plain')
  assert.match(text.text, /^KBC::Secure::/)
  assert.equal((await encrypt('', text.text, 'text/plain')).text, text.text)
  for (const [query, body, type] of [
    ['configId=1', 'x', 'text/plain'],
    ['branchType=dev', 'x', 'text/plain'],
    ['branchType=other&projectId=1', 'x', 'text/plain'],
    ['', '', 'text/plain'],
    ['', '{"#a":"canary', 'application/json'],
    ['', 'a=b', 'application/x-www-form-urlencoded'],
  ] as const) {
    const answer = await encrypt(query, body, type)
    assert.equal(answer.status, 400, `${query} ${body} ${answer.text}`)
    assert.ok(!answer.text.includes('canary'))
  }
  assert.equal((await request('GET', '/encryption', { token: null })).status, 200)
})

test('a description that cannot be used answers with its reason, until it is mended', async (t) => {
  const { request, dataDir } = await startTestStack(t)
  const folder = join(dataDir, 'components')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'counter.json'), '{ not json')
  await writeFile(join(folder, 'other.json'), JSON.stringify({ id: 'acme.second', name: 'x', data: { memory: 'lots' } }))
  const reasonOf = (id: string) =>
    until(`${id} has been read`, async () => {
      const answer = await request('GET', `/v2/storage/components/${id}`)
      return answer.json().code === 'storage.components.descriptionInvalid' && answer
    })
  const unread = await reasonOf('acme.counter')
  assert.equal(unread.status, 404)
  assert.match(
    String(unread.json().error),
    /^The description of component "acme\.counter" is invalid\. components\/counter\.json: .*JSON/,
  )
  await reasonOf('acme.second')
  const config = await request('POST', '/v2/storage/components/acme.second/configs', { json: { name: 'c' } })
  assert.match(String(config.json().error), /other\.json: data\.memory: /)
  const job = await request('POST', '/queue/jobs', { json: { component: 'acme.second', config: '1', mode: 'run' } })
  assert.match(String(job.json().error), /other\.json: data\.memory: /)
  assert.equal((await request('GET', '/v2/storage/components/acme.third')).json().code, 'storage.components.notFound')

  await writeFile(join(folder, 'other.json'), JSON.stringify({ id: 'acme.second', name: 'x', data: { memory: '64m' } }))
  await until('it is mended', async () => (await request('GET', '/v2/storage/components/acme.second')).status === 200)
})
