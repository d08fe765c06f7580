import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

interface QueryJob {
  readonly queryJobId: string
  readonly status: string
  readonly statements: {
    id: string
    status: string
    error: string | null
    numberOfRows: number | null
    rowsAffected: number | null
  }[]
}

let stack: TestStack
let workspaceId: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, workspaceMb: 16 } })
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n')
  workspaceId = (await stack.request('POST', '/v2/storage/workspaces', { json: {} })).json<{ id: number }>().id
})
test.after(() => stop?.())

async function submit(statements: string[], more: object = {}): Promise<string> {
  const path = `/query/api/v1/branches/default/workspaces/${workspaceId}/queries`
  const answer = await stack.request('POST', path, { json: { statements, actorType: 'user', ...more } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ queryJobId: string }>().queryJobId
}
const get = async (id: string) => (await stack.request('GET', `/query/api/v1/queries/${id}`)).json<QueryJob>()
const ended = (id: string) =>
  until(`query job ${id} ends`, async () => {
    const job = await get(id)
    return ['completed', 'failed', 'canceled'].includes(job.status) && job
  })

test('the path that a bucket names leads to its tables, with and without a workspace', async () => {
  const { backendPath } = (await stack.request('GET', '/v2/storage/buckets/in.c-main')).json<{ backendPath: string[] }>()
  const count = `SELECT count(*) FROM ${[...backendPath, 'orders'].map((part) => `"${part}"`).join('.')}`
  const job = await ended(await submit([count]))
  assert.equal(job.status, 'completed', JSON.stringify(job))
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql: count } })
  assert.deepEqual(answer.json<{ rows: unknown[] }>().rows, [[2]], answer.text)
})

test('statements run in order, and their rows are read page by page', async () => {
  const id = await submit([
    'CREATE TABLE numbers AS SELECT i::INT AS i FROM range(2500) t(i)',
    'INSERT INTO numbers VALUES (9999)',
    'SELECT i, i::VARCHAR AS text FROM numbers ORDER BY i',
    'SELECT count(*) AS n FROM "in.c-main"."orders"',
  ])
  const job = await ended(id)
  assert.equal(job.status, 'completed', JSON.stringify(job))
  assert.deepEqual(
    job.statements.map(({ status, numberOfRows, rowsAffected }) => [status, numberOfRows, rowsAffected]),
    [
      ['completed', null, null],
      ['completed', null, 1],
      ['completed', 2501, null],
      ['completed', 1, null],
    ].map((row, i) => (i === 0 ? [row[0], row[1], job.statements[0]?.rowsAffected] : row)),
  )
  const page = async (query: string) =>
    (await stack.request('GET', `/query/api/v1/queries/${id}/${job.statements[2]?.id}/results?${query}`)).json<{
      data: unknown[][]
      columns: { name: string; type: string }[]
      numberOfRows: number
    }>()
  const first = await page('pageSize=2')
  assert.deepEqual(first.columns, [
    { name: 'i', type: 'INTEGER' },
    { name: 'text', type: 'VARCHAR' },
  ])
  assert.deepEqual(first.data, [
    [0, '0'],
    [1, '1'],
  ])
  assert.equal(first.numberOfRows, 2501)
  assert.deepEqual((await page('pageSize=100&offset=2500')).data, [[9999, '9999']])
  assert.deepEqual((await page('offset=9999')).data, [])
})

test('a transaction is all or nothing, and the statement that failed is named', async () => {
  const broken = await ended(
    await submit(['CREATE TABLE half AS SELECT 1 AS a', 'SELECT wrong', 'SELECT 1'], { transactional: true }),
  )
  assert.equal(broken.status, 'failed')
  assert.deepEqual(
    broken.statements.map(({ status }) => status),
    ['completed', 'failed', 'canceled'],
  )
  assert.match(broken.statements[1]?.error ?? '', /"wrong" was not found/)
  assert.equal((await ended(await submit(['SELECT * FROM half']))).status, 'failed')
})

test('a running query is cancelled, and the workspace goes on', async () => {
  const id = await submit(['SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE hash(a.range, b.range) = 1'])
  await until('it runs', async () => (await get(id)).status === 'processing')
  assert.equal((await stack.request('POST', `/query/api/v1/queries/${id}/cancel`)).status, 200)
  assert.equal((await ended(id)).status, 'canceled')
  assert.equal((await ended(await submit(['SELECT 1']))).status, 'completed')
})

test('what is not there is not found, and others see nothing', async () => {
  const id = await submit(['SELECT 1'])
  await ended(id)
  const { masterToken } = await stack.newProject()
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', { json: { componentAccess: ['platform.ex-http'] } })
  ).json<{ token: string }>()
  for (const other of [masterToken, token])
    for (const path of [id, `${id}/${id}-1/results`])
      assert.equal((await stack.request('GET', `/query/api/v1/queries/${path}`, { token: other })).status, 404)
  for (const path of ['queries/99999', 'queries/x', `queries/${id}/nothing/results`])
    assert.equal((await stack.request('GET', `/query/api/v1/${path}`)).status, 404, path)
  const nowhere = await stack.request('POST', '/query/api/v1/branches/default/workspaces/99999/queries', {
    json: { statements: ['SELECT 1'] },
  })
  assert.equal(nowhere.status, 404)
  assert.match(nowhere.text, /Workspace \\"99999\\" not found\./)
})

test('a statement that lets the workspace grow beyond its quota fails with that reason', async () => {
  const job = await ended(await submit(['CREATE TABLE big AS SELECT hash(i) AS a, hash(i + 1) AS b FROM range(20000000) t(i)']))
  assert.equal(job.status, 'failed')
  assert.match(job.statements[0]?.error ?? '', /would exceed its limit of 16 MB/)
})
