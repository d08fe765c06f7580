import assert from 'node:assert/strict'
import { test } from 'node:test'
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
