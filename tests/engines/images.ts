// Components that are images, by the docker or podman of this machine: `npm run test:images`. Not part of `npm test`, because no engine comes
// with npm. The image is made here, of the Node that runs this and its libraries: nothing is fetched.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { after, before, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { findContainerEngine } from '../../server/src/engines/runner/container-engine.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { connectionCounter, TRY_ADDRESSES } from '../support/address-attempts.ts'
import { FORMS } from '../support/address-forms.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { type Job, type ShellStack, shellStack } from '../support/shell-stack.ts'
import { startStackProcess } from '../support/stack-process.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const path = process.env.PATH ?? ''
const engine = await findContainerEngine(path)
assert.ok(engine, 'install docker or podman and start its engine')
const IMAGE = 'localhost/millrace-test-image'
const worker = { ...DEFAULT_WORKER, path, isolation: { mode: 'require', readable: [], uid: 65_534 } } as const

/** Its parameters define what it does. */
const PROGRAM = `
import { readFileSync, writeFileSync } from 'node:fs'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
const data = process.env.KBC_DATADIR
const { parameters } = JSON.parse(readFileSync(data + 'config.json', 'utf8'))
const doings = {
  write: () => writeFileSync(data + 'out/tables/seen.csv', 'id,name\\n1,a\\n'),
  fail: () => { console.error('the image is sad'); process.exit(1) },
  fill: () => { const kept = []; for (;;) kept.push(Buffer.alloc(8e6, 1)) },
  sleep: () => { console.log('sleeping'); setInterval(() => {}, 1000) },
  ask: async () => {
    const headers = { 'X-StorageApi-Token': process.env.KBC_TOKEN ?? '' }
    await fetch(process.env.KBC_URL ?? parameters.url, { headers }).then((r) => console.log('answered ' + r.status), () => console.log('not reached'))
  },
  gelf: async () => {
    const message = Buffer.from(JSON.stringify({ version: '1.1', host: 'x', timestamp: 1, short_message: 'by gelf', level: 6 }))
    const [host, port] = [process.env.KBC_LOGGER_ADDR, Number(process.env.KBC_LOGGER_PORT)]
    if (parameters.transport === 'udp') await new Promise((done) => createSocket('udp4').send(message, port, host, done))
    else await new Promise((done) => connect(port, host).on('close', done).end(Buffer.concat([message, Buffer.from([0])])))
    process.exit()
  },
  addresses: async () => import('/try-addresses.mjs'),
  crash: () => { console.error('cannot find my table'); process.exit(3) },
  serve: async () => import('/app.mjs'),
}
await doings[parameters.do]()
`

/** A data app: each of its paths tries one thing. */
const APP = `
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { connect } from 'node:net'
const { env } = process
const said = async (answer) => (await answer).status + ' ' + (await (await answer).text())
const pages = {
  '/env': async () => JSON.stringify(env),
  '/rows': () => said(fetch(env.MILLRACE_QUERY_URL, {
    method: 'POST',
    headers: { 'X-StorageApi-Token': env.KBC_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ sql: 'select city from "in.c-main"."orders"' }),
  })),
  '/change': () => said(fetch(env.KBC_URL + '/v2/storage/buckets', {
    method: 'POST',
    headers: { 'X-StorageApi-Token': env.KBC_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ stage: 'in', name: 'made-by-an-app' }),
  })),
  '/postgresql': () => new Promise((resolve, reject) => {
    const socket = connect(Number(env.PGPORT), env.PGHOST, () => socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))) // requests TLS
    socket.once('data', (bytes) => resolve('answers ' + bytes.toString()) || socket.destroy()).once('error', reject)
  }),
  '/reach': (query) => said(fetch(query.get('url'))),
  '/direct': (query) => new Promise((resolve, reject) => {
    connect(Number(query.get('port')), '127.0.0.1', () => resolve('connected')).once('error', reject)
  }),
  '/end': async () => process.exit(4),
}
const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app')
  const page = pages[pathname] ?? (async () => 'hello')
  response.end(await page(searchParams).catch((error) => 'failed ' + (error.cause?.code ?? error.code ?? error)))
})
server.on('upgrade', (request, socket) => {
  const key = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Accept: ' + key, '', '']
  socket.write(lines.join('\\r\\n'))
  socket.once('data', () => socket.end()) // a closing handshake
  const text = Buffer.from('at ' + request.url)
  socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]))
})
server.listen(env.PORT, env.HOST, () => console.log('listens, and knows', env.API_KEY))
`

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-image-'))
  const content = join(folder, 'content')
  const put = async (file: string, place: string) => {
    await mkdir(dirname(join(content, place)), { recursive: true })
    await cp(file, join(content, place), { dereference: true })
  }
  await put(process.execPath, '/node')
  const { stdout } = await run('ldd', [process.execPath])
  for (const [library] of stdout.matchAll(/\/\S+/g)) await put(library, library)
  await mkdir(join(content, 'tmp'))
  await writeFile(join(content, 'program.mjs'), PROGRAM)
  await writeFile(join(content, 'try-addresses.mjs'), TRY_ADDRESSES)
  await writeFile(join(content, 'app.mjs'), APP)
  await run('tar', ['-C', content, '-cf', join(folder, 'image.tar'), '.'])
  const change = 'ENTRYPOINT ["/node", "/program.mjs"]'
  await run(engine.command, ['import', '--change', change, join(folder, 'image.tar'), `${IMAGE}:1`])
  await rm(folder, { recursive: true })
})

after(() => run(engine.command, ['rmi', '--force', `${IMAGE}:1`]))

const containers = async (): Promise<string> =>
  (await run(engine.command, ['ps', '--all', '--filter', 'label=millrace=component', '--format', '{{.Names}}'])).stdout.trim()

async function imageStack(t: TestContext, data: object = {}, egressAllow: readonly string[] = []) {
  const stack = await shellStack(t, { worker: { ...worker, egressAllow } })
  await stack.add('test.image', '', { definition: { type: 'dockerhub', uri: IMAGE, tag: '1' }, ...data })
  return stack
}

async function start(stack: ShellStack, parameters: object): Promise<Job> {
  return (await stack.request('POST', '/queue/test.image/run', { json: { configData: { parameters } } })).json<Job>()
}

async function runImage(stack: ShellStack, parameters: object): Promise<{ job: Job; said: string }> {
  const job = await stack.wait(await start(stack, parameters))
  return { job, said: (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text }
}

test('an image reads its configuration, writes a table, and says why it failed', async (t) => {
  const stack = await imageStack(t, { default_bucket: true, default_bucket_stage: 'in' })
  const id = await stack.configure('test.image', { parameters: { do: 'write' } })
  const json = { config: id }
  const job = await stack.wait((await stack.request('POST', '/queue/test.image/run', { json })).json<Job>())
  assert.equal(job.status, 'success', JSON.stringify(job))
  assert.match(JSON.stringify(job.result), /"name":"seen"/)
  const failed = await runImage(stack, { do: 'fail' })
  assert.equal(failed.job.status, 'error')
  assert.match(failed.job.result.message, /the image is sad/)
  assert.equal(await containers(), '')
})

test('an image that takes too much memory is ended for it, and a killed one is gone', async (t) => {
  const stack = await imageStack(t, { memory: '64m' })
  assert.match((await runImage(stack, { do: 'fill' })).job.result.message, /memory/i)
  const job = await start(stack, { do: 'sleep' })
  await until('the image sleeps', async () =>
    (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text.includes('sleeping'),
  )
  assert.notEqual(await containers(), '')
  await stack.request('POST', `/queue/jobs/${job.id}/kill`)
  assert.equal((await stack.wait(job)).status, 'terminated')
  await until('no container is left', async () => (await containers()) === '')
})

for (const transport of ['tcp', 'udp'] as const)
  test(`messages of an image arrive by GELF over ${transport}`, async (t) => {
    const stack = await imageStack(t, { logging: { type: 'gelf', gelf_server_type: transport } })
    assert.match((await runImage(stack, { do: 'gelf', transport })).said, /by gelf/)
  })

test('an image reaches the stack with the token it was given, and not without one', async (t) => {
  const given = await imageStack(t, { forward_token: true })
  assert.match((await runImage(given, { do: 'ask' })).said, /answered 200/)
  const without = await imageStack(t)
  const { said } = await runImage(without, { do: 'ask', url: without.url })
  assert.match(said, /not reached/)
  assert.match(said, /was refused/)
  const alone = await imageStack(t, { network: 'none' })
  assert.match((await runImage(alone, { do: 'ask', url: alone.url })).said, /not reached/)
})

test('no spelling of a forbidden address leads an image to this machine, by any way out', async (t) => {
  const { port, connections } = await connectionCounter(t)
  const guarded = await imageStack(t, {}, [`192.0.2.200:${port}`])
  const { said } = await runImage(guarded, { do: 'addresses', forms: FORMS, port })
  assert.ok(said.includes(`tried ${FORMS.length}`), said)
  assert.equal(connections(), 0)
  t.diagnostic(`${FORMS.length} forms in 5 ways: ${connections()} connections`)
  const open = await imageStack(t, {}, [`127.0.0.1:${port}`])
  await runImage(open, { do: 'addresses', forms: ['127.0.0.1'], port })
  assert.ok(connections() >= 3, `allowed, it is reached by the proxy in each of its ways: ${connections()}`)
  assert.equal(await containers(), '')
})

interface App {
  readonly id: string
  readonly type: string
  readonly state: string
}

/** A stack with data apps that are images. */
async function appStack(t: TestContext, startMs = 300_000) {
  const stack = await shellStack(t, {
    worker: { ...worker, egressAllow: [] },
    apps: { startMs },
    sql: { memoryMb: 512, diskMb: 64 },
  })
  await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const call = (method: string, path: string, json?: object) =>
    stack.request(method, `/data-science/apps${path}`, json ? { json } : {})
  return {
    ...stack,
    call,
    addApp: (id: string, uri: string) =>
      stack.add(id, '', { definition: { type: 'dockerhub', uri, tag: '1' } }, { type: 'data-app' }),
    async makeApp(componentId: string, parameters: object): Promise<App> {
      const made = await call('POST', '', { name: 'App', componentId, config: { parameters } })
      assert.equal(made.status, 201, made.text)
      return made.json<App>()
    },
    deploy: ({ id }: App) => call('PATCH', `/${id}`, { desiredState: 'running' }),
    linkTo: async ({ id }: App) => (await call('POST', `/${id}/links`)).json<{ url: string }>().url,
    logOf: async ({ id }: App) => (await call('GET', `/${id}/logs/tail?lines=1000`)).text,
    runsOf: async ({ id }: App) => (await call('GET', `/${id}/runs`)).json<{ state: string; reason: string | null }[]>(),
  }
}

test('an app that is an image is opened by its link alone, reads tables, and is stopped when nobody uses it', async (t) => {
  const stack = await appStack(t)
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.create('in.c-main', 'orders', 'id,city\n1,Praha\n')
  await stack.addApp('test.app', IMAGE)
  const secrets = {
    '#API_KEY': 'canary-of-the-app',
    CITY: 'Brno = "x" #1',
    CONTAINERS_CONF: '/nowhere',
    DOCKER_HOST: 'tcp://nowhere',
  }
  const parameters = { do: 'serve', size: 'small', autoSuspendAfterSeconds: 5, dataApp: { secrets } }
  const app = await stack.makeApp('test.app', parameters)
  assert.equal(app.type, 'image')
  const deployed = await stack.deploy(app)
  assert.equal(deployed.status, 200, deployed.text)
  const link = await stack.linkTo(app)
  const open = async (path: string) => (await stack.request('GET', `${link}${path}`, { token: null })).text

  const socket = new WebSocket(`${link.replace(/^http/, 'ws')}live?a=1`) // while it is open, the app does not sleep
  const message = await new Promise<string>((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => resolve(String(data)))
    socket.addEventListener('error', () => reject(new Error('no websocket')))
  })
  assert.equal(message, 'at /live?a=1')
  const names = (await containers()).split('\n')
  assert.equal(names.length, 2)
  const limits = await run(engine.command, [
    'inspect',
    '--format',
    '{{.HostConfig.Memory}}',
    names.find((name) => !name.endsWith('-egress'))!,
  ])
  assert.equal(limits.stdout.trim(), String(2 ** 30), 'the memory of its size')
  for (const place of [`/data-apps/${app.id}/`, link.replace(/~.{43}/, `~${'A'.repeat(43)}`)]) {
    const refused = await stack.request('GET', place, { token: null })
    assert.ok([302, 401, 404].includes(refused.status), `${refused.status} ${refused.text}`)
    assert.doesNotMatch(refused.text, /hello/)
  }
  const env = JSON.parse(await open('env')) as Record<string, string>
  assert.deepEqual([env.API_KEY, env.CITY, env.DOCKER_HOST], ['canary-of-the-app', secrets.CITY, 'tcp://nowhere'])
  assert.match(await open('rows'), /^200 .*Praha/s)
  assert.match(await open('change'), /^403 /, 'its token only reads')
  assert.match(await open('postgresql'), /^answers [NS]$/)
  await until('its log is written', async () => (await stack.logOf(app)).includes('listens, and knows'))
  const log = await stack.logOf(app)
  assert.match(log, /listens, and knows \[hidden\]/)
  assert.ok(!log.includes(env.KBC_TOKEN!))

  const { port, connections } = await connectionCounter(t)
  assert.match(await open(`reach?url=http://127.0.0.1:${port}/`), /^(403|failed) /)
  assert.match(await open(`direct?port=${port}`), /ECONNREFUSED/)
  assert.equal(connections(), 0)
  await until('the refusal is in its log', async () => (await stack.logOf(app)).includes(`127.0.0.1:${port} was refused`))

  socket.close()
  await until('it sleeps', async () => (await stack.runsOf(app))[0]?.state === 'stopped')
  assert.match((await stack.runsOf(app))[0]?.reason ?? '', /it was idle for 5 seconds/)
  assert.equal(await containers(), '')
  assert.equal(await open(''), 'hello', 'the next request starts it again')
})

test('two apps that are images do not reach each other', async (t) => {
  const stack = await appStack(t)
  await stack.addApp('test.app', IMAGE)
  const pages = ['one', 'two'].map(async (name) => {
    const app = await stack.makeApp('test.app', { do: 'serve', dataApp: { secrets: { NAME: name } } })
    assert.equal((await stack.deploy(app)).status, 200)
    const link = await stack.linkTo(app)
    return async (path: string) => (await stack.request('GET', `${link}${path}`, { token: null })).text
  })
  const [one, two] = await Promise.all(pages)
  const [first, second] = await Promise.all([one!('env'), two!('env')])
  assert.match(first, /"NAME":"one"/)
  assert.match(second, /"NAME":"two"/)
  assert.equal((await containers()).split('\n').length, 4)
  const { PORT = '' } = JSON.parse(second) as Record<string, string>
  const found = await one!(`reach?url=http://127.0.0.1:${PORT}/env`)
  assert.doesNotMatch(found, /"NAME":"two"/, 'the port is that of its own network')
})

test('an app that is an image and crashes, never listens or cannot be fetched says so', async (t) => {
  const stack = await appStack(t, 45_000) // some engines take 20 s to notice that a container has ended
  await stack.addApp('test.app', IMAGE)
  const failing = async (what: string) => {
    const app = await stack.makeApp('test.app', { do: what, autoRestartEnabled: false })
    assert.equal((await stack.deploy(app)).status, 200)
    const answer = await stack.request('GET', await stack.linkTo(app), { token: null })
    assert.equal(answer.status, 503, answer.text)
    return answer.text
  }
  assert.match(await failing('crash'), /exit code 3\\ncannot find my table/)
  assert.match(await failing('sleep'), /did not respond within 45 s on the port in the environment variable PORT/)
  assert.equal(await containers(), '')
  for (const [id, uri] of [
    ['test.away', 'localhost/millrace-no-such-image'],
    ['test.wrong', 'localhost/Not An Image'],
  ] as const) {
    await stack.addApp(id, uri)
    const refused = await stack.deploy(await stack.makeApp(id, {}))
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.text, /The image localhost\/[^"]*:1 could not be pulled: \S/)
  }
})

test('a killed server leaves no container behind, of a job or of an app', async (t) => {
  const stack = await startStackProcess(t, {
    env: { MILLRACE_ISOLATION: 'require', MILLRACE_APP_START_SECONDS: '240', PATH: path },
  })
  await mkdir(join(stack.dataDir, 'components'), { recursive: true })
  const data = { definition: { type: 'dockerhub', uri: IMAGE, tag: '1' } }
  for (const [id, type] of [
    ['test.image', 'application'],
    ['test.app', 'data-app'],
  ])
    await writeFile(join(stack.dataDir, 'components', `${id}.json`), JSON.stringify({ id, type, name: 'Image', data }))
  const json = { component: 'test.image', mode: 'run', configData: { parameters: { do: 'sleep' } } }
  await until('the image is known', async () => (await stack.post('/queue/jobs', json)).status === 201)
  const app = { name: 'App', componentId: 'test.app', config: { parameters: { do: 'serve' } } }
  const { id } = (await stack.post('/data-science/apps', app)).body as { id: string }
  const deployed = await stack.request('PATCH', `/data-science/apps/${id}`, { desiredState: 'running' })
  assert.equal(deployed.status, 200, JSON.stringify(deployed.body))
  const { url } = (await stack.post(`/data-science/apps/${id}/links`, {})).body as { url: string }
  const open = async () => (await fetch(new URL(new URL(url).pathname, stack.url))).text()
  assert.equal(await open(), 'hello')
  await until('both run, each with its forwarder', async () => (await containers()).split('\n').length === 4)
  await stack.kill()
  await until('no container is left', async () => (await containers()) === '')
})
