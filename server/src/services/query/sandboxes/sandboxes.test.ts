import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pg from 'pg'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

interface Sandbox {
  readonly id: string
  readonly type: string
  readonly active: boolean
  readonly shared: boolean
  readonly user: string
  readonly password: string
  readonly host: string
  readonly port: number | null
  readonly physicalId: string
  readonly expirationTimestamp: string | null
}

let stack: TestStack
let stop: (() => Promise<void>) | undefined
let now = Date.now()
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64 }, clock: { now: () => new Date(now) } })
  await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n')
})
test.after(() => stop?.())

async function create(json: object = {}): Promise<Sandbox> {
  const made = await stack.request('POST', '/sandboxes/sandboxes', { json: { type: 'snowflake', ...json } })
  assert.equal(made.status, 201, made.text)
  return made.json<Sandbox>()
}

const tokenFor = async (json: object): Promise<string> =>
  (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token

async function query({ user, password, host, port }: Pick<Sandbox, 'user' | 'password' | 'host' | 'port'>, sql: string) {
  const client = new pg.Client({ user, password, host, port: port!, database: 'workspace' })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const call = (method: string, path: string, options: { json?: object; token?: string } = {}) =>
  stack.request(method, `/data-science/sandboxes${path}`, options)

test('a sandbox is a workspace that PostgreSQL clients log in to', async () => {
  const sandbox = await create({ size: 'small' })
  assert.deepEqual([sandbox.type, sandbox.active, sandbox.shared], ['snowflake', true, false])
  assert.deepEqual(await query(sandbox, 'CREATE TABLE t AS SELECT city FROM "in.c-main"."orders"'), [])
  assert.deepEqual(await query(sandbox, 'SELECT city FROM t'), [{ city: 'Praha' }])
  const again = (await call('GET', `/${sandbox.id}`)).json<Sandbox>()
  assert.equal(again.password, sandbox.password, 'its credentials can be read again')
  assert.equal((await stack.request('GET', `/v2/storage/workspaces/${sandbox.physicalId}`)).status, 200)

  const closed = (await call('POST', `/${sandbox.id}/deactivate`)).json<Sandbox>()
  assert.deepEqual([closed.active, closed.password], [false, ''])
  await assert.rejects(query(sandbox, 'SELECT 1'), /password/i)
  const open = (await call('POST', `/${sandbox.id}/activate`)).json<Sandbox>()
  assert.deepEqual(await query(open, 'SELECT city FROM t'), [{ city: 'Praha' }], 'its tables stayed')

  assert.equal((await call('DELETE', `/${sandbox.id}`)).status, 204)
  const events = (await stack.request('GET', '/v2/storage/events?limit=100')).json<{ event: string; objectId: string }[]>()
  const own = events.filter(({ event }) => event.startsWith('sandboxes.'))
  assert.deepEqual(
    own.map(({ event, objectId }) => [event, objectId]).reverse(),
    ['created', 'changed', 'changed', 'deleted'].map((what) => [`sandboxes.${what}`, sandbox.id]),
  )
  assert.doesNotMatch(JSON.stringify(events), new RegExp(open.password), 'no event tells a password')
  assert.equal((await call('GET', `/${sandbox.id}`)).status, 404)
  assert.equal((await stack.request('GET', `/v2/storage/workspaces/${sandbox.physicalId}`)).status, 404)
})

test('others see a sandbox only when it is shared, and change it never', async () => {
  const { id } = await create()
  const manager = await tokenFor({ canManageBuckets: true })
  const reader = await tokenFor({ componentAccess: ['platform.ex-http'] })
  for (const token of [manager, reader]) assert.equal((await call('GET', `/${id}`, { token })).status, 404)
  assert.deepEqual((await call('GET', '', { token: manager })).json(), [])
  assert.equal((await call('PATCH', `/${id}`, { json: { shared: true } })).json<Sandbox>().shared, true)
  assert.equal((await call('GET', `/${id}`, { token: manager })).status, 200)
  // Its tables were loaded with the rights of its owner.
  assert.equal((await call('GET', `/${id}`, { token: reader })).status, 404)
  assert.deepEqual((await call('GET', '', { token: reader })).json(), [])
  for (const [method, path, json] of [
    ['PATCH', '', { shared: false }],
    ['POST', '/activate', undefined],
    ['DELETE', '', undefined],
  ] as const)
    assert.equal((await call(method, `/${id}${path}`, { token: manager, ...(json && { json }) })).status, 403, `${method}${path}`)
  assert.equal((await call('DELETE', `/${id}`)).status, 204)
})

test('a sandbox ends with its time, and one without a time stays', async () => {
  const short = await create({ expirationAfterHours: 1 })
  const lasting = await create({ expirationAfterHours: 0 })
  assert.equal(lasting.expirationTimestamp, null)
  now += 2 * 3_600_000
  await stack.platform.workspaces.loop.tick(new Date(now))
  assert.equal((await call('GET', `/${short.id}`)).status, 404)
  assert.equal((await call('GET', `/${lasting.id}`)).status, 200)
  assert.equal((await call('DELETE', `/${lasting.id}`)).status, 204)
})

test('a session of the SQL editor is a workspace too', async () => {
  const made = await stack.request('POST', '/editor/sql/sessions', { json: { componentId: 'a', configurationId: 'b' } })
  assert.equal(made.status, 201, made.text)
  const session = made.json<{ id: string; status: string; connection: Sandbox }>()
  assert.deepEqual(await query(session.connection, 'SELECT 42 AS answer'), [{ answer: 42 }])
  const reset = await stack.request('POST', `/editor/sql/sessions/${session.id}/reset-credentials`)
  assert.notEqual(reset.json<{ connection: Sandbox }>().connection.password, session.connection.password)
  await assert.rejects(query(session.connection, 'SELECT 1'), /password/i)
  assert.equal((await call('GET', `/${session.id}`)).status, 404, 'it is not a sandbox')
  assert.equal((await stack.request('GET', '/editor/sql/sessions')).json<unknown[]>().length, 1)
  assert.equal((await stack.request('DELETE', `/editor/sql/sessions/${session.id}`)).status, 204)
})

test('G6: a session has the members that clients read, and the backend that the project reports', async () => {
  type Session = Readonly<Record<string, unknown>> & { readonly id: string }
  const open = async () => (await stack.request('POST', '/editor/sql/sessions', { json: {} })).json<Session>()
  const { admin } = (await stack.request('GET', '/v2/storage/tokens/verify')).json<{ admin: { id: number } }>()
  await stack.platform.tokens.setProject(stack.projectId, { backend: 'snowflake' })
  const { id } = await open()
  const [session] = (await stack.request('GET', '/editor/sql/sessions')).json<Session[]>()
  const { createdTimestamp, expirationTimestamp, connection, projectId, branchId, tokenId, workspaceId, ...rest } = session!
  const { createdAt, updatedAt, ...members } = rest
  assert.deepEqual([createdAt, updatedAt], [createdTimestamp, createdTimestamp])
  assert.deepEqual(members, {
    id,
    userId: String(admin.id),
    componentId: null,
    configurationId: null,
    shared: false,
    workspaceCreateJobId: null,
    workspaceDatabase: 'workspace',
    workspaceSchema: 'main',
    workspaceLoginType: 'snowflake-legacy-service',
    workspaceLoadJobs: [],
    readOnlyStorageAccess: true,
    snowflakePrivateKey: null,
    backendType: 'snowflake',
    backendSize: 'small',
    status: 'ready',
    lastError: null,
    lastLoadedAt: null,
  })
  assert.equal((await stack.request('DELETE', `/v2/storage/workspaces/${workspaceId}`)).status, 204)
  assert.equal((await stack.request('GET', `/editor/sql/sessions/${id}`)).json<Session>().backendType, 'snowflake')
  await stack.platform.tokens.setProject(stack.projectId, { backend: '' })
  assert.equal((await stack.request('GET', `/editor/sql/sessions/${id}`)).json<Session>().backendType, 'duckdb')
  assert.equal((await stack.request('DELETE', `/editor/sql/sessions/${id}`)).status, 204)
})

test('what cannot be is refused with a sentence', async () => {
  const notebook = await stack.request('POST', '/sandboxes/sandboxes', { json: { type: 'python' } })
  assert.equal(notebook.status, 400)
  assert.match(notebook.text, /Sandboxes of the type \\"python\\" are not supported here.*a notebook can be a data app/)
  for (const json of [
    {},
    { type: 'sql', size: 'huge' },
    { type: 'sql', expirationAfterHours: -1 },
    { type: 'sql', branchId: 'none' },
  ]) {
    const { status } = await stack.request('POST', '/sandboxes/sandboxes', { json })
    assert.ok(status === 400 || status === 404 || status === 422, `${JSON.stringify(json)}: ${status}`)
  }
  assert.equal((await call('GET', '/x')).status, 404)
})

async function runTask(parameters: object, config?: string): Promise<{ status: string; result: { message?: string } }> {
  const given = config === undefined ? { configData: { parameters } } : { config, configData: { parameters } }
  const started = await stack.request('POST', '/queue/jobs', { json: { component: 'keboola.sandboxes', mode: 'run', ...given } })
  assert.equal(started.status, 201, started.text)
  const { id } = started.json<{ id: string }>()
  return until(`job ${id} ends`, async () => {
    const job = (await stack.request('GET', `/queue/jobs/${id}`)).json<{ isFinished: boolean; status: string; result: object }>()
    return job.isFinished && job
  })
}

test('a job of keboola.sandboxes makes a sandbox, keeps its id in the configuration, and another one deletes it', async () => {
  const configs = '/v2/storage/components/keboola.sandboxes/configs'
  const configured = await stack.request('POST', configs, { json: { name: 'mine', configuration: {} } })
  const config = configured.json<{ id: string }>().id
  const task = { task: 'create', type: 'snowflake', size: 'small', shared: true, expirationAfterHours: 2, imageVersion: null }
  const made = await runTask(task, config)
  assert.equal(made.status, 'success', JSON.stringify(made.result))
  const { configuration } = (await stack.request('GET', `${configs}/${config}`)).json<{
    configuration: { parameters: { id: string } }
  }>()
  const sandbox = (await call('GET', `/${configuration.parameters.id}`)).json<Sandbox & { configurationId: string }>()
  assert.deepEqual([sandbox.type, sandbox.shared, sandbox.configurationId], ['snowflake', true, config])
  assert.deepEqual(await query(sandbox, 'SELECT city FROM "in.c-main".orders'), [{ city: 'Praha' }])
  const count = async () => (await call('GET', '')).json<Sandbox[]>().length
  const before = await count()
  assert.equal((await runTask(task, config)).status, 'success', 'a job that runs again finds what it has made')
  assert.equal(await count(), before)

  assert.equal((await runTask({ task: 'delete', id: sandbox.id })).status, 'success')
  assert.equal((await call('GET', `/${sandbox.id}`)).status, 404)
  for (const [parameters, words] of [
    [{ task: 'delete', id: sandbox.id }, /Sandbox.*does not exist|not found/i],
    [{ task: 'create', type: 'julia' }, /julia/],
    [{ task: 'fly' }, /task/],
    [{ expirationAfterHours: -1 }, /expirationAfterHours/],
  ] as const) {
    const { status, result } = await runTask(parameters)
    assert.equal(status, 'error')
    assert.match(result.message ?? '', words)
  }
})
