// A PostgreSQL server for one test run: `node postgres-supervisor.ts` prints {"url"} when it serves, and ends the server and its
// folder when its stdin closes. The pipe closes however the test run ends, kill -9 included, so no server is ever left behind.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, constants, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { postgresFolder } from './postgres-binaries.ts'

/** PostgreSQL refuses to run as root. `nobody` exists everywhere; no user is made on the machine. */
const NOBODY = { uid: 65534, gid: 65534 }
const asRoot = process.getuid?.() === 0
const identity = asRoot ? NOBODY : {}

const folder = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
const data = join(folder, 'data')
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
mkdirSync(data, { mode: 0o700 })
if (asRoot) for (const path of [folder, data]) chownSync(path, NOBODY.uid, NOBODY.gid)

const binaries = reachable(postgresFolder())
const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }

const init = spawnSync(
  join(binaries, 'bin', 'initdb'),
  ['--pgdata', data, '--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync'],
  { ...identity, env, cwd: folder, encoding: 'utf8' },
)
if (init.status !== 0) fail(`initdb failed: ${init.error?.message ?? init.stderr}`)

const port = await freePort()
// Tests look for wrong answers, not for lost power: nothing is synced.
const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', 'shared_buffers=64MB']
// For tests of change capture.
settings.push('wal_level=logical', 'max_replication_slots=50', 'max_wal_senders=50', 'wal_sender_timeout=3s')
const server = spawn(
  join(binaries, 'bin', 'postgres'),
  ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...settings.flatMap((setting) => ['-c', setting])],
  { ...identity, env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
)
server.on('exit', (code) => (stopping ? process.exit(0) : fail(`postgres ended with ${code}:\n${said}`)))
let stopping = false
let said = ''
let announced = false
server.stderr.setEncoding('utf8').on('data', (text: string) => {
  said = (said + text).slice(-4000)
  if (announced || !said.includes('ready to accept connections')) return
  announced = true
  process.stdout.write(`${JSON.stringify({ url: `postgres://postgres@127.0.0.1:${port}/postgres` })}\n`)
})

function stop(): void {
  stopping = true
  server.kill('SIGQUIT') // at once; the folder is thrown away
}
process.stdin.on('end', stop).on('error', stop).on('close', stop).resume()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
process.stdout.on('error', stop)

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

/** A checkout below a private home cannot be entered by `nobody`: run a copy then. */
function reachable(native: string): string {
  if (!asRoot) return native
  for (let path = native; path !== dirname(path); path = dirname(path)) {
    if ((statSync(path).mode & 0o005) === 0o005) continue
    const copy = join(folder, 'postgres')
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    accessSync(join(copy, 'bin', 'postgres'), constants.X_OK)
    return copy
  }
  return native
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number } // a TCP listener has a port
  probe.close()
  await once(probe, 'close')
  return port
}
