// config.concurrency: several requests at once, the same tables.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extract, json, serve } from './harness.ts'

const spread = (n: number) => (n * 2654435761) % 97

/** Users with orders with lines, each answered after a different while; every third user has two pages of orders. */
const tree = (q: { url?: string | undefined }, r: Parameters<typeof json>[0]) => {
  const [, kind = '', id = '0', more] = /^\/(\w+)(?:\/(\d+))?(?:\?page=(\d+))?/.exec(q.url ?? '') ?? []
  const n = Number(id)
  const page = Number(more ?? 1)
  const answer = (value: unknown) => setTimeout(() => json(r, value), spread(n + page) % 7)
  if (kind === 'users') return answer({ items: page === 1 ? Array.from({ length: 25 }, (_, i) => ({ id: i + 1 })) : [] })
  if (kind === 'orders') {
    const count = page === 1 ? 1 + (n % 3) : page === 2 && n % 3 === 0 ? 2 : 0
    const extra = n === 20 ? { late: true, parent_id: 'own' } : {}
    return answer({ items: Array.from({ length: count }, (_, i) => ({ id: n * 100 + page * 10 + i, tags: [n, i], ...extra })) })
  }
  return answer({ items: page === 1 ? [{ line: n }] : [] })
}

const config = (url: string, more: object) => ({
  api: { baseUrl: url, pagination: { method: 'pagenum', firstPageParams: false } },
  config: {
    ...more,
    userData: { source: 'x' },
    jobs: [
      {
        endpoint: 'users',
        dataField: 'items',
        children: [
          {
            endpoint: 'orders/{id}',
            dataType: 'orders',
            dataField: 'items',
            placeholders: { id: 'id' },
            children: [{ endpoint: 'lines/{oid}', dataType: 'lines', dataField: 'items', placeholders: { oid: 'id' } }],
          },
        ],
      },
      { endpoint: 'extra', dataType: 'lines', dataField: 'items' },
    ],
  },
})

test('the tables are those of the sequential run, byte for byte', async (t) => {
  let inside = 0
  let max = 0
  const { url, seen } = await serve(t, (q, r) => {
    max = Math.max(max, ++inside)
    r.on('finish', () => inside--)
    tree(q, r)
  })
  const sequential = await extract(config(url, {}))
  assert.equal(sequential.error, undefined)
  assert.equal(max, 1, 'one request after another without the setting')
  const requests = [...seen].sort()
  const parallel = await extract(config(url, { concurrency: 8 }))
  assert.equal(parallel.error, undefined)
  assert.deepEqual(parallel.tables, sequential.tables)
  assert.deepEqual(parallel.manifests, sequential.manifests)
  assert.deepEqual(seen.slice(requests.length).sort(), requests)
  assert.ok(max > 1 && max <= 8, `${max} requests at once`)
})

test('one login serves them all, and a token that ends early is renewed once', async (t) => {
  let logins = 0
  const { url } = await serve(t, (q, r) => {
    if (q.url === '/login') return setTimeout(() => json(r, { token: `token-${++logins}` }), 5)
    const isOld = q.headers['x-token'] === 'token-1' && q.url === '/orders/15'
    if (isOld || (logins === 2 && q.headers['x-token'] === 'token-1')) return json(r, {}, 401)
    tree(q, r)
  })
  const { api, ...rest } = config(url, { concurrency: 6 })
  const authentication = {
    type: 'login',
    loginRequest: { endpoint: 'login' },
    apiRequest: { headers: { 'X-Token': { response: 'token' } } },
  }
  const { error } = await extract({ ...rest, api: { ...api, authentication } })
  assert.equal(error, undefined)
  assert.equal(logins, 2)
})

test('a request that fails ends the run, and no table appears', async (t) => {
  const { url } = await serve(t, (q, r) => (q.url === '/orders/12' ? json(r, {}, 404) : tree(q, r)))
  const { error, tables, leftovers } = await extract(config(url, { concurrency: 8 }))
  assert.match(error?.message ?? '', /\[404\] Client error: `GET \S+\/orders\/12`/)
  assert.deepEqual([tables, leftovers], [{}, []])
})

test('a number that makes no sense is refused', async () => {
  for (const more of [{ concurrency: 0 }, { concurrency: 1000 }, { concurrency: 'many' }])
    assert.match((await extract(config('http://127.0.0.1:1/', more))).error?.message ?? '', /'config\.concurrency' must be/)
  for (const maxRequestsPerSecond of [0, -1, 'fast', true])
    assert.match(
      (await extract(config('http://127.0.0.1:1/', { maxRequestsPerSecond }))).error?.message ?? '',
      /'config\.maxRequestsPerSecond' must be a number above 0/,
    )
})
