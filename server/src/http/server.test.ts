import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pino from 'pino'
import { longestHold } from '../../../tests/support/event-loop.ts'
import { shareTestStack, startTestStack } from '../../../tests/support/test-stack.ts'
import { createLog } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { createHttpServer } from './server.ts'

const startProject = shareTestStack()

test('JSON, urlencoded and multipart bodies arrive as the same object', async () => {
  const { request } = await startProject()
  const multipart = new FormData()
  multipart.set('component', 'c')
  multipart.set('message', 'm')
  multipart.set('params', '{"a":[1,2]}')
  const answers = [
    await request('POST', '/v2/storage/events', { json: { component: 'c', message: 'm', params: { a: [1, 2] } } }),
    await request('POST', '/v2/storage/events', { form: { component: 'c', message: 'm', params: '{"a":[1,2]}' } }),
    await request('POST', '/v2/storage/events', { body: multipart }),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 201, answer.text)
    const event = await request('GET', `/v2/storage/events/${answer.json().id}`)
    assert.deepEqual(event.json().params, { a: [1, 2] })
  }
})

test('an empty body with a JSON content type is no error', async () => {
  const { request } = await startProject()
  const headers = { 'content-type': 'application/json' }
  assert.equal((await request('POST', '/v2/storage/tickets', { headers })).status, 201)
  assert.equal((await request('GET', '/v2/storage/tokens', { headers })).status, 200)
})

test('a method that an address does not know is answered 405 with those it knows', async () => {
  const { request } = await startProject()
  for (const [method, path, allowed] of [
    ['PATCH', '/v2/storage/tokens', 'GET, HEAD, POST'],
    ['POST', '/v2/storage/tokens/1', 'DELETE, GET, HEAD, PUT'],
    ['DELETE', '/health', 'GET, HEAD'],
  ] as const) {
    const answer = await request(method, path)
    assert.equal(answer.status, 405, answer.text)
    assert.equal(answer.headers.get('allow'), allowed)
    assert.equal(answer.json().code, 'methodNotAllowed')
  }
  assert.equal((await request('PATCH', '/v2/storage/nothing')).status, 404)
})

test('metrics are for everybody, or for who has their token', async (t) => {
  const { request } = await startTestStack(t, { metricsToken: 'secret-of-metrics' })
  const ask = (authorization?: string) =>
    request('GET', '/metrics', { token: null, headers: authorization ? { authorization } : {} })
  assert.equal((await ask('Bearer secret-of-metrics')).status, 200)
  for (const wrong of [undefined, 'Bearer wrong', 'secret-of-metrics']) assert.equal((await ask(wrong)).status, 401)
})

test('trailing slashes and the branch prefix reach the same route', async () => {
  const { request } = await startProject()
  for (const path of [
    '/v2/storage',
    '/v2/storage/',
    '/v2/storage//',
    '/v2/storage/?exclude=components',
    '/v2/storage?exclude=components',
  ])
    assert.equal((await request('GET', path)).status, 200, path)
  for (const path of ['/v2/storage/branch/default/tokens', '/v2/storage/branch/default/tokens/'])
    assert.equal((await request('GET', path)).status, 200, path)
  assert.equal((await request('GET', '/v2/storage/branch/424242/tokens')).status, 404)
  assert.equal((await request('POST', '/v2/storage/branch/default/tokens', { json: {} })).status, 501)
})

test('JSON is sent as application/json without a charset, gzip only when asked for', async () => {
  const { request, url, masterToken } = await startProject()
  for (const path of ['/v2/storage', '/v2/storage/tokens', '/nope', '/v2/storage/tokens/x', '/%zz'])
    assert.equal((await request('GET', path)).headers.get('content-type'), 'application/json', path)
  const head = { 'X-StorageApi-Token': masterToken }
  const plain = await fetch(`${url}/v2/storage`, { headers: { ...head, 'accept-encoding': 'identity' } })
  assert.equal(plain.headers.get('content-encoding'), null)
  const zipped = await fetch(`${url}/v2/storage`, { headers: { ...head, 'accept-encoding': 'gzip' } })
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.deepEqual(await zipped.json(), await plain.json())
})

test('every error has the one envelope and no stack trace', async () => {
  const { request } = await startProject()
  const json = { 'content-type': 'application/json' }
  const answers = [
    await request('GET', '/nowhere'),
    await request('PATCH', '/v2/storage/tokens'),
    await request('GET', '/v2/storage/tokens', { token: null }),
    await request('POST', '/v2/storage/tokens', { body: '{"a":', headers: json }),
    await request('POST', '/v2/storage/tokens', { body: '[]', headers: json }),
    await request('POST', '/v2/storage/tokens', { body: '"text"', headers: json }),
    await request('POST', '/v2/storage/tokens', { body: `${'['.repeat(100_000)}`, headers: json }),
    await request('POST', '/v2/storage/tokens', { body: new Uint8Array([0x7b, 0xff, 0x7d]), headers: json }),
    await request('POST', '/v2/storage/tokens', { body: 'x', headers: { 'content-type': 'application/xml' } }),
    await request('POST', '/v2/storage/tokens', {
      body: '{"description":"x"}',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
    await request('POST', '/v2/storage/tokens', { body: 'x', headers: { 'content-type': 'multipart/form-data' } }),
    await request('POST', '/v2/storage/tokens', { body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=b' } }),
    await request('GET', '/v2/storage/events?limit=10001'),
    await request('GET', '/v2/storage/events?limit=x'),
    await request('GET', '/v2/storage/events/not-an-event'),
  ]
  for (const answer of answers) {
    assert.ok(answer.status >= 400 && answer.status !== 500, answer.text)
    const body = answer.json()
    assert.deepEqual(Object.keys(body).slice(0, 4), ['error', 'code', 'exceptionId', 'status'], answer.text)
    assert.equal(body.status, 'error')
    assert.match(String(body.exceptionId), /^millrace-[0-9a-f]{32}$/)
    assert.equal(answer.headers.get('x-request-id') ?? body.exceptionId, body.exceptionId)
    assert.ok(!answer.text.includes('.ts:'), answer.text)
  }
})

test('a body over the limit is 413, announced or not, in every encoding', async (t) => {
  const { request } = await startTestStack(t, { bodyLimitBytes: 1000 })
  const text = 'x'.repeat(2000)
  const multipart = new FormData()
  multipart.set('description', text)
  const answers = [
    await request('POST', '/v2/storage/tokens', { json: { description: text } }),
    await request('POST', '/v2/storage/tokens', { form: { description: text } }),
    await request('POST', '/v2/storage/tokens', { body: multipart }),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 413, answer.text)
    assert.equal(answer.json().code, 'bodyTooLarge')
    assert.match(String(answer.json().error), /1000 bytes/)
  }
})

test('routes that need no token take bodies of a MiB, announced or not, and refuse larger ones before they are read', async () => {
  const { request, url } = await startProject()
  const large = `{"a":"${'x'.repeat(3 * 2 ** 20)}"}`
  const addresses = [
    '/sign-in/password',
    '/sign-in/link',
    '/sign-in/link/describe',
    '/encryption/migrate-configuration',
    '/encryption/encrypt?projectId=1&componentId=x',
    '/iceberg/v1/oauth/tokens',
    '/oauth/authorize/x',
    '/sample/login',
  ]
  const headers = { 'content-type': 'application/json' }
  for (const path of addresses) {
    const announced = await request('POST', path, { token: null, body: large, headers })
    assert.equal(announced.status, 413, `${path}: ${announced.text.slice(0, 300)}`)
    assert.match(announced.text, /1048576 bytes/)
    const chunked = await fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit)
    assert.equal(chunked.status, 413, path)
    await chunked.body?.cancel()
  }
  const multipart = new FormData()
  multipart.set('a', large)
  assert.equal((await request('POST', '/sign-in/password', { token: null, body: multipart })).status, 413)
  assert.equal(
    (await request('POST', '/nowhere', { token: null, body: large, headers })).status,
    404,
    'nothing is read for no route',
  )
})

test('a refusal by Content-Length comes before the body does', async () => {
  const { url } = await startProject()
  const { hostname, port } = new URL(url)
  for (const [path, status] of [
    ['/sign-in/password', 413],
    ['/v2/storage/tokens', 401],
    ['/nowhere', 404],
  ] as const) {
    const first = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n{`),
      )
      socket.once('data', (chunk) => {
        resolve(String(chunk))
        socket.destroy()
      })
      socket.on('error', reject)
    })
    assert.match(first, new RegExp(`^HTTP/1.1 ${status} `), path)
  }
})

test('G18: the log of an address that no route has names its path, without the query', async (t) => {
  const finished: { operation: string; path?: string }[] = []
  const app = createHttpServer({
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1000,
    maintenance: undefined,
    corsOrigins: [],
    publicUrl: undefined,
    domain: undefined,
    authenticate: () => undefined,
    findBranch: () => undefined,
    onFinished: (request) => finished.push(request),
  })
  t.after(() => app.close())
  await app.inject({ url: '/v2/storage/nothing/here?secret=1' })
  assert.deepEqual(
    finished.map(({ operation, path }) => [operation, path]),
    [['unknown', '/v2/storage/nothing/here']],
  )
})

test('G7: a connection on which nothing is sent is closed without a word', async (t) => {
  const app = createHttpServer({
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1000,
    headersTimeoutMs: 50,
    maintenance: undefined,
    corsOrigins: [],
    publicUrl: undefined,
    domain: undefined,
    authenticate: () => undefined,
    findBranch: () => undefined,
  })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.after(() => app.close())
  const answerTo = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => socket.write(text))
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
    })
  assert.equal(await answerTo(''), '')
  assert.equal(await answerTo('GET / HTTP/1.1\r\nHost:'), '')
})

const CONNECTIONS = process.env.MILLRACE_LONG ? 5000 : 500

test('many connections on which nothing is sent are closed without holding the event loop', async (t) => {
  const app = createHttpServer({
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1000,
    headersTimeoutMs: 3000,
    maintenance: undefined,
    corsOrigins: [],
    publicUrl: undefined,
    domain: undefined,
    authenticate: () => undefined,
    findBranch: () => undefined,
  })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.after(() => app.close())
  // In a thread of their own: the work of the clients is not that of the server.
  const clients = new Worker(
    `const { connect } = require('node:net')
    const { workerData: { port, count }, parentPort } = require('node:worker_threads')
    let opened = 0
    let closed = 0
    // 100 at once: a connection that does not fit into the queue of the listener is dropped by the system, and its client gets no answer.
    const open = () => {
      if (opened++ >= count) return
      connect(port, '127.0.0.1', open).on('error', () => {}).on('close', () => ++closed === count && parentPort.postMessage('closed'))
    }
    for (let i = 0; i < 100; i++) open()`,
    { eval: true, workerData: { port: Number(url.port), count: CONNECTIONS } },
  )
  t.after(() => clients.terminate())
  const { heldMs, boundMs } = await longestHold(async () => {
    await once(clients, 'message')
  })
  t.diagnostic(`${CONNECTIONS} connections: ${Math.round(heldMs)} ms of ${Math.round(boundMs)} ms`)
  assert.ok(heldMs < boundMs, `${heldMs} ms, the bound is ${boundMs} ms`)
})

test('the log line of an address without a route has its path, without secrets in it', async (t) => {
  const lines: string[] = []
  const { request } = await startTestStack(t, {
    log: createLog({ level: 'info', secrets: createSecrets(), write: (line) => void lines.push(line) }),
  })
  await request('GET', '/v2/storage/no%22where?token=canary-in-query', { token: null })
  const line = lines.find((text) => text.includes('"status":404'))
  assert.equal((JSON.parse(line ?? '{}') as { path?: string }).path, '/v2/storage/no%22where')
  await request('GET', '/v2/storage', { token: null })
  assert.ok(!lines.at(-1)?.includes('"path"'))
})

test('bytes that are not HTTP get a 400 with the envelope', async () => {
  const { url } = await startProject()
  const { hostname, port } = new URL(url)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write('GARBAGE\r\n\r\n'))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.match(answer, /"code":"malformedRequest"/)
})

test('an expectation nobody knows is ignored', async () => {
  const { url } = await startProject()
  for (const [path, status] of [
    ['/v2/storage', 200],
    ['/nowhere', 404],
  ] as const) {
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      get(`${url}${path}`, { headers: { expect: 'nonsense' } }, async (response) => {
        resolve({ status: response.statusCode, text: Buffer.concat(await response.toArray()).toString() })
      }).on('error', reject)
    })
    assert.equal(answer.status, status)
    assert.ok(answer.text.startsWith('{'))
  }
})

test('a node without the role api answers probes, and says that the API is elsewhere', async (t) => {
  const { request } = await startTestStack(t, { roles: ['worker'] })
  for (const path of ['/health', '/ready', '/metrics']) assert.equal((await request('GET', path, { token: null })).status, 200)
  for (const path of ['/', '/docs', '/v2/storage', '/v2/storage/tokens/verify', '/queue/jobs', '/scheduler/schedules']) {
    const answer = await request('GET', path)
    assert.equal(answer.status, 503, path)
    assert.match(String(answer.json().error), /role api/)
  }
  assert.equal((await request('POST', '/v2/storage/tokens', { json: {} })).status, 503)
})

test('a body that stands still loses its connection, slow work does not', async (t) => {
  const app = createHttpServer({
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1000,
    bodyIdleMs: 100,
    maintenance: undefined,
    corsOrigins: [],
    publicUrl: undefined,
    domain: undefined,
    authenticate: () => undefined,
    findBranch: () => undefined,
  })
  app.post('/slow', { config: { needs: 'nothing' } }, async () => {
    await sleep(400) // longer than a body may stand still
    return { ok: true }
  })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.after(() => app.close())
  const head =
    'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n'
  const answerTo = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => socket.write(text))
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
    })
  assert.equal(await answerTo(`${head}{`), '')
  assert.match(await answerTo(`${head}{}`), /"ok":true/)
})

test('in maintenance every resource answers 503 with Retry-After, while health still answers', async (t) => {
  const { request } = await startTestStack(t, { maintenance: { reason: 'We are upgrading.' } })
  const answer = await request('GET', '/v2/storage/tokens')
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('retry-after'), '60')
  assert.equal(answer.json().status, 'maintenance')
  assert.equal(answer.json().reason, 'We are upgrading.')
  assert.equal((await request('GET', '/health')).status, 200)
  for (const path of ['/v2/storage', '/v2/storage/nowhere', '/templates'])
    assert.equal((await request('GET', path)).status, 503, path)
})

test('only origins that were named may call from a browser', async (t) => {
  const { request } = await startTestStack(t, { corsOrigins: ['http://console.test'] })
  const allowed = await request('OPTIONS', '/v2/storage/tokens', { token: null, headers: { origin: 'http://console.test' } })
  assert.equal(allowed.status, 204)
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'http://console.test')
  const refused = await request('GET', '/v2/storage/tokens', { headers: { origin: 'http://evil.test' } })
  assert.equal(refused.headers.get('access-control-allow-origin'), null)
})

test('a star lets every origin call, and what depends on the origin says so', async (t) => {
  const { request } = await startTestStack(t, { corsOrigins: ['*'] })
  const headers = { origin: 'http://anywhere.test', 'accept-encoding': 'gzip' }
  const answer = await request('GET', '/v2/storage', { headers })
  assert.equal(answer.headers.get('access-control-allow-origin'), 'http://anywhere.test')
  assert.deepEqual(answer.headers.get('vary')?.split(', ').sort(), ['Accept-Encoding', 'Origin'])
})

test('with a domain the services answer by host, and the index publishes those addresses', async (t) => {
  const { platform } = await startTestStack(t, { domain: 'example.com' })
  const get = (host: string, path: string) => platform.app.inject({ method: 'GET', url: path, headers: { host } })
  assert.equal((await get('ai.example.com', '/')).json().api, 'ai')
  assert.equal((await get('ai.example.com', '/v1/x')).statusCode, 404)
  for (const host of ['connection.example.com', 'connection.acme.example.com']) {
    const index = (await get(host, '/v2/storage')).json()
    assert.equal(index.host, host)
    const queue = index.services.find((service: { id: string }) => service.id === 'queue')
    assert.equal(queue.url, `http://${host.replace('connection', 'queue')}`)
  }
})

test('services around storage give the status as code and the name in context.stringCode', async () => {
  const { request } = await startProject()
  const body = (await request('GET', '/ai/anything')).json<Record<string, unknown> & { context: unknown }>()
  assert.equal(body.code, 404)
  assert.deepEqual(body.context, { stringCode: 'serviceNotFound' })
  assert.equal(body.message, body.error)
  assert.equal(body.status, 'error')
})
