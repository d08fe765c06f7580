import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { openFile } from '../../../../../tests/support/clients/file-client.ts'
import { type JobAnswer, type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import { runCli } from '../../../../../tests/support/run-cli.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../../../tests/support/shell-stack.ts'

interface RunAnswer {
  readonly id: string
  readonly status: string
  readonly trigger: string
  readonly storageJobId: number
  readonly results: {
    readonly name: string
    readonly status: string
    readonly failures: number | null
    readonly message: string | null
    readonly fileId: number | null
  }[]
  readonly examples: { readonly tests: string; readonly row: Record<string, string> }[]
}

const TABLE = 'in.c-main.orders'
const GOOD = 'id,city,amount,day\n1,Praha,10,2026-01-01\n2,Brno,20,2026-01-02\n'

async function withTable(stack: ShellStack, csv = GOOD, fields: Record<string, unknown> = {}): Promise<TableClient> {
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.create('in.c-main', 'orders', csv, fields)
  return tables
}

async function add(stack: ShellStack, name: string, type: string, parameters: unknown, more: object = {}): Promise<string> {
  const answer = await stack.request('POST', '/v2/storage/data-tests', {
    json: { tableId: TABLE, name, type, parameters, ...more },
  })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ id: string }>().id
}

async function load(stack: ShellStack, csv: string, fields: Record<string, unknown> = {}): Promise<JobAnswer> {
  const tables = tableClient(stack)
  const json = { dataFileId: await tables.upload(csv), ...fields }
  return tables.finish(await stack.request('POST', `/v2/storage/tables/${TABLE}/import-async`, { json }))
}

async function runsOf(stack: ShellStack, query = ''): Promise<RunAnswer[]> {
  const answer = await stack.request('GET', `/v2/storage/tables/${TABLE}/data-tests/runs${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<RunAnswer[]>()
}

const runNow = async (stack: ShellStack): Promise<RunAnswer> => {
  const job = await tableClient(stack).succeed(await stack.request('POST', `/v2/storage/tables/${TABLE}/data-tests/run`))
  return job.results as unknown as RunAnswer
}

const startHurried = shareShellStack({ sql: { timeoutMs: 1000 } })

test('a test that runs away is stopped; the load fails or passes by its severity, and other tests have their results', async () => {
  const stack = await startHurried()
  await withTable(stack)
  const endless = 'SELECT a.range FROM range(10000000000) a, range(100000) b WHERE a.range + b.range < 0'
  const id = await add(stack, 'endless', 'sql', { sql: endless })
  await add(stack, 'few', 'rowCount', { max: 9 })
  const stopped = await load(stack, GOOD)
  assert.match(stopped.error?.message ?? '', /endless: The test could not be run: The statement took longer than 1 s/)
  assert.deepEqual(
    (await runsOf(stack))[0]?.results.map(({ status }) => status),
    ['error', 'passed'],
  )
  await stack.request('PUT', `/v2/storage/data-tests/${id}`, { json: { severity: 'warn' } })
  assert.equal((await load(stack, GOOD)).status, 'success')
})

/** With the time that statements have in production: two hundred tests take more than a second on a busy machine. */
const startPatient = shareShellStack()

test('a project has 10,000 tests in pages, a table at most 200, and a load reads those of its table', async () => {
  const stack = await startPatient()
  await withTable(stack)
  const { metadata } = stack.platform
  const { id: branchId } = (await stack.request('GET', '/v2/storage/dev-branches/default')).json<{ id: number }>()
  await metadata.inTransaction((trx) =>
    sql`insert into data_test (project_id, branch_id, bucket_id, table_id, name, description, type, parameters, severity, is_enabled,
      creator, created_at, updated_at)
      with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999)
      select ${sql.lit(stack.projectId)}, ${sql.lit(branchId)}, 'in.c-main', case when i < 200 then ${sql.lit(TABLE)} else 'in.c-main.t' || (i % 100) end,
        't' || i, '', 'range', '{"column":"amount","min":0}', 'stop', 1, '{"id":1,"description":""}', 0, 0 from n`.execute(trx),
  )
  const page = await stack.request('GET', '/v2/storage/data-tests?limit=1000&offset=9500')
  assert.equal(page.json<unknown[]>().length, 500)
  assert.equal(page.headers.get('x-millrace-total'), '10000')
  const json = { tableId: TABLE, name: 'one more', type: 'rowCount', parameters: { max: 9 } }
  const refused = await stack.request('POST', '/v2/storage/data-tests', { json })
  assert.equal(refused.json().code, 'storage.dataTests.tooMany')
  assert.equal((await load(stack, GOOD)).status, 'success')
  assert.equal((await runsOf(stack))[0]?.results.length, 200)
  const failed = await load(stack, 'id,city,amount,day\n1,x,-1,x\n')
  assert.match(failed.error?.message ?? '', /; and 195 more\. The rows that failed are in file \d+\.$/)
})

const DBT_MANIFEST = {
  nodes: {
    'model.shop.orders': { name: 'orders', schema: 'analytics', alias: 'orders' },
    'test.shop.not_null_id.1': {
      ...{ name: 'not_null_id', attached_node: 'model.shop.orders', column_name: 'id' },
      ...{ test_metadata: { name: 'not_null' }, config: { severity: 'ERROR' } },
    },
    'test.shop.known_city.2': { name: 'known_city', depends_on: { nodes: ['source.shop.orders'] }, config: { severity: 'warn' } },
    'test.shop.elsewhere.3': { name: 'elsewhere', attached_node: 'model.other.x' },
  },
  sources: { 'source.shop.orders': { name: 'orders', identifier: 'orders', schema: 'in.c-main' } },
}
const DBT_RESULTS = [
  { unique_id: 'model.shop.orders', status: 'success' },
  { unique_id: 'test.shop.not_null_id.1', status: 'fail', failures: 2, message: 'Got 2 results', compiled_code: 'select 1' },
  { unique_id: 'test.shop.known_city.2', status: 'warn', failures: 1, message: 'Got 1 result' },
  { unique_id: 'test.shop.elsewhere.3', status: 'pass', failures: 0 },
]

test('results of dbt are data tests of their tables: listed, reported, never run by a load, and imported by the command line', async () => {
  const stack = await startPatient()
  await withTable(stack)
  const folder = mkdtempSync(join(tmpdir(), 'dbt-results-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))
  write('manifest.json', DBT_MANIFEST)
  write('run_results.json', { results: DBT_RESULTS })
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const file = join(folder, 'run_results.json')
  const imported = await runCli(['test', 'import', file, '--schema', 'analytics=in.c-main'], env)
  assert.equal(imported.code, 1, imported.err)
  assert.match(imported.out, /failed in\.c-main\.orders \(dbt\): 0 of 2 passed\n {2}stop not_null_id: Got 2 results/)
  assert.match(imported.out, /1 results belong to no known table/)
  const list = async () =>
    (await stack.request('GET', '/v2/storage/data-tests')).json<{ id: string; name: string; type: string; severity: string }[]>()
  assert.deepEqual(
    (await list()).map(({ name, type, severity }) => [name, type, severity]),
    [
      ['known_city', 'dbt', 'warn'],
      ['not_null_id', 'dbt', 'stop'],
    ],
  )
  assert.equal((await load(stack, GOOD)).status, 'success', 'a load does not run them')
  assert.equal((await runCli(['test'], env)).out, 'no table has tests\n')

  write('run_results.json', {
    results: DBT_RESULTS.map((one) => ({ ...one, status: one.unique_id.startsWith('test') ? 'pass' : 'success' })),
  })
  assert.equal((await runCli(['test', 'import', file, '--schema', 'analytics=in.c-main'], env)).code, 0)
  assert.deepEqual(
    (await runsOf(stack)).map(({ status, trigger }) => [status, trigger]),
    [
      ['passed', 'dbt'],
      ['failed', 'dbt'],
    ],
  )
  const [first] = await list()
  const path = `/v2/storage/data-tests/${first?.id}`
  assert.match(
    (await stack.request('PUT', path, { json: { severity: 'stop' } })).text,
    /comes from dbt: change it in the dbt project/,
  )
  assert.equal((await stack.request('PUT', path, { json: { isEnabled: false } })).status, 200)
  assert.equal((await stack.request('DELETE', path)).status, 204)
  const post = (json: object, token = stack.masterToken) =>
    stack.request('POST', '/v2/storage/data-tests/import', { token, json })
  const id = 'test.shop.unique_id'
  const hashed = `unique_id_${createHash('sha256').update(id).digest('hex').slice(0, 8)}`
  for (const name of ['unique_id', hashed]) {
    const json = { tableId: 'in.c-main.orders', name, type: 'notNull', parameters: { columns: ['id'] } }
    const made = await stack.request('POST', '/v2/storage/data-tests', { json })
    assert.equal(made.status, 201, made.text)
  }
  const taken = await post({ runResults: { results: [{ unique_id: id, status: 'pass' }] }, tableId: 'in.c-main.orders' })
  assert.equal(taken.status, 201, taken.text)
  const many = (from: number, count: number) => ({
    runResults: { results: Array.from({ length: count }, (_, i) => ({ unique_id: `test.shop.t${from + i}`, status: 'pass' })) },
    tableId: 'in.c-main.orders',
  })
  assert.equal((await post(many(0, 990))).json<{ leftOut: number }>().leftOut, 0)
  const all = (await stack.request('GET', '/v2/storage/data-tests?limit=1000')).json<{ type: string }[]>()
  const room = 1_000 - all.filter(({ type }) => type === 'dbt').length
  assert.equal((await post(many(980, 50))).json<{ leftOut: number }>().leftOut, 50 - 10 - room)
  assert.equal((await post(many(2_000, 5))).json<{ leftOut: number }>().leftOut, 5, 'a table has 1,000 tests of dbt at most')
  assert.match((await post({ runResults: { results: 'x' } })).text, /runResults has no results of tests/)
  assert.equal((await post({ runResults: { results: DBT_RESULTS }, tableId: 'in.c-main.absent' })).status, 404)
  const reader = (
    await stack.request('POST', '/v2/storage/tokens', { json: { description: 'r', bucketPermissions: { 'in.c-main': 'read' } } })
  ).json<{ token: string }>().token
  assert.equal((await post({ runResults: { results: DBT_RESULTS }, tableId: TABLE }, reader)).status, 403)
})

test('millrace test runs the tests and fails for CI', async () => {
  const stack = await startPatient()
  await withTable(stack)
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const none = await runCli(['test'], env)
  assert.deepEqual([none.code, none.out], [0, 'no table has tests\n'])
  const added = await runCli(['test', 'add', TABLE, 'few', 'rowCount', '{"max": 1}', '--severity', 'warn', '--json'], env)
  assert.equal(added.code, 0, added.err)
  const warned = await runCli(['test'], env)
  assert.equal(warned.code, 0)
  assert.match(
    warned.out,
    /warning in\.c-main\.orders \(manual\): 0 of 1 passed\n {2}warn few: The table has 2 rows, more than 1\./,
  )
  assert.equal((await runCli(['test', TABLE, '--strict'], env)).code, 1)
  const { id } = added.json<{ id: string }>()
  assert.equal((await runCli(['test', 'change', id, '--severity', 'stop'], env)).code, 0)
  assert.equal((await runCli(['test', 'run'], env)).code, 1)
  assert.match((await runCli(['test', 'results', TABLE], env)).out, /failed in\.c-main\.orders/)
  assert.match((await runCli(['test', 'list'], env)).out, /few +rowCount +stop +on/)
  assert.equal((await runCli(['test', 'delete', id], env)).code, 0)
  assert.equal((await runCli(['test', 'add', TABLE, 'x', 'rowCount', '{'], env)).code, 1)
})

await onBothStacks('data tests', (startProject) => {
  test('a load that fails a test of severity stop is not published, and its failed rows are kept aside', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await add(stack, 'id is there', 'notNull', { columns: ['id'] })
    await add(stack, 'known cities', 'acceptedValues', { column: 'city', values: ['Praha', 'Brno'] })
    const job = await load(stack, 'id,city,amount,day\n3,Praha,1,2026-01-01\n,Praha,1,2026-01-01\n5,Paris,1,2026-01-01\n')
    assert.equal(job.status, 'error')
    assert.equal(job.error?.code, 'storage.dataTests.failed')
    assert.match(
      job.error?.message ?? '',
      /in\.c-main\.orders failed: id is there: 1 row without a value in id; known cities: 1 row/,
    )
    assert.equal((await tables.rows(TABLE)).length, 2)

    const [run] = await runsOf(stack)
    assert.equal(run?.status, 'failed')
    assert.equal(run.trigger, 'load')
    assert.equal(run.storageJobId, job.id)
    assert.deepEqual(
      run.results.map(({ name, status, failures }) => [name, status, failures]),
      [
        ['id is there', 'failed', 1],
        ['known cities', 'failed', 1],
      ],
    )
    assert.deepEqual(
      run.examples.map(({ tests, row }) => [tests, row.id, row.city]),
      [
        ['id is there', '', 'Praha'],
        ['known cities', '5', 'Paris'],
      ],
    )
    const file = await openFile(stack, run.results[0]!.fileId!)
    const kept = await (await fetch(file.url)).text()
    assert.equal(kept, '_failed_tests,id,city,amount,day\nid is there,"",Praha,1,2026-01-01\nknown cities,5,Paris,1,2026-01-01\n')

    const good = await load(stack, GOOD)
    assert.equal(good.status, 'success')
    assert.equal((await runsOf(stack))[0]?.status, 'passed')
  })

  test('a test of severity warn lets the load through and reports', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await add(stack, 'small', 'range', { column: 'amount', max: 5 }, { severity: 'warn' })
    const job = await load(stack, 'id,city,amount,day\n1,Praha,7,x\n')
    assert.equal(job.status, 'success')
    assert.match(String(job.results?.warnings), /Data test small of in\.c-main\.orders failed: 1 row with/)
    assert.deepEqual(await tables.rows(TABLE), [['1', 'Praha', '7', 'x']])
    assert.equal((await runsOf(stack))[0]?.status, 'warning')
    const events = (await stack.request('GET', `/v2/storage/tables/${TABLE}/events`)).json<{ event: string }[]>()
    assert.ok(events.some(({ event }) => event === 'storage.dataTestsWarned'))
  })

  test('every type of test finds what is wrong, and only that', async () => {
    const stack = await startProject()
    const tables = await withTable(stack, 'id,city,amount,day\n1,Praha,10,2026-01-01\n1,Brno,x,2026-13-01\n,,,\n')
    await tables.create('in.c-main', 'cities', 'name\nPraha\n')
    const wanted: [string, unknown, number | null][] = [
      ['notNull', { columns: ['id', 'city'] }, 1],
      ['unique', { columns: ['id'] }, 2],
      ['unique', { columns: ['id', 'city'] }, 0],
      ['acceptedValues', { column: 'amount', values: [10] }, 1],
      ['range', { column: 'amount', min: 11 }, 2],
      ['range', { column: 'day', min: '2026-01-01', max: '2026-12-31' }, 1],
      ['pattern', { column: 'city', pattern: 'P.*' }, 1],
      ['relationships', { column: 'city', toTable: 'in.c-main.cities', toColumn: 'name' }, 1],
      ['rowCount', { min: 3, max: 3 }, 0],
      ['rowCount', { max: 2 }, null],
      ['freshness', { maxAgeMinutes: 60 }, 0],
      ['freshness', { column: 'day', maxAgeMinutes: 60 }, null],
      ['schema', { columns: ['id', 'city', 'amount', 'day'].map((name) => ({ name })), primaryKey: [] }, 0],
      ['schema', { columns: [{ name: 'id', type: 'INTEGER' }, { name: 'gone' }] }, null],
      ['sql', { sql: `SELECT * FROM "${TABLE.slice(0, 9)}"."orders" WHERE city = 'Brno'; -- all of them` }, 1],
    ]
    for (const [i, [type, parameters]] of wanted.entries()) await add(stack, `${String(i).padStart(2, '0')}`, type, parameters)
    const { results } = await runNow(stack)
    for (const [i, [type, parameters, failures]] of wanted.entries()) {
      const { status, failures: found, message } = results[i]!
      const said = `${type} ${JSON.stringify(parameters)}: ${message}`
      assert.equal(status, failures === 0 ? 'passed' : 'failed', said)
      if (failures) assert.equal(found, failures, said)
    }
    assert.match(results[13]!.message!, /column id is STRING, not INTEGER; column gone is missing; .* columns city, amount, day/)
    assert.equal((await runsOf(stack)).length, 1)
  })

  test('the output of a component is tested like any other load, with all its tables or none', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await add(stack, 'id', 'unique', { columns: ['id'] })
    await stack.add(
      'test.writer',
      String.raw`printf 'id,city,amount,day\n1,a,1,x\n1,b,1,x\n' > "$KBC_DATADIR/out/tables/orders.csv"
printf 'id\n1\n' > "$KBC_DATADIR/out/tables/others.csv"`,
    )
    const config = await stack.configure('test.writer', {
      storage: {
        output: {
          tables: [
            { source: 'orders.csv', destination: TABLE },
            { source: 'others.csv', destination: 'in.c-main.others' },
          ],
        },
      },
    })
    const started = await stack.request('POST', '/queue/jobs', { json: { component: 'test.writer', config, mode: 'run' } })
    const job = await stack.wait(started.json<Job>())
    assert.equal(job.status, 'error')
    assert.match(
      JSON.stringify(job.result),
      /data tests of table in\.c-main\.orders failed: id: 2 rows with a repeated value of id/,
    )
    assert.equal((await tables.rows(TABLE)).length, 2)
    assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.others')).status, 404)
  })

  test('custom SQL that is wrong, reads another project or changes something is refused when it is created', async () => {
    const stack = await startProject()
    await withTable(stack)
    const other = await stack.newProject()
    const token = other.masterToken
    const theirs = await stack.request('POST', '/v2/storage/buckets', { token, json: { name: 'secret', stage: 'in' } })
    assert.equal(theirs.status, 201)
    for (const [sql, reason] of [
      ['SELECT nothing FROM', /syntax error|Parser/i],
      ['SELECT * FROM "in.c-secret"."t"', /does not exist|in\.c-secret/],
      ['DROP TABLE "in.c-main"."orders"', /not allowed/],
      ["SELECT * FROM read_csv('/etc/passwd')", /not allowed/],
      ['SELECT 1; SELECT 2', /One statement/],
      ['SELECT 1) q, (SELECT 2', /syntax error|Parser/i],
    ] as const) {
      const answer = await stack.request('POST', '/v2/storage/data-tests', {
        json: { tableId: TABLE, name: 'x', type: 'sql', parameters: { sql } },
      })
      assert.ok(answer.status >= 400 && answer.status < 500, `${sql}: ${answer.status} ${answer.text}`)
      assert.match(answer.text, reason)
    }
    for (const [type, parameters] of [
      ['notNull', { columns: ['nothing'] }],
      ['notNull', { columns: [] }],
      ['notNull', { column: 'id' }],
      ['range', { column: 'id' }],
      ['range', { column: 'id', min: 'tomorrow' }],
      ['range', { column: 'id', min: 2, max: 1 }],
      ['pattern', { column: 'id', pattern: '(' }],
      ['relationships', { column: 'id', toTable: 'in.c-secret.t', toColumn: 'id' }],
      ['rowCount', {}],
      ['freshness', {}],
      ['schema', { columns: [{ name: 'id', type: 'BLOB' }] }],
      ['no such type', {}],
    ] as const) {
      const json = { tableId: TABLE, name: 'x', type, parameters }
      const answer = await stack.request('POST', '/v2/storage/data-tests', { json })
      assert.ok(answer.status >= 400 && answer.status < 500, `${type}: ${answer.status} ${answer.text}`)
    }
    const theirsSeen = await stack.request('GET', '/v2/storage/data-tests', { token })
    assert.deepEqual(theirsSeen.json<unknown>(), [])
  })

  test('a test whose column or table is gone counts as failed, and names what is missing', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await tables.create('in.c-main', 'cities', 'name\nPraha\n')
    await add(stack, 'a', 'notNull', { columns: ['day'] }, { severity: 'warn' })
    await add(
      stack,
      'b',
      'relationships',
      { column: 'city', toTable: 'in.c-main.cities', toColumn: 'name' },
      { severity: 'warn' },
    )
    await add(stack, 'c', 'sql', { sql: 'SELECT * FROM "in.c-main"."cities" WHERE name = \'x\'' }, { severity: 'warn' })
    await add(stack, 'd', 'unique', { columns: ['id'] })
    await tables.succeed(await stack.request('DELETE', `/v2/storage/tables/${TABLE}/columns/day?async=1`))
    assert.equal((await stack.request('DELETE', '/v2/storage/tables/in.c-main.cities')).status, 204)
    const { status, results } = await runNow(stack)
    assert.equal(status, 'warning')
    assert.deepEqual(
      results.map((result) => result.status),
      ['error', 'error', 'error', 'passed'],
    )
    assert.match(results[0]!.message!, /Column day does not exist/)
    assert.match(results[1]!.message!, /Column name of table in\.c-main\.cities does not exist/)
  })

  test('a test is read, changed, switched off and deleted; a name is unique in its table', async () => {
    const stack = await startProject()
    await withTable(stack)
    const id = await add(stack, 'few', 'rowCount', { max: 1 }, { description: 'small' })
    const again = await stack.request('POST', '/v2/storage/data-tests', {
      json: { tableId: TABLE, name: 'few', type: 'rowCount', parameters: { max: 1 } },
    })
    assert.equal(again.json().code, 'storage.dataTests.alreadyExists')
    const path = `/v2/storage/data-tests/${id}`
    const read = (await stack.request('GET', path)).json<{ parameters: unknown; severity: string; description: string }>()
    assert.deepEqual([read.parameters, read.severity, read.description], [{ max: 1 }, 'stop', 'small'])
    assert.equal((await load(stack, GOOD)).status, 'error')
    assert.equal((await stack.request('PUT', path, { json: { isEnabled: false } })).status, 200)
    assert.equal((await load(stack, GOOD)).status, 'success')
    const change = { isEnabled: true, parameters: { max: 2 }, name: 'two' }
    assert.equal((await stack.request('PUT', path, { json: change })).status, 200)
    assert.equal((await load(stack, GOOD)).status, 'success')
    assert.equal((await runsOf(stack))[0]?.results[0]?.name, 'two')
    assert.equal((await stack.request('DELETE', path)).status, 204)
    assert.equal((await stack.request('GET', path)).status, 404)
    assert.equal((await stack.request('GET', '/v2/storage/data-tests/none')).status, 404)
  })

  test('tests take read permission of the bucket to see and write permission to change', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await tables.bucket('other')
    const id = await add(stack, 'few', 'rowCount', { max: 9 })
    const tokenWith = async (bucketPermissions: object): Promise<string> => {
      const json = { description: 't', bucketPermissions, expiresIn: 3600 }
      return (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token
    }
    const reader = await tokenWith({ 'in.c-main': 'read' })
    const stranger = await tokenWith({ 'in.c-other': 'write' })
    const writer = await tokenWith({ 'in.c-main': 'write' })
    const json = { tableId: TABLE, name: 'x', type: 'rowCount', parameters: { max: 9 } }
    const statusOf = async (method: string, path: string, token: string, body?: unknown) =>
      (await stack.request(method, path, { token, ...(body !== undefined && { json: body }) })).status
    const path = `/v2/storage/data-tests/${id}`
    assert.equal(await statusOf('GET', path, reader), 200)
    assert.equal(await statusOf('PUT', path, reader, {}), 403)
    assert.equal(await statusOf('DELETE', path, reader), 403)
    assert.equal(await statusOf('POST', '/v2/storage/data-tests', reader, json), 403)
    assert.equal(await statusOf('GET', path, stranger), 403)
    assert.deepEqual((await stack.request('GET', '/v2/storage/data-tests', { token: stranger })).json<unknown>(), [])
    assert.equal(await statusOf('GET', `/v2/storage/tables/${TABLE}/data-tests/runs`, stranger), 403)
    assert.equal(await statusOf('POST', `/v2/storage/tables/${TABLE}/data-tests/run`, stranger), 403)
    assert.equal(await statusOf('POST', '/v2/storage/data-tests', writer, json), 201)
    const sql = { ...json, name: 'y', type: 'sql', parameters: { sql: 'SELECT * FROM "in.c-other"."t"' } }
    assert.equal(await statusOf('POST', '/v2/storage/data-tests', writer, sql), 403)

    // A test of someone who may read more: whoever runs it learns the result, and not the rows of other tables.
    await tableClient(stack).bucket('secret')
    await tableClient(stack).create('in.c-secret', 't', 'a\nhidden\n')
    await add(stack, 'other table', 'sql', { sql: 'SELECT * FROM "in.c-secret"."t"' }, { severity: 'warn' })
    const started = await stack.request('POST', `/v2/storage/tables/${TABLE}/data-tests/run`, { token: reader })
    const { results } = await tableClient(stack).succeed(started)
    const found = (results as { results: { name: string; fileId: number | null }[] }).results
    const fileId = found.find(({ name }) => name === 'other table')!.fileId
    assert.ok(fileId)
    assert.equal(await statusOf('GET', `/v2/storage/files/${fileId}`, reader), 403)
    assert.equal((await stack.request('GET', `/v2/storage/files/${fileId}`)).status, 200)
  })

  test('a branch runs the tests of the default branch, and replaces one by one of the same name', async () => {
    const stack = await startProject()
    await withTable(stack)
    const id = await add(stack, 'few', 'rowCount', { max: 2 })
    const made = await tableClient(stack).succeed(
      await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'b' } }),
    )
    const branch = `/v2/storage/branch/${(made.results as { id: number }).id}`
    await stack.request('POST', `${branch}/buckets`, { json: { name: 'main', stage: 'in' } })
    const create = async (csv: string): Promise<JobAnswer> => {
      const tables = tableClient(stack)
      const json = { name: 'orders', dataFileId: await tables.upload(csv) }
      return tables.finish(await stack.request('POST', `${branch}/buckets/in.c-main/tables-async`, { json }))
    }
    assert.equal((await create(`${GOOD}3,x,1,x\n`)).error?.code, 'storage.dataTests.failed')
    const foreign = await stack.request('DELETE', `${branch}/data-tests/${id}`)
    assert.equal(foreign.json().code, 'storage.dataTests.otherBranch')
    const json = { tableId: TABLE, name: 'few', type: 'rowCount', parameters: { max: 3 } }
    assert.equal((await stack.request('POST', `${branch}/data-tests`, { json })).status, 201)
    assert.equal((await create(`${GOOD}3,x,1,x\n`)).status, 'success')
    assert.equal((await stack.request('GET', `${branch}/data-tests`)).json<unknown[]>().length, 1)
    assert.deepEqual(
      (await stack.request('GET', '/v2/storage/data-tests')).json<{ id: string }[]>().map((one) => one.id),
      [id],
    )
  })

  test('a load is compared with earlier loads, and what is unusual is explained', async () => {
    const stack = await startProject()
    await withTable(stack, 'id,amount\n1,10\n')
    await add(stack, 'rows', 'usual', { measure: 'rows', minLoads: 3 })
    await add(stack, 'amounts', 'usual', { measure: 'sum', column: 'amount', minLoads: 3 }, { severity: 'warn' })
    const rows = (count: number, amount: number) =>
      `id,amount\n${Array.from({ length: count }, (_, i) => `${i},${amount}`).join('\n')}\n`
    for (const count of [10, 11, 12, 10]) assert.equal((await load(stack, rows(count, 1))).status, 'success')
    const fewer = await load(stack, rows(2, 1))
    assert.equal(fewer.error?.code, 'storage.dataTests.failed')
    assert.match(
      JSON.stringify(fewer.error),
      /The number of rows is 2, 80\.9524 % below the middle; usual are [\d.]+ to [\d.]+ \(middle 10\.5 of 4 loads\)/,
    )
    // A load that was stopped is not part of the history; one with a warning is.
    const other = await load(stack, rows(11, 7))
    assert.equal(other.status, 'success')
    const [last] = await runsOf(stack)
    assert.equal(last?.status, 'warning')
    assert.match(
      last?.results.find(({ name }) => name === 'amounts')?.message ?? '',
      /^The sum of amount is 77, .* above the middle/,
    )
    assert.match(last?.results.find(({ name }) => name === 'rows')?.status ?? '', /passed/)
    for (const parameters of [
      {},
      { measure: 'mode' },
      { measure: 'sum' },
      { measure: 'rows', column: 'id' },
      { measure: 'rows', sensitivity: 0 },
      { measure: 'rows', minLoads: 1 },
    ]) {
      const json = { tableId: TABLE, name: 'bad', type: 'usual', parameters }
      const refused = await stack.request('POST', '/v2/storage/data-tests', { json })
      assert.equal(refused.json().code, 'storage.dataTests.invalid', JSON.stringify(parameters))
    }
  })

  test('tests stay when their table is dropped, and go with its bucket', async () => {
    const stack = await startProject()
    const tables = await withTable(stack)
    await add(stack, 'few', 'rowCount', { max: 1 })
    assert.equal((await stack.request('DELETE', `/v2/storage/tables/${TABLE}`)).status, 204)
    const json = { name: 'orders', dataFileId: await tables.upload(GOOD) }
    const again = await tables.finish(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json }))
    assert.equal(again.error?.code, 'storage.dataTests.failed')
    assert.equal((await stack.request('DELETE', '/v2/storage/buckets/in.c-main?force=1')).status, 204)
    assert.deepEqual((await stack.request('GET', '/v2/storage/data-tests')).json<unknown>(), [])
  })
})
