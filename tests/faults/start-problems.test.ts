// A start that cannot work ends with one sentence: what is wrong and what to do. `millrace doctor` reports the same beforehand.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../support/child-environment.ts'
import { freshPostgres } from '../support/fresh-databases.ts'
import { runCli } from '../support/run-cli.ts'
import { startS3 } from '../support/servers/start-s3.ts'
import { startStack } from './stack.ts'

const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))

type Environment = Readonly<Record<string, string>>

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-start-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A port at which nobody answers. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts the server, which must end by itself, and answers what it printed. */
async function failedStart(env: Environment): Promise<string> {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...childEnvironment(), PORT: '0', MILLRACE_S3_PORT: '0', MILLRACE_START_WAIT_MS: '0', ...env },
  })
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const [, said, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  assert.equal(code, 1, said)
  const lines = said.trim().split('\n')
  assert.equal(lines.length, 1, `one sentence, no stack trace: ${said}`)
  return lines[0]!
}

async function problemsOf(env: Environment): Promise<Map<string, string>> {
  const doctor = await runCli(['doctor', '--json'], { PORT: '0', MILLRACE_S3_PORT: '0', ...env })
  const { ok, findings } = doctor.json<{ ok: boolean; findings: { check: string; status: string; text: string }[] }>()
  assert.equal(doctor.code, ok ? 0 : 1)
  return new Map(findings.filter(({ status }) => status === 'problem').map(({ check, text }) => [check, text]))
}

let s3: Awaited<ReturnType<typeof startS3>>
before(async () => {
  s3 = await startS3()
})
after(() => s3.close())

const s3Environment = (env: Environment = {}): Environment => ({
  MILLRACE_S3_ENDPOINT: s3.endpoint,
  MILLRACE_S3_BUCKET: 'millrace',
  MILLRACE_S3_ACCESS_KEY_ID: s3.sessions.root.accessKeyId,
  MILLRACE_S3_SECRET_ACCESS_KEY: s3.sessions.root.secretAccessKey,
  ...env,
})

test('a second start on the same folder names the process that has it', async (t) => {
  const stack = await startStack(t)
  const said = await failedStart({ MILLRACE_DATA_DIR: stack.dataDir })
  const [, holder] =
    said.match(
      /^The data folder .* is in use by another process: process (\d+)\. Stop that process, or set MILLRACE_DATA_DIR .*\.$/,
    ) ?? []
  assert.ok(process.kill(Number(holder), 0), said)
  const doctor = await runCli(['doctor'], { PORT: '0', MILLRACE_S3_PORT: '0', MILLRACE_DATA_DIR: stack.dataDir })
  assert.match(doctor.out, new RegExp(`running +process ${holder} uses this data folder`))
  await stack.kill()
  await stack.start() // a lock ends with its process
})

test('a port in use is named with the variables that choose another', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const port = String((server.address() as AddressInfo).port) // a TCP listener has one
  const MILLRACE_DATA_DIR = await emptyFolder(t)
  assert.match(await failedStart({ MILLRACE_DATA_DIR, PORT: port }), new RegExp(`^Port ${port} is in use\\. .*PORT=`))
  assert.deepEqual([...(await problemsOf({ MILLRACE_DATA_DIR, PORT: port })).keys()], ['stack port'])
})

test('an external S3 does not make a data folder fit for two stacks', async (t) => {
  const stack = await startStack(t, { env: s3Environment() })
  assert.match(
    await failedStart({ ...s3Environment(), MILLRACE_DATA_DIR: stack.dataDir }),
    /^The data folder .* is in use by another process/,
  )
})

test('a PostgreSQL that is not there is named, without its password', async (t) => {
  const address = `127.0.0.1:${await freePort()}/millrace`
  const env = { MILLRACE_DATA_DIR: await emptyFolder(t), MILLRACE_DATABASE_URL: `postgres://user:hunter2@${address}` }
  const sentence = `PostgreSQL at ${address} is not usable: connect ECONNREFUSED ${address.split('/')[0]}. Start it, or correct MILLRACE_DATABASE_URL.`
  assert.equal(await failedStart(env), sentence)
  assert.equal((await problemsOf(env)).get('database'), sentence)
})

test('a PostgreSQL that refuses us is not waited for', async (t) => {
  const { location, remove } = await freshPostgres()
  t.after(remove)
  const url = new URL('url' in location ? location.url : '')
  url.pathname = '/absent'
  const env = { MILLRACE_DATA_DIR: await emptyFolder(t), MILLRACE_DATABASE_URL: url.href, MILLRACE_START_WAIT_MS: '3600000' }
  assert.match(
    await failedStart(env),
    /^PostgreSQL at .*\/absent is not usable: database "absent" does not exist\. .*MILLRACE_DATABASE_URL\.$/,
  )
})

test('a start waits for a PostgreSQL that comes later', async (t) => {
  const { location, remove } = await freshPostgres()
  t.after(remove)
  const real = new URL('url' in location ? location.url : '')
  const later = new URL(real)
  later.hostname = '127.0.0.1'
  let asked = 0
  const relay = createServer((socket) => {
    if (++asked <= 2) return void socket.destroy()
    const onward = connect(Number(real.port), real.hostname)
    for (const end of [socket, onward]) end.on('error', () => end.destroy())
    socket.pipe(onward).pipe(socket)
  }).listen(0, '127.0.0.1')
  t.after(() => relay.close())
  await once(relay, 'listening')
  later.port = String((relay.address() as AddressInfo).port)
  const stack = await startStack(t, { env: { MILLRACE_DATABASE_URL: later.href } })
  assert.equal((await stack.get('/ready')).status, 200)
  assert.ok(asked > 2)
})

test('a missing bucket, wrong keys and an S3 that is not there are told apart', async (t) => {
  const folder = { MILLRACE_DATA_DIR: await emptyFolder(t) }
  const cases: [Environment, RegExp][] = [
    [
      s3Environment({ MILLRACE_S3_BUCKET: 'absent' }),
      /^The bucket absent does not exist at http.*MILLRACE_S3_BUCKET and MILLRACE_S3_ENDPOINT\.$/,
    ],
    [
      s3Environment({ MILLRACE_S3_SECRET_ACCESS_KEY: 'wrong' }),
      /^S3 at http.* denies access to the bucket millrace with these keys\. .*MILLRACE_S3_SECRET_ACCESS_KEY/,
    ],
    [
      s3Environment({ MILLRACE_S3_ENDPOINT: `http://127.0.0.1:${await freePort()}` }),
      /^S3 at http.* is not usable: .*ECONNREFUSED.*MILLRACE_S3_ENDPOINT\.$/,
    ],
  ]
  for (const [env, sentence] of cases) assert.match(await failedStart({ ...env, ...folder }), sentence)
  const [missing, sentence] = cases[0]!
  assert.match((await problemsOf({ ...missing, ...folder })).get('object store') ?? '', sentence)
})

test('a broken description of a component is named, and the stack serves without it', async (t) => {
  const dataDir = await emptyFolder(t)
  await mkdir(join(dataDir, 'components'))
  await writeFile(join(dataDir, 'components/mine.json'), '{"id": "test.mine", "name": 1}')
  const stack = await startStack(t, { existing: { dataDir, masterToken: `1-1-${'a'.repeat(40)}` } })
  assert.match(
    stack.output(),
    /Components +mine\.json: name: .*\. Its component is unavailable until the file in the folder components is fixed\./,
  )
  assert.match(
    (await problemsOf({ MILLRACE_DATA_DIR: dataDir })).get('components') ?? '',
    /^mine\.json: name: .*no restart is needed\.$/,
  )
})

test('a damaged metadata database is named with the way out', async (t) => {
  const dataDir = await emptyFolder(t)
  await writeFile(join(dataDir, 'metadata.sqlite'), 'this is not a database, and long enough to be taken for one'.repeat(100))
  assert.match(
    await failedStart({ MILLRACE_DATA_DIR: dataDir }),
    /^The metadata database .*metadata\.sqlite cannot be opened: file is not a database\. Restore a backup/,
  )
  assert.match((await problemsOf({ MILLRACE_DATA_DIR: dataDir })).get('database') ?? '', /cannot be opened/)
})
