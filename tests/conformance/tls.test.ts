// Both ports over TLS, with HTTP/2 for clients that insist on it and HTTP/1.1 for the rest (finding D75 of the client runs).

import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import pg from 'pg'
import { findIsolation } from '../../server/src/engines/runner/isolation.ts'
import { openCertificate } from '../../server/src/engines/tls/certificate.ts'
import { ensureLocalCertificate } from '../../server/src/engines/tls/local-authority.ts'
import { writeTrust } from '../../server/src/engines/tls/trust.ts'
import { systemClock } from '../../server/src/kit/clock.ts'
import type { PlatformOptions } from '../../server/src/wiring/platform.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

async function startSecure(t: TestContext, options: Partial<PlatformOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-tls-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const files = await ensureLocalCertificate(join(folder, 'tls'), ['localhost', '127.0.0.1'], systemClock)
  const tls = openCertificate({ ...files, checkEveryMs: 50, onError: () => {} }) // between the change of one file and the other they do not fit
  t.after(() => tls.close())
  const trust = await writeTrust(join(folder, 'trust'), files.authorityFile)
  const stack = await startTestStack(t, { tls, trust, ...options })
  return { stack, files, folder, ca: await readFile(files.authorityFile, 'utf8') }
}

const overHttp1 = (url: string, ca: string, token: string) =>
  new Promise<{ status: number; version: string; text: string }>((resolve, reject) => {
    const call = request(url, { ca, headers: { 'X-StorageApi-Token': token } }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      resolve({ status: answer.statusCode ?? 0, version: answer.httpVersion, text: Buffer.concat(chunks).toString() })
    })
    call.on('error', reject).end()
  })

const overHttp2 = (url: string, ca: string, headers: Record<string, string>, body?: string) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const session = connect(new URL(url).origin, { ca })
    session.on('error', reject)
    const { pathname, search } = new URL(url)
    const stream = session.request({ ':path': pathname + search, ...headers })
    let status = 0
    let text = ''
    stream.on('response', (answer) => { status = Number(answer[':status']) }) // biome-ignore format: one thought
    stream.setEncoding('utf8').on('data', (chunk: string) => { text += chunk }) // biome-ignore format: one thought
    stream.on('end', () => session.close(() => resolve({ status, text })))
    stream.end(body)
  })

test('D75: the stack answers over HTTP/2 and HTTP/1.1 with a local authority, and its addresses are https', async (t) => {
  const { stack, ca } = await startSecure(t)
  assert.match(stack.url, /^https:/)
  const verify = `${stack.url}/v2/storage/tokens/verify`
  const old = await overHttp1(verify, ca, stack.masterToken)
  assert.deepEqual([old.status, old.version], [200, '1.1'])
  const token = { 'x-storageapi-token': stack.masterToken }
  const modern = await overHttp2(verify, ca, token)
  assert.equal(modern.status, 200)
  const index = JSON.parse((await overHttp2(`${stack.url}/v2/storage`, ca, {})).text) as { services: { url: string }[] }
  assert.ok(index.services.every(({ url }) => url.startsWith(stack.url)))
  // A body, over HTTP/2, and the record it makes.
  const headers = { ...token, ':method': 'POST', 'content-type': 'application/json' }
  const created = await overHttp2(`${stack.url}/v2/storage/buckets`, ca, headers, '{"stage":"in","name":"main"}')
  assert.equal(created.status, 201, created.text)
  await assert.rejects(overHttp1(verify, '', stack.masterToken), /self.signed|unable to (verify|get)/)
  await overPostgres(stack, ca)
})

test('G8: components trust the authority of the stack: the built-in extractor, and commands by the usual variables', async (t) => {
  const path = process.env.PATH ?? '/usr/bin:/bin'
  const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const // where the kernel allows it
  const { stack, ca } = await startSecure(t, { worker: { isolation, path } })
  const run = async (component: string, configData: object) => {
    const headers = { 'x-storageapi-token': stack.masterToken, ':method': 'POST', 'content-type': 'application/json' }
    const body = JSON.stringify({ component, mode: 'run', configData })
    const { url } = JSON.parse((await overHttp2(`${stack.url}/queue/jobs`, ca, headers, body)).text) as { url: string }
    return until(`${component} ends`, async () => {
      const job = JSON.parse((await overHttp1(url, ca, stack.masterToken)).text) as {
        isFinished: boolean
        status: string
        result: { message: string }
      }
      return job.isFinished && job
    })
  }
  const authentication = {
    type: 'login',
    loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: 'lovelace' } },
    apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
  }
  const extracted = await run('keboola.ex-generic-v2', {
    parameters: {
      api: { baseUrl: `${stack.url}/sample/`, authentication },
      config: { outputBucket: 'sample', jobs: [{ endpoint: 'customers', dataField: 'customers' }] },
    },
  })
  assert.equal(extracted.status, 'success', extracted.result.message)

  const last = ca.trim().split('\n').at(-2)! // of its text, which no other certificate has
  const reads = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'].map((name) => `grep -qF "${last}" "$${name}"`)
  const script = `${reads.join(' && ')} && test $(grep -c BEGIN "$SSL_CERT_FILE") -gt 10 && echo all are there >&2; exit 1`
  const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', script] }
  const description = { id: 'test.trust', type: 'application', name: 'Trust', hasRun: true, data: { definition } }
  await mkdir(join(stack.dataDir, 'components'), { recursive: true })
  await writeFile(join(stack.dataDir, 'components', 'test.trust.json'), JSON.stringify(description))
  await until('the component is known', async () => {
    await stack.platform.components.loop.tick()
    return (await overHttp1(`${stack.url}/v2/storage/components/test.trust`, ca, stack.masterToken)).status === 200
  })
  assert.match((await run('test.trust', {})).result.message, /all are there/)
})

/** node-postgres with the authority of the stack, as `sslmode=verify-full` of psql; one that does not trust the authority disconnects. */
async function overPostgres({ platform, masterToken }: TestStack, ca: string): Promise<void> {
  const port = await platform.sqlPort.listen(0, '127.0.0.1')
  const options = { host: '127.0.0.1', port, user: 'me', password: masterToken, database: 'default' }
  const db = new pg.Client({ ...options, ssl: { ca, servername: 'localhost' } })
  await db.connect()
  assert.deepEqual((await db.query('SELECT 40 + 2 AS answer, repeat($1, 300000) AS long', ['x'])).rows, [
    { answer: 42, long: 'x'.repeat(300_000) },
  ])
  await db.end()
  await assert.rejects(new pg.Client({ ...options, ssl: true }).connect(), /self.signed|unable to (verify|get)/)
}

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
const { problem } = await findIsolation({ ...isolation, path: PATH, hidden: [] })
/** Code that users write runs isolated only. */
const isolated = problem === undefined ? test : test.skip

isolated('a websocket of a data app passes over TLS', async (t) => {
  const { stack, ca } = await startSecure(t, { worker: { isolation, path: PATH }, apps: { startMs: 120_000 } })
  const script = `
    import { createServer } from 'node:http'
    const server = createServer((request, response) => response.end())
    server.on('upgrade', (request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\nhello ' + request.url))
    server.listen(process.env.PORT, '127.0.0.1')
  `
  const token = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }
  const call = async (method: string, path: string, json: object) => {
    const url = `${stack.url}/data-science/apps${path}`
    const answer = await overHttp2(url, ca, { ...token, ':method': method }, JSON.stringify(json))
    assert.ok(answer.status < 300, answer.text)
    return JSON.parse(answer.text) as { id: string; url: string }
  }
  const { id } = await call('POST', '', { name: 'Live', config: { parameters: { script } } })
  await call('PATCH', `/${id}`, { desiredState: 'running' })
  const { url } = await call('POST', `/${id}/links`, {})
  assert.match(url, /^https:/)
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'eA==' }
  const said = await new Promise<string>((resolve, reject) => {
    const asked = request(`${url}live`, { ca, headers })
    asked.on('upgrade', (_, socket, head) => {
      let text = head.toString()
      socket.setEncoding('utf8').on('data', (chunk: string) => { text += chunk }) // biome-ignore format: one thought
      socket.on('end', () => resolve(text))
    })
    asked.on('response', ({ statusCode }) => reject(new Error(`HTTP ${statusCode}`)))
    asked.on('error', reject).end()
  })
  assert.equal(said, 'hello /live')
})

test('files are uploaded over TLS with the SDK and the credentials of the API', async (t) => {
  const { stack, ca } = await startSecure(t)
  const headers = { 'x-storageapi-token': stack.masterToken, ':method': 'POST', 'content-type': 'application/json' }
  const prepared = await overHttp2(`${stack.url}/v2/storage/files/prepare`, ca, headers, '{"name":"a.csv","federationToken":1}')
  const { uploadParams } = JSON.parse(prepared.text) as {
    uploadParams: {
      bucket: string
      key: string
      endpoint: string
      credentials: { AccessKeyId: string; SecretAccessKey: string; SessionToken: string }
    }
  }
  assert.match(uploadParams.endpoint, /^https:/)
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = uploadParams.credentials
  const client = new S3Client({
    endpoint: uploadParams.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    requestHandler: { httpsAgent: new Agent({ ca }) },
  })
  t.after(() => client.destroy())
  const put = await client.send(new PutObjectCommand({ Bucket: uploadParams.bucket, Key: uploadParams.key, Body: 'id\n1\n' }))
  assert.equal(put.$metadata.httpStatusCode, 200)
})

test('D75: a certificate whose files change is presented without a restart', async (t) => {
  const { stack, files, folder } = await startSecure(t)
  const presented = () =>
    new Promise<string>((resolve, reject) => {
      const { port } = new URL(stack.url)
      const socket = connectTls({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().fingerprint256)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const before = await presented()
  const renewed = await ensureLocalCertificate(join(folder, 'other'), ['localhost', '127.0.0.1'], systemClock)
  await Promise.all([copyFile(renewed.certFile, files.certFile), copyFile(renewed.keyFile, files.keyFile)])
  await until('the new certificate to be presented', async () => (await presented()) !== before)
})

test('certificate files that are missing or do not fit stop the start with a sentence', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-tls-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const one = await ensureLocalCertificate(join(folder, 'one'), ['localhost'], systemClock)
  const two = await ensureLocalCertificate(join(folder, 'two'), ['localhost'], systemClock)
  const open = (certFile: string, keyFile: string) => () => openCertificate({ certFile, keyFile, onError: () => {} }).close()
  assert.throws(open(join(folder, 'none.pem'), one.keyFile), { code: 'stack.certificate', message: /there is no such file/ })
  assert.throws(open(one.certFile, two.keyFile), { code: 'stack.certificate' })
  // Nothing is issued again while it is valid for the names.
  const again = await ensureLocalCertificate(join(folder, 'one'), ['localhost'], systemClock)
  assert.equal(await readFile(again.certFile, 'utf8'), await readFile(one.certFile, 'utf8'))
})
