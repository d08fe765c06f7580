// Workspaces as clients of the original expect them, by the points of corrections-2.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack({ sql: { memoryMb: 512, diskMb: 64, workspaceMb: 16 } })
const source = 'in.c-main.orders'

interface Made {
  readonly id: number
  readonly backendSize: string | null
  readonly platformUsageType: string
  readonly connection: { region?: string; warehouse?: string; loginType: string; database: string }
}

async function start() {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n3,Praha\n', { primaryKey: 'id' })
  const make = async (prefix = '/v2/storage', json: object = {}) => {
    const answer = await stack.request('POST', `${prefix}/workspaces`, { json })
    assert.equal(answer.status, 201, answer.text)
    return answer.json<Made>()
  }
  const load = (id: number, json: unknown, how = 'load') => stack.request('POST', `/v2/storage/workspaces/${id}/${how}`, { json })
  const refusal = async (id: number, json: unknown, how = 'load') => {
    const answer = await load(id, json, how)
    return [answer.status, answer.json<{ code?: string }>().code]
  }
  const query = async (id: number, sql: string, prefix = '/v2/storage') => {
    const answer = await stack.request('POST', `${prefix}/workspaces/${id}/query`, { json: { query: sql } })
    const { status, message, data } = answer.json<{
      status: string
      message?: string
      data?: { columns: string[]; rows: Record<string, string | null>[] }
    }>()
    assert.equal(status, 'ok', message)
    return data
  }
  const newToken = async (json: object) =>
    (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token
  return { ...stack, client, make, load, refusal, query, newToken }
}

test('W1: a table of a branch workspace is loaded into a table of the default branch, and not the other way round', async () => {
  const { request, client, make, query } = await start()
  const made = await request('POST', '/v2/storage/dev-branches', { json: { name: 'W1' } })
  const { id: branch } = (await client.succeed(made)).results as { id: number }
  const prefix = `/v2/storage/branch/${branch}`
  const { id } = await make(prefix)
  await query(id, 'CREATE TABLE result AS SELECT 1 AS a', prefix)
  const unload = (path: string, workspaceId: number) =>
    request('POST', `${path}/buckets/in.c-main/tables-async`, {
      json: { name: 'unloaded', dataWorkspaceId: workspaceId, dataTableName: 'result' },
    })
  await client.succeed(await unload('/v2/storage', id))
  const shown = await request('GET', '/v2/storage/tables/in.c-main.unloaded/data-preview?format=rfc')
  assert.equal(shown.text.trim(), '"a"\n"1"')
  await request('POST', `${prefix}/buckets`, { json: { name: 'main', stage: 'in' } })
  const other = await client.finish(await unload(prefix, (await make()).id))
  assert.equal(other.error?.code, 'workspace.workspaceNotFound')
})

test('W2, W3: a workspace of a project that reports snowflake has its region, warehouse, size and login type', async () => {
  const { platform, projectId, make, request } = await start()
  const plain = await make()
  assert.deepEqual([plain.connection.region, plain.connection.warehouse, plain.backendSize], [undefined, undefined, null])
  assert.deepEqual([plain.connection.loginType, plain.platformUsageType], ['default', 'user'])
  await platform.tokens.setProject(projectId, { backend: 'snowflake' })
  const { connection, backendSize } = await make()
  assert.ok(connection.region && connection.warehouse)
  assert.deepEqual([backendSize, connection.loginType], ['small', 'snowflake-legacy-service'])
  await request('POST', '/v2/storage/components/keboola.ex-generic-v2/configs', { json: { configurationId: 'c1', name: 'c' } })
  const of = await make('/v2/storage/components/keboola.ex-generic-v2/configs/c1')
  assert.equal(of.platformUsageType, 'service')
})

test('W9: a clone has the time of each load, unless it is dropped, and is of a whole table', async () => {
  const { request, client, make, load, refusal, query } = await start()
  const { id } = await make()
  const clone = (more: object) => load(id, { input: [{ source, destination: 'c', ...more }] }, 'load-clone')
  await client.succeed(await clone({}))
  const cloned = await query(id, 'SELECT * FROM c ORDER BY id')
  assert.deepEqual(cloned?.columns, ['id', 'city', '_timestamp'])
  assert.match(String(cloned?.rows[0]?._timestamp), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  await client.succeed(await clone({ dropTimestampColumn: true }))
  assert.deepEqual((await query(id, 'SELECT * FROM c'))?.columns, ['id', 'city'])
  const alias = await request('POST', '/v2/storage/buckets/in.c-main/table-aliases', {
    json: { sourceTable: source, name: 'some', aliasFilter: { column: 'city', values: ['Praha'] } },
  })
  assert.equal(alias.status, 201, alias.text)
  const logical = [400, 'workspace.loadRequestLogicalException']
  assert.deepEqual(await refusal(id, { input: [{ source: 'in.c-main.some', destination: 'a' }] }, 'load-clone'), logical)
  assert.deepEqual(await refusal(id, { input: [{ source, destination: 'c', overwrite: true }] }, 'load-clone'), logical)
})

test('W11: an alias is not loaded as a view', async () => {
  const { request, make, refusal } = await start()
  const { id } = await make()
  const alias = await request('POST', '/v2/storage/buckets/in.c-main/table-aliases', {
    json: { sourceTable: source, name: 'alias' },
  })
  assert.equal(alias.status, 201, alias.text)
  assert.deepEqual(await refusal(id, { input: [{ source: 'in.c-main.alias', destination: 'v', useView: true }] }), [
    400,
    'workspace.loadRequestLogicalException',
  ])
})

test('W9, W12: loads and clones count their bytes, and each of their tables is an export of the run', async () => {
  const { request, client, make } = await start()
  await client.create('in.c-main', 'second', 'id\n1\n')
  const { id } = await make()
  const headers = { 'X-KBC-RunId': 'run-w12' }
  const load = (how: string, input: object[]) =>
    request('POST', `/v2/storage/workspaces/${id}/${how}`, { json: { input, preserve: true }, headers })
  const both = [
    { source, destination: 't' },
    { source: 'in.c-main.second', destination: 's' },
  ]
  const job = await client.succeed(await load('load', both))
  assert.ok((job.metrics as { outBytes: number }).outBytes > 0, JSON.stringify(job.metrics))
  await client.succeed(await load('load-clone', [{ source, destination: 'c' }]))
  const stats = (await request('GET', '/v2/storage/stats?runId=run-w12')).json<{ tables: { export: object } }>()
  const { totalCount, tables } = stats.tables.export as { totalCount: number; tables: { id: string; count: number }[] }
  assert.equal(totalCount, 3)
  assert.deepEqual(
    tables.map(({ id: table, count }) => [table, count]),
    [
      [source, 2],
      ['in.c-main.second', 1],
    ],
  )
})

test('W13: a table that the workspace does not have, and columns with an underscore in front', async () => {
  const { request, client, make, query } = await start()
  const { id } = await make()
  await query(id, 'CREATE TABLE odd AS SELECT 1 AS "_Id", 2 AS a')
  const failed = async (dataTableName: string) => {
    const job = await client.finish(
      await request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
        json: { name: 'n', dataWorkspaceId: id, dataTableName },
      }),
    )
    return [job.error?.code, job.error?.message] as const
  }
  assert.deepEqual(await failed('nothing'), ['storage.tableNotFound', 'Table "nothing" not found in schema "main"'])
  const [code, message] = await failed('odd')
  assert.equal(code, 'storage.invalidColumns')
  assert.match(message ?? '', /_Id/)
})

test('W13: columns of a workspace table are named exactly, and a typed table gets no new ones', async () => {
  const { request, client, make, query } = await start()
  const { id } = await make()
  await query(id, `CREATE TABLE other AS SELECT 1 AS id, 'x' AS "City"`)
  await query(id, `CREATE TABLE more AS SELECT 1 AS n, 'x' AS new_col`)
  const typed = { name: 'typed', columns: [{ name: 'n', definition: { type: 'INTEGER' } }] }
  await client.succeed(await request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: typed }))
  const failed = async (table: string, dataTableName: string) => {
    const json = { dataWorkspaceId: id, dataTableName, incremental: true }
    return (await client.finish(await request('POST', `/v2/storage/tables/${table}/import-async`, { json }))).error?.message
  }
  assert.equal(
    await failed(source, 'other'),
    'Some columns are missing in the csv file. Missing columns: city. Expected columns: id,city. ',
  )
  assert.equal(
    await failed('in.c-main.typed', 'more'),
    `During the import of typed tables new columns can't be added. Extra columns found: "new_col". Add these these columns first (manually or using a transformation).`,
  )
})

test('W14: what a load request may not be', async () => {
  const { request, client, make, load, refusal } = await start()
  const { id } = await make()
  const one = { source, destination: 't' }
  for (const [body, code] of [
    [{ input: [{ ...one, columns: ['nothing'] }] }, 'storage.tables.nonExistingColumns'],
    [{ input: [{ ...one, columns: [{ source: 'id', type: 'UNKNOWN' }] }] }, 'workspace.inputMapping'],
    [
      {
        input: [
          { ...one, columns: ['nothing'] },
          { ...one, destination: 'T' },
        ],
      },
      'workspace.duplicateDestination',
    ],
    [{ input: [{ ...one, overwrite: true }] }, 'workspace.loadRequestLogicalException'],
    [{ input: 'orders' }, 'workspace.loadRequestBadInput'],
    [{ input: [] }, 'workspace.loadRequestInputRequired'],
  ] as const)
    assert.deepEqual(await refusal(id, body), [400, code], JSON.stringify(body))
  const sent = [{ ...one, whereColumn: '', whereValues: ['x'], columns: ['id'] }]
  const job = await client.succeed(await load(id, { input: sent }))
  assert.deepEqual((job.operationParams as { input: unknown }).input, sent)
  const typed = await request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
    json: { name: 'typed', columns: [{ name: 'n', definition: { type: 'INTEGER' } }] },
  })
  await client.succeed(typed)
  const asText = { source: 'in.c-main.typed', destination: 'typed', columns: [{ source: 'n', type: 'VARCHAR' }] }
  await client.succeed(await load(id, { input: [asText], preserve: true }))
})

test('W14: a body that is a list, a time that is none, and a foreign workspace with a table that the token may not read', async () => {
  const { request, client, make, load, refusal, newToken } = await start()
  const { id } = await make()
  await client.bucket('other')
  assert.deepEqual(await refusal(id, [{ source, destination: 't' }]), [400, 'workspace.loadRequestInputRequired'])
  assert.deepEqual(await refusal(id, []), [400, 'workspace.loadRequestInputRequired'])
  const text = (await load(id, { input: [{ source, destination: 't', changedSince: 'abc' }] })).json<{ error: string }>().error
  assert.match(text, /Invalid "changedSince" parameter/)
  const token = await newToken({ description: 'other', bucketPermissions: { 'in.c-other': 'write' } })
  const answer = await request('POST', `/v2/storage/workspaces/${id}/load`, {
    token,
    json: { input: [{ source, destination: 't' }] },
  })
  assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [403, 'workspace.tableAccessDenied'])
  const reader = await newToken({ description: 'reader', bucketPermissions: { 'in.c-main': 'read' } })
  const hidden = await request('POST', `/v2/storage/workspaces/${id}/load`, {
    token: reader,
    json: { input: [{ source, destination: 't' }] },
  })
  assert.deepEqual([hidden.status, hidden.json<{ code: string }>().code], [404, 'workspace.workspaceNotFound'])
})

test('W6: a query answers rows as objects of texts, and says what other statements did', async () => {
  const { platform, projectId, make, request } = await start()
  const { id } = await make()
  const ask = async (sql: string, workspace = id) =>
    (await request('POST', `/v2/storage/workspaces/${workspace}/query`, { json: { query: sql } })).json<object>()
  const done = { status: 'ok', message: 'Statement executed successfully.' }
  assert.deepEqual(await ask('CREATE TABLE t (id INTEGER, name VARCHAR, d DECIMAL(9,2), b BOOLEAN)'), done)
  assert.deepEqual(await ask(`INSERT INTO t VALUES (13, 'Scoop', 1.5, true), (14, NULL, NULL, false)`), {
    status: 'ok',
    message: '2 rows affected.',
  })
  assert.deepEqual(await ask('SELECT id AS "ID", name AS "NAME", d, b FROM t ORDER BY id'), {
    status: 'ok',
    data: {
      columns: ['ID', 'NAME', 'd', 'b'],
      rows: [
        { ID: '13', NAME: 'Scoop', d: '1.50', b: 'true' },
        { ID: '14', NAME: null, d: null, b: 'false' },
      ],
    },
  })
  assert.deepEqual(await ask('SELECT * FROM t WHERE id = 0'), { status: 'ok', data: { columns: [], rows: [] } })
  const unknown = await request('POST', '/v2/storage/workspaces/2147483647/query', { json: { query: 'SELECT 1' } })
  assert.deepEqual([unknown.status, unknown.json<{ error: string }>().error], [404, 'Workspace "2147483647" not found.'])
  await platform.tokens.setProject(projectId, { backend: 'snowflake' })
  const refused = await request('POST', `/v2/storage/workspaces/${id}/query`, { json: { query: 'SELECT 1' } })
  assert.deepEqual([refused.status, refused.json<{ code: string }>().code], [400, 'storage.executeQuery.notSupportedLoginType'])
  const sso = await make('/v2/storage', { loginType: 'snowflake-person-sso' })
  assert.deepEqual(await ask('SELECT 1 AS a', sso.id), { status: 'ok', data: { columns: ['a'], rows: [{ a: '1' }] } })
})
