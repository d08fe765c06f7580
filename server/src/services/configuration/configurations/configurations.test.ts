import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type RequestOptions, shareTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

const C = '/v2/storage/components/platform.ex-http/configs'

interface Row {
  id: string
  version: number
  configuration: unknown
  state: unknown
  changeDescription: string
  created: string
}
interface Configuration {
  id: string
  name: string
  description: string
  version: number
  changeDescription: string
  isDisabled: boolean
  isDeleted: boolean
  configuration: unknown
  state: unknown
  rowsSortOrder: string[]
  rows: Row[]
  currentVersion: { changeDescription: string }
}

async function start() {
  const stack = await startProject()
  const ok = async (method: string, path: string, options?: RequestOptions): Promise<Answer> => {
    const answer = await stack.request(method, path, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const create = async (json: object = {}): Promise<Configuration> =>
    (await ok('POST', C, { json: { name: 'n', ...json } })).json<Configuration>()
  const get = async (id: string): Promise<Configuration> => (await ok('GET', `${C}/${id}`)).json<Configuration>()
  const refused = async (method: string, path: string, options: RequestOptions, status: number, code: string, text?: RegExp) => {
    const answer = await stack.request(method, path, options)
    assert.deepEqual([answer.status, answer.json().code], [status, code], `${method} ${path}: ${answer.text}`)
    if (text) assert.match(String(answer.json().error), text)
  }
  return { ...stack, ok, create, get, refused }
}

const raw = (body: string): RequestOptions => ({ body, headers: { 'content-type': 'application/json' } })

test('a schedule is made by the form of the specification, under either id of the component', async () => {
  const { ok } = await start()
  const configuration = '{"schedule":{"cronTab":"0 1 * * *","timezone":"UTC","state":"enabled"},"target":{"mode":"run"}}'
  const form = new FormData()
  form.set('name', 'nightly')
  form.set('configuration', configuration)
  const made = await ok('POST', '/v2/storage/components/platform.scheduler/configs/', { body: form })
  assert.equal(made.status, 201)
  const record = made.json<Configuration>()
  assert.deepEqual(record.configuration, JSON.parse(configuration))
  assert.deepEqual([record.version, record.changeDescription, record.isDisabled], [1, 'Configuration created', false])
  const other = await ok('GET', `/v2/storage/branch/default/components/keboola.scheduler/configs/${record.id}`)
  assert.deepEqual(other.json(), { ...record, rows: [] }, 'a creation answers without rows')
})

test('configuration and state come back byte for byte, in every answer and version', async () => {
  const { ok } = await start()
  const text =
    '{ "z":{}, "10" : [],"2":[{}, [ ]],\n\t"big":12345678901234567890,"d":1.10,"e":1E+2,"u":"\\u00e9é🐎\\u0000","":null,"__proto__":{"x":1}}'
  const made = await ok('POST', C, raw(`{"name":"n","configuration":${text},"state":${text}}`))
  const { id } = made.json<Configuration>()
  await ok('POST', `${C}/${id}/rows`, raw(`{"rowId":"r","configuration":${text},"state":${text}}`))
  await ok('PUT', `${C}/${id}`, { form: { configuration: text, name: 'm' } })
  for (const path of [
    '',
    '/versions/1',
    '/versions?include=configuration',
    '/versions/2',
    '/rows',
    '/rows/r',
    '/rows/r/versions/1',
  ]) {
    const answer = await ok('GET', `${C}/${id}${path}`)
    assert.ok(answer.text.includes(`"configuration":${text}`), `${path}: ${answer.text}`)
    if (path === '' || path === '/rows') assert.ok(answer.text.includes(`"state":${text}`), path)
  }
  const list = await ok('GET', '/v2/storage/components?include=configuration,rows,state')
  assert.equal(list.text.split(text).length, 5) // root and row, configuration and state
})

test('each changed field makes one version, an unchanged update makes none', async () => {
  const { ok, create } = await start()
  const { id } = await create({ description: 'd', configuration: { a: 1 }, state: { s: 1 } })
  let version = 1
  for (const change of [
    { name: 'other' },
    { description: '' },
    { configuration: { a: 2 } },
    { configuration: { a: 2, b: {} } },
    { state: { s: 2 } },
    { isDisabled: true },
    { name: 'x', description: 'y', configuration: {}, state: {}, isDisabled: false },
  ]) {
    const changed = (await ok('PUT', `${C}/${id}`, { json: change })).json<Configuration>()
    assert.equal(changed.version, ++version, JSON.stringify(change))
    for (const again of [change, { ...change, changeDescription: 'nothing' }]) {
      assert.equal((await ok('PUT', `${C}/${id}`, { json: again })).json<Configuration>().version, version, JSON.stringify(again))
    }
  }
  assert.equal((await ok('PUT', `${C}/${id}`, { json: {} })).json<Configuration>().version, version)
  assert.equal((await ok('PUT', `${C}/${id}`, raw('{"configuration": {  }}'))).json<Configuration>().version, version)
  const versions = (await ok('GET', `${C}/${id}/versions`)).json<{ version: number; state?: unknown }[]>()
  assert.deepEqual(
    versions.map((entry) => entry.version),
    [8, 7, 6, 5, 4, 3, 2, 1],
  )
  assert.ok(versions.every((entry) => !('state' in entry)))
})

test('the configuration node is replaced, never patched, and absent fields stay', async () => {
  const { ok, create } = await start()
  const { id } = await create({ description: 'kept', configuration: { parameters: { a: 1, b: 2 } } })
  const changed = (await ok('PUT', `${C}/${id}`, { json: { configuration: { parameters: { a: 3 } } } })).json<Configuration>()
  assert.deepEqual(changed.configuration, { parameters: { a: 3 } })
  assert.deepEqual([changed.name, changed.description], ['n', 'kept'])
})

test('a wrapped configuration is stored as sent, with a warning event that says what to do', async () => {
  const { ok, create } = await start()
  const { id } = await create()
  const wrapped = { configuration: { parameters: { a: 1 } } }
  const changed = (await ok('PUT', `${C}/${id}`, { json: { configuration: wrapped } })).json<Configuration>()
  assert.deepEqual(changed.configuration, wrapped)
  const events = (await ok('GET', '/v2/storage/events')).json<{ type: string; message: string; configurationId: string }[]>()
  const warning = events.find((event) => event.type === 'warn')
  assert.equal(warning?.configurationId, id)
  assert.match(warning?.message ?? '', /second "configuration" node/)
})

test('detail and list are the same compressed and plain, before and after every kind of change', async () => {
  const { ok, create } = await start()
  const { id } = await create({ configuration: { text: 'é'.repeat(2000) } })
  await create({ configurationId: 'second' })
  const same = async (what: string, version: number) => {
    for (const path of [C, `${C}/${id}`, C, `${C}/${id}`]) {
      const [plain, packed] = await Promise.all(
        ['identity', 'deflate, gzip'].map((coding) => ok('GET', path, { headers: { 'accept-encoding': coding } })),
      )
      assert.equal(plain!.headers.get('content-encoding'), null)
      assert.deepEqual([packed!.headers.get('content-encoding'), packed!.headers.get('vary')], ['gzip', 'Accept-Encoding'])
      assert.equal(packed!.text, plain!.text, what)
      const [record] = [plain!.json<Configuration | Configuration[]>()].flat()
      assert.equal(record?.version, version, what)
    }
  }
  await same('created', 1)
  await ok('PUT', `${C}/${id}`, { json: { name: 'other' } })
  await same('renamed', 2)
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'r' } })
  await same('row added', 3)
  await ok('PUT', `${C}/${id}/rows/r/state`, { json: { state: { a: 1 } } })
  await same('state of the row', 3)
  await ok('DELETE', `${C}/second`)
  await same('the other one is in the trash', 3)
})

test('the state endpoint makes no version and takes nothing but state', async () => {
  const { ok, create, get, refused } = await start()
  const { id } = await create({ state: { a: 1 } })
  const row = (await ok('POST', `${C}/${id}/rows`, { json: { state: { r: 1 } } })).json<Row>()
  const changed = (await ok('PUT', `${C}/${id}/state`, { json: { state: { a: 2 } } })).json<Configuration>()
  assert.deepEqual([changed.version, changed.state], [2, { a: 2 }])
  const changedRow = (await ok('PUT', `${C}/${id}/rows/${row.id}/state`, { form: { state: '{}' } })).json<Row>()
  assert.deepEqual([changedRow.version, changedRow.state], [1, {}])
  const now = await get(id)
  assert.deepEqual([now.version, now.state, now.rows[0]?.state], [2, { a: 2 }, {}])
  const place = `${C}/${id}/state`
  await refused(
    'PUT',
    place,
    { json: {} },
    400,
    'storage.components.validation',
    /^Invalid parameters - state: This field is missing\.$/,
  )
  await refused('PUT', place, { json: { state: '' } }, 400, 'storage.components.validation', /should not be blank/)
  await refused('PUT', place, { json: { state: '{x' } }, 400, 'storage.components.validation', /should be valid JSON/)
  await refused(
    'PUT',
    place,
    { json: { state: {}, description: 'x' } },
    400,
    'storage.components.validation',
    /description: This field was not expected\./,
  )
  const rowPlace = `${C}/${id}/rows/${row.id}/state`
  await refused(
    'PUT',
    rowPlace,
    { json: {} },
    400,
    'validation.invalidStateFormat',
    /^Invalid state body format: This field is missing\.$/,
  )
  await refused('PUT', rowPlace, { json: { state: '{' } }, 400, 'validation.invalidStateFormat', /valid JSON/)
  await refused(
    'PUT',
    rowPlace,
    { json: { state: {}, description: 'x' } },
    400,
    'storage.componentsRows.validation',
    /description: This field was not expected\./,
  )
})

test('every change of a row is a version of the whole configuration, described', async () => {
  const { ok, create, get } = await start()
  const { id } = await create()
  const rows = `${C}/${id}/rows`
  const described = async () => (await get(id)).changeDescription
  await ok('POST', rows, { json: { rowId: 'a', name: 'A' } })
  assert.equal(await described(), 'Row a added')
  await ok('PUT', `${rows}/a`, { json: { configuration: { x: 1 } } })
  assert.equal(await described(), 'Row a changed')
  await ok('PUT', `${rows}/a`, { json: { isDisabled: '1', changeDescription: 'off' } })
  assert.equal(await described(), 'off')
  await ok('PUT', `${rows}/a`, { json: { isDisabled: true } })
  assert.equal((await get(id)).version, 4, 'nothing changed')
  await ok('POST', `${rows}/a/versions/1/rollback`)
  assert.equal(await described(), 'Row a version 1 rollback')
  const rolled = (await ok('GET', `${rows}/a`)).json<Row>()
  assert.deepEqual([rolled.version, rolled.configuration, rolled.changeDescription], [4, {}, 'Rollback to version 1'])
  const copied = (await ok('POST', `${rows}/a/versions/2/create`, { json: {} })).json<Row>()
  assert.deepEqual([copied.version, copied.configuration], [1, { x: 1 }])
  assert.match(await described(), /^Row \w+ copied from configuration "n" \(\w+\) row a version 2$/)
  await ok('DELETE', `${rows}/a`)
  assert.equal(await described(), 'Row a deleted')
  assert.deepEqual(
    (await get(id)).rows.map((row) => row.id),
    [copied.id],
  )
  const again = (await ok('POST', rows, { json: { rowId: 'a' } })).json<Row>()
  assert.equal(again.version, 5, 'a row id that comes back continues its versions')
  assert.equal((await get(id)).version, 8)
})

test('rows copy into another configuration of the component', async () => {
  const { ok, create, get } = await start()
  const [one, two] = [await create(), await create({ name: 'two' })]
  await ok('POST', `${C}/${one.id}/rows`, { json: { rowId: 'a', configuration: { x: 1 }, state: { s: 1 } } })
  const copied = (await ok('POST', `${C}/${one.id}/rows/a/versions/1/create`, { json: { targetConfigId: two.id } })).json<Row>()
  const target = await get(two.id)
  assert.deepEqual([target.version, target.rows.map((row) => row.id), target.rows[0]?.configuration], [2, [copied.id], { x: 1 }])
  assert.deepEqual(copied.state, {})
  assert.equal((await get(one.id)).version, 2)
})

test('rows stand in the order of rowsSortOrder; new ones append, deleted ones drop out', async () => {
  const { ok, create, get, refused } = await start()
  const { id } = await create()
  for (const rowId of ['10', '9', 'b', 'a']) await ok('POST', `${C}/${id}/rows`, { json: { rowId } })
  const order = async () => (await get(id)).rows.map((row) => row.id).join()
  assert.equal(await order(), '10,9,b,a', 'the order of their creation')
  const sorted = (await ok('PUT', `${C}/${id}`, { json: { rowsSortOrder: ['b', 9, 'a', '10'] } })).json<Configuration>()
  assert.deepEqual([sorted.version, sorted.rowsSortOrder.join()], [6, 'b,9,a,10'])
  assert.equal(await order(), 'b,9,a,10')
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: '0' } })
  await ok('DELETE', `${C}/${id}/rows/a`)
  assert.equal(await order(), 'b,9,10,0')
  assert.deepEqual((await get(id)).rowsSortOrder, ['b', '9', '10', '0'])
  await ok('PUT', `${C}/${id}`, {
    body: new URLSearchParams([
      ['rowsSortOrder[]', '0'],
      ['rowsSortOrder[]', 'b'],
      ['rowsSortOrder[]', '9'],
      ['rowsSortOrder[]', '10'],
    ]),
  })
  assert.equal(await order(), '0,b,9,10')
  const update = (rowsSortOrder: unknown) => ({ json: { rowsSortOrder } })
  await refused('PUT', `${C}/${id}`, update(['b', '9']), 400, 'validation.invalidRowSortOrder', /Missing: .*10/)
  await refused('PUT', `${C}/${id}`, update(['b', '9', '10', '0', 'x']), 400, 'storage.components.validation', /"x" is not a row/)
  await refused('PUT', `${C}/${id}`, update(['b', '9', '10', '10']), 400, 'storage.components.validation', /twice/)
  for (const wrong of ['nonsense', 7, { a: 'b' }, [[]]])
    await refused('PUT', `${C}/${id}`, update(wrong), 400, 'storage.components.validation')
})

test('rolling back restores name, rows and order as a new version, and leaves the state', async () => {
  const { ok, create, get } = await start()
  const { id } = await create({ configuration: { v: 1 }, state: { kept: true } })
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'a', configuration: { a: 1 } } })
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'b', configuration: { b: 1 } } })
  await ok('PUT', `${C}/${id}`, { json: { rowsSortOrder: ['b', 'a'] } })
  const before = await get(id)
  await ok('PUT', `${C}/${id}`, { json: { name: 'other', configuration: { v: 2 }, isDisabled: true } })
  await ok('DELETE', `${C}/${id}/rows/a`)
  await ok('PUT', `${C}/${id}/rows/b`, { json: { configuration: { b: 2 } } })
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'c' } })
  await ok('PUT', `${C}/${id}/state`, { json: { state: { kept: 'newer' } } })

  const answer = await ok('POST', `${C}/${id}/versions/${before.version}/rollback`)
  assert.deepEqual([answer.status, answer.json()], [201, { version: '9' }])
  const after = await get(id)
  const content = ({ name, description, isDisabled, configuration, rowsSortOrder, rows }: Configuration) => ({
    ...{ name, description, isDisabled, configuration, rowsSortOrder },
    rows: rows.map((row) => [row.id, row.configuration]),
  })
  assert.deepEqual(content(after), content(before))
  assert.deepEqual(after.state, { kept: 'newer' })
  assert.deepEqual([after.version, after.changeDescription], [9, 'Rollback to version 4'])
  assert.deepEqual(
    after.rows.map((row) => [row.id, row.version, row.changeDescription]),
    [
      ['b', 3, 'Rollback to version 1 (via configuration rollback to version 4)'],
      ['a', 2, 'Rollback to version 1 (via configuration rollback to version 4)'],
    ],
  )
  const past = (await ok('GET', `${C}/${id}/versions/8`)).json<Configuration>()
  assert.deepEqual([past.name, past.rows.map((row) => row.id)], ['other', ['b', 'c']])
})

test('a copy of a version is independent: new id, version 1, no state, its rows with theirs', async () => {
  const { ok, create, get, refused } = await start()
  const { id } = await create({ configuration: { v: 1 }, state: { s: 1 } })
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'a', configuration: { a: 1 }, state: { s: 1 } } })
  await ok('PUT', `${C}/${id}`, { json: { configuration: { v: 2 } } })
  const answer = await ok('POST', `${C}/${id}/versions/2/create`, { json: { name: 'copy' } })
  assert.equal(answer.status, 201)
  const copy = await get(answer.json<{ id: string }>().id)
  assert.deepEqual([copy.name, copy.version, copy.configuration, copy.state], ['copy', 1, { v: 1 }, {}])
  assert.deepEqual([copy.rows[0]?.configuration, copy.rows[0]?.state, copy.rows[0]?.version], [{ a: 1 }, { s: 1 }, 1])
  assert.equal(copy.changeDescription, `Copied from configuration "n" (${id}) version 2`)
  await ok('PUT', `${C}/${copy.id}`, { json: { configuration: { v: 3 } } })
  assert.deepEqual((await get(id)).configuration, { v: 2 })
  await refused('POST', `${C}/${id}/versions/2/create`, { json: {} }, 400, 'storage.components.validation', /name/)
})

test('a configuration goes to the trash, comes back with its rows, and goes for good', async () => {
  const { ok, create, get, refused } = await start()
  const { id } = await create()
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'a' } })
  assert.equal((await ok('DELETE', `${C}/${id}`)).status, 204)
  for (const path of ['', '/rows', '/rows/a', '/versions', '/versions/1', '/metadata'])
    await refused(
      'GET',
      `${C}/${id}${path}`,
      {},
      404,
      'storage.configuration.notFound',
      new RegExp(`^Configuration "${id}" not found$`),
    )
  await refused('PUT', `${C}/${id}`, { json: { name: 'x' } }, 404, 'storage.configuration.notFound')
  assert.deepEqual((await ok('GET', C)).json(), [])
  const [trashed] = (await ok('GET', `${C}?isDeleted=true`)).json<Configuration[]>()
  assert.deepEqual([trashed?.isDeleted, trashed?.version, trashed?.changeDescription], [true, 3, 'Configuration deleted'])
  const restored = (await ok('POST', `${C}/${id}/restore`)).json<Configuration>()
  assert.deepEqual([restored.version, restored.changeDescription, restored.rows.length], [4, 'Configuration restored', 1])
  await refused('POST', `${C}/${id}/restore`, {}, 404, 'storage.configuration.notFound')
  await ok('DELETE', `${C}/${id}`)
  const token = (await ok('POST', '/v2/storage/tokens', { json: { canManageBuckets: true } })).json<{ token: string }>().token
  await refused('DELETE', `${C}/${id}`, { token }, 403, 'accessDenied')
  await ok('DELETE', `${C}/${id}`)
  await refused('DELETE', `${C}/${id}`, {}, 404, 'storage.configuration.notFound')
  assert.equal((await create({ configurationId: id })).version, 1)
  assert.equal((await get(id)).rows.length, 0)
})

test('an id that was deleted is revived: versions go on, rows stay in the past', async () => {
  const { ok, create, refused } = await start()
  const { id } = await create({ configurationId: 'mine', configuration: { a: 1 } })
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'a' } })
  await refused('POST', C, { json: { name: 'n', configurationId: id } }, 400, 'configurationAlreadyExists')
  await ok('DELETE', `${C}/${id}`)
  const revived = await create({ configurationId: 'mine', configuration: { a: 2 } })
  assert.deepEqual([revived.version, revived.configuration], [4, { a: 2 }])
  assert.deepEqual((await ok('GET', `${C}/${id}`)).json<Configuration>().rows, [])
  assert.equal((await ok('GET', `${C}/${id}/versions/2`)).json<Configuration>().rows.length, 1)
})

test('If-Match changes the version it names or nothing', async () => {
  const { ok, create, refused } = await start()
  const { id } = await create()
  const ifMatch = (version: string) => ({ headers: { 'if-match': version } })
  await ok('PUT', `${C}/${id}`, { json: { name: 'a' }, ...ifMatch('"1"') })
  const conflict = 'storage.components.configurations.versionConflict'
  await refused('PUT', `${C}/${id}`, { json: { name: 'b' }, ...ifMatch('1') }, 409, conflict, /version 2, not 1/)
  await refused('DELETE', `${C}/${id}`, ifMatch('"1"'), 409, conflict)
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'r' } })
  await refused('PUT', `${C}/${id}/rows/r`, { json: { name: 'b' }, ...ifMatch('2') }, 409, conflict)
  await ok('PUT', `${C}/${id}/rows/r`, { json: { name: 'b' }, ...ifMatch('1') })
  await refused('PUT', `${C}/${id}`, { json: { name: 'b' }, ...ifMatch('abc') }, 400, 'malformedRequest')
  await ok('PUT', `${C}/${id}`, { json: { name: 'c' }, ...ifMatch('*') })
})

test('If-Match holds for everything that replaces what somebody may have read', async () => {
  const { ok, create, get, refused } = await start()
  const { id } = await create()
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'r' } })
  await ok('PUT', `${C}/${id}/rows/r`, { json: { name: 'b' } })
  const conflict = 'storage.components.configurations.versionConflict'
  const only = async (now: string, method: string, path: string, json?: object) => {
    const before = await get(id)
    const old = { headers: { 'if-match': '99' }, ...(json && { json }) }
    await refused(method, `${C}/${id}${path}`, old, 409, conflict, /not 99/)
    assert.deepEqual(await get(id), before)
    await ok(method, `${C}/${id}${path}`, { ...old, headers: { 'if-match': now } })
  }
  await only('3', 'PUT', '/state', { state: { a: 1 } })
  await only('2', 'PUT', '/rows/r/state', { state: { a: 1 } })
  await only('3', 'POST', '/rows', { rowId: 'other' })
  await only('2', 'POST', '/rows/r/versions/1/rollback', {})
  await only('5', 'POST', '/versions/1/rollback')
  await ok('DELETE', `${C}/${id}`)
  await refused('POST', `${C}/${id}/restore`, { headers: { 'if-match': '6' } }, 409, conflict)
  await ok('POST', `${C}/${id}/restore`, { headers: { 'if-match': '7' } })
})

test('bad bodies are refused with a sentence', async () => {
  const { create, refused } = await start()
  const { id } = await create()
  const post = (json: object, code: string, text?: RegExp, status = 400) => refused('POST', C, { json }, status, code, text)
  await post({}, 'storage.components.validation', /^Invalid parameters - name: This field is missing\.$/)
  await post({ name: '' }, 'storage.components.validation', /name: This value should not be blank\./)
  await refused(
    'PUT',
    `${C}/${id}`,
    { json: { name: '' } },
    400,
    'storage.components.validation',
    /name: This value should not be blank/,
  )
  await post({ name: { a: 1 } }, 'storage.components.validation')
  await post({ name: 'a\u0000b' }, 'storage.components.validation', /NUL/)
  for (const configuration of ['{', '"text"', '7', 'true', '[1]', 'null ', ''])
    await post({ name: 'n', configuration }, 'validation.invalidConfigurationFormat')
  for (const configuration of [7, true, [1], 'x'])
    await post({ name: 'n', configuration }, 'validation.invalidConfigurationFormat')
  for (const state of ['{', 7, [1], '']) await post({ name: 'n', state }, 'validation.invalidStateFormat')
  for (const configurationId of ['../x', '..', 'a/b', 'a\nb', 'x'.repeat(201)])
    await post({ name: 'n', configurationId }, 'storage.components.validation', /configurationId/)
  const large = { a: 'x'.repeat(5 * 2 ** 20) }
  await post({ name: 'n', configuration: large }, 'storage.components.tooLarge', /4194304 bytes/, 413)
  await refused('PUT', `${C}/${id}`, { form: { configuration: JSON.stringify(large) } }, 413, 'storage.components.tooLarge')
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  await refused('POST', C, raw(`{"name":"n","configuration":${deep}}`), 400, 'malformedRequest', /deeper/)
  await refused('POST', C, { form: { name: 'n', configuration: deep } }, 400, 'validation.invalidConfigurationFormat', /deeper/)
  await refused(
    'POST',
    C,
    raw('{"name":"n","configuration":{"#p":"canary-in-bad-json}}'),
    400,
    'malformedRequest',
    /^(?!.*canary)/,
  )
  await refused('POST', C, { json: { name: 'n', isDisabled: 'maybe' } }, 400, 'storage.components.validation', /isDisabled/)
  await refused('POST', `${C}/${id}/rows`, { json: { rowId: 'a/b' } }, 400, 'storage.componentsRows.validation')
  await refused('POST', `${C}/${id}/rows`, { json: { configuration: 1 } }, 400, 'validation.invalidConfigurationFormat')
})

test('what is not there is not found', async () => {
  const { create, ok, refused } = await start()
  const { id } = await create()
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'r' } })
  await refused('GET', '/v2/storage/components/no.such/configs', {}, 404, 'storage.components.notFound')
  await refused('POST', '/v2/storage/components/no.such/configs', { json: { name: 'n' } }, 404, 'storage.components.notFound')
  await refused('GET', `${C}/unknown`, {}, 404, 'storage.configuration.notFound')
  await refused('GET', `${C}/${id}/versions/99`, {}, 404, 'storage.configuration.versionNotFound', /^Version 99 not found$/)
  await refused('GET', `${C}/${id}/versions/x`, {}, 404, 'storage.configuration.versionNotFound')
  await refused('POST', `${C}/${id}/versions/99/rollback`, {}, 404, 'storage.configuration.versionNotFound')
  await refused('POST', `${C}/${id}/versions/99/create`, { json: { name: 'x' } }, 404, 'storage.configuration.versionNotFound')
  await refused('GET', `${C}/${id}/rows/x`, {}, 404, 'notFound', /^Row x not found$/)
  await refused('PUT', `${C}/${id}/rows/x`, { json: {} }, 404, 'notFound')
  await refused('DELETE', `${C}/${id}/rows/x`, {}, 404, 'notFound')
  await refused('GET', `${C}/${id}/rows/r/versions/9`, {}, 404, 'storage.configuration.versionNotFound')
  await refused('POST', `${C}/${id}/rows`, { json: { rowId: 'r' } }, 400, 'configurationRowAlreadyExists')
})

test('a token of another project finds nothing, one without the component is refused', async () => {
  const { create, ok, refused, newProject } = await start()
  const { id } = await create({ configurationId: 'same' })
  await ok('POST', `${C}/${id}/rows`, { json: { rowId: 'r' } })
  const { masterToken } = await newProject()
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['GET', '/rows'],
    ['GET', '/rows/r'],
    ['DELETE', '/rows/r'],
    ['GET', '/versions'],
    ['POST', '/versions/1/rollback'],
    ['GET', '/metadata'],
  ] as const)
    await refused(
      method,
      `${C}/${id}${path}`,
      { token: masterToken, ...(method === 'PUT' && { json: { name: 'x' } }) },
      404,
      'storage.configuration.notFound',
    )
  assert.deepEqual((await ok('GET', C, { token: masterToken })).json(), [])

  const make = async (json: object) => (await ok('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token
  const none = await make({ description: 'none' })
  const alias = await make({ componentAccess: ['keboola.ex-generic-v2'] })
  const other = await make({ componentAccess: ['platform.scheduler'] })
  await refused('GET', `${C}/${id}`, { token: none }, 403, 'accessDenied')
  await refused('GET', `${C}/${id}`, { token: other }, 403, 'accessDenied')
  await ok('GET', `${C}/${id}`, { token: alias })
  assert.equal((await ok('GET', '/v2/storage/components', { token: alias })).json<unknown[]>().length, 1)
  assert.equal((await ok('GET', '/v2/storage/components', { token: other })).json<unknown[]>().length, 0)
})

test('parallel updates and new rows get versions without gaps, and nothing is lost', async () => {
  const { ok, create, get } = await start()
  const { id } = await create()
  const versions = await Promise.all(
    Array.from({ length: 60 }, async (_, i) =>
      i % 2 === 0
        ? (await ok('PUT', `${C}/${id}`, { json: { configuration: { writer: i } } })).json<Configuration>().version
        : (await ok('POST', `${C}/${id}/rows`, { json: { rowId: `r${i}` } })).json<Row>().version,
    ),
  )
  const ofUpdates = versions.filter((_, i) => i % 2 === 0)
  assert.equal(new Set(ofUpdates).size, 30)
  const head = await get(id)
  assert.deepEqual([head.version, head.rows.length], [61, 30])
  const list = (await ok('GET', `${C}/${id}/versions?limit=1000`)).json<{ version: number }[]>()
  assert.deepEqual(
    list.map((entry) => entry.version),
    Array.from({ length: 61 }, (_, i) => 61 - i),
  )
})

test('secrets leave as ciphers only, and the same clear secret again changes nothing', async () => {
  const { ok, create } = await start()
  const secret = { parameters: { '#token': 'canary-1', list: [{ '#deep': 'canary-2' }], '#kept': '{{ vault.x }}' } }
  const made = await create({ configuration: secret, state: { '#s': 'canary-3' } })
  await ok('POST', `${C}/${made.id}/rows`, { json: { rowId: 'r', configuration: { '#r': 'canary-4' } } })
  const { text } = await ok('GET', `${C}/${made.id}`)
  assert.ok(!text.includes('canary'))
  assert.equal(text.match(/KBC::ProjectSecure::/g)?.length, 4)
  assert.ok(text.includes('"#kept":"{{ vault.x }}"'))
  const again = (
    await ok('PUT', `${C}/${made.id}`, { json: { configuration: secret, state: { '#s': 'canary-3' } } })
  ).json<Configuration>()
  assert.equal(again.version, 2)
  await ok('PUT', `${C}/${made.id}/rows/r`, { json: { configuration: { '#r': 'canary-4' } } })
  assert.equal(
    (await ok('PUT', `${C}/${made.id}`, { json: { configuration: { ...secret, x: 1 } } })).json<Configuration>().version,
    3,
  )
  const effective = (await ok('GET', `${C}/${made.id}/rows/r/effective`)).json<{ configuration: object; origins: object }>()
  assert.deepEqual(effective.configuration, {
    parameters: { '#token': '*****', list: [{ '#deep': '*****' }], '#kept': '*****' },
    x: 1,
    '#r': '*****',
  })
})

test('metadata is set by key, listed, deleted and searched; G11: with it, configurations that have some', async () => {
  const { ok, create, refused } = await start()
  const { id } = await create()
  const place = `/v2/storage/branch/default/components/platform.ex-http/configs/${id}/metadata`
  const set = async (metadata: unknown) =>
    (await ok('POST', place, { json: { metadata } })).json<{ id: string; key: string; value: string }[]>()
  await set([
    { key: 'KBC.a', value: '1' },
    { key: 'KBC.b', value: '2' },
  ])
  const items = await set([{ key: 'KBC.a', value: '3' }])
  assert.deepEqual(
    items.map(({ key, value }) => [key, value]),
    [
      ['KBC.a', '3'],
      ['KBC.b', '2'],
    ],
  )
  const search = '/v2/storage/branch/default/search/component-configurations'
  const found = await ok('GET', `${search}?idComponent=keboola.ex-generic-v2&metadataKeys[]=KBC.a&include=filteredMetadata`)
  assert.deepEqual(
    found
      .json<{ configurationId: string; metadata: { key: string }[] }[]>()
      .map((entry) => [entry.configurationId, entry.metadata.map((m) => m.key)]),
    [[id, ['KBC.a']]],
  )
  assert.deepEqual((await ok('GET', `${search}?metadataKeys[]=nope`)).json(), [])
  await ok('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', { json: { name: 'without metadata' } })
  const all = async (query: string) => (await ok('GET', `${search}${query}`)).json<{ configurationId: string }[]>()
  assert.equal((await all('')).length, 2)
  assert.deepEqual(
    (await all('?include=filteredMetadata')).map((entry) => entry.configurationId),
    [id],
  )
  await ok('DELETE', `${place}/${items[0]!.id}`)
  assert.equal((await ok('GET', place)).json<unknown[]>().length, 1)
  await refused('DELETE', `${place}/${items[0]!.id}`, {}, 404, 'storage.metadata.notFound')
  await refused('POST', place, { json: { metadata: [{ key: 'a b', value: 'x' }] } }, 400, 'storage.metadata.invalidKey')
  for (const metadata of [undefined, 'x'])
    await refused('POST', place, { json: { metadata } }, 400, 'storage.metadata.invalidParameter')
  for (const metadata of [{}, [], [1], [{ key: 'a' }]])
    await refused('POST', place, { json: { metadata } }, 400, 'storage.metadata.invalidStructure')
  await refused('GET', '/v2/storage/search/component-configurations', {}, 501, 'notImplemented')
})
