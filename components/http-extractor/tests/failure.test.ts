// What a failed run reports besides its message: kind, place in the configuration, request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FailureFacts } from '../../../contract/failure-causes.ts'
import { UserError } from '../src/errors.ts'
import { failureFacts } from '../src/failure.ts'
import { extract, json, serve } from './harness.ts'

async function factsOf(parameters: object, options: Parameters<typeof extract>[1] = {}): Promise<FailureFacts> {
  const { error } = await extract({ parameters }, options)
  assert.ok(error instanceof UserError, String(error))
  return failureFacts(error)
}

const oneJob = (url: string, job: object = {}, api: object = {}, config: object = {}) => ({
  api: { baseUrl: url, retryConfig: { maxRetries: 0 }, ...api },
  config: { jobs: [{ endpoint: 'ok' }, { endpoint: 'orders', ...job }], ...config },
})

test('a refused request names its status, its address and where to look', async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url?.startsWith('/ok')) return json(response, [])
    response.writeHead(Number(new URL(request.url ?? '', 'http://x').searchParams.get('status'))).end('{"error":"no"}')
  })
  const cases: readonly (readonly [number, string, string])[] = [
    [401, 'http.unauthorized', '/parameters/api/authentication'],
    [403, 'http.forbidden', '/parameters/api/authentication'],
    [404, 'http.notFound', '/parameters/config/jobs/1/endpoint'],
    [422, 'http.rejected', '/parameters/config/jobs/1'],
    [429, 'http.tooManyRequests', '/parameters/api/retryConfig'],
    [503, 'http.serverError', '/parameters/api/retryConfig'],
  ]
  for (const [status, kind, pointer] of cases) {
    const facts = await factsOf(oneJob(url, { params: { status } }))
    assert.equal(facts.kind, kind)
    assert.equal(facts.pointer, pointer)
    assert.equal(facts.subject, new URL(url).host)
    assert.deepEqual(facts.request, { method: 'GET', url: `${url}orders?status=${status}`, status, endpoint: 'orders', page: 1 })
  }
})

test('a job that has children is found by its path', async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === '/users') return json(response, [{ id: 1 }])
    response.writeHead(404).end('{}')
  })
  const children = [{ endpoint: 'users/{id}', placeholders: { id: 'id' } }]
  const facts = await factsOf({ api: { baseUrl: url }, config: { jobs: [{ endpoint: 'users', children }] } })
  assert.equal(facts.pointer, '/parameters/config/jobs/0/children/0/endpoint')
  assert.equal(facts.request?.endpoint, 'users/1')
})

test('answers that cannot be used, and pages without an end, have kinds of their own', async (t) => {
  let page = 0
  const { url } = await serve(t, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x')
    if (pathname === '/ok') return json(response, [])
    if (pathname === '/text') return void response.end('<html>')
    if (pathname === '/two') return json(response, { a: [1], b: [2] })
    return json(response, { items: [{ id: page++ }], next: 'list?same=1' })
  })
  const unreadable = await factsOf(oneJob(url, { endpoint: 'text' }))
  assert.equal(unreadable.kind, 'response.unreadable')
  assert.equal(unreadable.pointer, '/parameters/config/jobs/1/responseType')
  const twoLists = await factsOf(oneJob(url, { endpoint: 'two' }))
  assert.deepEqual([twoLists.kind, twoLists.pointer], ['response.noItems', '/parameters/config/jobs/1/dataField'])
  const pagination = { method: 'response.url', urlKey: 'next' }
  const endless = await factsOf(oneJob(url, { endpoint: 'list', dataField: 'items' }, { pagination }))
  assert.deepEqual([endless.kind, endless.pointer], ['pagination.endless', '/parameters/api/pagination'])
})

test('a network that does not lead there says how', async (t) => {
  const { url } = await serve(t, (_request, response) => void response.socket?.destroy())
  const cut = await factsOf(oneJob(url))
  assert.equal(cut.kind, 'network.interrupted')
  const closed = await factsOf(oneJob('http://127.0.0.1:1/'))
  assert.deepEqual([closed.kind, closed.pointer], ['network.unreachable', '/parameters/api/baseUrl'])
  const unknown = await factsOf(oneJob('http://nowhere.invalid/'))
  assert.equal(unknown.kind, 'network.nameNotFound')
  const refused = await factsOf(oneJob('http://10.1.2.3/'), { policy: { allow: [] } as never })
  assert.equal(refused.kind, 'network.refusedHere')
})

test('a login that is refused is not taken for a request of a job, and shows no credentials', async (t) => {
  const { url } = await serve(t, (_request, response) => void response.writeHead(401).end('{}'))
  const authentication = {
    type: 'login',
    loginRequest: { endpoint: 'login', method: 'GET', params: { user: 'ada', pass: 'lovelace' } },
  }
  const facts = await factsOf(oneJob(url, {}, { authentication }))
  assert.equal(facts.kind, 'login.failed')
  assert.equal(facts.pointer, '/parameters/api/authentication')
  assert.ok(!JSON.stringify(facts).includes('lovelace'))
})

test('a mistake in the configuration is a pointer to it', async () => {
  const facts = await factsOf(oneJob('http://127.0.0.1:1/', {}, {}, { concurrency: 900 }))
  assert.deepEqual([facts.kind, facts.pointer], ['configuration.invalid', '/parameters/config/concurrency'])
  const job = await factsOf(oneJob('http://127.0.0.1:1/', { endpoint: '' }))
  assert.equal(job.pointer, '/parameters/config/jobs/1')
  const none = await factsOf({ api: { baseUrl: 'http://127.0.0.1:1/' }, config: { outputBucket: 'x' } })
  assert.equal(none.pointer, '/parameters/config/jobs')
  const unnamed = await factsOf(oneJob('http://127.0.0.1:1/', {}, { authentication: { type: 'basic' } }))
  assert.equal(unnamed.kind, 'configuration.invalid')
})
