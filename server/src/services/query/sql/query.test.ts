import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

let stack: TestStack
let client: TableClient
let stop: (() => Promise<void>) | undefined
before(async () => {
  // The stack outlives this hook: it stops after the last test.
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64, sessions: 2, timeoutMs: 120_000 } })
  client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10.5\n2,Brno,20\n3,Praha,7\n', { primaryKey: 'id' })
})
test.after(() => stop?.())

interface Rows {
  readonly columns: { name: string; type: string }[]
  readonly rows: unknown[][]
  readonly rowCount: number
  readonly isTruncated: boolean
}
const ask = (sql: string, more: object = {}, token?: string) =>
  stack.request('POST', '/v2/storage/query', { json: { sql, ...more }, ...(token && { token }) })
const rows = async (sql: string, more: object = {}): Promise<Rows> => {
  const answer = await ask(sql, more)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Rows>()
}

test('a query reads tables of the project, with updates and deletes applied', async () => {
  await client.load('in.c-main.orders', 'id,city,price\n2,Ostrava,21\n4,Brno,1\n', { incremental: 1 })
  await stack.request('DELETE', '/v2/storage/tables/in.c-main.orders/rows?whereColumn=id&whereValues[]=3')
  await until('the row is gone', async () => (await client.detail('in.c-main.orders')).rowsCount === 3)
  assert.deepEqual(await rows('SELECT id, city FROM "in.c-main"."orders" ORDER BY id'), {
    columns: [
      { name: 'id', type: 'VARCHAR' },
      { name: 'city', type: 'VARCHAR' },
    ],
    rows: [
      ['1', 'Praha'],
      ['2', 'Ostrava'],
      ['4', 'Brno'],
    ],
    rowCount: 3,
    isTruncated: false,
  })
  const csv = await ask('SELECT sum(price::DOUBLE) AS "total ""sum""" FROM "in.c-main".orders', { format: 'csv' })
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(csv.text, '"total ""sum"""\n32.5\n')
})

test('typed tables keep their types', async () => {
  const columns = [
    ['i', 'INTEGER'],
    ['n', 'NUMERIC', '10,2'],
    ['f', 'FLOAT'],
    ['b', 'BOOLEAN'],
    ['d', 'DATE'],
    ['t', 'TIMESTAMP'],
    ['s', 'STRING'],
  ].map(([name, type, length]) => ({ name, definition: { type, ...(length && { length }) } }))
  await client.succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
      json: { name: 'typed', primaryKeysNames: [], columns },
    }),
  )
  await client.load('in.c-main.typed', 'i,n,f,b,d,t,s\n9007199254740993,1.10,0.5,true,2024-02-29,2024-02-29 10:00:00,x\n,,,,,,\n')
  const { columns: shown, rows: found } = await rows('FROM "in.c-main".typed')
  assert.deepEqual(
    shown.map(({ type }) => type),
    ['BIGINT', 'DECIMAL(10,2)', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'VARCHAR'],
  )
  assert.deepEqual(found[0]?.slice(1), ['1.10', 0.5, true, '2024-02-29', '2024-02-29 10:00:00', 'x'])
  assert.deepEqual(found[1], [null, null, null, null, null, null, null])
  assert.match((await ask('SELECT i FROM "in.c-main".typed')).text, /\[9007199254740993\]/)
})

test('files of several loads are one table, whatever order and columns they came with', async () => {
  await client.create('in.c-main', 'parts', 'a,b\n1,x\n')
  await client.load('in.c-main.parts', 'b,a\ny,2\n', { incremental: 1 })
  const both = [
    ['1', 'x'],
    ['2', 'y'],
  ]
  assert.deepEqual((await rows('SELECT a, b FROM "in.c-main".parts ORDER BY a')).rows, both)
  await client.load('in.c-main.parts', 'c,a,b\nnew,3,z\n', { incremental: 1 })
  assert.deepEqual((await rows('SELECT * FROM "in.c-main".parts ORDER BY a')).rows, [
    ...both.map((row) => [...row, '']),
    ['3', 'z', 'new'],
  ])
  assert.deepEqual((await rows('SELECT * FROM (SELECT a, b FROM "in.c-main".parts) ORDER BY a')).rows, [...both, ['3', 'z']])
})

test('an alias shows the columns and rows that it has', async () => {
  await client.bucket('seen', 'out')
  const alias = await stack.request('POST', '/v2/storage/buckets/out.c-seen/table-aliases', {
    json: {
      sourceTable: 'in.c-main.orders',
      name: 'praha',
      aliasColumns: ['id', 'city'],
      aliasFilter: { column: 'city', operator: 'eq', values: ['Praha'] },
    },
  })
  assert.equal(alias.status, 201, alias.text)
  assert.deepEqual((await rows('SELECT * FROM "out.c-seen"."praha"')).rows, [['1', 'Praha']])
  const hidden = await ask('SELECT price FROM "out.c-seen"."praha"')
  assert.equal(hidden.status, 400)
  assert.match(hidden.json<{ error: string }>().error, /"price" not found/)
})

test('SHOW TABLES lists what the token may read, and DESCRIBE the columns of a table', async () => {
  const { columns, rows: all } = await rows('SHOW TABLES')
  assert.deepEqual(
    columns.map(({ name }) => name),
    ['schema', 'name'],
  )
  assert.ok(all.some(([schema, name]) => schema === 'in.c-main' && name === 'orders'))
  assert.deepEqual((await rows('show all tables')).rows, all)
  assert.deepEqual((await rows('DESCRIBE')).rows, all)
  assert.deepEqual((await rows('SHOW TABLES FROM "out.c-seen"')).rows, [['out.c-seen', 'praha']])
  assert.equal((await ask(`SHOW TABLES FROM "out.c-seen"`, { format: 'csv' })).text, 'schema,name\nout.c-seen,praha\n')
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'seen', bucketPermissions: { 'out.c-seen': 'read' } },
  })
  const { token } = made.json<{ token: string }>()
  assert.deepEqual((await ask('SHOW TABLES;', {}, token)).json<Rows>().rows, [['out.c-seen', 'praha']])
  const { masterToken } = await stack.newProject()
  assert.deepEqual((await ask('SHOW TABLES', {}, masterToken)).json<Rows>().rows, [])
  const described = await rows('DESCRIBE "in.c-main".orders')
  assert.deepEqual(
    described.rows.map((row) => row.slice(0, 2)),
    [
      ['id', 'VARCHAR'],
      ['city', 'VARCHAR'],
      ['price', 'VARCHAR'],
    ],
  )
})

test('a token reads what it may, and no project names the tables of another', async () => {
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'seen', bucketPermissions: { 'out.c-seen': 'read' } },
  })
  const { token, id } = made.json<{ token: string; id: string }>()
  assert.equal((await ask('SELECT * FROM "out.c-seen".praha', {}, token)).status, 200)
  const refused = await ask('SELECT * FROM "in.c-main".orders', {}, token)
  assert.ok([403, 404].includes(refused.status), refused.text)
  const { masterToken } = await stack.newProject()
  const foreign = await ask('SELECT * FROM "in.c-main".orders', {}, masterToken)
  assert.equal(foreign.status, 400)
  assert.match(foreign.text, /does not exist/)

  // The DuckDB that has just read the table is not for the token any more when its rights have changed.
  await stack.request('PUT', `/v2/storage/tokens/${id}`, { json: { bucketPermissions: {} } })
  const lost = await ask('SELECT * FROM "out.c-seen".praha', {}, token)
  assert.ok([403, 404].includes(lost.status), lost.text)
  await client.bucket('empty')
  await stack.request('PUT', `/v2/storage/tokens/${id}`, { json: { bucketPermissions: { 'in.c-empty': 'read' } } })
  assert.deepEqual(JSON.parse((await ask('SELECT table_name FROM information_schema.tables', {}, token)).text).rows, [])
})

test('a table that was deleted and made again is the new one to the same token', async () => {
  await client.create('in.c-main', 'again', 'a\nold\n')
  assert.deepEqual((await rows('FROM "in.c-main".again')).rows, [['old']])
  await stack.request('DELETE', '/v2/storage/tables/in.c-main.again')
  assert.match((await ask('FROM "in.c-main".again')).text, /does not exist/)
  await client.create('in.c-main', 'again', 'b\nnew\n')
  const { columns, rows: found } = await rows('FROM "in.c-main".again')
  assert.deepEqual([columns[0]?.name, found], ['b', [['new']]])
})

test('a cross join that would fill the disk is stopped, and other projects are undisturbed', async () => {
  const { masterToken } = await stack.newProject()
  const greedy = ask('SELECT DISTINCT a.i, b.i FROM range(1000000) a(i), range(1000) b(i)')
  assert.equal((await ask('SELECT 1 AS a', {}, masterToken)).status, 200)
  const refused = await greedy
  assert.deepEqual([refused.status, refused.json<{ code: string }>().code], [422, 'sql.tooMuch'])
  assert.match(refused.text, /64 MB of temporary disk/)
})

test('what cannot be answered is refused with a sentence', async () => {
  for (const [sql, status, code, words] of [
    ['SELEC 1', 400, 'sql.invalid', /^SQL syntax error at character 1: no statement begins with SELEC\.$/],
    ['SELECT *\nFROM "in.c-main".nothing', 400, 'sql.failed', /nothing.*line 2, character 6/],
    ['SELECT 1; SELECT 2', 400, 'sql.manyStatements', /the text has 2/],
    ['DELETE FROM "in.c-main".orders', 400, 'sql.notAllowed', /DELETE/],
    [`COPY (SELECT 1) TO '/etc/x'`, 400, 'sql.notAllowed', /COPY/],
    [`ATTACH '/etc/passwd' AS other`, 400, 'sql.notAllowed', /ATTACH/],
    ['INSTALL httpfs', 400, 'sql.notAllowed', /INSTALL/],
    [`SET memory_limit = '64GB'`, 400, 'sql.notAllowed', /SET/],
    ['SELECT 1 FROM WHERE', 400, 'sql.failed', /syntax error at or near "WHERE" \(line 1, character 15\)/],
    [`SELECT * FROM read_csv('/etc/passwd')`, 400, 'sql.notAllowed', /read_csv\(\)/],
    [`SELECT '${'x'.repeat(2 << 20)}'`, 413, 'sql.tooLong', /1048576 bytes/],
    [`SELECT 1 -- ${'x'.repeat(7_900_000)}`, 413, 'sql.tooLong', /1048576 bytes/],
    [`SELECT 1 -- ${'x'.repeat(10_000_000)}`, 413, 'bodyTooLarge', /bytes/],
  ] as const) {
    const answer = await ask(sql)
    assert.equal(answer.status, status, answer.text)
    const { error, code: said } = answer.json<{ error: string; code: string }>()
    assert.equal(said, code)
    assert.match(error, words)
  }
  for (const json of [{}, { sql: 1 }, { sql: 'SELECT 1', format: 'xml' }, { sql: 'SELECT 1', limit: 0 }])
    assert.equal((await stack.request('POST', '/v2/storage/query', { json })).status, 400, JSON.stringify(json))
})

test('rows beyond the limit are left out, and the answer says so', async () => {
  const cut = await rows('SELECT i FROM range(5) t(i)', { limit: 2 })
  assert.deepEqual([cut.rows, cut.rowCount, cut.isTruncated], [[[0], [1]], 2, true])
  const whole = await rows('SELECT i FROM range(2) t(i)', { limit: 2 })
  assert.deepEqual([whole.rows, whole.isTruncated], [[[0], [1]], false])
  assert.deepEqual((await rows('SELECT 1 AS a WHERE false')).rows, [])
  assert.equal((await rows('SELECT i FROM range(20000) t(i)')).rowCount, 10_000)
})

test('a client that leaves in the middle frees its session', async () => {
  for (let i = 0; i < 4; i++) {
    const leave = new AbortController()
    const response = await fetch(new URL('/v2/storage/query', stack.url), {
      method: 'POST',
      headers: { 'X-StorageApi-Token': stack.masterToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ sql: 'SELECT * FROM range(100000000)', format: 'csv' }),
      signal: leave.signal,
    })
    await response.body?.getReader().read()
    leave.abort()
  }
  assert.deepEqual((await rows('SELECT 1')).rows, [[1]])
})

test('a killed worker fails its query, and the next one is answered', async () => {
  const response = await fetch(new URL('/v2/storage/query', stack.url), {
    method: 'POST',
    headers: { 'X-StorageApi-Token': stack.masterToken, 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql: 'SELECT * FROM range(100000000)', format: 'csv' }),
  })
  const reader = response.body!.getReader()
  await reader.read()
  for (const pid of stack.platform.sql.engine.workerPids()) process.kill(pid, 'SIGKILL')
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  })
  assert.deepEqual((await rows('SELECT 1')).rows, [[1]])
})

test('a thousand columns', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `c${i}`)
  await client.create('in.c-main', 'wide', `${names.join()}\n${names.join()}\n`)
  const { columns, rows: found } = await rows('SELECT * FROM "in.c-main".wide')
  assert.equal(columns.length, 1000)
  assert.deepEqual(found, [names])
  const sum = await rows(`SELECT list_sum([${names.map((name) => `length(${name})`).join()}])::BIGINT FROM "in.c-main".wide`)
  assert.deepEqual(sum.rows, [[names.join('').length]])
})
