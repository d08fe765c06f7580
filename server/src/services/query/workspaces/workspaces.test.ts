import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { type RequestOptions, startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

interface View {
  readonly id: number
  readonly created: string
  readonly connection: { backend: string; user: string; password?: string; loginType: string }
  readonly [field: string]: unknown
}

let stack: TestStack
let client: TableClient
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64, workspaceMb: 16 } })
  client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
})
test.after(() => stop?.())

const PATH = '/v2/storage/workspaces'
const PUBLIC_KEY = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const make = async (json: object = {}, options: RequestOptions = {}): Promise<View> => {
  const answer = await stack.request('POST', PATH, { json, ...options })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<View>()
}
const query = async (id: number, sql: string, options: RequestOptions = {}) => {
  const answer = await stack.request('POST', `${PATH}/${id}/query`, { json: { query: sql }, ...options })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ status: string; message?: string; data?: { columns: string[]; rows: Record<string, string | null>[] } }>()
}
const rows = async (id: number, sql: string) => {
  const { status, message, data } = await query(id, sql)
  assert.equal(status, 'ok', message)
  return data?.rows.map((row) => Object.values(row))
}
const load = async (id: number, input: object[], more: object = {}) =>
  client.finish(await stack.request('POST', `${PATH}/${id}/load`, { json: { input, ...more } }))
const loaded = async (id: number, input: object[], more: object = {}) => {
  const job = await load(id, input, more)
  assert.equal(job.status, 'success', JSON.stringify(job.error))
  return job
}

test('a workspace is made, shown, listed and deleted, in the shapes that clients read', async () => {
  const made = await make({ backendSize: 'small', statementTimeoutSeconds: 60 })
  assert.match(made.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
  assert.equal(made.connection.backend, 'duckdb')
  assert.equal(made.connection.user, `workspace_${made.id}`)
  assert.equal(made.connection.password?.length, 32)
  assert.equal(made.statementTimeoutSeconds, 60)
  const { password: _, ...connection } = made.connection
  assert.deepEqual((await stack.request('GET', `${PATH}/${made.id}`)).json(), { ...made, connection })
  assert.deepEqual((await stack.request('GET', PATH)).json<View[]>().at(-1), { ...made, connection })
  const renewed = await stack.request('POST', `${PATH}/${made.id}/password`)
  assert.equal(renewed.status, 201)
  assert.notEqual(renewed.json<{ password: string }>().password, made.connection.password)

  const job = await client.succeed(await stack.request('POST', `${PATH}?async=1`, { form: { backend: 'duckdb' } }))
  const { id } = job.results as { id: number }
  assert.deepEqual((job.results as { connection: object }).connection, { ...connection, user: `workspace_${id}` })
  await client.succeed(await stack.request('DELETE', `${PATH}/${id}?async=1`))
  assert.equal((await stack.request('DELETE', `${PATH}/${made.id}`)).status, 204)
  for (const gone of [id, made.id, 'x']) {
    const answer = await stack.request('GET', `${PATH}/${gone}`)
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [404, 'workspace.workspaceNotFound'])
  }
  assert.equal((await stack.request('DELETE', `${PATH}/${id}`)).status, 404)
})

test('a workspace with a login of another backend has no password and is used through the API', async () => {
  for (const loginType of ['none', 'snowflake-person-sso', 'snowflake-person-keypair', 'snowflake-service-keypair']) {
    const { id, connection } = await make({ loginType, publicKey: PUBLIC_KEY })
    assert.deepEqual([connection.loginType, connection.password], [loginType, undefined])
    const reset = await stack.request('POST', `${PATH}/${id}/password`)
    assert.deepEqual([reset.status, reset.json<{ code: string }>().code], [400, 'workspace.resetPasswordNotSupported'])
    const answer = await stack.request('POST', `${PATH}/${id}/query`, { json: { query: 'SELECT 1 AS one' } })
    assert.equal(answer.json<{ status: string }>().status, 'ok', answer.text)
  }
  assert.ok((await make({ loginType: 'snowflake-legacy-service' })).connection.password)
})

test('workspaces that cannot be are refused, and those of others are not found', async () => {
  for (const [json, code] of [
    [{ backend: 'redshift' }, 'workspace.backendNotSupported'],
    [{ backendSize: 'huge' }, 'workspace.unsupportedBackendSize'],
    [{ loginType: 'kerberos' }, 'workspace.loginTypeNotSupported'],
    [{ loginType: 'snowflake-service-keypair', publicKey: 'MIIB' }, 'workspace.publicKeyInvalid'],
  ] as const) {
    const answer = await stack.request('POST', PATH, { json })
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [400, code])
  }
  const { id } = await make({ loginType: 'none' })
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', { json: { componentAccess: ['platform.ex-http'] } })
  ).json<{
    token: string
  }>()
  const { masterToken } = await stack.newProject()
  for (const other of [token, masterToken]) {
    assert.equal((await stack.request('GET', `${PATH}/${id}`, { token: other })).status, 404)
    assert.deepEqual((await stack.request('GET', PATH, { token: other })).json(), [])
  }
  const own = await make({}, { token })
  assert.equal((await stack.request('GET', `${PATH}/${own.id}`, { token })).status, 200)
})

test('a workspace belongs to a configuration when it was made for one', async () => {
  const configs = '/v2/storage/components/platform.ex-http/configs'
  const { id } = (await stack.request('POST', configs, { json: { name: 'c' } })).json<{ id: string }>()
  const path = `${configs}/${id}/workspaces`
  assert.deepEqual((await stack.request('GET', path)).json(), [])
  const made = await stack.request('POST', path, { json: {} })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(
    (await stack.request('GET', path)).json<View[]>().map((one) => one.configurationId),
    [id],
  )
  for (const method of ['GET', 'POST']) assert.equal((await stack.request(method, `${configs}/nowhere/workspaces`)).status, 404)
})

test('tables are loaded as copies with chosen rows, columns and types, or as views of the newest state', async () => {
  const { id } = await make()
  const source = 'in.c-main.orders'
  await loaded(id, [
    { source, destination: 'whole' },
    { source, destination: 'part', columns: ['id'], whereColumn: 'city', whereValues: ['Praha'] },
    {
      source,
      destination: 'typed',
      columns: [
        { source: 'id', type: 'INTEGER', nullable: false },
        { source: 'price', destination: 'cost', type: 'NUMBER', length: '10,2', convertEmptyValuesToNull: true },
      ],
    },
    { source, destination: 'seen', useView: true },
    { source, destination: 'first', rows: 1 },
  ])
  assert.deepEqual(await rows(id, 'SELECT count(*) FROM whole'), [['3']])
  assert.deepEqual(await rows(id, 'SELECT * FROM part ORDER BY id'), [['1'], ['3']])
  assert.deepEqual(await rows(id, 'SELECT * FROM typed ORDER BY id'), [
    ['1', '10.00'],
    ['2', '20.00'],
    ['3', null],
  ])
  assert.deepEqual(await rows(id, 'SELECT count(*) FROM first'), [['1']])
  await client.load('in.c-main.orders', 'id,city,price\n4,Plzeň,1\n', { incremental: 1 })
  assert.deepEqual(await rows(id, 'SELECT (SELECT count(*) FROM seen), (SELECT count(*) FROM whole)'), [['4', '3']])
  assert.deepEqual((await stack.request('GET', `${PATH}/${id}/objects`)).json(), [
    { name: 'first', type: 'table' },
    { name: 'part', type: 'table' },
    { name: 'seen', type: 'view' },
    { name: 'typed', type: 'table' },
    { name: 'whole', type: 'table' },
  ])
  // The other spelling, into what is there.
  const again = await stack.request('POST', `${PATH}/${id}/input-mapping-load`, {
    json: {
      input: [{ source, destination: 'part', columns: ['id'], where_column: 'id', where_values: ['1', '4'], incremental: true }],
      preserve: true,
    },
  })
  assert.equal((await client.finish(again)).status, 'success')
  assert.deepEqual(await rows(id, 'SELECT id FROM part ORDER BY id'), [['1'], ['3'], ['4']])
  await loaded(id, [{ source, destination: 'only' }])
  assert.deepEqual((await stack.request('GET', `${PATH}/${id}/objects`)).json(), [{ name: 'only', type: 'table' }])
  const dropped = await stack.request('POST', `${PATH}/${id}/objects/batch-delete`, { json: { objects: ['only'] } })
  assert.equal((await client.finish(dropped)).status, 'success')
  const missing = await client.finish(
    await stack.request('POST', `${PATH}/${id}/objects/batch-delete`, { json: { objects: ['only'] } }),
  )
  assert.equal(missing.error?.code, 'storage.workspace.batchDeleteFailed')
})

test('a load that fails leaves the workspace as it was', async () => {
  const { id } = await make()
  await loaded(id, [{ source: 'in.c-main.orders', destination: 'kept' }])
  const failed = await load(id, [
    { source: 'in.c-main.orders', destination: 'fresh' },
    { source: 'in.c-main.orders', destination: 'bad', columns: [{ source: 'city', type: 'INTEGER' }] },
  ])
  assert.equal(failed.error?.code, 'workspace.tableLoad')
  assert.match(failed.error?.message ?? '', /"in.c-main.orders" could not be loaded as "bad": Conversion Error/)
  assert.deepEqual((await stack.request('GET', `${PATH}/${id}/objects`)).json(), [{ name: 'kept', type: 'table' }])
  const taken = await load(id, [{ source: 'in.c-main.orders', destination: 'KEPT' }], { preserve: true })
  assert.equal(taken.error?.code, 'workspace.duplicateTable')
  await loaded(id, [{ source: 'in.c-main.orders', destination: 'kept', overwrite: true, rows: 1 }], { preserve: true })
  assert.deepEqual(await rows(id, 'SELECT count(*) FROM kept'), [['1']])
})

test('loads that cannot work are refused before a job is made', async () => {
  const { id } = await make()
  const source = 'in.c-main.orders'
  for (const [json, code, status = 400] of [
    [{}, 'workspace.loadRequestInputRequired'],
    [{ input: 'x' }, 'workspace.loadRequestBadInput'],
    [{ input: ['x'] }, 'workspace.loadRequestBadInput'],
    [{ input: [{ source }] }, 'workspace.loadRequestBadInput'],
    [{ input: [{ source, destination: 'a', loadType: 'MOVE' }] }, 'workspace.loadRequestBadInput'],
    [{ input: [{ source, destination: 'a', columns: [{ source: 'id', type: 'INT); DROP' }] }] }, 'workspace.inputMapping'],
    [{ input: [{ source, destination: 'a', loadType: 'VIEW', rows: 1 }] }, 'workspace.loadRequestLogicalException'],
    [{ input: [{ source, destination: 'a', incremental: true, overwrite: true }] }, 'workspace.loadRequestLogicalException'],
    [
      {
        input: [
          { source, destination: 'a' },
          { source, destination: 'A' },
        ],
      },
      'workspace.duplicateDestination',
    ],
    [{ input: [{ source: 'in.c-main.nothing', destination: 'a' }] }, 'workspace.sourceNotFound', 404],
    [{ input: [{ source, destination: 'a', columns: ['nothing'] }] }, 'storage.tables.nonExistingColumns'],
  ] as const) {
    const answer = await stack.request('POST', `${PATH}/${id}/load`, { json })
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [status, code], JSON.stringify(json))
  }
})

test('SQL works in a workspace, with tables of the project beside it, and its tables become tables of the project', async () => {
  const { id } = await make()
  assert.equal(
    (await query(id, 'CREATE TABLE cities AS SELECT city, count(*) AS n FROM "in.c-main"."orders" GROUP BY city')).status,
    'ok',
  )
  assert.equal((await query(id, `INSERT INTO cities VALUES ('a "b", c', 7)`)).status, 'ok')
  assert.match((await query(id, 'SELECT * FROM nothing')).message ?? '', /nothing does not exist/)
  assert.match((await query(id, `COPY cities TO '/tmp/x'`)).message ?? '', /COPY .* is not allowed/)
  const source = { dataWorkspaceId: id, dataObject: 'cities' }
  await client.succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
      json: { name: 'cities', primaryKey: 'city', ...source },
    }),
  )
  const found = await client.rows('in.c-main.cities', 'whereColumn=n&whereValues[]=7')
  assert.deepEqual(found, [['a "b", c', '7']])
  await query(id, 'UPDATE cities SET n = 8 WHERE n = 7')
  await client.succeed(
    await stack.request('POST', '/v2/storage/tables/in.c-main.cities/import-async', { json: { incremental: 1, ...source } }),
  )
  assert.deepEqual(await client.rows('in.c-main.cities', 'whereColumn=n&whereValues[]=8'), [['a "b", c', '8']])
  const missing = await client.finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.cities/import-async', { json: { ...source, dataObject: 'no' } }),
  )
  assert.equal(missing.error?.code, 'storage.tableNotFound')
  const unknown = await client.finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.cities/import-async', {
      json: { ...source, dataWorkspaceId: 99_999 },
    }),
  )
  assert.equal(unknown.error?.code, 'workspace.workspaceNotFound')
})

test('a workspace holds what its quota allows, and goes when nobody uses it', async () => {
  const { id } = await make()
  const { status, message } = await query(
    id,
    'CREATE TABLE big AS SELECT hash(i) AS a, hash(i + 1) AS b FROM range(20000000) t(i)',
  )
  assert.equal(status, 'error')
  assert.match(message ?? '', /exceed its limit of 16 MB/)
  await query(id, 'CREATE TABLE small AS SELECT 1 AS a')
  const { loop } = stack.platform.workspaces
  await loop.tick(new Date(Date.now() + 29 * 86_400_000))
  assert.deepEqual(await rows(id, 'SELECT a FROM small'), [['1']])
  await loop.tick(new Date(Date.now() + 31 * 86_400_000))
  assert.equal((await stack.request('GET', `${PATH}/${id}`)).status, 404)
})

/** The bytes of a file that a job made. */
async function bytesOf(job: { readonly results: Record<string, unknown> | null }): Promise<Buffer> {
  const { id } = job.results!.file as { id: number }
  const { url } = (await stack.request('GET', `/v2/storage/files/${id}`)).json<{ url: string }>()
  return Buffer.from(await (await fetch(url)).arrayBuffer())
}

test('tables of a workspace and results of queries become files', async () => {
  const { id } = await make()
  await query(id, `CREATE TABLE t AS SELECT i, 'row, ' || i AS name FROM range(3) r(i)`)
  const write = async (json: object) => client.finish(await stack.request('POST', `${PATH}/${id}/table-export`, { json }))
  const csv = await write({ tableName: 't' })
  assert.equal(csv.operationName, 'workspaceTableExport')
  assert.equal(String(await bytesOf(csv)), 'i,name\n0,"row, 0"\n1,"row, 1"\n2,"row, 2"\n')
  const packed = await bytesOf(await write({ tableName: 't', gzip: true, fileName: 'mine.csv.gz' }))
  assert.match(String(gunzipSync(packed)), /^i,name\n0,/)
  const missing = await write({ tableName: 'nothing' })
  assert.equal(missing.error?.code, 'storage.tableNotFound')

  const ask = (json: object) => stack.request('POST', '/v2/storage/query/export', { json })
  const parquet = await bytesOf(await client.succeed(await ask({ sql: 'SELECT * FROM "in.c-main".orders', fileType: 'parquet' })))
  assert.deepEqual([parquet.subarray(0, 4), parquet.subarray(-4)].map(String), ['PAR1', 'PAR1'])
  const direct = await fetch(new URL('/v2/storage/query', stack.url), {
    method: 'POST',
    headers: { 'X-StorageApi-Token': stack.masterToken, 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql: 'SELECT * FROM "in.c-main".orders', format: 'parquet' }),
  })
  assert.equal(String(Buffer.from(await direct.arrayBuffer()).subarray(-4)), 'PAR1')
  assert.match(String((await client.finish(await ask({ sql: 'SELECT wrong' }))).error?.message), /"wrong" was not found/)
  assert.match(
    String((await client.finish(await ask({ sql: 'EXPLAIN SELECT 1', fileType: 'parquet' }))).error?.message),
    /rows of a query/,
  )
  assert.equal((await ask({ sql: 'SELECT 1; SELECT 2' })).status, 400)
})

test('a file that is made in a development branch belongs to it', async () => {
  const made = await client.succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'files' } }))
  const branch = `/v2/storage/branch/${(made.results as { id: number }).id}`
  const { id } = (await stack.request('POST', `${branch}/workspaces`, { json: {} })).json<View>()
  await stack.request('POST', `${branch}/workspaces/${id}/query`, { json: { query: 'CREATE TABLE t AS SELECT 1 AS a' } })
  const jobs = [
    await stack.request('POST', `${branch}/workspaces/${id}/table-export`, { json: { tableName: 't' } }),
    await stack.request('POST', `${branch}/query/export`, { json: { sql: 'SELECT 1 AS a' } }),
  ]
  for (const answer of jobs) {
    const { file } = (await client.succeed(answer)).results as { file: { id: number } }
    assert.equal((await stack.request('GET', `${branch}/files/${file.id}`)).status, 200)
    assert.equal((await stack.request('GET', `/v2/storage/files/${file.id}`)).status, 404)
  }
})

test('a dry run says how tables would be loaded, and loads none', async () => {
  const { id } = await make()
  const input = [
    { source: 'in.c-main.orders', destination: 'whole', load_type: 'AUTO' },
    { source: 'in.c-main.orders', destination: 'part', where_column: 'city', where_values: ['Praha'] },
  ]
  const expected = {
    dryRun: true,
    operationName: 'workspaceLoad',
    input: [
      { source: 'in.c-main.orders', destination: 'whole', loadType: 'VIEW', possibleLoadTypes: ['COPY', 'VIEW'] },
      { source: 'in.c-main.orders', destination: 'part', loadType: 'COPY', possibleLoadTypes: ['COPY'] },
    ],
  }
  const dry = await stack.request('POST', `${PATH}/${id}/input-mapping-load?dryRun=true`, { json: { input } })
  assert.deepEqual([dry.status, dry.json()], [200, expected])
  const preview = await stack.request('POST', '/v2/storage/input-mapping-load/preview?backend=duckdb', { json: { input } })
  assert.deepEqual([preview.status, preview.json()], [200, expected])
  assert.deepEqual((await stack.request('GET', `${PATH}/${id}/objects`)).json(), [])
  const unknown = await stack.request('POST', '/v2/storage/input-mapping-load/preview', {
    json: { input: [{ source: 'in.c-main.no', destination: 'x' }] },
  })
  assert.equal(unknown.json().code, 'workspace.sourceNotFound')
  assert.deepEqual((await stack.request('POST', `${PATH}/${id}/unload?onlyDirectGrants=true`)).json(), [])
})

test('a worker that is killed under an unload fails the job; table and workspace stay as they were', async () => {
  const { id } = await make()
  await query(id, 'CREATE TABLE big AS SELECT i AS id, repeat(md5(i::VARCHAR), 3) AS text FROM range(60000) r(i)')
  await query(id, "CREATE TABLE small AS SELECT 1 AS id, 'one' AS text")
  const unload = (dataObject: string) =>
    stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
      json: { name: 'unloaded', dataWorkspaceId: id, dataObject },
    })
  const kill = setInterval(() => {
    for (const pid of stack.platform.sql.engine.workerPids()) process.kill(pid, 'SIGKILL')
  }, 5)
  const job = await client.finish(await unload('big')).finally(() => clearInterval(kill))
  assert.equal(job.status, 'error')
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.unloaded')).status, 404)
  assert.deepEqual(await rows(id, 'SELECT count(*) FROM big'), [['60000']])
  await client.succeed(await unload('small'))
  assert.deepEqual(await client.rows('in.c-main.unloaded'), [['1', 'one']])
})

test('a project and a token have as many workspaces as their quotas allow', async (t) => {
  const small = await startTestStack(t, { sql: { workspacesPerProject: 3, workspacesPerToken: 2 } })
  const { token } = (
    await small.request('POST', '/v2/storage/tokens', { json: { componentAccess: ['platform.ex-http'] } })
  ).json<{ token: string }>()
  const newWorkspace = (options: { token?: string } = {}) => small.request('POST', PATH, { json: {}, ...options })
  const { id } = (await newWorkspace({ token })).json<{ id: number }>()
  assert.equal((await small.request('POST', '/editor/sql/sessions', { json: {}, token })).status, 201)
  const third = await newWorkspace({ token })
  assert.deepEqual([third.status, third.json().code], [403, 'workspace.tooManyOfToken'])
  assert.equal((await small.request('POST', '/sandboxes/sandboxes', { json: { type: 'sql' }, token })).status, 403)
  assert.equal((await newWorkspace()).status, 201)
  const fourth = await newWorkspace()
  assert.deepEqual([fourth.status, fourth.json().code], [403, 'workspace.tooManyOfProject'])
  assert.ok((await small.request('DELETE', `${PATH}/${id}`, { token })).status < 300)
  assert.equal((await newWorkspace({ token })).status, 201)
})
