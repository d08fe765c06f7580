// What an API gets, and its receipts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startApi, startFolder, type Table } from './harness.ts'

const columns = { id: 'INTEGER', name: 'STRING', total: 'NUMERIC', vip: 'BOOLEAN', note: 'STRING' }
const people: Table = {
  columns,
  primaryKey: ['id'],
  rows: [
    ['1', 'Ann "A"', '12345678901234567890.10', 'true', null],
    ['2', 'Bob/..', '0.5', 'false', ''],
  ],
}

test('a request for each row, with typed members, and a receipt with what the API answered', async (t) => {
  const { url, got } = await startApi(t, (_, count) => ({ status: 201, body: { data: { id: `r${count}` } } }))
  const folder = startFolder(t)
  const upsert = {
    path: 'people/{{id}}/x{{name}}',
    query: [{ name: 'n', value: 'a {{name}}' }],
    headers: [{ name: 'X-Id', value: '{{id}}' }],
  }
  const parameters = {
    api: { baseUrl: url, http: { headers: { 'X-All': 'yes' } } },
    '#bearerToken': 'open-sesame',
    requests: { upsert },
    answerFields: [{ column: 'remote_id', path: 'data.id' }],
    concurrency: 1,
    idempotencyHeader: 'Idempotency-Key',
  }
  folder.prepare(parameters, people)
  const { code, out, error } = await folder.run()
  assert.equal(code, 0, error)
  assert.match(out, /Delivered in\.c-shop\.t: 2 rows delivered, 0 rejected, 0 failed/)
  assert.deepEqual(
    got.map(({ method, url: path, body }) => [method, path, body]),
    [
      [
        'PUT',
        '/v1/people/1/xAnn%20%22A%22?n=a+Ann+%22A%22',
        '{"id":1,"name":"Ann \\"A\\"","total":12345678901234567890.10,"vip":true,"note":null}',
      ],
      ['PUT', '/v1/people/2/xBob%2F..?n=a+Bob%2F..', '{"id":2,"name":"Bob/..","total":0.5,"vip":false,"note":""}'],
    ],
  )
  const { authorization, 'x-id': id, 'x-all': all, 'content-type': type } = got[1]?.headers ?? {}
  assert.deepEqual(
    { authorization, id, all, type },
    { authorization: 'Bearer open-sesame', id: '2', all: 'yes', type: 'application/json' },
  )
  assert.notEqual(got[0]?.headers['idempotency-key'], got[1]?.headers['idempotency-key'])
  assert.deepEqual(
    folder
      .receipts()
      .map(({ key, operation, status, http_status, attempts, repeated, remote_id }) => [
        key,
        operation,
        status,
        http_status,
        attempts,
        repeated,
        remote_id,
      ]),
    [
      ['1', 'upsert', 'delivered', '201', '1', 'false', 'r1'],
      ['2', 'upsert', 'delivered', '201', '1', 'false', 'r2'],
    ],
  )
  assert.ok(!out.includes('open-sesame'))
})

test('a column says what is done with a row, and no row addresses all of them', async (t) => {
  const { url, got } = await startApi(t, ({ method }) => ({ status: method === 'DELETE' ? 404 : 200 }))
  const folder = startFolder(t)
  const table: Table = {
    columns: { id: 'STRING', name: 'STRING', what: 'STRING' },
    primaryKey: ['id'],
    rows: [
      ['1', 'a', 'create'],
      ['1', 'b', 'Update'],
      ['1', 'b', 'delete'],
      [null, 'c', 'delete'],
      ['..', 'd', 'delete'],
      ['5', 'e', 'drop'],
    ],
  }
  const requests = {
    create: { path: 'people', body: 'form', fields: [{ name: 'full name', value: '{{name}} & co' }] },
    update: {
      method: 'PATCH',
      path: 'people/{{id}}',
      body: 'text',
      text: '<name>{{name|xml}}</name>',
      contentType: 'application/xml',
    },
    delete: { path: 'people/{{id}}' },
  }
  const parameters = {
    api: { baseUrl: url, http: { ignoreErrors: [404] } },
    requests,
    operationColumn: 'what',
    maxFailedPercent: 100,
    concurrency: 8,
  }
  folder.prepare(parameters, table)
  const { code, error } = await folder.run()
  assert.equal(code, 0, error)
  assert.deepEqual(
    got.map(({ method, url: path, body }) => `${method} ${path} ${body}`),
    ['POST /v1/people full+name=a+%26+co', 'PATCH /v1/people/1 <name>b</name>', 'DELETE /v1/people/1 '],
  )
  assert.deepEqual(
    folder
      .receipts()
      .map(({ key, status, message }) => [key, status, message])
      .toSorted(),
    [
      ['', 'rejected', '"" cannot be a part of the path.'],
      ['..', 'rejected', '".." cannot be a part of the path.'],
      ['1', 'delivered', ''],
      ['1', 'delivered', ''],
      ['1', 'delivered', ''],
      ['5', 'rejected', '"drop" in the column of operations has no request.'],
    ],
  )
})

test('many rows in one request: results by row, and a refused request is halved until the bad rows are found', async (t) => {
  const { url, got } = await startApi(t, ({ body }) => {
    const { items } = JSON.parse(body) as { items: { id: number }[] } // as the test sends it
    if (items.some(({ id }) => id === 3)) return { status: 422, body: { error: '3 is bad' } }
    return { status: 200, body: { results: items.map(({ id }) => (id === 5 ? { error: 'five' } : { id: `r${id}` })) } }
  })
  const folder = startFolder(t)
  const parameters = {
    api: { baseUrl: url },
    requests: { create: { path: 'bulk/{{country}}', listPath: 'items', fields: [{ name: 'id', value: '{{id}}' }] } },
    ...{ rowsPerRequest: 4, groupBy: ['country'], resultsPath: 'results', resultErrorPath: 'error' },
    ...{ answerFields: [{ column: 'remote', path: 'id' }], maxFailedPercent: 50, concurrency: 1 },
  }
  const rows = Array.from({ length: 8 }, (_, at) => [String(at), at % 4 === 0 ? 'cz' : 'de'])
  folder.prepare(parameters, { columns: { id: 'INTEGER', country: 'STRING' }, rows, primaryKey: ['id'] })
  const { code, error } = await folder.run()
  assert.equal(code, 0, error)
  assert.deepEqual(
    got.map(({ url: path, body }) => `${path} ${body.match(/\d+/g)?.join('')}`),
    [
      '/v1/bulk/de 1235',
      '/v1/bulk/de 12',
      '/v1/bulk/de 35',
      '/v1/bulk/de 3',
      '/v1/bulk/de 5',
      '/v1/bulk/cz 04',
      '/v1/bulk/de 67',
    ],
  )
  assert.deepEqual(
    folder
      .receipts()
      .map(({ key, status, remote, message }) => `${key} ${status} ${remote} ${message}`)
      .toSorted(),
    [
      ...['0 delivered r0 ', '1 delivered r1 ', '2 delivered r2 ', '3 rejected null {"error":"3 is bad"}', '4 delivered r4 '],
      ...['5 rejected null five', '6 delivered r6 ', '7 delivered r7 '],
    ],
  )
})

test('rows of one key are sent in their order, others side by side', async (t) => {
  let [inside, most] = [0, 0]
  const open = new Set<string>()
  const { url, got } = await startApi(t, async ({ url: path }) => {
    const key = path.split('/').at(-2) ?? ''
    assert.ok(!open.has(key), 'two requests of one key at once')
    open.add(key)
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setTimeout(resolve, 5))
    open.delete(key)
    inside--
    return { status: 200 }
  })
  const folder = startFolder(t)
  const rows = Array.from({ length: 60 }, (_, at) => [String(at % 6), String(at)])
  folder.prepare(
    { api: { baseUrl: url }, requests: { upsert: { path: '{{id}}/{{n}}' } }, concurrency: 6 },
    { columns: { id: 'STRING', n: 'INTEGER' }, rows, primaryKey: ['id'] },
  )
  assert.equal((await folder.run()).code, 0)
  for (let key = 0; key < 6; key++) {
    const numbers = got
      .filter(({ url: path }) => path.startsWith(`/v1/${key}/`))
      .map(({ url: path }) => Number(path.split('/').at(-1)))
    assert.deepEqual(
      numbers,
      Array.from({ length: 10 }, (_, at) => key + at * 6),
    )
  }
  assert.ok(most > 1 && most <= 6, `${most} at once`)
})

test('what failed is sent again by the next run, with the same key, and what is rejected is not', async (t) => {
  let isDown = true
  const { url, got } = await startApi(t, ({ body }) => {
    const { id } = JSON.parse(body) as { id: number } // as the test sends it
    if (id === 1) return { status: 400, body: 'never' }
    return { status: id === 2 && isDown ? 503 : 200, headers: { 'retry-after': '0' } }
  })
  const folder = startFolder(t)
  const retryConfig = { maxRetries: 1 }
  const parameters = {
    api: { baseUrl: url, retryConfig },
    requests: { create: { path: 'p' } },
    maxFailedPercent: 90,
    idempotencyHeader: 'Idempotency-Key',
  }
  const table = (...ids: string[]): Table => ({ columns: { id: 'INTEGER' }, rows: ids.map((id) => [id]), primaryKey: ['id'] })
  folder.prepare(parameters, table('1', '2', '3'))
  const first = await folder.run()
  assert.match(first.out, /1 row delivered, 1 rejected, 1 failed/)
  const keyOfTwo = got.find(({ body }) => body === '{"id":2}')?.headers['idempotency-key']
  const [, two] = folder.receipts().toSorted((a, b) => Number(a.key) - Number(b.key))
  assert.deepEqual([two?.status, two?.http_status, two?.attempts], ['failed', '503', '2'])
  const state = folder.state()
  folder.forget()
  isDown = false
  got.length = 0
  folder.prepare(parameters, table('4'), { state })
  assert.match((await folder.run()).out, /2 rows delivered, 0 rejected, 0 failed; 1 sent again/)
  assert.deepEqual(got.map(({ body }) => body).toSorted(), ['{"id":2}', '{"id":4}'])
  assert.equal(got.find(({ body }) => body === '{"id":2}')?.headers['idempotency-key'], keyOfTwo)
  assert.deepEqual(Object.keys(folder.state()), ['delivery'])
})

test('a delivery stops above a share of refusals, and the next run goes on where it stopped', async (t) => {
  let isBroken = true
  const { url, got } = await startApi(t, ({ body }) => ({ status: isBroken && Number(JSON.parse(body).id) >= 100 ? 422 : 200 }))
  const folder = startFolder(t)
  const rows = Array.from({ length: 500 }, (_, at) => [String(at)])
  const parameters = { api: { baseUrl: url }, requests: { create: { path: 'p' } }, maxFailedPercent: 10, concurrency: 2 }
  folder.prepare(parameters, { columns: { id: 'INTEGER' }, rows, primaryKey: ['id'] })
  const stopped = await folder.run()
  assert.equal(stopped.code, 1)
  assert.match(stopped.error, /\d+ of 1\d\d rows were not delivered, which is more than 10 %/)
  assert.ok(got.length < 130, `${got.length} requests`)
  assert.equal(folder.receipts().filter(({ status }) => status === 'delivered').length, 100)
  isBroken = false
  got.length = 0
  folder.prepare(parameters, { columns: { id: 'INTEGER' }, rows, primaryKey: ['id'] })
  assert.match((await folder.run()).out, /400 rows delivered, 0 rejected, 0 failed; 100 delivered before/)
  assert.equal(got.length, 400)
})

test('an API that is down ends the delivery with a sentence; when it is up again, the next run delivers the rest once', async (t) => {
  const rows = Array.from({ length: 60 }, (_, at) => [String(at)])
  const table = { columns: { id: 'INTEGER' }, rows, primaryKey: ['id'] }
  const taken: string[] = []
  let isDown = false
  const server = createServer(async (request, response) => {
    const body = await text(request)
    isDown ||= taken.length === 20
    if (isDown) return void request.socket.destroy()
    taken.push(body)
    response.writeHead(200).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number } // a TCP listener has one
  const api = { baseUrl: `http://127.0.0.1:${port}/`, retryConfig: { maxRetries: 0 } }
  const parameters = { api, requests: { create: { path: 'p' } }, concurrency: 2 }
  const folder = startFolder(t)
  for (let hour = 1; hour <= 2; hour++) {
    folder.prepare(parameters, table)
    const { code, error } = await folder.run()
    assert.equal(code, 1)
    assert.match(error, /\d+ of \d+ rows were not delivered, which is more than 10 %\. The receipts say why; the last: /)
    assert.equal(taken.length, 20)
  }
  isDown = false
  taken.push('up again') // so that it stays up
  folder.prepare(parameters, table)
  assert.match((await folder.run()).out, /40 rows delivered, 0 rejected, 0 failed; 20 delivered before/)
  assert.equal(new Set(taken).size, 61)
})

test('revoked credentials stop a delivery at once, and no other row is refused for them', async (t) => {
  const { url, got } = await startApi(t, (_, count) => ({ status: count > 5 ? 401 : 200 }))
  const folder = startFolder(t)
  const rows = Array.from({ length: 100 }, (_, at) => [String(at)])
  folder.prepare(
    { api: { baseUrl: url }, requests: { create: { path: 'p' } }, concurrency: 2 },
    { columns: { id: 'INTEGER' }, rows, primaryKey: ['id'] },
  )
  const { code, error } = await folder.run()
  assert.equal(code, 1)
  assert.match(error, /\[401\].*Check the credentials/)
  assert.ok(got.length <= 8, `${got.length} requests`)
  assert.deepEqual([...new Set(folder.receipts().map(({ status }) => status))], ['delivered'])
})

test('a dry run, a debug run and a preview send nothing and show the first requests', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const folder = startFolder(t)
  const rows = [...Array.from({ length: 20 }, (_, at) => [String(at), 'create']), ['x', 'delete'], ['y', 'shout']]
  const table: Table = { columns: { id: 'STRING', what: 'STRING' }, rows, primaryKey: ['id'] }
  const parameters = {
    api: { baseUrl: url },
    '#bearerToken': 'open-sesame',
    requests: { create: { path: 'p' }, delete: { path: 'p/{{id}}' } },
    operationColumn: 'what',
  }
  folder.prepare({ ...parameters, dryRun: true }, table)
  assert.match((await folder.run()).out, /Dry run, nothing was sent: 20 create, 1 delete; 1 row without a request/)
  folder.prepare(parameters, table)
  assert.match((await folder.run({ KBC_COMPONENT_RUN_MODE: 'debug' })).out, /Dry run, nothing was sent/)
  folder.prepare(parameters, table, { action: 'preview' })
  const { out } = await folder.run()
  const { requests, operations, problems } = JSON.parse(out) as {
    requests: Record<string, unknown>[]
    operations: object
    problems: string[]
  } // its answer
  assert.deepEqual(
    [requests.length, operations, problems],
    [5, { create: 20, delete: 1 }, ['Row 22: "shout" in the column of operations has no request.']],
  )
  assert.deepEqual([requests[0]?.method, requests[0]?.url, requests[0]?.body], ['POST', `${url}p`, '{"id":"0"}'])
  assert.ok(!out.includes('open-sesame'))
  assert.equal(got.length, 0)
})

const MISTAKES: Readonly<Record<string, readonly [parameters: object, message: RegExp]>> = {
  'no request': [{}, /requests is missing/],
  'a column that does not exist': [
    { requests: { create: { path: '{{nme}}' } } },
    /requests\.create\.path names the column "nme", which in\.c-shop\.t does not have/,
  ],
  'two requests without a column': [
    { requests: { create: {}, delete: {} } },
    /name the column that says which in operationColumn/,
  ],
  'another host': [{ requests: { create: { path: 'https://elsewhere.example/x' } } }, /another host than api\.baseUrl/],
  'an unknown filter': [{ requests: { create: { path: '{{id|shout}}' } } }, /"shout" is not a filter\. Use xml, json, url/],
  'an unknown setting': [{ requests: { create: {} }, retries: 3 }, /"retries" in parameters is not known/],
}

test('mistakes of a configuration are named before anything is sent', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const folder = startFolder(t)
  for (const [name, [parameters, message]] of Object.entries(MISTAKES)) {
    folder.prepare({ api: { baseUrl: url }, ...parameters }, people)
    const { code, error } = await folder.run()
    assert.equal(code, 1, name)
    assert.match(error, message, name)
    folder.forget()
  }
  assert.equal(got.length, 0)
})

test('changes of a table choose their request by themselves, and a kind without one is refused', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const folder = startFolder(t)
  const table: Table = {
    columns: { _change: 'STRING', id: 'INTEGER', name: 'STRING' },
    rows: [
      ['insert', '1', 'Ann'],
      ['update', '2', 'Bob'],
      ['delete', '3', 'Cy'],
    ],
    primaryKey: ['id'],
  }
  const requests = { create: { path: 'p' }, update: { path: 'p/{{id}}', method: 'PATCH' }, delete: { path: 'p/{{id}}' } }
  folder.prepare({ api: { baseUrl: url }, requests: { upsert: { path: 'p/{{id}}' } } }, table)
  const refused = await folder.run()
  assert.equal(refused.code, 1)
  assert.match(refused.error, /requests.delete is missing: the changes of in.c-shop.t have inserted, updated and deleted rows/)
  folder.prepare({ api: { baseUrl: url }, requests }, table)
  const { code, error } = await folder.run()
  assert.equal(code, 0, error)
  assert.deepEqual(got.map(({ method, url: path, body }) => [method, path, body]).toSorted(), [
    ['DELETE', '/v1/p/3', ''],
    ['PATCH', '/v1/p/2', '{"id":2,"name":"Bob"}'],
    ['POST', '/v1/p', '{"id":1,"name":"Ann"}'],
  ])
  assert.deepEqual(
    folder
      .receipts()
      .map(({ key, operation }) => [key, operation])
      .toSorted(),
    [
      ['1', 'create'],
      ['2', 'update'],
      ['3', 'delete'],
    ],
  )
})

test('many rows make one XML text', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const folder = startFolder(t)
  const upsert = {
    ...{ method: 'POST', path: 'people', body: 'text', contentType: 'application/xml' },
    ...{ textBefore: '<people team="{{team|xml}}">', text: '<person id="{{id}}">{{name|xml}}</person>', textAfter: '</people>' },
  }
  const rows = [
    ['1', 'A & B', 'x'],
    ['2', null, 'x'],
    ['3', '<C>', 'y"'],
  ]
  folder.prepare(
    { api: { baseUrl: url }, requests: { upsert }, rowsPerRequest: 10, groupBy: ['team'] },
    { columns: { id: 'INTEGER', name: 'STRING', team: 'STRING' }, rows, primaryKey: ['id'] },
  )
  const { code, error } = await folder.run()
  assert.equal(code, 0, error)
  assert.deepEqual(got.map(({ body }) => body).toSorted(), [
    '<people team="x">\n<person id="1">A &amp; B</person>\n<person id="2"></person>\n</people>',
    '<people team="y&quot;">\n<person id="3">&lt;C&gt;</person>\n</people>',
  ])
})

test('a lookup finds what an interrupted run has created: it is not created twice', async (t) => {
  const made = new Map<string, number>()
  let isFirst = true
  const { url, got } = await startApi(t, ({ method, url: path, body }) => {
    if (method === 'GET') {
      const id = new URL(path, 'http://api').searchParams.get('external')
      return { status: 200, body: { data: made.has(id ?? '') ? [{ id: `r${id}` }] : [] } }
    }
    const { id } = JSON.parse(body) as { id: number } // as the test sends it
    made.set(String(id), (made.get(String(id)) ?? 0) + 1)
    if (id === 2 && isFirst) {
      isFirst = false
      child?.kill('SIGKILL') // it arrived, and the answer does not
      return new Promise(() => {})
    }
    return { status: 201, body: { id: `r${id}` } }
  })
  const folder = startFolder(t)
  const parameters = {
    api: { baseUrl: url },
    requests: { create: { path: 'p' } },
    lookup: { path: 'p', query: [{ name: 'external', value: '{{id}}' }], resultsPath: 'data' },
    answerFields: [{ column: 'remote_id', path: 'id' }],
    concurrency: 1,
  }
  const table = { columns: { id: 'INTEGER' }, rows: [['1'], ['2'], ['3']], primaryKey: ['id'] }
  folder.prepare(parameters, table)
  const child = folder.start()
  await once(child, 'close')
  folder.prepare(parameters, table)
  const { code, error } = await folder.run()
  assert.equal(code, 0, error)
  assert.deepEqual([...made.values()], [1, 1, 1])
  assert.equal(got.filter(({ method }) => method === 'GET').length, 1, 'only what was in doubt is looked up')
  const two = folder.receipts().find(({ key }) => key === '2')
  assert.deepEqual([two?.status, two?.repeated, two?.remote_id], ['delivered', 'true', 'r2'])
  folder.forget()
  folder.prepare({ ...parameters, lookup: { ...parameters.lookup, always: true } }, { ...table, rows: [['2'], ['4']] })
  assert.equal((await folder.run()).code, 0)
  assert.deepEqual([made.get('2'), made.get('4')], [1, 1], 'with always, what exists is not created')
  folder.prepare({ ...parameters, rowsPerRequest: 5 }, table)
  assert.match((await folder.run()).error, /lookup is for one row per request/)
})
