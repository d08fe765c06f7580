// What real clients expect of components, events and projects, by number: parts D and E. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ComponentDescription } from '../../contract/component.ts'
import { newProjectClient } from '../support/clients/project-client.ts'
import { shellStack } from '../support/shell-stack.ts'
import { startTestStack } from '../support/test-stack.ts'

type Json = Readonly<Record<string, unknown>>

test('corrections D and E: components, events, projects', async (t) => {
  const stack = await shellStack(t)

  await t.test('D61, D62: the index, the token and a running component are given the features that hold here', async () => {
    const { ok, call, run } = await newProjectClient(stack, 'D62')
    const index = await ok<{ features: string[] }>('GET', '/v2/storage?exclude=components')
    assert.ok(index.features.includes('queuev2') && index.features.includes('storage-branches'), index.features.join())
    assert.ok(!index.features.includes('protected-default-branch'), 'the default branch is not protected here')
    const { owner } = await ok<{ owner: { features: string[] } }>('GET', 'tokens/verify')
    assert.deepEqual(owner.features, index.features)

    await stack.add('test.features', 'echo "gates: $KBC_PROJECT_FEATURE_GATES"')
    const { id } = await ok<{ id: string }>('POST', 'components/test.features/configs', { name: 'One' })
    const job = await run('test.features', id)
    assert.equal(job.status, 'success', JSON.stringify(job.result))
    const said = (await call('GET', `events?runId=${job.id}`)).json<{ message: string }[]>()
    assert.ok(
      said.some(({ message }) => message === `gates: ${index.features.join(',')}`),
      JSON.stringify(said.map(({ message }) => message)),
    )
  })

  await t.test(
    'D64, corrections-2 G1: configurations are listed, searched and run under the public id they were made with; every id finds them',
    async () => {
      const { ok } = await newProjectClient(stack, 'D64')
      const made: Record<string, string> = {}
      for (const component of [
        'keboola.ex-generic-v2',
        'ex-generic-v2',
        'platform.ex-http',
        'keboola.flow',
        'keboola.orchestrator',
      ]) {
        const { id } = await ok<{ id: string }>('POST', `components/${component}/configs`, { name: component })
        made[component] = id
      }
      const listed = await ok<{ id: string; configurations: { name: string }[] }[]>('GET', 'components')
      assert.deepEqual(
        listed.map(({ id, configurations }) => [id, configurations.map(({ name }) => name)]),
        [
          ['ex-generic-v2', ['ex-generic-v2']],
          ['keboola.ex-generic-v2', ['keboola.ex-generic-v2', 'platform.ex-http']],
          ['keboola.flow', ['keboola.flow']],
          ['keboola.orchestrator', ['keboola.orchestrator']],
        ],
      )
      for (const component of ['keboola.ex-generic-v2', 'ex-generic-v2', 'platform.ex-http'])
        assert.equal((await ok<Json[]>('GET', `components/${component}/configs`)).length, 3, component)
      const searched = await ok<{ idComponent: string; configurationId: string }[]>(
        'GET',
        'branch/default/search/component-configurations',
      )
      type Found = { readonly items: readonly { readonly id: string; readonly componentId: string }[] }
      const { items } = await ok<Found>('GET', 'global-search?query=generic&types[]=configuration')
      assert.deepEqual(
        items.map(({ id, componentId }) => [id, componentId]).toSorted(),
        [...(['keboola.ex-generic-v2', 'ex-generic-v2'] as const).map((component) => [made[component], component])].toSorted(),
      )
      const own = searched.find(({ configurationId }) => configurationId === made['ex-generic-v2'])
      assert.equal(own?.idComponent, 'ex-generic-v2')
      const [event] = await ok<{ params: Json; message: string }[]>(
        'GET',
        `events?q=message:"ex-generic-v2" AND objectId:${made['ex-generic-v2']}`,
      )
      assert.deepEqual(
        [event?.params.component, event?.message],
        ['ex-generic-v2', 'Created component configuration "ex-generic-v2" (ex-generic-v2)'],
      )
      const ids = ['keboola.ex-generic-v2', 'ex-generic-v2', 'platform.ex-http', 'keboola.scheduler', 'platform.scheduler']
      const details = await Promise.all(ids.map(async (id) => (await ok('GET', `components/${id}`)).id))
      assert.deepEqual(details, [
        'keboola.ex-generic-v2',
        'ex-generic-v2',
        'keboola.ex-generic-v2',
        'keboola.scheduler',
        'keboola.scheduler',
      ])
      const index = await ok<{ components: { id: string; aliases: string[] }[] }>('GET', '/v2/storage')
      const ownNames = index.components.filter(({ id, aliases }) => id.startsWith('platform.') && aliases.length > 0)
      assert.deepEqual(ownNames, [], 'where a component has a public id, lists say that one')
      const listedIds = new Set(index.components.map(({ id }) => id))
      const publicIds = index.components.flatMap(({ id, aliases }) => [
        id,
        ...aliases.filter((one) => !one.startsWith('platform.')),
      ])
      assert.deepEqual([...listedIds].sort(), [...new Set(publicIds)].sort(), 'corrections-2 G1: an entry for each public id')
      for (const id of ['ex-generic-v2', 'keboola.snowflake-transformation', 'keboola.google-bigquery-transformation'])
        assert.ok(listedIds.has(id), id)
      const [described, alias] = ['keboola.ex-generic-v2', 'ex-generic-v2'].map(
        (id) => index.components.find((one) => one.id === id)!,
      )
      assert.deepEqual({ ...alias, id: described?.id, uri: undefined }, { ...described, uri: undefined }, 'the same description')
      const job = await ok<{ component: string }>('POST', '/queue/jobs', {
        component: 'ex-generic-v2',
        config: made['ex-generic-v2'],
        mode: 'run',
      })
      assert.equal(job.component, 'ex-generic-v2')
    },
  )

  await t.test(
    'D64: a default bucket is named after the id of its configuration; one of another id of the component stays in use',
    async () => {
      const { ok, run } = await newProjectClient(stack, 'D64 buckets')
      const script = 'printf "id\\n1\\n" > $KBC_DATADIR/out/tables/t.csv'
      await stack.add('test.named', script, { default_bucket: true }, { aliases: ['test.formerly', 'test.also'] })
      const runIn = async (component: string, bucket?: string) => {
        const { id } = await ok<{ id: string }>('POST', `components/${component}/configs`, { name: 'One' })
        if (bucket !== undefined) await ok('POST', 'buckets', { name: `${bucket}-${id}` })
        const job = await run('test.named', id)
        assert.equal(job.status, 'success', JSON.stringify(job.result))
        const tables = (await ok<{ id: string }[]>('GET', 'tables')).map((table) => table.id)
        return tables.filter((table) => table.includes(id)).map((table) => table.replace(id, '1'))
      }
      assert.deepEqual(await runIn('test.named'), ['in.c-test-named-1.t'])
      assert.deepEqual(await runIn('test.also'), ['in.c-test-also-1.t'])
      assert.deepEqual(await runIn('test.named', 'test-formerly'), ['in.c-test-formerly-1.t'])
    },
  )

  await t.test('D65: events are searched by their message', async () => {
    const { ok } = await newProjectClient(stack, 'D65')
    for (const message of ['100% of orders were read', 'orders were written'])
      await ok('POST', 'events', { component: 'test', message })
    const found = (q: string) => ok<{ message: string }[]>('GET', `events?q=${encodeURIComponent(q)}`)
    assert.deepEqual(
      (await found('message:"Orders were READ"')).map(({ message }) => message),
      ['100% of orders were read'],
    )
    assert.equal((await found('message:"orders were"')).length, 2)
    assert.equal((await found('message:"0%r"')).length, 0)
  })

  await t.test('D70: services that clients look up are in the index, and are real', async () => {
    const { ok } = await newProjectClient(stack, 'D70')
    const { services } = await ok<{ services: { id: string; url: string }[] }>('GET', '/v2/storage?exclude=components')
    const urls = new Map(services.map(({ id, url }) => [id, url]))
    for (const id of ['editor', 'data-science', 'query', 'stream', 'ai']) {
      assert.equal(urls.get(id), `${stack.url}/${id}`)
      const { isBuilt } = await ok<{ isBuilt: boolean }>('GET', `/${id}`)
      assert.equal(isBuilt, true, id)
    }
  })

  await t.test('D74: a project reports the backend that its operator names; without one the real one', async () => {
    const { ok, call, projectId } = await newProjectClient(stack, 'D74')
    const owner = async () => (await ok<{ owner: Json }>('GET', 'tokens/verify')).owner
    const bucket = (name: string) => call('POST', 'buckets', { json: { name, backend: 'snowflake' } })
    assert.deepEqual([(await owner()).defaultBackend, (await owner()).hasSnowflake], ['duckdb', false])
    assert.equal((await bucket('a')).status, 400)
    await stack.platform.tokens.setProject(projectId, { backend: 'snowflake' })
    assert.deepEqual([(await owner()).defaultBackend, (await owner()).hasSnowflake], ['snowflake', true])
    assert.equal((await bucket('b')).status, 201)
    await assert.rejects(stack.platform.tokens.setProject(projectId, { backend: 'oracle' }), /Values: duckdb, snowflake/)
    await stack.platform.tokens.setProject(projectId, { backend: '' })
    assert.equal((await owner()).defaultBackend, 'duckdb')
  })

  await t.test(
    'D83: a file that lacks columns is refused by name; a full load with another order of columns reorders the table',
    async () => {
      const { ok, call } = await newProjectClient(stack, 'D83')
      await ok('POST', 'buckets', { name: 'a' })
      await ok('POST', 'buckets/in.c-a/tables', { name: 't', dataString: 'id,name\n1,a\n', primaryKey: 'id' })
      const lacking = await call('POST', 'tables/in.c-a.t/import', { json: { dataString: 'id\n2\n' } })
      assert.equal(lacking.status, 400)
      assert.match(lacking.json<{ error: string }>().error, /^Some columns are missing in the csv file\. Missing columns: name\./)
      const columns = async () => (await ok<{ columns: string[] }>('GET', 'tables/in.c-a.t')).columns
      await ok('POST', 'tables/in.c-a.t/import', { dataString: 'name,id\nb,2\n', incremental: 1 })
      assert.deepEqual(await columns(), ['id', 'name'], 'an incremental load leaves the order')
      await ok('POST', 'tables/in.c-a.t/import', { dataString: 'name,id\nc,3\n' })
      assert.deepEqual(await columns(), ['name', 'id'])
      assert.equal((await call('GET', 'tables/in.c-a.t/data-preview')).text, '"name","id"\n"c","3"\n')
      await ok('POST', 'tables/in.c-a.t/import', { dataString: 'id,name\n3,d\n', incremental: 1 })
      assert.equal((await call('GET', 'tables/in.c-a.t/data-preview')).text, '"name","id"\n"d","3"\n', 'the key is still the key')
    },
  )

  await t.test(
    'E93: addresses of the index and of built-in components lead to pages; what is said of their makers is filled',
    async () => {
      const { ok } = await newProjectClient(stack, 'E93')
      const index = await ok<{ urlTemplates: Record<string, string>; components: ComponentDescription[] }>('GET', '/v2/storage')
      const pageOf = async (url: string) => {
        const answer = await fetch(url)
        assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/html; charset=utf-8'], url)
        return answer.text()
      }
      for (const template of Object.values(index.urlTemplates)) {
        const answer = await fetch(template.replaceAll(/&&\w+&&/g, 'one'))
        const isConsole = answer.status === 200 || (await answer.text()).includes('console.notBuilt') // as `npm start` has built it or not
        assert.ok(isConsole, template)
      }
      const builtIn = index.components.filter(({ id }) => !id.startsWith('test.'))
      assert.ok(builtIn.length > 20)
      for (const { id, hasUI, documentationUrl, ico32, ico64, ico128, data, name } of builtIn) {
        assert.equal(hasUI, true, `${id}: the console has its form`)
        assert.ok((await pageOf(documentationUrl)).includes(name), id)
        for (const icon of new Set([ico32, ico64, ico128])) assert.match(await (await fetch(icon ?? '')).text(), /^<svg /, id)
        assert.ok(data.vendor.name && data.vendor.contact.length > 0 && URL.canParse(data.vendor.licenseUrl), id)
      }
      assert.equal((await fetch(`${stack.url}/docs/components/no.such`)).status, 404)
    },
  )

  await t.test('E99: a preview says that it is UTF-8', async () => {
    const { ok, call } = await newProjectClient(stack, 'E99')
    await ok('POST', 'buckets', { name: 'a' })
    await ok('POST', 'buckets/in.c-a/tables', { name: 't', dataString: 'id\nž\n' })
    const preview = await call('GET', 'tables/in.c-a.t/data-preview')
    assert.equal(preview.headers.get('content-type'), 'text/csv; charset=utf-8')
  })

  await t.test('E98: a roll back restores configuration and rows, and leaves the state; the API document says so', async () => {
    const { ok } = await newProjectClient(stack, 'E98')
    const { id } = await ok<{ id: string }>('POST', 'components/ex-generic-v2/configs', { name: 'One', configuration: { a: 1 } })
    const path = `components/keboola.ex-generic-v2/configs/${id}`
    await ok('POST', `${path}/rows`, { rowId: 'r', name: 'r', configuration: { b: 1 } })
    await ok('PUT', path, { configuration: { a: 2 } })
    await ok('PUT', `${path}/rows/r`, { configuration: { b: 2 } })
    await ok('PUT', `${path}/state`, { state: { seen: 7 } })
    await ok('PUT', `${path}/rows/r/state`, { state: { seen: 8 } })
    await ok('POST', `${path}/versions/2/rollback`)
    const now = await ok<{ configuration: Json; state: Json; rows: { configuration: Json; state: Json }[] }>('GET', path)
    assert.deepEqual([now.configuration, now.state], [{ a: 1 }, { seen: 7 }])
    assert.deepEqual([now.rows[0]?.configuration, now.rows[0]?.state], [{ b: 1 }, { seen: 8 }])
    const { paths } = await ok<{ paths: Record<string, { post?: { summary: string } }> }>('GET', '/openapi.json')
    const rollBacks = Object.entries(paths).filter(([address]) => address.endsWith('/rollback'))
    assert.ok(rollBacks.length >= 2)
    for (const [address, { post }] of rollBacks) assert.match(post?.summary ?? '', /state stays/, address)
  })

  await t.test(
    'E101: slices of an export have no header; merged gives one CSV with a header, and the API document says so',
    async () => {
      const { ok, finished } = await newProjectClient(stack, 'E101')
      await ok('POST', 'buckets', { name: 'a' })
      await ok('POST', 'buckets/in.c-a/tables', { name: 't', dataString: 'id\n1\n' })
      const exported = async (json: object) => {
        const job = await finished(await ok<{ id: number }>('POST', 'tables/in.c-a.t/export-async', json))
        const { file, note } = job.results as { file: { id: number }; note?: string } // the results of tableExport
        return { ...(await ok<{ isSliced: boolean; url: string }>('GET', `files/${file.id}?federationToken=1`)), note }
      }
      const sliced = await exported({})
      assert.equal(sliced.isSliced, true)
      assert.match(sliced.note ?? '', /no header.*merged=true.*millrace table export/)
      const merged = await exported({ merged: true })
      assert.deepEqual([merged.isSliced, merged.note], [false, undefined])
      assert.equal(await (await fetch(merged.url)).text(), '"id"\n"1"\n')
      const { paths } = await ok<{ paths: Record<string, { post?: { summary: string } }> }>('GET', '/openapi.json')
      assert.match(paths['/v2/storage/tables/{tableId}/export-async']?.post?.summary ?? '', /without a header.*merged/)
    },
  )
})

test('D73, corrections-2 A36: a stack that stores unknown components keeps, versions and lists their configurations, and refuses to run them', async (t) => {
  const refusing = await startTestStack(t)
  const path = '/v2/storage/components/keboola.wr-db-test/configs'
  assert.equal((await refusing.request('POST', path, { json: { name: 'One' } })).status, 404)
  // The MCP server lists these before it makes its first one, and stops at an error.
  const ofMcp = await refusing.request('GET', '/v2/storage/components/keboola.mcp-server-tool/configs')
  assert.deepEqual([ofMcp.status, ofMcp.text], [200, '[]'])

  const stack = await startTestStack(t, { unknownComponents: 'store' })
  const { ok, call } = await newProjectClient(stack, 'D73')
  const { id } = await ok<{ id: string }>('POST', path, { name: 'One', configuration: { '#password': 'p', rate: 1.0 } })
  await ok('PUT', `${path}/${id}`, { description: 'changed' })
  await ok('POST', `${path}/${id}/rows`, { name: 'row' })
  assert.equal((await ok<Json[]>('GET', `${path}/${id}/versions`)).length, 3)
  const { '#password': secret } = (await ok<{ configuration: Json }>('GET', `${path}/${id}`)).configuration
  assert.match(String(secret), /^KBC::ProjectSecure::/)

  const listed = await ok<{ id: string; flags: string[]; hasRun: boolean; configurations: { id: string }[] }[]>(
    'GET',
    'components',
  )
  const [component] = listed
  assert.deepEqual([listed.length, component?.id, component?.hasRun], [1, 'keboola.wr-db-test', false])
  assert.deepEqual(component?.flags, ['genericUI', 'encrypt', 'unknownComponent'])
  assert.deepEqual(
    component?.configurations.map((one) => one.id),
    [id],
  )

  const run = await call('POST', '/queue/jobs', { json: { component: 'keboola.wr-db-test', config: id, mode: 'run' } })
  assert.equal(run.status, 400)
  assert.match(
    run.json<{ error: string }>().error,
    /keboola\.wr-db-test has no program here; the stack only keeps its configurations/,
  )
  assert.equal((await call('POST', '/v2/storage/components/-bad-/configs', { json: { name: 'One' } })).status, 404)

  await ok('DELETE', `${path}/${id}`)
  assert.deepEqual(await ok('GET', path), [])
  for (const query of ['', '?limit=10', '?isDeleted=true'])
    assert.deepEqual(await ok('GET', `components/keboola.wr-db-other/configs${query}`), [], 'corrections-2 A36')
})

test('corrections-2 G19: the index lists stored unknown components with the type that their id suggests', async (t) => {
  const stack = await startTestStack(t, { unknownComponents: 'store' })
  const { ok } = await newProjectClient(stack, 'G19')
  const types = {
    'keboola.ex-db-mysql': 'extractor',
    'kds-team.wr-sheets': 'writer',
    'acme.app-report': 'application',
    'keboola.r-transformation-v2': 'transformation',
    'acme.index-text': 'other',
  }
  for (const id of Object.keys(types)) await ok('POST', `components/${id}/configs`, { name: 'One' })
  const index = await stack.request('GET', '/v2/storage', { token: null })
  const { components } = index.json<{ components: { id: string; type: string; hasRun: boolean; flags: string[] }[] }>()
  const stored = components.filter(({ flags }) => flags.includes('unknownComponent'))
  assert.deepEqual(Object.fromEntries(stored.map(({ id, type }) => [id, type])), types)
  assert.ok(stored.every(({ hasRun }) => !hasRun))
})

test('corrections-2 G16, G17: the index has transformations in SQL and Python, whose empty configuration is {}', async (t) => {
  const stack = await startTestStack(t)
  const index = await stack.request('GET', '/v2/storage', { token: null })
  const { components } = index.json<{ components: { id: string; type: string; emptyConfiguration: object; flags: string[] }[] }>()
  for (const id of ['keboola.snowflake-transformation', 'keboola.duckdb-transformation', 'keboola.python-transformation-v2']) {
    const found = components.find((one) => one.id === id)
    assert.deepEqual([found?.type, found?.emptyConfiguration], ['transformation', {}], id)
    assert.ok(found?.flags.includes('genericCodeBlocksUI'), id)
  }
})
