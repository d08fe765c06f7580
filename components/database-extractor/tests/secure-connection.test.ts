// TLS with a private authority and a client certificate, and an SSH tunnel: real handshakes in front of a real PostgreSQL.

import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import ssh2 from 'ssh2'
import { ensureLocalCertificate } from '../../../server/src/engines/tls/local-authority.ts'
import { systemClock } from '../../../server/src/kit/clock.ts'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { connectionTo, openDatabase } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })

/** Also ends what is still open. */
async function listen(t: TestContext, server: Server | ssh2.Server, sockets: Set<Socket>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port // a TCP listener has one
}

async function certificates(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { authorityFile, certFile, keyFile } = await ensureLocalCertificate(folder, ['127.0.0.1'], systemClock)
  return { ca: readFileSync(authorityFile, 'utf8'), cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

const ask = async (stack: ShellStack, db: object): Promise<string> => {
  const configData = { parameters: { db } }
  const json = { componentId: 'platform.ex-database', action: 'testConnection', configData }
  return (await stack.request('POST', '/sync-actions/actions', { json })).text
}

test('TLS verifies the server by a private authority and presents a client certificate', async (t) => {
  const { url } = await openDatabase(t)
  const stack = await startProject()
  const { ca, cert, key } = await certificates(t)
  const sockets = new Set<Socket>()
  const { hostname, port } = new URL(url)
  const presented: (string | undefined)[] = []
  const front = createServer((plain) => {
    sockets.add(plain.on('error', () => {}))
    // The client requests TLS with eight bytes, and begins it when the server agrees.
    plain.once('data', () => {
      plain.write('S')
      const secure = new TLSSocket(plain, { isServer: true, cert, key, requestCert: true, rejectUnauthorized: false })
      secure.on('error', () => {})
      secure.once('secure', () => {
        presented.push(secure.getPeerX509Certificate()?.fingerprint256)
        const far = connect(Number(port), hostname)
        sockets.add(far.on('error', () => secure.destroy()))
        secure.pipe(far).pipe(secure)
      })
    })
  })
  const db = { ...connectionTo(url), host: '127.0.0.1', port: await listen(t, front, sockets) }
  assert.match(await ask(stack, { ...db, ssl: { enabled: true } }), /could not be reached over TLS: .* Check db\.ssl/)
  assert.equal(await ask(stack, { ...db, ssl: { enabled: true, ca } }), '{"status":"success"}')
  const client = { enabled: true, ca, cert, '#key': key }
  assert.equal(await ask(stack, { ...db, ssl: client }), '{"status":"success"}')
  assert.equal(presented.at(-1), new X509Certificate(cert).fingerprint256)
  assert.equal(await ask(stack, { ...db, ssl: { enabled: true, verifyServerCert: false } }), '{"status":"success"}')
  const broken = await ask(stack, { ...db, ssl: { ...client, '#key': 'no key at all' } })
  assert.match(broken, /Check db\.ssl/)
  assert.doesNotMatch(broken, /no key at all/)
})

test('a database behind an SSH server is read through a tunnel', async (t) => {
  const { url } = await openDatabase(t)
  const stack = await startProject()
  const sockets = new Set<Socket>()
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })
  const user = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })
  const parsed = ssh2.utils.parseKey(user)
  assert.ok(!(parsed instanceof Error))
  const opened: string[] = []
  const server = new ssh2.Server({ hostKeys: [own] }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => {
      const isKnown =
        context.method === 'publickey' && context.username === 'tunnel' && context.key.data.equals(parsed.getPublicSSH())
      if (isKnown) context.accept()
      else context.reject(['publickey'])
    })
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      opened.push(`${destIP}:${destPort}`)
      const far = connect(destPort, destIP)
      sockets.add(far)
      far.once('error', () => reject())
      far.once('connect', () => {
        const channel = accept()
        far.on('error', () => channel.destroy())
        channel.on('error', () => far.destroy())
        channel.pipe(far).pipe(channel)
      })
    })
  })
  const sshPort = await listen(t, server, sockets)
  const ssh = { enabled: true, sshHost: '127.0.0.1', sshPort, user: 'tunnel', keys: { '#private': user } }
  const db = connectionTo(url)
  assert.equal(await ask(stack, { ...db, ssh }), '{"status":"success"}')
  assert.deepEqual(opened, [`${db.host}:${db.port}`])
  const otherKey = await ask(stack, { ...db, ssh: { ...ssh, hostKey: `SHA256:${'A'.repeat(43)}` } })
  const [, hostKey] = /has the host key (SHA256:[^,]{43}), not SHA256:A/.exec(otherKey) ?? []
  assert.equal(await ask(stack, { ...db, ssh: { ...ssh, hostKey } }), '{"status":"success"}')
  const row = { query: 'select 1 as id', outputTable: 'one' }
  const logOf = async (settings: object): Promise<string> => {
    const config = await stack.configure('platform.ex-database', { parameters: { db: { ...db, ssh: settings }, ...row } })
    const json = { component: 'platform.ex-database', config, mode: 'run' }
    const job = await stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
    assert.equal(job.status, 'success', job.result.message)
    return (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=100`)).text
  }
  const unchecked = await logOf(ssh)
  assert.equal(unchecked.split(`has the host key ${hostKey}. It is not checked`).length, 2, 'once')
  assert.doesNotMatch(await logOf({ ...ssh, hostKey }), /It is not checked/)
  opened.splice(0, 2)
  assert.match(await ask(stack, { ...db, ssh: { ...ssh, hostKey: 'SHA256:x' } }), /must be a fingerprint such as/)
  assert.equal(opened.length, 2)
  opened.pop()
  assert.match(
    await ask(stack, { ...db, ssh: { ...ssh, user: 'other' } }),
    /The SSH tunnel to 127\.0\.0\.1:\d+ could not be opened/,
  )
  const wrong = await ask(stack, { ...db, ssh: { ...ssh, keys: { '#private': 'no key at all' } } })
  assert.match(wrong, /private key in db\.ssh\.keys\.#private cannot be read/)
  assert.doesNotMatch(wrong, /no key at all/)
  assert.match(await ask(stack, { ...db, port: 1, ssh }), /cannot be reached from there/)
  assert.match(await ask(stack, { ...db, ssh: { ...ssh, sshHost: '10.0.0.1' } }), /not allowed: .*MILLRACE_EGRESS_ALLOW/)
})
