// Every address the index publishes answers: by path, by host below MILLRACE_DOMAIN, and on the hosts of a single tenant.

import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { linkBaseUrl } from '../../server/src/http/addresses.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'

const DOMAIN = 'example.com'
const SERVICES = [
  'docker-runner',
  'import',
  'syrup',
  'oauth',
  'queue',
  'billing',
  'encryption',
  'sandboxes',
  'mlflow',
  'spark',
  'scheduler',
  'sync-actions',
  'notification',
  'templates',
  // Published because it is served (spec platform 6.1).
  'vault',
  'stream',
  // D70: published because clients stop without them.
  'data-science',
  'editor',
  'query',
  'iceberg',
  'ai',
] as const
const UNBUILT = ['ai'] as const

interface Call {
  readonly method: string
  readonly path: string
  readonly json?: unknown
  /** What a good token gets: the service itself answers, if only to refuse the body. */
  readonly status: number
  readonly says?: RegExp
}

/** One call that only the service itself can answer. */
const NATIVE: Readonly<Record<Exclude<(typeof SERVICES)[number], (typeof UNBUILT)[number]>, Call>> = {
  queue: { method: 'GET', path: '/jobs', status: 200 },
  notification: { method: 'GET', path: '/project-subscriptions', status: 200 },
  templates: { method: 'GET', path: '/v1/repositories', status: 200 },
  oauth: { method: 'GET', path: '/credentials/platform.ex-http', status: 200 },
  billing: { method: 'GET', path: '/credits', status: 200 },
  iceberg: { method: 'GET', path: '/v1/config', status: 200 },
  sandboxes: { method: 'GET', path: '/sandboxes', status: 200 },
  'data-science': { method: 'GET', path: '/sandboxes', status: 200 },
  editor: { method: 'GET', path: '/sql/sessions', status: 200 },
  query: { method: 'GET', path: '/api/v1/queries/1', status: 404, says: /Query job "1" was not found/ },
  stream: { method: 'GET', path: '/v1/branches/default/sources', status: 200 },
  // Servers that the operator registers; this stack has none.
  mlflow: { method: 'GET', path: '/server', status: 503, says: /MILLRACE_MLFLOW_URL/ },
  spark: { method: 'GET', path: '/cluster', status: 503, says: /MILLRACE_SPARK_URL/ },
  vault: { method: 'GET', path: '/variables', status: 200 },
  scheduler: { method: 'GET', path: '/schedules', status: 200 },
  'sync-actions': { method: 'GET', path: '/actions?componentId=platform.ex-http', status: 200 },
  import: { method: 'POST', path: '/upload-file', json: {}, status: 400 },
  syrup: { method: 'GET', path: '/queue/jobs', status: 200 },
  'docker-runner': {
    method: 'POST',
    path: '/docker/no.such/action/run',
    json: {},
    status: 400,
    says: /"no\.such" does not exist/,
  },
  // Encryption needs no token: whoever may write a configuration must be able to encrypt for it.
  encryption: { method: 'POST', path: '/encrypt?componentId=platform.ex-http', json: { '#a': 'b' }, status: 200 },
}

interface Index {
  readonly host: string
  readonly services: { readonly id: string; readonly url: string }[]
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
}

/** A request to a published address: the stack itself stands in for the name server and takes the connection. */
function call(stack: TestStack, address: string, token: string | undefined, { method, json }: Omit<Call, 'path' | 'status'>) {
  const { host, pathname, search } = new URL(address)
  const { hostname, port } = new URL(stack.url)
  const text = json === undefined ? '' : JSON.stringify(json)
  const headers = {
    host,
    ...(token && { 'X-StorageApi-Token': token }),
    ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = httpRequest({ hostname, port, method, path: pathname + search, headers, agent: false }, async (incoming) => {
      let body = ''
      for await (const chunk of incoming.setEncoding('utf8')) body += chunk
      assert.match(incoming.headers['content-type'] ?? '', /^application\/json/, `${method} ${address}: ${body.slice(0, 200)}`)
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: JSON.parse(body) as Record<string, unknown> })
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

const portOf = (stack: TestStack): string => new URL(stack.url).port

const MODES: {
  readonly name: string
  readonly options: { readonly domain?: string }
  /** The address a client starts from, and those the index must then publish. */
  readonly base: (stack: TestStack) => string
  readonly service: (stack: TestStack, id: string) => string
}[] = [
  { name: 'by path', options: {}, base: (stack) => stack.url, service: (stack, id) => `${stack.url}/${id}` },
  {
    name: 'by host below MILLRACE_DOMAIN',
    options: { domain: DOMAIN },
    base: (stack) => `http://connection.${DOMAIN}:${portOf(stack)}`,
    service: (stack, id) => `http://${id}.${DOMAIN}:${portOf(stack)}`,
  },
  {
    name: 'on the hosts of a single tenant',
    options: { domain: DOMAIN },
    base: (stack) => `http://connection.acme.${DOMAIN}:${portOf(stack)}`,
    service: (stack, id) => `http://${id}.acme.${DOMAIN}:${portOf(stack)}`,
  },
]

for (const { name, options, base, service } of MODES) {
  test(`every address of the index answers ${name}`, async (t) => {
    const stack = await startTestStack(t, options)
    const index = await call(stack, `${base(stack)}/v2/storage/`, undefined, { method: 'GET' })
    assert.equal(index.status, 200)
    const { host, services } = index.body as unknown as Index
    assert.equal(host, new URL(base(stack)).host)
    assert.deepEqual(
      services,
      SERVICES.map((id) => ({ id, url: service(stack, id) })),
    )

    for (const { id, url } of services) {
      for (const address of [url, `${url}/`]) {
        const { status, body } = await call(stack, address, undefined, { method: 'GET' })
        assert.deepEqual([status, body.api], [200, id], address)
        assert.match(String(body.description), /\w{3}.*\.$/)
        const { status: docs } = await stack.request('GET', new URL(String(body.documentation)).pathname)
        assert.equal(docs, 200, 'the documentation it names is there')
      }
    }
    for (const id of UNBUILT) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, body } = await call(stack, `${service(stack, id)}/anything/below`, stack.masterToken, { method })
        assert.equal(status, 404, `${method} ${id}`)
        for (const field of ['error', 'code', 'exceptionId', 'status']) assert.ok(body[field], `${id}: ${field}`)
        assert.match(String(body.error), new RegExp(`The ${id} service is not part of this stack`))
        assert.equal(body.status, 'error')
      }
    }
    for (const [id, native] of Object.entries(NATIVE)) {
      const { status, body } = await call(stack, service(stack, id) + native.path, stack.masterToken, native)
      assert.equal(status, native.status, `${native.method} ${id}${native.path}: ${JSON.stringify(body)}`)
      if (native.says) assert.match(String(body.error), native.says)
    }
  })
}

test('the API document names the address it was asked for by, whoever asked before', async (t) => {
  const stack = await startTestStack(t)
  const names = Array.from({ length: 6 }, (_, n) => `http://name-${n}.test`)
  for (const name of [...names, ...names, names[5]!]) {
    const { body } = await call(stack, `${name}/openapi.json`, undefined, { method: 'GET' })
    assert.deepEqual(body.servers, [{ url: name }])
  }
})

test('a token of another stack is refused everywhere with 401 and the words Invalid access token', async (t) => {
  const stack = await startTestStack(t)
  const other = await startTestStack(t)
  const foreign = other.masterToken
  const calls = Object.entries(NATIVE).filter(([id]) => id !== 'encryption')
  const storage = { method: 'GET', path: '/v2/storage/tokens/verify', status: 200 }
  for (const [id, { path, ...rest }] of [...calls, ['', storage] as const]) {
    const address = id === '' ? stack.url + path : `${stack.url}/${id}${path}`
    for (const token of [foreign, `${stack.masterToken}x`, 'nonsense']) {
      const { status, body } = await call(stack, address, token, rest)
      // Errors of the catalogue have Iceberg's shape.
      const error = id === 'iceberg' ? (body.error as unknown as { message: string }).message : body.error
      assert.deepEqual([status, error], [401, 'Invalid access token'], address)
    }
    const { status, body } = await call(stack, address, undefined, rest)
    assert.equal(status, 401, `${address} without a token: ${JSON.stringify(body)}`)
  }
})
test('links that are handed on take no host from a request that is not one of this machine', () => {
  const machine = { name: 'box', addresses: ['10.0.0.7', 'fe80::7'] }
  const base = (asked: string, listening: string, more: { publicUrl?: string; domain?: string } = {}) =>
    linkBaseUrl(asked, { publicUrl: undefined, domain: undefined, listening, machine, ...more })
  for (const [asked, listening, expected] of [
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['http://localhost:8000', 'http://127.0.0.1:8000', 'http://localhost:8000'],
    ['http://evil.example:8000', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['http://127.0.0.1:1', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['http://box:8000', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['https://127.0.0.1:8000', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['http://box:8000', 'http://0.0.0.0:8000', 'http://box:8000'],
    ['http://10.0.0.7:8000', 'http://0.0.0.0:8000', 'http://10.0.0.7:8000'],
    ['http://[fe80::7]:8000', 'http://[::]:8000', 'http://[fe80::7]:8000'],
    ['http://localhost:8000', 'http://[::]:8000', 'http://localhost:8000'],
    ['http://evil.example:8000', 'http://0.0.0.0:8000', 'http://box:8000'],
    ['https://10.0.0.7', 'https://10.0.0.7', 'https://10.0.0.7'],
  ] as const)
    assert.equal(base(asked, listening), expected, `${asked} at ${listening}`)
  assert.equal(
    base('https://data.example.com', 'http://0.0.0.0:8000', { publicUrl: 'https://data.example.com' }),
    'https://data.example.com',
  )
})
