import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillTable, makeTable } from '../../../../../tests/support/project-table.ts'
import type { Job } from '../../../../../tests/support/shell-stack.ts'
import { shellStack } from '../../../../../tests/support/shell-stack.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { createSampleApi, REQUESTS_A_SECOND } from './sample-api.ts'
import { ORDER_COUNT, type Order, order } from './shop.ts'

const NOON = new Date('2026-11-16T12:00:30Z')
const LOGIN = { username: 'ada', password: 'lovelace' }

interface OrdersPage {
  readonly orders: readonly Order[]
  readonly next: string | null
}

test('the shop: login, cursor, page numbers, increments, a bad record, a rate limit', async (t) => {
  let now = NOON
  const { request } = await startTestStack(t, { clock: { now: () => now } })
  const ask = (path: string, session?: string) =>
    request('GET', `/sample/${path}`, { token: null, ...(session && { headers: { 'x-sample-session': session } }) })
  const logIn = (json: object) => request('POST', '/sample/login', { token: null, json })

  assert.equal((await logIn({ ...LOGIN, password: 'x' })).json().code, 'sample.loginWrong')
  const { token, expiresIn } = (await logIn(LOGIN)).json<{ token: string; expiresIn: number }>()
  for (const wrong of [undefined, 'x', `9${token}`, token.slice(0, -1)])
    assert.deepEqual([(await ask('orders', wrong)).status, wrong], [401, wrong])

  const seen: Order[] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: OrdersPage = (await ask(`orders?limit=100${after && `&after=${after}`}`, token)).json<OrdersPage>()
    seen.push(...page.orders)
    after = page.next
    now = new Date(now.getTime() + 1000)
  }
  assert.equal(new Set(seen.map(({ id }) => id)).size, ORDER_COUNT)
  assert.deepEqual(seen[0], order(seen[0]!.id))
  assert.equal(seen.at(-1)!.created, '2026-11-16T12:00:00.000Z')
  const since = Date.parse('2026-11-16T11:57:01Z') / 1000
  assert.equal((await ask(`orders?since=${since}`, token)).json<OrdersPage>().orders.length, 3)
  assert.equal((await ask('orders?after=bm9uc2Vuc2U', token)).json().code, 'sample.cursorUnknown')

  const bad = (await ask('orders?bad=yes&limit=3', token)).json<{ orders: { items: unknown }[] }>()
  assert.deepEqual(
    bad.orders.map(({ items }) => typeof items),
    ['object', 'string', 'object'],
  )
  const last = (await ask('customers?page=6&limit=10', token)).json<{ customers: { id: number }[]; pages: number }>()
  assert.deepEqual([last.pages, last.customers.map(({ id }) => id)], [6, [51, 52, 53, 54, 55, 56, 57]])

  now = new Date(now.getTime() + 1000)
  const statuses: number[] = []
  for (let count = 0; count <= REQUESTS_A_SECOND; count++) statuses.push((await ask('customers?limit=1', token)).status)
  assert.deepEqual([statuses.indexOf(429), statuses.length], [REQUESTS_A_SECOND, REQUESTS_A_SECOND + 1])
  const refused = await ask('customers', token)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1'])
  now = new Date(now.getTime() + 1000)
  assert.equal((await ask('customers', token)).status, 200)
  now = new Date(now.getTime() + expiresIn * 1000)
  assert.equal((await ask('customers', token)).status, 401)
})

test('the extractor reaches the sample on this machine, and nothing else of the stack', async (t) => {
  const stack = await shellStack(t)
  const run = async (baseUrl: string, endpoint: string, more: object = {}): Promise<Job> => {
    const parameters = { api: { baseUrl, ...more }, config: { jobs: [{ endpoint, dataType: 'x' }] } }
    const config = await stack.configure('keboola.ex-generic-v2', { parameters })
    return stack.wait((await stack.request('POST', '/queue/keboola.ex-generic-v2/run', { json: { config } })).json<Job>())
  }
  const apiRequest = { headers: { 'X-Sample-Session': { response: 'token' } } }
  const authentication = { type: 'login', loginRequest: { endpoint: 'login', method: 'POST', params: LOGIN }, apiRequest }
  const reached = await run(`${stack.url}/sample/`, 'customers', { authentication })
  assert.equal(reached.status, 'success', JSON.stringify(reached.result))

  const port = new URL(stack.url).port
  const refusals = [
    [`${stack.url}/v2/storage/`, 'tokens/verify'],
    [`${stack.url}/sample/`, '../health'],
    [`${stack.url}/sample/`, '%2e%2e/health'],
    [`http://127.1:${port}/`, 'metrics'],
    [stack.platform.objects.url(), '/sample/orders'],
  ] as const
  for (const [baseUrl, endpoint] of refusals) {
    const { status, result } = await run(baseUrl, endpoint)
    assert.equal(status, 'error', `${baseUrl} ${endpoint}`)
    assert.match(result.message, /is not allowed/, `${baseUrl} ${endpoint}`)
  }
})

test('a stack that does not serve the sample opens nothing for it', async (t) => {
  const { request } = await startTestStack(t, { sampleApi: false })
  assert.equal((await request('GET', '/sample', { token: null })).status, 404)
  const sample = createSampleApi({ clock: { now: () => NOON }, isServed: false })
  assert.deepEqual(sample.places('http://127.0.0.1:8000', undefined), [])
})

test('the writing side: contacts are created once for each key, changed, deleted and refused', async (t) => {
  const { request } = await startTestStack(t)
  const { token } = (await request('POST', '/sample/login', { token: null, json: LOGIN })).json<{ token: string }>()
  const send = async (method: string, path: string, json?: object, key?: string) => {
    const headers = { 'x-sample-session': token, ...(key !== undefined && { 'idempotency-key': key }) }
    const answer = await request(method, `/sample/contacts${path}`, { token: null, headers, ...(json && { json }) })
    return [answer.status, answer.status === 204 ? null : (answer.json().version ?? answer.json().code)]
  }
  assert.deepEqual(await send('POST', '', { id: 7, email: 'a@example.com' }, 'k1'), [201, 1])
  assert.deepEqual(await send('POST', '', { id: 7, email: 'a@example.com' }, 'k1'), [201, 1], 'the same key')
  assert.deepEqual(await send('POST', '', { id: 7 }, 'k2'), [409, 'sample.contactExists'])
  assert.deepEqual(await send('POST', '', { id: 8, email: 'wrong' }), [422, 'sample.contactInvalid'])
  assert.deepEqual(await send('PATCH', '/7', { email: 'b@example.com' }), [200, 2])
  assert.deepEqual(await send('PATCH', '/9', {}), [404, 'sample.contactNotFound'])
  assert.deepEqual(await send('PUT', '/9', {}), [201, 1])
  assert.deepEqual(await send('GET', '/7'), [200, 2])
  assert.deepEqual(await send('DELETE', '/7', undefined, 'k3'), [204, null])
  assert.deepEqual(await send('DELETE', '/7', undefined, 'k3'), [204, null], 'the same key')
  assert.deepEqual(await send('GET', '/7'), [404, 'sample.contactNotFound'])
  const left = await request('GET', '/sample/contacts', { token: null, headers: { 'x-sample-session': token } })
  assert.deepEqual(left.json(), { total: 1, ids: ['9'] })
  assert.equal((await request('DELETE', '/sample/contacts/9', { token: null })).status, 401)
})

test('a delivery of changes creates, changes and deletes contacts of the shop, with a receipt for each', async (t) => {
  const stack = await shellStack(t)
  await makeTable(stack, 'in.c-crm.contacts', { columns: { id: 'INTEGER', email: 'STRING' }, primaryKey: ['id'] })
  const fill = (...rows: [string, string][]) => fillTable(stack, 'in.c-crm.contacts', ['id', 'email'], rows)
  const apiRequest = { headers: { 'X-Sample-Session': { response: 'token' } } }
  const authentication = { type: 'login', loginRequest: { endpoint: 'login', method: 'POST', params: LOGIN }, apiRequest }
  const config = await stack.configure('platform.wr-http', {
    parameters: {
      api: { baseUrl: `${stack.url}/sample/`, authentication },
      requests: {
        create: { path: 'contacts' },
        update: { method: 'PATCH', path: 'contacts/{{id}}' },
        delete: { path: 'contacts/{{id}}' },
      },
      ...{ idempotencyHeader: 'Idempotency-Key', maxRequestsPerSecond: 15, maxFailedPercent: 50 },
      answerFields: [{ column: 'version', path: 'version' }],
    },
    storage: { input: { tables: [{ source: 'in.c-crm.contacts', changes: true }] } },
  })
  const deliver = async () => {
    const job = { component: 'platform.wr-http', config, mode: 'run' }
    const ended = await stack.wait((await stack.request('POST', '/queue/jobs', { json: job })).json<Job>())
    assert.equal(ended.status, 'success', ended.result.message)
  }
  await fill(['1', 'a@example.com'], ['2', 'b@example.com'], ['3', 'wrong'])
  await deliver()
  await fill(['1', 'a@example.com'], ['2', 'c@example.com'], ['4', 'd@example.com'])
  const sql = `select operation, key, status, http_status, version from "out.c-platform-wr-http-${config}".receipts order by all`
  await deliver()
  assert.deepEqual((await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown }>().rows, [
    ['create', '1', 'delivered', 201, '1'],
    ['create', '2', 'delivered', 201, '1'],
    ['create', '3', 'rejected', 422, null],
    ['create', '4', 'delivered', 201, '1'],
    ['delete', '3', 'rejected', 404, null],
    ['update', '2', 'delivered', 200, '2'],
  ])
})
