// Certificates, the SSH tunnel, signatures and the cache, against real servers.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import ssh2 from 'ssh2'
import { parseAddress } from '../src/http/address.ts'
import { signAws } from '../src/http/aws-signature.ts'
import { headerValue } from '../src/http/headers.ts'
import { extract, json, serve } from './harness.ts'

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
})()
const needsOpenssl = hasOpenssl ? {} : { skip: 'needs the openssl command to make certificates' }

/** An authority, and a certificate signed by it for the loopback address. */
function certificate(t: TestContext, name: string) {
  const dir = mkdtempSync(join(tmpdir(), 'extractor-cert-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const f = (file: string) => join(dir, file)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-days', '2', '-subj', `/CN=${name} authority`, '-keyout', f('ca.key'), '-out', f('ca.crt'))
  openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', f('key'), '-out', f('csr'))
  writeFileSync(f('ext'), 'subjectAltName=IP:127.0.0.1\n')
  openssl(
    'x509',
    '-req',
    '-days',
    '2',
    '-in',
    f('csr'),
    '-CA',
    f('ca.crt'),
    '-CAkey',
    f('ca.key'),
    '-CAcreateserial',
    '-extfile',
    f('ext'),
    '-out',
    f('crt'),
  )
  const read = (file: string) => readFileSync(f(file), 'utf8')
  return { ca: read('ca.crt'), cert: read('crt'), key: read('key') }
}

async function serveTls(t: TestContext, options: object): Promise<string> {
  const server = createServer(options, (_request, response) => response.end('[{"id":1}]'))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const config = (baseUrl: string, api: object = {}) => ({
  api: { baseUrl, retryConfig: { maxRetries: 0 }, ...api },
  config: { jobs: [{ endpoint: 'x' }] },
})

test('a certificate nobody vouches for is refused; with its authority given it is accepted', needsOpenssl, async (t) => {
  const { ca, cert, key } = certificate(t, 'server')
  const url = await serveTls(t, { cert, key })
  const refused = await extract(config(url))
  assert.match(refused.error?.message ?? '', /CURL error 60: The certificate of the server is not trusted: .*api\.caCertificate/)
  const accepted = await extract(config(url, { caCertificate: ca }))
  assert.equal(accepted.error, undefined)
  assert.deepEqual(accepted.tables, { x: '"id"\n"1"\n' })
})

test('a certificate for another host is refused', needsOpenssl, async (t) => {
  const { ca, cert, key } = certificate(t, 'server')
  const url = (await serveTls(t, { cert, key })).replace('127.0.0.1', 'localhost')
  const { error } = await extract(config(url, { caCertificate: ca }))
  assert.match(error?.message ?? '', /CURL error 60/)
})

test('a server that asks for a client certificate gets it, and refuses who has none', needsOpenssl, async (t) => {
  const server = certificate(t, 'server')
  const client = certificate(t, 'client')
  const url = await serveTls(t, {
    cert: server.cert,
    key: server.key,
    ca: client.ca,
    requestCert: true,
    rejectUnauthorized: true,
  })
  const refused = await extract(config(url, { caCertificate: server.ca }))
  assert.match(refused.error?.message ?? '', /CURL error (35|56|52)/)
  const accepted = await extract(config(url, { caCertificate: server.ca, '#clientCertificate': client.cert + client.key }))
  assert.equal(accepted.error, undefined)
})

/** An SSH server that forwards connections, as sshd does. */
async function serveSsh(t: TestContext) {
  const forwarded: string[] = []
  const pem = () =>
    generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
  const user = pem()
  const connections = new Set<{ end(): unknown }>()
  const server = new ssh2.Server({ hostKeys: [pem().privateKey] }, (client) => {
    connections.add(client)
    client.on('error', () => {})
    client.on('authentication', (context) =>
      context.method === 'publickey' && context.username === 'ada' ? context.accept() : context.reject(['publickey']),
    )
    client.on('ready', () => {
      client.on('tcpip', (accept, _reject, info) => {
        forwarded.push(`${info.destIP}:${info.destPort}`)
        const channel = accept()
        const socket = connect(info.destPort, '127.0.0.1')
        channel.pipe(socket).pipe(channel)
        socket.on('error', () => channel.end())
        channel.on('error', () => socket.destroy())
      })
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.after(() => {
    for (const connection of connections) connection.end()
    server.close()
  })
  const proxy = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'ada', '#privateKey': user.privateKey }
  return { forwarded, proxy, drop: () => void [...connections].map((connection) => connection.end()) }
}

test('with sshProxy every request passes the tunnel, and names are resolved at its other end', async (t) => {
  const { forwarded, proxy } = await serveSsh(t)
  const { port, seen } = await serve(t, (q, r) => json(r, q.url === '/x?page=1' ? [{ id: 1 }] : []))
  const { error, tables } = await extract({
    parameters: { ...config(`http://only-known-there.invalid:${port}/`, { pagination: { method: 'pagenum' } }), sshProxy: proxy },
  })
  assert.equal(error, undefined)
  assert.deepEqual(tables, { x: '"id"\n"1"\n' })
  assert.deepEqual(seen, ['GET /x?page=1', 'GET /x?page=2'])
  assert.deepEqual([...new Set(forwarded)], [`only-known-there.invalid:${port}`])
})

test('every iteration has a tunnel of its own, and its login passes it too', async (t) => {
  const { forwarded, proxy } = await serveSsh(t)
  const { port, seen } = await serve(t, (q, r) => json(r, q.url === '/login' ? { t: 'abc' } : [{ shop: q.url }]))
  const authentication = {
    type: 'login',
    loginRequest: { endpoint: 'login' },
    apiRequest: { headers: { 'X-Token': { response: 't' } } },
  }
  const job = { endpoint: 'x', params: { shop: { attr: 'shop' } } }
  const { error, tables } = await extract({
    parameters: {
      api: { baseUrl: `http://only-known-there.invalid:${port}/`, authentication },
      config: { jobs: [job] },
      iterations: [{ shop: 'eu' }, { shop: 'us' }],
      sshProxy: proxy,
    },
  })
  assert.equal(error, undefined)
  assert.deepEqual(tables, { x: '"shop"\n"/x?shop=eu"\n"/x?shop=us"\n' })
  assert.deepEqual(seen, ['GET /login', 'GET /x?shop=eu', 'GET /login', 'GET /x?shop=us'])
  assert.equal(forwarded.length, 2, 'one connection per iteration')
})

test('TLS through the tunnel is verified against the name', needsOpenssl, async (t) => {
  const { proxy } = await serveSsh(t)
  const { ca, cert, key } = certificate(t, 'server')
  const url = await serveTls(t, { cert, key })
  const { error, tables } = await extract({ parameters: { ...config(url, { caCertificate: ca }), sshProxy: proxy } })
  assert.equal(error, undefined)
  assert.deepEqual(tables, { x: '"id"\n"1"\n' })
  const distrusted = await extract({ parameters: { ...config(url), sshProxy: proxy } })
  assert.match(distrusted.error?.message ?? '', /CURL error 60/)
})

test('a tunnel that dies is opened again by the retry', async (t) => {
  const { proxy, drop } = await serveSsh(t)
  let calls = 0
  const { url } = await serve(t, (_q, r) => {
    if (++calls === 1) drop()
    else json(r, [{ id: 1 }])
  })
  const { error, tables } = await extract({
    parameters: { ...config(url, { retryConfig: { maxRetries: 3 }, http: { requestTimeout: 2 } }), sshProxy: proxy },
  })
  assert.equal(error, undefined)
  assert.deepEqual(tables, { x: '"id"\n"1"\n' })
})

test('a tunnel that cannot be opened is named: wrong user, wrong key, nobody there, a forbidden server', async (t) => {
  const { proxy } = await serveSsh(t)
  const withProxy = (more: object) => ({ parameters: { ...config('http://x.invalid/'), sshProxy: { ...proxy, ...more } } })
  assert.match(
    (await extract(withProxy({ user: 'eve' }))).error?.message ?? '',
    /Unable to open the SSH tunnel to 127\.0\.0\.1:\d+: .*authentication/i,
  )
  assert.match(
    (await extract(withProxy({ '#privateKey': 'nonsense' }))).error?.message ?? '',
    /The private key in 'sshProxy\.#privateKey' cannot be read/,
  )
  assert.match((await extract(withProxy({ port: 1 }))).error?.message ?? '', /Unable to open the SSH tunnel/)
  const guarded = await extract(withProxy({}), { policy: { mode: 'guarded', allow: [] } })
  assert.match(guarded.error?.message ?? '', /is not allowed/)
})

test('AWS Signature Version 4 gives the signature of the published test suite', () => {
  // "get-vanilla-query-order-key-case" of the AWS Signature Version 4 test suite.
  const request = {
    method: 'GET',
    address: parseAddress('https://example.amazonaws.com/?Param2=value2&Param1=value1')!,
    headers: new Map(),
  } as const
  const credentials = {
    accessKeyId: 'AKIDEXAMPLE',
    secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    service: 'service',
    region: 'us-east-1',
  }
  const signed = signAws(request, credentials, new Date('2015-08-30T12:36:00Z'))
  assert.equal(headerValue(signed.headers, 'x-amz-date'), '20150830T123600Z')
  assert.equal(
    headerValue(signed.headers, 'authorization'),
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ' +
      'Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  )
})

test('OAuth 1.0 signs the method, the address and all parameters', async (t) => {
  const { url, port, requests } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const { error } = await extract({
    authorization: {
      oauth_api: {
        credentials: {
          '#data': '{"oauth_token":"tok","oauth_token_secret":"tok secret"}',
          appKey: 1234,
          '#appSecret': 'app&secret',
        },
      },
    },
    ...config(url, { authentication: { type: 'oauth10' } }),
    config: {
      jobs: [
        { endpoint: 'x?b=2', params: { a: 'r b' } },
        { endpoint: 'y', method: 'FORM', params: { c: 'ä=' } },
      ],
    },
  })
  assert.equal(error, undefined)
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  for (const { line, headers, body } of requests) {
    const given = Object.fromEntries(
      [...headers.authorization!.matchAll(/(\w+)="([^"]*)"/g)].map((m) => [m[1]!, decodeURIComponent(m[2]!)]),
    )
    const [method, target] = line.split(' ') as [string, string]
    const [path, query = ''] = target.split('?') as [string, string | undefined]
    const pairs = [
      ...new URLSearchParams(query),
      ...new URLSearchParams(body),
      ...Object.entries(given).filter(([name]) => name !== 'oauth_signature'),
    ]
    const parameters = pairs
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&')
    const base = [method, `http://127.0.0.1:${port}${path}`, parameters].map(encode).join('&')
    assert.equal(
      given.oauth_signature,
      createHmac('sha1', `${encode('app&secret')}&${encode('tok secret')}`)
        .update(base)
        .digest('base64'),
    )
    assert.equal(given.oauth_consumer_key, '1234')
  }
  assert.equal(requests.length, 2)
})

test('an oauth20 signature sees the same nonce and timestamp everywhere in one request, and new ones in the next', async (t) => {
  const { url, requests } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const both = {
    function: 'implode',
    args: ['/', [{ authorization: 'nonce' }, { authorization: 'timestamp' }, { request: 'method' }, { request: 'resource' }]],
  }
  const { error } = await extract({
    authorization: { oauth_api: { credentials: { '#data': 'plain', appKey: 'k', '#appSecret': 's' } } },
    ...config(url, {
      authentication: { type: 'oauth20', headers: { 'X-Sig': both }, query: { nonce: { authorization: 'nonce' } } },
    }),
    config: {
      jobs: [
        { endpoint: 'x', params: { a: 1 } },
        { endpoint: 'y', dataType: 'x' },
      ],
    },
  })
  assert.equal(error, undefined)
  const seen = requests.map(({ headers, line }) => ({
    sig: String(headers['x-sig']).split('/'),
    query: new URL(line.split(' ')[1]!, url).searchParams.get('nonce'),
  }))
  assert.match(seen[0]!.sig[0]!, /^[0-9a-f]{16}$/)
  assert.equal(seen[0]!.sig[0], seen[0]!.query)
  assert.notEqual(seen[0]!.sig[0], seen[1]!.sig[0])
  assert.equal(seen[0]!.sig.slice(2).join('/'), 'GET//x?a=1')
})

test('with cache a request is asked once', async (t) => {
  const { url, seen } = await serve(t, (_q, r) => json(r, [{ id: 1 }]))
  const jobs = [{ endpoint: 'x' }, { endpoint: 'x', dataType: 'again' }]
  const { error, tables } = await extract({ parameters: { ...config(url), config: { jobs }, cache: { ttl: 60 } } })
  assert.equal(error, undefined)
  assert.deepEqual(Object.keys(tables).sort(), ['again', 'x'])
  assert.equal(seen.length, 1)
})
