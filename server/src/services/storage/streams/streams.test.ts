import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const SOURCES = '/stream/v1/branches/default/sources'
const MINUTE_MS = 60_000

interface Sink {
  readonly statistics: { readonly recordsCount: number; readonly lastError: string | null }
}

const COLUMNS = [
  { type: 'uuid', name: 'id' },
  { type: 'datetime', name: 'at' },
  { type: 'ip', name: 'ip' },
  { type: 'body', name: 'body' },
  { type: 'headers', name: 'headers' },
  { type: 'path', name: 'who', path: 'user.names[1]', defaultValue: 'nobody', rawString: true },
  { type: 'path', name: 'tags', path: 'tags' },
  { type: 'template', name: 'line', template: { language: 'text', content: '{{ header.X-Kind }} of {{ body.user.id }}' } },
]

/** A stack with one source and, unless the test sets otherwise, one sink; the test moves the clock. */
async function streamingStack(t: TestContext, columns: readonly object[] = COLUMNS) {
  let aheadMs = 0
  const stack = await startTestStack(t, { clock: { now: () => new Date(Date.now() + aheadMs) } })
  const done = async (method: string, path: string, json?: object) => {
    const answer = await stack.request(method, path, json && { json })
    assert.equal(answer.status, 202, answer.text)
    return answer.json<{ taskId: string; url: string; isFinished: boolean; outputs: { sourceId: string } }>()
  }
  const task = await done('POST', SOURCES, { name: 'My Web Shop' })
  const { sourceId } = task.outputs
  if (columns.length > 0)
    await done('POST', `${SOURCES}/${sourceId}/sinks`, {
      type: 'table',
      name: 'Orders',
      table: { type: 'keboola', tableId: 'in.c-shop.orders', mapping: { columns } },
    })
  const address = async () => {
    const { http } = (await stack.request('GET', `${SOURCES}/${sourceId}`)).json<{ http: { url: string } }>()
    return new URL(http.url).pathname
  }
  const rows = async (): Promise<string[][]> => {
    const answer = await stack.request('GET', '/v2/storage/tables/in.c-shop.orders/data-preview?format=json&limit=1000')
    return answer.json<{ rows: { value: string }[][] }>().rows.map((row) => row.map(({ value }) => value))
  }
  const sink = async () => (await stack.request('GET', `${SOURCES}/${sourceId}/sinks/orders`)).json<Sink>()
  const loaded = (count: number) =>
    until(`${count} records are loaded`, async () => (await sink()).statistics.recordsCount === count)
  const advance = (ms: number): void => {
    aheadMs += ms
  }
  return { ...stack, task, sourceId, done, address, rows, sink, loaded, advance }
}

test('a sink is refused when its columns do not fit the table', async (t) => {
  const stack = await streamingStack(t, [])
  const tables = tableClient(stack)
  await tables.bucket('shop')
  await tables.create('in.c-shop', 'orders', 'id,city\n1,Praha\n')
  const add = (columns: readonly object[], tableId = 'in.c-shop.orders') =>
    stack.request('POST', `${SOURCES}/${stack.sourceId}/sinks`, {
      json: { type: 'table', name: 'Orders', table: { type: 'keboola', tableId, mapping: { columns } } },
    })
  const refused = await add([{ type: 'uuid', name: 'id' }])
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /The table in\.c-shop\.orders exists and has other columns: city\. Map a column to each of them/)
  const fits = await add([
    { type: 'uuid', name: 'ID' },
    { type: 'path', name: 'city', path: 'city' },
    { type: 'datetime', name: 'at' },
  ])
  assert.equal(fits.status, 202, fits.text)
  const changed = await stack.request('PATCH', `${SOURCES}/${stack.sourceId}/sinks/orders`, {
    json: { table: { mapping: { columns: [{ type: 'uuid', name: 'id' }] } } },
  })
  assert.equal(changed.status, 400, changed.text)
})

test('records of a webhook become rows: JSON, forms and texts, each column as its type says', async (t) => {
  const stack = await streamingStack(t)
  assert.equal(stack.sourceId, 'my-web-shop')
  assert.deepEqual((await stack.request('GET', new URL(stack.task.url).pathname)).json(), stack.task)
  const address = await stack.address()
  const send = (options: Parameters<typeof stack.request>[2]) => stack.request('POST', address, { token: null, ...options })
  const json = { user: { id: 7, names: ['a', 'Ann "A", x'] }, tags: ['x', 1] }
  const sent = await send({ json, headers: { 'x-kind': 'order', cookie: 'secret' } })
  assert.deepEqual([sent.status, sent.text], [200, 'OK'])
  assert.equal((await send({ form: { tags: 'plain' } })).status, 200)
  assert.equal((await send({ body: 'just a text', headers: { 'content-type': 'text/plain' } })).status, 200)
  assert.equal((await send({})).status, 200)
  stack.advance(MINUTE_MS)
  await stack.loaded(4)
  const rows = (await stack.rows()).sort((a, b) => b[3]!.length - a[3]!.length)
  const [first, form] = [rows[0]!, rows.find(([, , , body]) => body === 'tags=plain')!]
  assert.match(first[0]!, /^[0-9a-f-]{36}$/)
  assert.match(first[1]!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(first[2], '127.0.0.1')
  assert.deepEqual(JSON.parse(first[3]!), json)
  const headers = JSON.parse(first[4]!) as Record<string, string>
  assert.deepEqual([headers['x-kind'], headers.cookie], ['order', undefined])
  assert.deepEqual(first.slice(5), ['Ann "A", x', '["x",1]', 'order of 7'])
  assert.deepEqual(form.slice(5), ['nobody', '"plain"', ' of '])
  assert.deepEqual(rows.map(([, , , body]) => body).filter((body) => body === '' || body === 'just a text').length, 2)
})

test('a sink follows a renamed column of its table', async (t) => {
  const stack = await streamingStack(t, [
    { type: 'uuid', name: 'id' },
    { type: 'body', name: 'body' },
  ])
  const address = await stack.address()
  const send = (body: string) => stack.request('POST', address, { token: null, body, headers: { 'content-type': 'text/plain' } })
  await send('first')
  stack.advance(MINUTE_MS)
  await stack.loaded(1)
  const path = '/v2/storage/tables/in.c-shop.orders'
  const renamed = await stack.request('PUT', `${path}/columns/body/definition`, { json: { name: 'text' } })
  await tableClient(stack).succeed(renamed)
  await send('second')
  stack.advance(MINUTE_MS)
  await stack.loaded(2)
  assert.deepEqual((await stack.rows()).map(([, text]) => text).toSorted(), ['first', 'second'])
  assert.deepEqual((await stack.request('GET', path)).json<{ columns: string[] }>().columns, ['id', 'text'])
})

test('a batch is loaded when it has enough records, and settings are checked', async (t) => {
  const stack = await streamingStack(t)
  const key = 'storage.level.target.import.trigger.count'
  const settings = `${SOURCES}/${stack.sourceId}/settings`
  await stack.done('PATCH', settings, { settings: [{ key, value: 3 }] })
  const address = await stack.address()
  for (let i = 0; i < 3; i++) await stack.request('POST', address, { json: { i }, token: null })
  await stack.loaded(3)
  for (const wrong of [
    { key, value: 0 },
    { key, value: 'x' },
    { key: 'other', value: 1 },
    { key: key.replace('count', 'interval'), value: '3 days' },
  ])
    assert.equal((await stack.request('PATCH', settings, { json: { settings: [wrong] } })).status, 400, JSON.stringify(wrong))
})

test('what is wrong is refused with a sentence, and a disabled or rotated source takes nothing', async (t) => {
  const stack = await streamingStack(t)
  const address = await stack.address()
  const send = (path: string, options: object = { json: {} }) => stack.request('POST', path, { token: null, ...options })
  const wrongSecret = await send(`${address}x`)
  assert.equal(wrongSecret.status, 404)
  assert.match(wrongSecret.text, /its secret is wrong/)
  assert.equal((await send(address.replace(stack.sourceId, 'other'))).status, 404)
  assert.equal((await send(address.replace('/stream/1/', '/stream/abc/'))).status, 404)
  const big = await send(address, { body: 'x'.repeat(10 << 20), headers: { 'content-type': 'text/plain' } })
  assert.equal(big.status, 413)
  assert.match(big.text, /larger than the 1048576 bytes/)
  assert.equal((await send(address, { body: '{"half":', headers: { 'content-type': 'application/json' } })).status, 400)
  const sinks = `${SOURCES}/${stack.sourceId}/sinks`
  const column = { type: 'body', name: 'body' }
  const table = (tableId: string, ...columns: object[]) => ({ name: 's', table: { tableId, mapping: { columns } } })
  const wrong: readonly (readonly [string, object, RegExp])[] = [
    [sinks, table('orders', column), /is not the id of a table/],
    [sinks, table('in.c-a.b'), /1 to 100 columns/],
    [sinks, table('in.c-a.b', column, { ...column, name: 'BODY' }), /there twice/],
    [sinks, table('in.c-a.b', { type: 'path', name: 'p' }), /needs a path/],
    [
      sinks,
      table('in.c-a.b', { type: 'template', name: 'p', template: { language: 'jsonnet', content: '1' } }),
      /are not run here/,
    ],
    [sinks, table('in.c-a.b', { ...column, primaryKey: true }), /primaryKey/],
    [sinks, table('in.c-a.b', { ...column, type: 'word' }), /type/],
    [SOURCES, { name: '' }, /name/],
    [SOURCES, { name: 'x', sourceId: 'Not An Id' }, /sourceId/],
  ]
  for (const [path, json, reason] of wrong) {
    const answer = await stack.request('POST', path, { json })
    assert.equal(answer.status, 400, JSON.stringify(json))
    assert.match(answer.json<{ error: string }>().error, reason)
  }
  assert.equal((await stack.request('POST', SOURCES, { json: { name: 'x', sourceId: stack.sourceId } })).status, 409)
  const limited = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'limited' } })).json<{
    token: string
  }>()
  assert.equal((await stack.request('POST', SOURCES, { json: { name: 'y' }, token: limited.token })).status, 403)
  const other = await stack.newProject()
  assert.equal((await stack.request('GET', `${SOURCES}/${stack.sourceId}`, { token: other.masterToken })).status, 404)
  await stack.done('PUT', `${SOURCES}/${stack.sourceId}/disable`)
  stack.advance(2000)
  assert.equal((await send(address)).status, 403)
  await stack.done('PUT', `${SOURCES}/${stack.sourceId}/enable`)
  await stack.done('POST', `${SOURCES}/${stack.sourceId}/rotate-secret`)
  stack.advance(2000)
  assert.equal((await send(address)).status, 404)
  assert.equal((await send(await stack.address())).status, 200)
})

test('a table that cannot be loaded says why, and is loaded once it can', async (t) => {
  const stack = await streamingStack(t, [{ type: 'body', name: 'body' }])
  const created = await stack.request('POST', '/v2/storage/buckets', { json: { name: 'shop', stage: 'in' } })
  assert.equal(created.status, 201, created.text)
  const definition = { name: 'orders', primaryKeysNames: [], columns: [{ name: 'body', definition: { type: 'INTEGER' } }] }
  const typed = await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables-definition', { json: definition })
  assert.equal(typed.status, 202, typed.text)
  await until(
    'the table is there',
    async () => (await stack.request('GET', '/v2/storage/tables/in.c-shop.orders')).status === 200,
  )
  await stack.request('POST', await stack.address(), {
    body: 'not a number',
    token: null,
    headers: { 'content-type': 'text/plain' },
  })
  stack.advance(MINUTE_MS)
  await until('the sink says why', async () => (await stack.sink()).statistics.lastError !== null)
  assert.match((await stack.sink()).statistics.lastError!, /INTEGER/)
  const dropped = await stack.request('DELETE', '/v2/storage/tables/in.c-shop.orders')
  assert.ok(dropped.status < 300, dropped.text)
  await until('the table is gone', async () => (await stack.request('GET', '/v2/storage/tables/in.c-shop.orders')).status === 404)
  stack.advance(MINUTE_MS)
  await stack.loaded(1)
  assert.equal((await stack.sink()).statistics.lastError, null)
  assert.deepEqual(await stack.rows(), [['not a number']])
})

test('a thousand clients at once are all answered, and each of their records arrives once', async (t) => {
  const stack = await streamingStack(t, [{ type: 'path', name: 'n', path: 'n', rawString: true }])
  const address = await stack.address()
  const answers = await Promise.all(
    Array.from({ length: 1000 }, (_, n) => stack.request('POST', address, { json: { n: String(n) }, token: null })),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  stack.advance(MINUTE_MS)
  await stack.loaded(1000)
  const rows = (await stack.rows()).map(([n]) => Number(n)).sort((a, b) => a - b)
  assert.deepEqual(
    rows,
    Array.from({ length: 1000 }, (_, n) => n),
  )
})
