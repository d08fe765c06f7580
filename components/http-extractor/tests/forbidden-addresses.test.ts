// The egress guard (spec extractor 26): no spelling of a forbidden address, and no way to bring one in, opens a connection to
// the canary. The canary listens on the loopback interface, where a broken guard would reach it.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Resolve } from '../../../contract/egress-guard.ts'
import { egressRules } from '../../../contract/egress-rules.ts'
import { FORMS, LOOPBACK, OTHERS } from '../../../tests/support/address-forms.ts'
import { createEgress, EgressError } from '../src/http/egress.ts'
import { readEgressPolicy } from '../src/http/egress-policy.ts'
import { extract, json, serve } from './harness.ts'

/** Counts connections, not requests: a handshake would be enough to map a network. */
async function canary(t: TestContext) {
  let connections = 0
  const listen = async (host: string) => {
    const server = createServer((_request, response) => response.end('[{"reached":"the canary"}]'))
    server.on('connection', () => connections++)
    await new Promise<void>((ready, fail) => server.once('error', fail).listen(host === '::1' ? port : 0, host, ready))
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }
  let port = 0
  port = await listen('127.0.0.1')
  await listen('::1').catch(() => {}) // a machine without IPv6
  return { port, connections: () => connections }
}

/** Names resolve to the loopback address: a guard that trusts a name would connect. */
const evilResolver: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

const config = (baseUrl: string, more: { api?: object; job?: object } = {}) => ({
  api: { baseUrl, retryConfig: { maxRetries: 0 }, http: { connectTimeout: 2, requestTimeout: 5 }, ...more.api },
  config: { jobs: [{ endpoint: 'x', ...more.job }] },
})

/** All of them in the long run, a tenth in the short one. */
const TRIED = process.env.MILLRACE_LONG ? FORMS : FORMS.filter((_, i) => i % 10 === 0)

test(`${TRIED.length} spellings of forbidden addresses as the base address`, async (t) => {
  const { port, connections } = await canary(t)
  const policy = { mode: 'guarded', allow: [`192.0.2.200:${port}`] } as const // the port is open, so the address must decide
  for (const form of TRIED) {
    const { error, tables } = await extract(config(`http://${form}:${port}/`), { policy, resolve: evilResolver })
    assert.ok(error, form)
    assert.deepEqual(tables, {}, form)
  }
  assert.equal(connections(), 0)
})

test('the same spellings as the target of a redirect', async (t) => {
  const { port, connections } = await canary(t)
  let target = ''
  const outside = await serve(t, (_request, response) => {
    response.writeHead(302, { location: Buffer.from(target).toString('latin1') })
    response.end()
  })
  const policy = { mode: 'guarded', allow: [`127.0.0.1:${outside.port}`, `192.0.2.200:${port}`] } as const
  for (const form of TRIED) {
    target = `http://${form}:${port}/`
    const { error } = await extract(config(outside.url), { policy, resolve: evilResolver })
    assert.ok(error, form)
  }
  assert.equal(connections(), 0)
  assert.equal(outside.seen.length, TRIED.length, 'every redirect was really sent')
})

const WAYS = [
  'next link',
  'next link without a scheme',
  'login endpoint',
  'job endpoint',
  'login redirect',
  'child endpoint',
] as const

for (const way of WAYS) {
  test(`a forbidden address as ${way}`, async (t) => {
    const { port, connections } = await canary(t)
    for (const form of LOOPBACK.slice(0, 30).concat(OTHERS.slice(0, 10))) {
      const target = way === 'next link without a scheme' ? `//${form}:${port}/` : `http://${form}:${port}/`
      const outside = await serve(t, (request, response) => {
        if (way === 'login redirect' && request.url === '/login')
          json(response, '', 307, { location: Buffer.from(target).toString('latin1') })
        else json(response, { items: [{ id: 1, url: target }], next: way.startsWith('next') ? target : null })
      })
      const login = (endpoint: string) => ({ authentication: { type: 'login', loginRequest: { endpoint } } })
      const settings = {
        'next link': { api: { pagination: { method: 'response.url', urlKey: 'next' } } },
        'next link without a scheme': { api: { pagination: { method: 'response.url', urlKey: 'next' } } },
        'login endpoint': { api: login(target) },
        'login redirect': { api: login('login') },
        'job endpoint': { job: { endpoint: target } },
        'child endpoint': { job: { children: [{ endpoint: '{url}', placeholders: { url: 'url' } }] } },
      }[way]
      const policy = { mode: 'guarded', allow: [`127.0.0.1:${outside.port}`, `192.0.2.200:${port}`] } as const
      const { error, tables } = await extract(config(outside.url, settings), { policy, resolve: evilResolver })
      assert.ok(error, form)
      assert.deepEqual(tables, {}, form)
    }
    assert.equal(connections(), 0)
  })
}

test('without the guard the loopback spellings do reach the canary, so the tests above can fail', async (t) => {
  const { port, connections } = await canary(t)
  for (const form of ['127.0.0.1', '2130706433', '0x7f.1', '①②⑦.⓪.⓪.①', 'api.example.com']) {
    const { error } = await extract(config(`http://${form}:${port}/`), { resolve: evilResolver })
    assert.equal(error, undefined, form)
  }
  assert.ok(connections() >= 5)
})

test('a name with one forbidden answer among many is refused', async () => {
  const resolve: Resolve = async () => [
    { address: '93.184.215.14', family: 4 },
    { address: '2606:2800:220:1::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ]
  await assert.rejects(
    createEgress({ mode: 'guarded', allow: [] }, resolve).resolve('api.example.com', 443),
    /resolves to 127\.0\.0\.1/,
  )
})

test('a name that changes its answer is resolved once per connection, and what was checked is what is connected to', async (t) => {
  const { port, connections } = await canary(t)
  let asked = 0
  const rebinding: Resolve = async () => [{ address: asked++ === 0 ? '93.184.215.14' : '127.0.0.1', family: 4 }]
  const egress = createEgress({ mode: 'guarded', allow: [] }, rebinding)
  const lookUp = () =>
    new Promise<string>((done, fail) =>
      egress.lookupFor(80)('rebind.example.com', {}, (error, address) => (error ? fail(error) : done(String(address)))),
    )
  assert.equal(await lookUp(), '93.184.215.14')
  assert.equal(asked, 1)
  await assert.rejects(lookUp(), EgressError)
  const policy = { mode: 'guarded', allow: [`192.0.2.200:${port}`] } as const
  const { error } = await extract(config(`http://rebind.example.com:${port}/`), { policy, resolve: rebinding })
  assert.ok(error instanceof EgressError)
  assert.equal(connections(), 0)
})

test('only http and https are spoken, guarded or not', async (t) => {
  const { port, connections } = await canary(t)
  const schemes = ['ftp', 'file', 'gopher', 'ws', 'data', 'unix', 'dict', 'ldap', 'jar', 'javascript']
  for (const scheme of schemes) {
    for (const endpoint of [`${scheme}://127.0.0.1:${port}/`, `${scheme}:///etc/passwd`, `${scheme}:etc/passwd`]) {
      const { error } = await extract(config(`http://127.0.0.1:${port}/`, { job: { endpoint } }))
      assert.ok(error, endpoint)
    }
  }
  assert.equal(connections(), 0)
})

test('credentials and control characters in an address are refused', async (t) => {
  const { port, connections } = await canary(t)
  const hosts = [
    `user:pw@127.0.0.1:${port}`,
    `good.example.com@127.0.0.1:${port}`,
    `127.0.0.1:${port}\\@good.example.com`,
    `127.0.0.1\t:${port}`,
    `127.0.0.1:${port} `,
    '',
  ]
  for (const host of hosts) {
    const { error } = await extract(config(`http://${host}/`))
    assert.ok(error, host)
    assert.ok(!error.message.includes('user:pw'), error.message)
  }
  assert.equal(connections(), 0)
})

test('a public address on a port that is not open is refused, and an allowed host:port is not', async () => {
  const names = createEgress({ mode: 'guarded', allow: ['erp.example.com:8443', '*.corp.example.com'] })
  assert.throws(() => names.check('api.example.com', 22), /port 22 is not open/)
  assert.throws(() => names.check('93.184.215.14', 8080), /port 8080 is not open/)
  assert.throws(() => names.check('erp.example.com', 9443), /port 9443 is not open/)
  names.check('api.example.com', 443)
  names.check('93.184.215.14', 80)
  names.check('erp.example.com', 8443)
  names.check('db.corp.example.com', 5432)

  // A network opens its own ports, not those of the rest of the world.
  const networks = createEgress({ mode: 'guarded', allow: ['10.1.0.0/16', '[fd00::5]:9000'] }, async () => [
    { address: '93.184.215.14', family: 4 },
  ])
  networks.check('10.1.2.3', 5000)
  networks.check('[fd00::5]', 9000)
  assert.throws(() => networks.check('[fd00::5]', 9001), EgressError)
  assert.throws(() => networks.check('93.184.215.14', 5000), /port 5000 is not open/)
  await assert.rejects(networks.resolve('api.example.com', 5000), /port 5000 is not open/)
})

test('an allowed network is allowed by address, whatever the name', () => {
  const { refuseAddress } = egressRules({ mode: 'guarded', allow: ['10.1.0.0/16'] })
  assert.equal(refuseAddress('10.1.2.3', 'erp.example.com', 443), undefined)
  assert.equal(refuseAddress('10.2.0.1', 'erp.example.com', 443), 'it is an address of a private network')
})

test('the use of an exemption is reported, that of a public address is not', async () => {
  const used: string[] = []
  const resolve: Resolve = async (name) => [{ address: name === 'erp.example.com' ? '10.1.2.3' : '93.184.215.14', family: 4 }]
  const egress = createEgress(
    { mode: 'guarded', allow: ['10.1.0.0/16', 'api.example.com'] },
    resolve,
    (host, port, address) => void used.push(`${host}:${port} ${address}`),
  )
  await egress.resolve('erp.example.com', 443)
  await egress.resolve('api.example.com', 443)
  egress.check('10.1.0.9', 8080)
  egress.check('93.184.215.14', 443)
  assert.deepEqual(used, ['erp.example.com:443 10.1.2.3', '10.1.0.9:8080 10.1.0.9'])
})

test('public addresses are allowed', () => {
  const { refuseAddress } = egressRules({ mode: 'guarded', allow: [] })
  for (const address of [
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ]) {
    assert.equal(refuseAddress(address, 'x', 443), undefined, address)
  }
})

test('a place opens its path under its own name, and nothing beside it', async (t) => {
  const asked: string[] = []
  const api = await serve(t, (request, response) => {
    asked.push(`${request.headers.host} ${request.url}`)
    if (request.url === '/sample/leave') response.writeHead(302, { location: '/health' }).end()
    else json(response, [{ id: 1 }])
  })
  const { host, port } = new URL(api.url)
  const policy = { mode: 'guarded', allow: [], places: [`http://${host}/sample/`] } as const
  const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const run = (baseUrl: string, endpoint: string) =>
    extract(
      { api: { baseUrl, http: { headers: { Host: 'queue.example.com' } } }, config: { jobs: [{ endpoint, dataType: 'x' }] } },
      { policy, resolve },
    )
  assert.equal((await run(`http://${host}/sample/`, 'orders')).error, undefined)
  const refused = [
    [`http://${host}/`, 'health'],
    [`http://${host}/`, 'sample'],
    [`http://${host}/`, 'samples/x'],
    [`http://${host}/sample/`, '../health'],
    [`http://${host}/sample/`, '..%2fhealth'],
    [`http://${host}/sample/`, 'leave'],
    [`http://localhost:${port}/sample/`, 'orders'],
    [`http://other.example.com:${port}/sample/`, 'orders'],
  ] as const
  for (const [baseUrl, endpoint] of refused)
    assert.match((await run(baseUrl, endpoint)).error?.message ?? '', /is not allowed/, `${baseUrl}${endpoint}`)
  assert.deepEqual(asked, [`${host} /sample/orders`, `${host} /sample/leave`])
  assert.throws(() => createEgress(policy).check('127.0.0.1', Number(port)), EgressError) // an SSH server there is not the sample
})

test('a policy that cannot be read opens nothing', () => {
  for (const text of [
    '{',
    '[]',
    '{"mode":"off"}',
    '{"mode":"guarded","allow":"*"}',
    '{"mode":"guarded","allow":[1]}',
    '{"mode":"guarded","places":["/sample"]}',
    'null',
  ]) {
    assert.throws(() => readEgressPolicy(text), /MILLRACE_EGRESS_POLICY/, text)
  }
  assert.equal(readEgressPolicy(undefined).mode, 'open')
})

test('the list of spellings is long enough', () => {
  assert.ok(FORMS.length >= 500, `${FORMS.length} forms`)
})
