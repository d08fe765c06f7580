import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { tableClient } from '../../../../tests/support/table-client.ts'
import { startTestStack, type TestStack } from '../../../../tests/support/test-stack.ts'
import { until } from '../../../../tests/support/until.ts'
import { findIsolation } from '../../engines/runner/isolation.ts'

interface App {
  readonly id: string
  readonly configId: string
  readonly configVersion: string
  readonly state: string
  readonly desiredState: string
  readonly type: string | null
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
    worker: { isolation, path: PATH },
    apps: { startMs: 20_000 },
    sql: { memoryMb: 512, diskMb: 64 },
  })
  await stack.platform.sqlModules.port.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n')
})
test.after(() => stop?.())

const HELLO = `
import { createServer } from 'node:http'
console.log('hello from the app')
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

  assert.equal((await call('PATCH', `/${app.id}`, { json: { desiredState: 'stopped' } })).status, 200)
  await untilState(app, 'stopped')
  assert.equal((await stack.request('GET', link, { token: null })).status, 409)
  const runs = (await call('GET', `/${app.id}/runs`)).json<{ state: string; reason: string }[]>()
  assert.deepEqual(
    runs.map(({ state, reason }) => [state, reason]),
    [['stopped', 'somebody stopped it']],
  )
  assert.equal((await call('DELETE', `/${app.id}`)).status, 204)
  assert.equal((await call('GET', `/${app.id}`)).status, 404)
  assert.equal((await stack.request('GET', link, { token: null })).status, 404)
})
