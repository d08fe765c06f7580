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
import { DEFAULT_WORKER } from '../../server/src/wiring/queue.ts'
import { connectionCounter, TRY_ADDRESSES } from '../support/address-attempts.ts'
import { FORMS } from '../support/address-forms.ts'
import { type Job, type ShellStack, shellStack } from '../support/shell-stack.ts'
import { startStackProcess } from '../support/stack-process.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const path = process.env.PATH ?? ''
const engine = await findContainerEngine(path)
assert.ok(engine, 'install docker or podman and start its engine')
const IMAGE = 'localhost/millrace-test-image'
const worker = { ...DEFAULT_WORKER, path, isolation: { mode: 'require', readable: [], uid: 65_534 } } as const

/** Its parameters say what it does. */
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
}
await doings[parameters.do]()
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

test('a killed server leaves no container behind', async (t) => {
  const stack = await startStackProcess(t, { env: { MILLRACE_ISOLATION: 'require', PATH: path } })
  await mkdir(join(stack.dataDir, 'components'), { recursive: true })
  const description = {
    id: 'test.image',
    type: 'application',
    name: 'Image',
    data: { definition: { type: 'dockerhub', uri: IMAGE, tag: '1' } },
  }
  await writeFile(join(stack.dataDir, 'components', 'test.image.json'), JSON.stringify(description))
  const json = { component: 'test.image', mode: 'run', configData: { parameters: { do: 'sleep' } } }
  await until('the image is known', async () => (await stack.post('/queue/jobs', json)).status === 201)
  await until('the image runs', async () => (await containers()).split('\n').length === 2)
  await stack.kill()
  await until('no container is left', async () => (await containers()) === '')
})
