import assert from 'node:assert/strict'
import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { before, test } from 'node:test'
import { packObjects } from 'isomorphic-git'
import { openGitClient } from '../../../../../tests/support/clients/git-client.ts'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startGitServer } from '../../../../../tests/support/servers/git-server.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { FLUSH, packet } from '../../../engines/git/pkt-line.ts'
import { withTables } from '../../../engines/metadata-db/dialects.ts'
import { findIsolation } from '../../../engines/runner/isolation.ts'
import { createRepositoriesStore } from './repositories.store.ts'
import { sweepPacks } from './repositories.ts'

interface App {
  readonly id: string
  readonly configId: string
  readonly configVersion: string
  readonly state: string
  readonly desiredState: string
  readonly type: string
  readonly url: string
  readonly lastStartTimestamp: string | null
}

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
const { problem } = await findIsolation({ ...isolation, path: PATH, hidden: [] })
/** Code that users write runs isolated only. */
const isolated = problem === undefined ? test : test.skip

let stack: TestStack
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, {
    worker: { isolation, path: PATH, egressAllow: ['127.0.0.1'] },
    apps: { startMs: 120_000 },
    sql: { memoryMb: 512, diskMb: 64 },
  })
  await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n')
})
test.after(() => stop?.())

const HELLO = `
import { createServer } from 'node:http'
console.log('hello from the app', process.env.API_KEY, process.env.KBC_TOKEN)
createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.setHeader('set-cookie', 'millrace_session=stolen')
  response.end(JSON.stringify({ url: request.url, headers: request.headers, env: process.env }))
}).listen(process.env.PORT)
`

const call = (method: string, path: string, options: { json?: object; token?: string | null } = {}) =>
  stack.request(method, `/data-science/apps${path}`, options)

async function create(script: string, parameters: object = {}): Promise<App> {
  const made = await call('POST', '', {
    json: { name: 'Orders', type: 'node', config: { parameters: { script, ...parameters } } },
  })
  assert.equal(made.status, 201, made.text)
  return made.json<App>()
}

async function deploy({ id }: App, json: object = {}): Promise<App> {
  const answer = await call('PATCH', `/${id}`, { json: { desiredState: 'running', ...json } })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<App>()
}

const get = async ({ id }: App): Promise<App> => (await call('GET', `/${id}`)).json<App>()
const logOf = async ({ id }: App): Promise<string> => (await call('GET', `/${id}/logs/tail?lines=1000`)).text
const linkTo = async ({ id }: App): Promise<string> => {
  const made = await call('POST', `/${id}/links`)
  assert.equal(made.status, 201, made.text)
  return made.json<{ url: string }>().url
}
const untilState = (app: App, state: string) => until(`the app is ${state}`, async () => (await get(app)).state === state)

/** Its newest run has ended, and everything of it is gone. */
const untilEnded = (app: App) => until('the app has ended', async () => (await runsOf(app))[0]?.state === 'stopped')

test('G22: a preview link opens the app like a link, and is for those who may use its component', async () => {
  const app = await create(HELLO)
  const made = await call('POST', `/${app.id}/preview-link`)
  assert.equal(made.status, 201, made.text)
  const { url, linkExpiresAt } = made.json<{ url: string; linkExpiresAt: string }>()
  assert.equal((await stack.request('GET', url, { token: null })).status, 409, 'it is not deployed')
  const hours = (Date.parse(linkExpiresAt) - Date.now()) / 3_600_000
  assert.ok(hours > 3.5 && hours < 4.5, linkExpiresAt)
  const { token } = (await stack.request('POST', '/v2/storage/tokens', { json: {} })).json<{ token: string }>()
  assert.equal((await call('POST', `/${app.id}/preview-link`, { token })).status, 403)
  assert.equal((await call('POST', '/987654/preview-link')).status, 404)
})

isolated('an app is made, deployed, opened by a link, put to sleep and deleted', async () => {
  const app = await create(HELLO, { '#x': 'y', dataApp: { secrets: { '#API_KEY': 'canary-of-the-app', CITY: 'Praha' } } })
  assert.deepEqual([app.state, app.desiredState, app.type], ['created', 'stopped', 'node'])
  const stopped = await stack.request('GET', await linkTo(app), { token: null })
  assert.equal(stopped.status, 409, stopped.text)
  await deploy(app)
  const link = await linkTo(app)
  const page = await stack.request('GET', `${link}some/path?a=b`, {
    headers: { cookie: 'millrace_session=mine', authorization: 'Bearer x' },
  })
  assert.equal(page.status, 200, page.text)
  const { url, headers, env } = page.json<{ url: string; headers: Record<string, string>; env: Record<string, string> }>()
  assert.equal(url, '/some/path?a=b')
  assert.deepEqual([env.API_KEY, env.CITY], ['canary-of-the-app', 'Praha'])
  for (const name of ['cookie', 'authorization', 'x-storageapi-token']) assert.equal(headers[name], undefined, name)
  assert.equal(headers['x-forwarded-prefix'], new URL(link).pathname.slice(0, -1))
  assert.equal(page.headers.get('set-cookie'), null, 'an app sets no cookie of the stack')
  assert.match(page.headers.get('content-security-policy') ?? '', /sandbox allow-scripts/)
  assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /allow-same-origin/)
  await untilState(app, 'running')
  await until('its log', async () => (await logOf(app)).includes('hello from the app'))

  const log = await logOf(app)
  assert.match(log, /hello from the app \[hidden\] \[hidden\]/, 'secrets are hidden in its log')
  const configs = await stack.request('GET', `/v2/storage/components/keboola.data-apps/configs/${app.configId}`)
  const events = await stack.request('GET', '/v2/storage/events?limit=100')
  for (const text of [log, configs.text, events.text]) {
    assert.doesNotMatch(text, /canary-of-the-app/)
    assert.ok(!text.includes(env.KBC_TOKEN!), 'its token is shown nowhere')
    assert.ok(!text.includes(new URL(link).pathname.split('~')[1]!.replace('/', '')), 'nor is a link')
  }

  assert.equal((await call('PATCH', `/${app.id}`, { json: { desiredState: 'stopped' } })).status, 200)
  await untilEnded(app)
  const recorded = (await stack.request('GET', '/v2/storage/events?limit=100')).text
  for (const words of ['Created', 'Deployed', 'Started', 'Stopped']) assert.ok(recorded.includes(`${words} app ${app.id}`), words)
  assert.equal((await stack.request('GET', link, { token: null })).status, 409)
  const runs = (await call('GET', `/${app.id}/runs`)).json<{ state: string; reason: string }[]>()
  assert.deepEqual(
    runs.map(({ state, reason }) => [state, reason]),
    [['stopped', 'it was stopped by a user']],
  )
  assert.equal((await call('DELETE', `/${app.id}`)).status, 204)
  assert.equal((await call('GET', `/${app.id}`)).status, 404)
  assert.equal((await stack.request('GET', link, { token: null })).status, 404)
})

const serving = (body: string): string => `
import { createServer } from 'node:http'
const server = createServer((request, response) => { ${body} })
server.listen(process.env.PORT, '127.0.0.1')
`
const fetchApp = async (app: App, path = '') => stack.request('GET', `${await linkTo(app)}${path}`, { token: null })
const runsOf = async ({ id }: App) => (await call('GET', `/${id}/runs`)).json<{ state: string; reason: string | null }[]>()

isolated('an app reads tables by SQL and by PostgreSQL, and changes nothing', async () => {
  const app = await create(
    `
    import { createServer } from 'node:http'
    import { connect } from 'node:net'
    const { KBC_TOKEN, KBC_URL, MILLRACE_QUERY_URL, PGHOST, PGPORT, PORT } = process.env
    const headers = { 'x-storageapi-token': KBC_TOKEN, 'content-type': 'application/json' }
    const send = async (method, url, body) => {
      const answer = await fetch(url, { method, headers, body: JSON.stringify(body) })
      return [answer.status, await answer.json()]
    }
    const Q = KBC_URL + '/query/api/v1'
    const inWorkspace = async (sql) => {
      const { WORKSPACE_ID, BRANCH_ID } = process.env
      const body = { statements: [sql] }
      const [status, { queryJobId }] = await send('POST', Q + '/branches/' + BRANCH_ID + '/workspaces/' + WORKSPACE_ID + '/queries', body)
      if (status !== 201) return status
      for (;;) {
        const { status, statements } = await (await fetch(Q + '/queries/' + queryJobId, { headers })).json()
        if (status === 'failed') return status
        if (status !== 'completed') { await new Promise((resolve) => setTimeout(resolve, 100)); continue }
        const answer = await fetch(Q + '/queries/' + queryJobId + '/' + statements[0].id + '/results', { headers })
        return (await answer.json()).data
      }
    }
    const reaches = (host, port) => new Promise((resolve) => {
      const socket = connect({ host, port: Number(port) }, () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
    createServer(async (request, response) => {
      if (request.method === 'HEAD') return response.end()
      response.end(JSON.stringify({
        read: await send('POST', MILLRACE_QUERY_URL, { sql: 'select city from "in.c-main"."orders"' }),
        write: await send('POST', KBC_URL + '/v2/storage/buckets', { name: 'x' }),
        token: await send('POST', KBC_URL + '/v2/storage/tokens', { description: 'x', canManageBuckets: true }),
        workspace: await inWorkspace('select city from "in.c-main"."orders"'),
        drop: await inWorkspace('drop table "in.c-main"."orders"'),
        id: process.env.WORKSPACE_ID,
        postgres: await reaches(PGHOST, PGPORT),
        elsewhere: await reaches('127.0.0.1', new URL(KBC_URL).port),
      }))
    }).listen(PORT, '127.0.0.1')
  `,
    { dataApp: { secrets: { WORKSPACE_ID: 'of another token', BRANCH_ID: '1' } } },
  )
  await deploy(app)
  const page = await fetchApp(app)
  const said = page.json<Record<string, [number, { rows?: unknown; code?: string }]>>()
  assert.deepEqual([said.read![0], said.read![1].rows], [200, [['Praha']]], page.text)
  assert.equal(said.write![0], 403, page.text)
  assert.equal(said.token![0], 403, page.text)
  assert.deepEqual([said.workspace, said.drop], [[['Praha']], 'failed'], 'it has a workspace of its own')
  const workspaces = async () => (await stack.request('GET', '/v2/storage/workspaces')).text
  assert.match(await workspaces(), new RegExp(`"id":${said.id},`))
  assert.equal(said.postgres, true, 'the PostgreSQL port is on its own loopback')
  assert.equal(said.elsewhere, false, 'no other port of the machine is')
  const tokens = (await stack.request('GET', '/v2/storage/tokens')).json<
    { id: string; description: string; expires: string | null }[]
  >()
  const own = tokens.find(({ description }) => description.startsWith(`App ${app.id} `))
  assert.ok(own?.expires, 'its token ends by itself')
  await call('PATCH', `/${app.id}`, { json: { desiredState: 'stopped' } })
  await untilEnded(app)
  const left = (await stack.request('GET', '/v2/storage/tokens')).json<{ id: string }[]>()
  assert.ok(!left.some(({ id }) => id === own.id), 'and with its run')
  assert.equal(await workspaces(), '[]', 'as its workspace does')
})

isolated('websockets pass, and end with the app', async () => {
  const app = await create(
    `
    import { createServer } from 'node:http'
    import { createHash } from 'node:crypto'
    const server = createServer((request, response) => response.end())
    server.on('upgrade', (request, socket) => {
      const key = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
      socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + key + '\\r\\n\\r\\n')
      const text = Buffer.from('at ' + request.url + ' ' + (request.headers.cookie ?? 'without a cookie'))
      socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]))
    })
    server.listen(process.env.PORT, '127.0.0.1')
  `.replaceAll('\\\\', '\\'),
  )
  await deploy(app)
  const link = (await linkTo(app)).replace(/^http/, 'ws')
  const socket = new WebSocket(`${link}live?a=1`)
  const message = await new Promise<string>((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => resolve(String(data)))
    socket.addEventListener('error', () => reject(new Error('no websocket')))
  })
  assert.equal(message, 'at /live?a=1 without a cookie')
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
  await call('PATCH', `/${app.id}`, { json: { desiredState: 'stopped' } })
  await closed
  const wrong = new WebSocket(link.replace(/~./, '~A').replace(/.\/$/, 'A/'))
  await new Promise((resolve) => wrong.addEventListener('error', resolve))
})

isolated('an app that fails is reported with its output, and tried again with pauses', async () => {
  const crashing = await create(`console.error('cannot find my table'); process.exit(3)`)
  await deploy(crashing)
  const answer = await fetchApp(crashing)
  assert.equal(answer.status, 503, answer.text)
  assert.match(answer.text, /is not running/)
  await until('another run', async () => (await runsOf(crashing)).length >= 2)
  const [newest, ...older] = (await runsOf(crashing)).filter(({ state }) => state === 'failed')
  assert.match(newest?.reason ?? older[0]?.reason ?? '', /exit code 3\ncannot find my table/)
  assert.match(await logOf(crashing), /ERROR cannot find my table/)
  const again = await fetchApp(crashing)
  assert.equal(again.status, 503)
  assert.match(again.text, /cannot find my table/, 'requests are told why')
  const events = (await stack.request('GET', '/v2/storage/events?limit=100')).json<{ event: string; objectId: string }[]>()
  assert.ok(events.some(({ event, objectId }) => event === 'apps.failed' && objectId === crashing.id))
  await call('PATCH', `/${crashing.id}`, { json: { desiredState: 'stopped' } })

  const repaired = await stack.request('PUT', `/v2/storage/components/keboola.data-apps/configs/${crashing.configId}`, {
    json: { configuration: { parameters: { script: serving(`response.end('repaired')`) } } },
  })
  assert.equal(repaired.status, 200, repaired.text)
  assert.equal((await deploy(crashing)).configVersion, '2', 'a new version is no longer held back')
  assert.equal((await fetchApp(crashing)).text, 'repaired')
  await deploy(crashing, { configVersion: 1 })
  assert.equal((await get(crashing)).configVersion, '1')
  await call('DELETE', `/${crashing.id}`)
})

isolated('an app that never listens is ended with the reason; one whose runtime is missing is refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-path-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'python3'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const path = `${folder}:${PATH}`
  const impatient = await startTestStack(t, { worker: { isolation, path }, apps: { startMs: 1_500 } })
  for (const [type, script, missing] of [
    ['streamlit', 'x', 'streamlit'],
    ['jupyter', '{"nbformat": 4, "cells": []}', 'nbconvert nbclient ipykernel'],
  ]) {
    const made = await impatient.request('POST', '/data-science/apps', { json: { type, config: { parameters: { script } } } })
    const at = `/data-science/apps/${made.json<App>().id}`
    const refused = await impatient.request('PATCH', at, { json: { desiredState: 'running' } })
    assert.equal(refused.status, 422, refused.text)
    const { error } = refused.json<{ error: string }>()
    assert.ok(error.includes(`An app of the type ${type} cannot run on this node: the Python at ${folder}/python3 has no`), error)
    assert.ok(error.endsWith(`-m pip install ${missing}".`), error)
  }
  const json = { config: { parameters: { script: `console.log('busy'); setInterval(() => {}, 1000)` } } }
  const { id } = (await impatient.request('POST', '/data-science/apps', { json })).json<App>()
  const at = `/data-science/apps/${id}`
  assert.equal((await impatient.request('PATCH', at, { json: { desiredState: 'running' } })).status, 200)
  const { url } = (await impatient.request('POST', `${at}/links`)).json<{ url: string }>()
  const answer = await impatient.request('GET', url, { token: null })
  assert.equal(answer.status, 503, answer.text)
  assert.match(answer.text, /did not respond within 1.5 s on the port in the environment variable PORT/)
  assert.ok(answer.headers.get('retry-after'))
})

isolated('an app that floods its log loses lines, and nothing else does', async () => {
  const app = await create(
    `
    import { createServer } from 'node:http'
    createServer((request, response) => response.end('still there')).listen(process.env.PORT, '127.0.0.1')
    const line = 'x'.repeat(200) + '\\n'
    const flood = () => process.stdout.write(line.repeat(1000), () => setImmediate(flood))
    flood()
  `.replaceAll('\\\\', '\\'),
  )
  await deploy(app)
  assert.equal((await fetchApp(app)).text, 'still there')
  await until('lines are left out', async () =>
    /WARNING The component printed too much in a second: \d+ lines? left out/.test(await logOf(app)),
  )
  await until('another second', async () => ((await logOf(app)).match(/too much in a second/g) ?? []).length >= 2)
  const lines = (await logOf(app)).trim().split('\n')
  assert.ok(lines.length <= 1000, `${lines.length} lines`)
  assert.equal((await fetchApp(app)).text, 'still there')
  assert.equal((await call('DELETE', `/${app.id}`)).status, 204)
})

isolated('an app sleeps when nobody uses it, and wakes up', async () => {
  const app = await create(serving(`response.end(String(process.pid))`), { autoSuspendAfterSeconds: 1 })
  await deploy(app)
  const link = await linkTo(app)
  assert.equal((await stack.request('GET', link, { token: null })).status, 200)
  await untilEnded(app)
  assert.equal((await get(app)).desiredState, 'running')
  assert.match((await runsOf(app))[0]?.reason ?? '', /it was idle for 1 seconds/)
  assert.equal((await stack.request('GET', link, { token: null })).status, 200, 'the next request starts it')
  await call('DELETE', `/${app.id}`)
})

isolated('an app sees nothing of the server: no variables, no files, no processes', async () => {
  const app = await create(
    serving(`
    const { readdirSync, readFileSync } = process.getBuiltinModule('fs')
    const tried = (work) => { try { return work() } catch (error) { return error.code } }
    response.end(JSON.stringify({
      names: Object.keys(process.env),
      keys: tried(() => readFileSync('${stack.dataDir}/root-keys', 'utf8')),
      data: tried(() => readdirSync('${stack.dataDir}')),
      processes: readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
      inbound: tried(() => readdirSync('/.millrace/in')),
    }))
  `),
  )
  await deploy(app)
  const seen = (await fetchApp(app)).json<{
    names: string[]
    keys: string
    data: string | string[]
    processes: number
    inbound: unknown
  }>()
  const known =
    /^(PORT|HOST|PATH|HOME|TMPDIR|LANG|PYTHONUNBUFFERED|KBC_\w+|MILLRACE_QUERY_URL|PG\w+|NODE_USE_ENV_PROXY|\w+_(PROXY|proxy)|PWD|OLDPWD|SHLVL|_)$/
  assert.deepEqual(
    seen.names.filter((name) => !known.test(name)),
    [],
  )
  assert.equal(seen.keys, 'ENOENT')
  assert.deepEqual(seen.data, ['runs'], 'nothing but the way to its own folder')
  assert.ok(seen.processes < 8, `${seen.processes} processes`)
  assert.deepEqual(seen.inbound, [], 'the socket by which it is reached is out of its sight')
  await call('DELETE', `/${app.id}`)
})

test('wrong configurations and requests are refused with a sentence', async () => {
  const refused = async (parameters: unknown, pattern: RegExp): Promise<void> => {
    const made = await call('POST', '', { json: { name: 'x', config: { parameters } } })
    assert.equal(made.status, 201, made.text)
    const { id } = made.json<App>()
    const answer = await call('PATCH', `/${id}`, { json: { desiredState: 'running' } })
    assert.ok([400, 422].includes(answer.status), answer.text)
    assert.match(answer.text, pattern)
  }
  await refused({}, /parameters\.script is missing/)
  await refused({ script: 3 }, /neither a text nor a list/)
  await refused({ script: 'x', type: 'r' }, /there are node, python, streamlit, jupyter, python-js/)
  await refused({ script: 'x', type: 'python-js' }, /dataApp\.git is missing/)
  await refused({ script: 'x', type: 'jupyter' }, /not a notebook: it is not valid JSON/)
  await refused({ script: { cells: {}, nbformat: 4 }, type: 'jupyter' }, /not a notebook of the format 4/)
  await refused({ script: 'x', size: 'huge' }, /tiny, small, medium, large/)
  await refused({ script: 'x', autoSuspendAfterSeconds: 0 }, /whole number from 1/)
  const git = (given: object) => ({ dataApp: { git: given } })
  await refused({ dataApp: { git: 'x' } }, /dataApp\.git is not an object/)
  await refused(git({}), /git\.repository is missing/)
  for (const repository of ['git@example.com:a.git', 'file:///etc', 'https://user:pass@example.com/a.git'])
    await refused(git({ repository }), /begins with https:\/\/ or http:\/\/, without a user or password/)
  for (const entrypoint of ['../app.mjs', '/etc/passwd'])
    await refused(git({ repository: 'https://example.com/x', entrypoint }), /path of a file within the repository/)
  await refused(git({ repository: 'https://example.com/x', branch: 3 }), /git\.branch is not a text/)
  await refused({ script: 'x', dataApp: { secrets: { NODE_OPTIONS: '--inspect' } } }, /choose another name/)
  await refused({ script: 'x', dataApp: { secrets: { 'a b': 'c' } } }, /letters, digits/)
  const app = await create('x')
  for (const [json, status] of [
    [{ desiredState: 'deleted' }, 400],
    [{ desiredState: 'running', configVersion: 7 }, 404],
    [{ desiredState: 'running', configVersion: 'x' }, 404],
  ] as const)
    assert.equal((await call('PATCH', `/${app.id}`, { json })).status, status, JSON.stringify(json))
  assert.equal((await call('POST', '', { json: { componentId: 'keboola.ex-generic-v2' } })).status, 400)
  assert.equal((await call('POST', '', { json: { configId: 'none' } })).status, 404)
  assert.equal((await call('GET', `/${app.id}/logs/tail?since=yesterday`)).status, 400)
  assert.equal((await call('GET', '/nothing')).status, 404)
  const { masterToken } = await stack.newProject('Stranger')
  assert.equal((await call('GET', `/${app.id}`, { token: masterToken })).status, 404)
  assert.equal((await call('POST', `/${app.id}/links`, { token: masterToken })).status, 404)
})

isolated('the code of an app comes from a git repository, also from a private one', async (t) => {
  const server = await startGitServer(t, '/team/app.git')
  const words = (text: string) => ({ 'words.txt': text })
  const script = serving(`response.end(process.getBuiltinModule('fs').readFileSync('words.txt', 'utf8'))`)
  const commit = await server.commit({ ...words('first'), 'app.mjs': script, 'requirements.txt': 'x' })
  server.credentials = { username: 'ada', password: 'canary-of-git' }
  const make = async (git: object) => {
    const parameters = { dataApp: { git: { repository: server.url, username: 'ada', ...git } } }
    return (await call('POST', '', { json: { name: 'x', type: 'python-js', config: { parameters } } })).json<App>()
  }
  const wrong = await make({ '#password': 'wrong' })
  const refused = await call('PATCH', `/${wrong.id}`, { json: { desiredState: 'running' } })
  assert.equal(refused.status, 422, refused.text)
  assert.match(refused.text, /refuses the credentials of parameters\.dataApp\.git/)

  const app = await make({ '#password': 'canary-of-git' })
  await deploy(app)
  assert.equal((await fetchApp(app)).text, 'first')
  await until('its log', async () => (await logOf(app)).includes(`Starts the commit ${commit}.`))
  const log = await logOf(app)
  assert.match(log, /WARNING The packages of requirements\.txt are not installed/)
  const configuration = await stack.request('GET', `/v2/storage/components/keboola.data-apps/configs/${app.configId}`)
  for (const text of [log, configuration.text]) assert.doesNotMatch(text, /canary-of-git/)
  await server.commit(words('second'))
  await deploy(app, { restartIfRunning: true })
  assert.equal((await fetchApp(app)).text, 'second', 'a deployment takes what is newest')
  await call('DELETE', `/${app.id}`)
})

interface Repository {
  readonly app: App
  readonly url: string
}

async function createHosted(parameters: object = {}): Promise<Repository> {
  const json = { name: 'x', type: 'python-js', useManagedGitRepo: true, config: { parameters } }
  const app = (await call('POST', '', { json })).json<App>()
  const { httpsUrl, ...more } = (await call('GET', `/${app.id}/git-repo`)).json<{ httpsUrl: string }>()
  assert.deepEqual(more, { sshUrl: null, isManagedGitRepo: true })
  return { app, url: httpsUrl }
}

async function secretFor({ app }: Repository, json: object = {}): Promise<string> {
  const made = await call('POST', `/${app.id}/git-repo/credentials`, { json: { type: 'http_token', ...json } })
  assert.equal(made.status, 201, made.text)
  return made.json<{ secret: string }>().secret
}

const packsOf = async ({ app }: Repository) =>
  (await stack.platform.objects.store.list({ prefix: `data-app-repositories/${app.id}/` })).objects.length

isolated('an app runs the newest commit of the repository that the stack hosts, and a draft runs its branch', async (t) => {
  const hosted = await createHosted()
  const { app, url } = hosted
  const empty = await call('PATCH', `/${app.id}`, { json: { desiredState: 'running' } })
  assert.equal(empty.status, 422, empty.text)
  assert.match(empty.text, /The repository is empty\. Push a commit to the branch main first/)
  const secret = await secretFor(hosted)
  const client = await openGitClient(t, url, secret)
  const script = serving(`response.end(process.getBuiltinModule('fs').readFileSync('words.txt', 'utf8'))`)
  const first = await client.commit({ 'app.mjs': script, 'words.txt': 'first' })
  assert.equal(await client.push(), undefined)
  await deploy(app)
  assert.equal((await fetchApp(app)).text, 'first')
  await until('its log', async () => (await logOf(app)).includes(`Starts the commit ${first}.`))

  await client.branch('draft')
  await client.commit({ 'words.txt': 'drafted' })
  assert.equal(await client.push({ ref: 'draft' }), undefined)
  await deploy(app, { restartIfRunning: true })
  assert.equal((await fetchApp(app)).text, 'first', 'another branch changes nothing')
  const draftOf = async (password: string, repository = url) => {
    const git = { repository, branch: 'draft', username: 'any', '#password': password }
    const made = await call('POST', '', {
      json: { name: 'draft', type: 'python-js', config: { parameters: { dataApp: { git } } } },
    })
    return made.json<App>()
  }
  const draft = await draftOf(secret, url.replace('127.0.0.1', 'another-name-of-the-stack.example.com'))
  await deploy(draft)
  assert.equal((await fetchApp(draft)).text, 'drafted')
  const refused = await call('PATCH', `/${(await draftOf('wrong')).id}`, { json: { desiredState: 'running' } })
  assert.match(refused.text, /The credentials of parameters\.dataApp\.git do not open it/)

  await client.push({ ref: 'draft', force: true })
  const both = await createHosted({ type: 'node', script: HELLO })
  const unclear = await call('PATCH', `/${both.app.id}`, { json: { desiredState: 'running' } })
  assert.match(unclear.text, /hosts a repository for this app: leave parameters\.script out/)

  const texts = [await logOf(app), (await stack.request('GET', '/v2/storage/events?limit=100')).text]
  assert.match(texts[1]!, /Pushed main to the repository of app/)
  for (const text of texts) assert.ok(!text.includes(secret), 'the secret is shown nowhere')
  assert.equal(await packsOf(hosted), 1)
  for (const { id } of [draft, app]) assert.equal((await call('DELETE', `/${id}`)).status, 204)
  assert.equal(await packsOf(hosted), 0, 'the repository goes with its app')
  assert.match((await client.push({ ref: 'draft' }))!, /401/)
})

test('a hosted repository is cloned and pushed to, forced too; its default branch stays', async (t) => {
  const hosted = await createHosted()
  const client = await openGitClient(t, hosted.url, await secretFor(hosted))
  const first = await client.commit({ 'a.txt': '1' })
  const second = await client.commit({ 'a.txt': '2', 'b.txt': 'x'.repeat(100_000) })
  assert.equal(await client.push(), undefined)
  const whole = await client.clone()
  assert.deepEqual(whole.commits, [second, first])
  assert.equal(readFileSync(join(whole.dir, 'b.txt'), 'utf8').length, 100_000)
  assert.deepEqual((await client.clone({ depth: 1 })).commits, [second])

  const other = await openGitClient(t, hosted.url, await secretFor(hosted))
  const unrelated = await other.commit({ 'c.txt': '3' })
  assert.match((await other.push())!, /fast-forward/, 'the client refuses')
  assert.equal(await other.push({ force: true }), undefined)
  assert.deepEqual((await client.clone()).commits, [unrelated])
  assert.match((await client.push({ remove: true }))!, /it is the default branch, which cannot be deleted/)
  await other.branch('side')
  assert.equal(await other.push({ ref: 'side' }), undefined)
  assert.equal(await other.push({ ref: 'side', remove: true }), undefined)
  assert.match(await client.clone({ ref: 'side' }).then(String, String), /side/)
  assert.equal(await packsOf(hosted), 1, 'what nothing names is gone')

  const branches = ['one', 'two', 'three']
  const pushed = await Promise.all(
    branches.map(async (name) => {
      const mine = await openGitClient(t, hosted.url, await secretFor(hosted))
      await mine.branch(name)
      await mine.commit({ 'd.txt': name })
      return mine.push({ ref: name })
    }),
  )
  assert.deepEqual(pushed, [undefined, undefined, undefined], 'pushes at once wait for each other')
  for (const ref of branches) assert.equal((await client.clone({ ref })).commits.length, 1)
})

test('what an interrupted push or deletion has left of a repository is removed an hour later, and nothing else', async (t) => {
  const hosted = await createHosted()
  const client = await openGitClient(t, hosted.url, await secretFor(hosted))
  await client.commit({ 'a.txt': '1' })
  assert.equal(await client.push(), undefined)
  const { store: objects } = stack.platform.objects
  const left = [`data-app-repositories/${hosted.app.id}/left`, 'data-app-repositories/999999/left', 'data-app-others/left']
  for (const key of left) await objects.put(key, Readable.from([Buffer.from('x')]))
  const store = createRepositoriesStore(stack.platform.metadata.db)
  const found = async () => (await Promise.all(left.map((key) => objects.head(key)))).map((object) => object !== undefined)
  const sweep = (minutes: number) => sweepPacks({ store, objects, clock: { now: () => new Date(Date.now() + minutes * 60_000) } })
  await sweep(55)
  assert.deepEqual(await found(), [true, true, true], 'a push may still be under way')
  await sweep(65)
  assert.deepEqual(await found(), [false, false, true])
  assert.equal((await client.clone()).commits.length, 1, 'what the repository names has stayed')
})

test('a credential opens its repository only, until it ends', async (t) => {
  const hosted = await createHosted()
  const other = await createHosted()
  const secret = await secretFor(hosted, { name: 'laptop' })
  const readOnly = await secretFor(hosted, { permissions: 'readOnly' })
  const client = await openGitClient(t, hosted.url, secret)
  await client.commit({ 'a.txt': '1' })
  assert.equal(await client.push(), undefined)
  const refs = (password: string, { url }: Repository = hosted, service = 'git-upload-pack') =>
    stack.request('GET', `${url}/info/refs?service=${service}`, {
      token: null,
      headers: { authorization: `Basic ${Buffer.from(`any:${password}`).toString('base64')}` },
    })
  assert.equal((await refs(secret)).status, 200)
  assert.equal((await refs(readOnly)).status, 200)
  assert.equal((await refs(readOnly, hosted, 'git-receive-pack')).status, 403)
  for (const refused of [
    await refs('wrong'),
    await refs(''),
    await refs(secret, other),
    await refs(stack.masterToken),
    await refs(secret, { ...hosted, url: hosted.url.replace(/\d+\.git/, '999999.git') }),
    await stack.request('GET', `${hosted.url}/info/refs?service=git-upload-pack`, { token: null }),
  ]) {
    assert.equal(refused.status, 401, refused.text)
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic /)
  }
  assert.equal((await refs(secret, hosted, 'git-other')).status, 400)

  const list = () => call('GET', `/${hosted.app.id}/git-repo/credentials`)
  const [laptop] = (await list()).json<{ id: string; name: string; permissions: string; expiresAt: string }[]>()
  assert.deepEqual([laptop?.name, laptop?.permissions], ['laptop', 'readWrite'])
  assert.ok(!(await list()).text.includes(secret))
  const { masterToken } = await stack.newProject('Stranger')
  const at = `/${hosted.app.id}/git-repo/credentials`
  for (const refused of [
    await call('POST', at, { json: {}, token: masterToken }),
    await call('GET', at, { token: masterToken }),
    await call('DELETE', `${at}/${laptop?.id}`, { token: masterToken }),
    await call('DELETE', `/${other.app.id}/git-repo/credentials/${laptop?.id}`),
    await call('DELETE', `${at}/laptop`),
  ])
    assert.equal(refused.status, 404, refused.text)
  assert.equal((await call('DELETE', `${at}/${laptop?.id}`)).status, 204)
  assert.equal((await refs(secret)).status, 401)

  await withTables<{ data_app_git_credential: { app_id: number; expires_at: number } }>(stack.platform.metadata.db)
    .updateTable('data_app_git_credential')
    .set({ expires_at: Date.now() - 1 })
    .where('app_id', '=', Number(hosted.app.id))
    .execute()
  assert.equal((await refs(readOnly)).status, 401, 'it has expired')
  assert.deepEqual((await list()).json(), [])

  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'colleague', componentAccess: ['keboola.data-apps'] },
  })
  const { id, token } = made.json<{ id: string; token: string }>()
  const theirs = (await call('POST', at, { token, json: {} })).json<{ secret: string }>().secret
  assert.equal((await refs(theirs)).status, 200)
  assert.equal((await stack.request('DELETE', `/v2/storage/tokens/${id}`)).status, 204)
  await until('the credential ends with its token', async () => (await refs(theirs)).status === 401)
})

test('a push that is not whole changes nothing, and says why', async (t) => {
  const hosted = await createHosted()
  const secret = await secretFor(hosted)
  const client = await openGitClient(t, hosted.url, secret)
  const commit = await client.commit({ 'a.txt': '1' })
  const send = (body: Buffer, service = 'git-receive-pack') =>
    stack.request('POST', `${hosted.url}/${service}`, {
      token: null,
      headers: {
        authorization: `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`,
        'content-type': `application/x-${service}-request`,
      },
      body: new Uint8Array(body),
    })
  const command = (name: string) => Buffer.concat([packet(`${'0'.repeat(40)} ${commit} ${name}\0report-status`), FLUSH])
  const whole = Buffer.from((await packObjects({ fs, dir: client.dir, oids: [commit] })).packfile!)
  for (const [pack, reason] of [
    [whole.subarray(0, -30), /unpack the pack is not whole: its checksum differs/],
    [Buffer.from('not a pack'), /unpack the pack is not one of version 2/],
    [whole, /unpack the object [0-9a-f]{40} is missing/],
    [Buffer.alloc(0), /unpack the object [0-9a-f]{40} is missing/],
  ] as const) {
    const answer = await send(Buffer.concat([command('refs/heads/main'), pack]))
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.text, reason)
    assert.match(answer.text, /ng refs\/heads\/main /)
  }
  for (const name of ['refs/heads/a..b', 'refs/heads/.a', 'refs/heads/a.lock', 'refs/other/a', 'refs/heads/a b', 'main'])
    assert.match((await send(command(name))).text, /ng .* the name is not valid/, name)
  for (const body of ['', 'rubbish', '0004', '0032want', 'fffe']) assert.equal((await send(Buffer.from(body))).status, 400, body)
  assert.equal((await send(FLUSH)).status, 200, 'a client asks so whether it may push')
  for (const body of ['rubbish', '0000', `0032want ${'f'.repeat(40)}\n0000`])
    assert.match((await send(Buffer.from(body), 'git-upload-pack')).text, /ERR /, body)
  assert.match((await call('PATCH', `/${hosted.app.id}`, { json: { desiredState: 'running' } })).text, /The repository is empty/)
  assert.equal(await packsOf(hosted), 0)
  assert.equal(await client.push(), undefined)
  assert.match((await send(command('refs/heads/main'))).text, /ng refs\/heads\/main it was changed meanwhile/)
})

test('an app has a password for people who are not signed in, the same for all who ask', async () => {
  const app = await create(HELLO)
  const ask = () => call('GET', `/${app.id}/password`)
  const [one, other] = (await Promise.all([ask(), ask()])).map((answer) => answer.json<{ password: string }>().password)
  assert.match(one!, /^[\w-]{24}$/)
  assert.equal(other, one)
  const enter = (password?: string, id = app.id) =>
    stack.request('GET', `/data-apps/${id}/`, {
      token: null,
      ...(password !== undefined && {
        headers: { authorization: `Basic ${Buffer.from(`any:${password}`).toString('base64')}` },
      }),
    })
  const opened = await enter(one)
  assert.equal(opened.status, 302, opened.text)
  const link = await stack.request('GET', opened.headers.get('location')!, { token: null })
  assert.equal(link.status, 409, 'the link leads to the app, which is not deployed')
  for (const refused of [await enter(), await enter('wrong'), await enter(one, '999999')]) {
    assert.equal(refused.status, 401, refused.text)
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic /, 'a browser asks for it')
  }
  const { masterToken } = await stack.newProject('Stranger')
  assert.equal((await call('GET', `/${app.id}/password`, { token: masterToken })).status, 404)
  const events = await stack.request('GET', '/v2/storage/events?limit=100')
  assert.ok(!events.text.includes(one!), 'it is shown nowhere else')
  assert.match(events.text, /Created the password of app/)
})

test('people of the project open an app without a link or a password; for others it is not there', async () => {
  const app = await create(HELLO)
  const admin = await newStackAdmin(stack)
  const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'viewer' })
  const opened = await member.call('GET', `/data-apps/${app.id}/`)
  assert.equal(opened.status, 302, opened.text)
  const link = await stack.request('GET', opened.headers.get('location')!, { token: null })
  assert.equal(link.status, 409, 'the link leads to the app, which is not deployed')
  const { projectId } = await stack.newProject('Elsewhere')
  const stranger = await newMember(stack, admin, { projectId, role: 'admin' })
  assert.equal((await stranger.call('GET', `/data-apps/${app.id}/`)).status, 404)
  await admin.ok('DELETE', `/manage/projects/${stack.projectId}/users/${(await member.ok<{ id: string }>('GET', '/account')).id}`)
  assert.equal(
    (await stack.request('GET', opened.headers.get('location')!, { token: null })).status,
    404,
    'it ends with the membership',
  )
})

test('a password ends with the token that asked for it', async () => {
  const app = await create(HELLO)
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'colleague', componentAccess: ['keboola.data-apps'] },
  })
  const { id, token } = made.json<{ id: string; token: string }>()
  const first = (await call('GET', `/${app.id}/password`, { token })).json().password
  assert.equal((await stack.request('DELETE', `/v2/storage/tokens/${id}`)).status, 204)
  await until('another password', async () => (await call('GET', `/${app.id}/password`)).json().password !== first)
})

test('clients find the app of a configuration by parameters.id, and learn where its code is', async () => {
  const app = await create(HELLO)
  const configuration = await stack.request('GET', `/v2/storage/components/keboola.data-apps/configs/${app.configId}`)
  const { version, configuration: content } = configuration.json<{
    version: number
    configuration: { parameters: { id: string } }
  }>()
  assert.deepEqual([version, content.parameters.id], [1, app.id])
  assert.match((await call('GET', `/${app.id}/git-repo`)).text, /is in its configuration, not in a git repository/)
  const none = await call('POST', `/${app.id}/git-repo/credentials`, { json: { type: 'http_token' } })
  assert.equal(none.status, 404)
  assert.match(none.text, /has no managed git repository/)

  const git = { repository: 'https://git.example.com/team/app.git', branch: 'main' }
  const made = await call('POST', '', { json: { name: 'x', type: 'python-js', config: { parameters: { dataApp: { git } } } } })
  assert.equal(made.status, 201, made.text)
  const { id, type } = made.json<App>()
  assert.equal(type, 'python-js', 'what the configuration says, whether it can run here or not')
  assert.deepEqual((await call('GET', `/${id}/git-repo`)).json(), {
    sshUrl: null,
    httpsUrl: git.repository,
    isManagedGitRepo: false,
  })
})

test('every configuration of an app component is an app', async () => {
  const { masterToken } = await stack.newProject('Templates')
  const made = await stack.request('POST', '/v2/storage/components/keboola.data-apps/configs', {
    token: masterToken,
    json: { name: 'Made otherwise', configurationId: 'other', configuration: { parameters: { type: 'python', script: '1' } } },
  })
  assert.equal(made.status, 201, made.text)
  const [app, ...more] = (await call('GET', '', { token: masterToken })).json<(App & { name: string })[]>()
  assert.deepEqual(
    [app?.name, app?.configId, app?.type, app?.state, more.length],
    ['Made otherwise', 'other', 'python', 'created', 0],
  )
  assert.deepEqual((await call('GET', '?type=node', { token: masterToken })).json(), [])
  const gone = await stack.request('DELETE', '/v2/storage/components/keboola.data-apps/configs/other', { token: masterToken })
  assert.equal(gone.status, 204)
  assert.deepEqual((await call('GET', '', { token: masterToken })).json(), [])
})
