import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

interface Job {
  readonly id: number
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string; readonly input?: { tables: { id: string }[] } }
}

let stack: TestStack
let client: TableClient
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 2048, diskMb: 64, threads: 3 } })
  client = tableClient(stack)
  await client.bucket('main')
  await client.bucket('result', 'out')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
})
test.after(() => stop?.())

/** A configuration with one block of codes, run to its end. */
async function run(
  codes: readonly { name: string; script: readonly string[] }[],
  storage: object,
  component = 'platform.sql-transformation',
  asked: object = {},
): Promise<Job> {
  const configuration = { parameters: { blocks: [{ name: 'Sums', codes }] }, storage }
  const made = await stack.request('POST', `/v2/storage/components/${component}/configs`, { json: { name: 'c', configuration } })
  assert.equal(made.status, 201, made.text)
  const started = await stack.request('POST', '/queue/jobs', {
    json: { component, config: made.json<{ id: string }>().id, mode: 'run', ...asked },
  })
  assert.equal(started.status, 201, started.text)
  const { id } = started.json<Job>()
  return until(`job ${id} ends`, async () => {
    const job = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
    return job.isFinished && job
  })
}

test('the size of the backend is the memory and the threads of the session', async () => {
  const script = [
    `CREATE TABLE "limits" AS SELECT current_setting('threads') AS threads, current_setting('memory_limit') AS memory`,
  ]
  const storage = { output: { tables: [{ source: 'limits', destination: 'out.c-result.limits' }] } }
  const limitsOf = async (type: string) => {
    const job = await run([{ name: 'limits', script }], storage, undefined, { backend: { type } })
    assert.equal(job.status, 'success', job.result.message)
    return (await client.rows('out.c-result.limits')).flat()
  }
  assert.deepEqual(await limitsOf('xsmall'), ['1', '744.0 MiB'])
  assert.deepEqual(await limitsOf('small'), ['2', '1.7 GiB'])
  assert.deepEqual(await limitsOf('large'), ['3', '1.7 GiB'])
  const refused = await run([{ name: 'limits', script }], storage, undefined, { backend: { type: 'huge' } })
  assert.match(String(refused.result.message), /there is no size "huge". Choose xsmall, small, medium, large\./)
})

test('the source of an output mapping cannot lead out of the data folder', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-outside-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const source = `${'../'.repeat(20)}${folder.slice(1)}/written`
  const script = [`CREATE TABLE "${source}" AS SELECT 'by a script' AS text`]
  const job = await run([{ name: 'escape', script }], { output: { tables: [{ source, destination: 'out.c-result.escape' }] } })
  assert.match(String(job.result.message), /^The result "\.\.\/.*" cannot be a file in out\/tables\./)
  assert.deepEqual(readdirSync(folder), [])
})

test('the output mapping stores the columns that it names, in its order, and refuses one that the result lacks', async () => {
  const script = ["CREATE TABLE t AS SELECT 1 AS a, 'x' AS b, 'y' AS c"]
  const mapped = (...tables: readonly object[]) => run([{ name: 'columns', script }], { output: { tables } })
  const done = await mapped(
    { source: 't', destination: 'out.c-result.chosen', columns: ['c', 'A'], primary_key: ['c'] },
    { source: 't', destination: 'out.c-result.again', schema: [{ name: 'c' }, { name: 'A' }] },
  )
  assert.equal(done.status, 'success', done.result.message)
  for (const table of ['chosen', 'again']) {
    assert.deepEqual((await client.detail(`out.c-result.${table}`)).columns, ['c', 'A'])
    assert.deepEqual(await client.rows(`out.c-result.${table}`), [['y', '1']])
  }
  const lacking = await mapped({ source: 't', destination: 'out.c-result.chosen', columns: ['d'] })
  assert.match(String(lacking.result.message), /Output table "t": .*"d" not found/)
  const both = [{ columns: ['a'] }, { columns: ['b'] }].map((one, i) => ({
    source: 't',
    destination: `out.c-result.${i}`,
    ...one,
  }))
  assert.match(String((await mapped(...both)).result.message), /stores t several times with different columns/)
})

const INPUT = { tables: [{ source: 'in.c-main.orders', destination: 'orders' }] }

test('a transformation makes tables from tables, under its public ids too', async () => {
  const storage = {
    input: {
      tables: [
        {
          source: 'in.c-main.orders',
          destination: 'orders',
          column_types: [
            { source: 'id', type: 'INTEGER' },
            { source: 'city', type: 'VARCHAR' },
            { source: 'price', type: 'NUMERIC', length: '10,2', convert_empty_values_to_null: true },
          ],
        },
        { source: 'in.c-main.orders', destination: 'praha', where_column: 'city', where_values: ['Praha'], columns: ['id'] },
      ],
    },
    output: {
      tables: [
        { source: 'cities', destination: 'out.c-result.cities', primary_key: ['city'] },
        { source: 'count', destination: 'out.c-result.count' },
      ],
    },
  }
  const codes = [
    {
      name: 'cities',
      script: ['CREATE TABLE cities AS SELECT city, sum(price) AS total FROM orders GROUP BY city;', '-- nothing'],
    },
    { name: 'count', script: ['CREATE TABLE "count" AS SELECT count(*) AS n FROM praha; INSERT INTO "count" VALUES (7)'] },
  ]
  const job = await run(codes, storage)
  assert.equal(job.status, 'success', job.result.message)
  assert.deepEqual(
    job.result.input?.tables.map(({ id }) => id),
    ['in.c-main.orders'],
  )
  assert.deepEqual((await client.rows('out.c-result.cities')).toSorted(), [
    ['Brno', '20.00'],
    ['Praha', '10.00'],
  ])
  assert.deepEqual((await client.detail('out.c-result.cities')).primaryKey, ['city'])
  assert.deepEqual((await client.rows('out.c-result.count')).toSorted(), [['2'], ['7']])

  const other = await run(
    [{ name: 'direct', script: ['CREATE TABLE t AS SELECT city FROM "in.c-main"."orders" WHERE id = 2'] }],
    { output: { tables: [{ source: 't', destination: 'out.c-result.direct' }] } },
    'keboola.snowflake-transformation',
  )
  assert.equal(other.status, 'success', other.result.message)
  assert.deepEqual(await client.rows('out.c-result.direct'), [['Brno']])
})

test('a statement that fails is named, and no table changes', async () => {
  const before = await client.rows('in.c-main.orders')
  const storage = {
    input: INPUT,
    output: {
      tables: [
        { source: 'fine', destination: 'out.c-result.never' },
        { source: 'orders', destination: 'in.c-main.orders' },
      ],
    },
  }
  const job = await run(
    [
      { name: 'first', script: ['CREATE TABLE fine AS SELECT 1 AS a'] },
      { name: 'second', script: ['SELECT 1', 'SELECT\n  wrong FROM orders'] },
    ],
    storage,
  )
  assert.equal(job.status, 'error')
  assert.match(
    job.result.message ?? '',
    /^Block "Sums", code "second", statement 2: Binder Error: .*"wrong" not found.*\(line 2, character 3\)$/s,
  )
  assert.deepEqual(await client.rows('in.c-main.orders'), before)
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-result.never')).status, 404)
})

test('a result that was not made, an input that is not there and a script that is none are said so', async () => {
  const output = (source: string) => ({ tables: [{ source, destination: `out.c-result.${source}` }] })
  const missing = await run([{ name: 'a', script: ['SELECT 1'] }], { output: output('nothing') })
  assert.match(missing.result.message ?? '', /^Output table "nothing": Catalog Error/)
  const noInput = await run([{ name: 'a', script: ['SELECT 1'] }], {
    input: { tables: [{ source: 'in.c-main.no', destination: 'x' }] },
  })
  assert.match(noInput.result.message ?? '', /in\.c-main\.no/)
  const wrongType = await run([{ name: 'a', script: ['SELECT sum(city) FROM orders'] }], {
    input: {
      tables: [{ source: 'in.c-main.orders', destination: 'orders', column_types: [{ source: 'city', type: 'INTEGER' }] }],
    },
  })
  assert.match(wrongType.result.message ?? '', /Block "Sums", code "a", statement 1: Conversion Error/)
  const noScript = await run([{ name: 'a', script: 7 as never }], {})
  assert.match(noScript.result.message ?? '', /needs parameters\.blocks/)
  const file = await run([{ name: 'a', script: [`COPY (SELECT 1) TO '/tmp/x'`] }], {})
  assert.match(file.result.message ?? '', /statement 1: COPY .* is not allowed/)
})

test('a copied input can be changed by the script', async () => {
  const job = await run([{ name: 'a', script: [`DELETE FROM orders WHERE city = 'Brno'`] }], {
    input: { tables: [{ source: 'in.c-main.orders', destination: 'orders', load_type: 'COPY' }] },
    output: { tables: [{ source: 'orders', destination: 'out.c-result.rest' }] },
  })
  assert.equal(job.status, 'success', job.result.message)
  assert.equal((await client.detail('out.c-result.rest')).rowsCount, 2)
})

const dryRun = (configData: object, action = 'dryRun') =>
  stack.request('POST', '/sync-actions/actions', {
    json: { componentId: 'keboola.snowflake-transformation', action, configData },
  })

test('a dry run shows plans and columns, and neither reads rows nor writes tables', async () => {
  await client.create('in.c-main', 'texts', 'a\nnot a number\n')
  const script = [
    'CREATE TABLE cities AS SELECT city, count(*) AS n FROM orders GROUP BY city',
    "INSERT INTO cities VALUES ('x', 1); DELETE FROM cities WHERE n = 1",
    'CREATE VIEW v AS FROM cities; SELECT city FROM v',
    'CREATE TABLE numbers AS SELECT a::INTEGER AS a FROM "in.c-main".texts',
    'ALTER TABLE numbers ADD COLUMN b DATE',
  ]
  const storage = {
    input: { tables: [{ source: 'in.c-main.orders', destination: 'orders', load_type: 'COPY', columns: ['city'] }] },
    output: {
      tables: [
        { source: 'cities', destination: 'out.c-result.dry' },
        { source: 'numbers', destination: 'out.c-result.numbers' },
      ],
    },
  }
  const parameters = { blocks: [{ name: 'B', codes: [{ name: 'C', script }] }] }
  const answer = await dryRun({ parameters, storage })
  assert.equal(answer.status, 200, answer.text)
  const { inputs, statements, outputs } = answer.json<{
    inputs: unknown
    statements: { statement: number; block: string; columns: { name: string; type: string }[]; plan: string | null }[]
    outputs: unknown
  }>()
  assert.deepEqual(inputs, [{ name: 'orders', tableId: 'in.c-main.orders', columns: [{ name: 'city', type: 'VARCHAR' }] }])
  assert.deepEqual(
    statements.map(({ statement, columns }) => [statement, columns.map(({ name, type }) => `${name} ${type}`).join()]),
    [
      [1, 'city VARCHAR,n BIGINT'],
      [2, ''],
      [3, ''],
      [4, 'city VARCHAR,n BIGINT'],
      [5, 'city VARCHAR'],
      [6, 'a INTEGER'],
      [7, ''],
    ],
  )
  assert.match(statements[0]?.plan ?? '', /HASH_GROUP_BY|PERFECT_HASH_GROUP_BY/)
  assert.match(statements[1]?.plan ?? '', /INSERT/)
  assert.equal(statements[6]?.plan, null)
  const city = [{ tableId: 'in.c-main.orders', column: 'city' }]
  assert.deepEqual(outputs, [
    {
      source: 'cities',
      destination: 'out.c-result.dry',
      columns: [
        { name: 'city', type: 'VARCHAR', from: city },
        { name: 'n', type: 'BIGINT', from: [] },
      ],
    },
    {
      source: 'numbers',
      destination: 'out.c-result.numbers',
      columns: [
        { name: 'a', type: 'INTEGER', from: null },
        { name: 'b', type: 'DATE', from: null },
      ],
    },
  ])
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-result.dry')).status, 404)
})

test('a dry run says what is wrong, at the place of a run', async () => {
  const parametersOf = (...script: string[]) => ({ parameters: { blocks: [{ name: 'B', codes: [{ name: 'C', script }] }] } })
  const output = { output: { tables: [{ source: 'none', destination: 'out.c-result.none' }] } }
  for (const [configData, words] of [
    [parametersOf('SELECT 1', 'SELECT\n  wrong'), /^Block "B", code "C", statement 2: Binder Error.*\(line 2, character 3\)$/s],
    [parametersOf('CREATE TABLE a AS SELECT wrong'), /statement 1: Binder Error.*\(line 1, character 26\)$/s],
    [parametersOf(`COPY (SELECT 1) TO '/tmp/x'`), /statement 1: COPY .* is not allowed/],
    [{ ...parametersOf('SELECT 1'), storage: output }, /^Output table "none": Catalog Error/],
    [{ ...parametersOf('SELECT 1'), storage: { input: { tables: [{ source: 'in.c-main.no' }] } } }, /in\.c-main\.no/],
    [{}, /needs parameters\.blocks/],
  ] as const) {
    const answer = await dryRun(configData)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.json<{ error: string }>().error, words)
  }
  assert.match((await dryRun({}, 'explode')).text, /dryRun/)
})

interface Tried {
  readonly inputs: readonly unknown[]
  readonly steps: readonly {
    readonly statement: number
    readonly pointer: string
    readonly table: string | null
    readonly ms: number
    readonly rows: number | null
    readonly changedRows: number | null
    readonly columns: readonly { name: string; type: string }[]
    readonly sample: readonly (readonly unknown[])[]
    readonly isCut: boolean
    readonly problem: string | null
  }[]
  readonly outputs: readonly unknown[]
  readonly failure: Readonly<Record<string, unknown>> | null
}

const tryScript = (configData: unknown, more: object = {}, token?: string) =>
  stack.request('POST', '/sync-actions/sql/try', {
    json: { componentId: 'keboola.snowflake-transformation', configData, ...more },
    ...(token !== undefined && { token }),
  })
const blocksOf = (...script: string[]) => ({ parameters: { blocks: [{ name: 'B', codes: [{ name: 'C', script }] }] } })

test('a trial runs every statement over a sample, returns its rows and times, and keeps nothing', async () => {
  const storage = {
    input: INPUT,
    output: {
      tables: [
        { source: 'cities', destination: 'out.c-result.tried' },
        { source: 'none', destination: 'out.c-result.none' },
      ],
    },
  }
  const script = [
    'CREATE TABLE cities AS SELECT city, count(*) AS n FROM orders GROUP BY city ORDER BY city; -- and more',
    "INSERT INTO cities VALUES ('x', 1), ('y', 9007199254740993)",
    'CREATE VIEW broken AS SELECT city::INTEGER AS c FROM cities',
    'SELECT * FROM range(1000) r(i)',
    `SELECT repeat('long', 1000) AS t, 1.5::DECIMAL(4, 2) AS d, NULL AS nothing, 'nan'::DOUBLE AS w`,
    'SELECT count(*) AS direct FROM "in.c-main"."orders"',
    'DROP VIEW broken',
  ]
  const answer = await tryScript({ ...blocksOf(...script), storage }, { sampleRows: 2, shownRows: 5 })
  assert.equal(answer.status, 200, answer.text)
  const { inputs, steps, outputs, failure } = answer.json<Tried>()
  assert.equal(failure, null)
  assert.deepEqual(inputs, [{ name: 'orders', tableId: 'in.c-main.orders', rows: 2 }])
  assert.deepEqual(
    steps.map(({ statement, pointer, table, rows, changedRows, isCut }) => [
      ...[statement, pointer.slice('/parameters/blocks/0/codes/0/script/'.length), table, rows, changedRows, isCut],
    ]),
    [
      [1, '0', 'cities', 2, null, false],
      [2, '1', 'cities', 4, 2, false],
      [3, '2', 'broken', null, null, false],
      [4, '3', null, null, null, true],
      [5, '4', null, 1, null, true],
      [6, '5', null, 1, null, false],
      [7, '6', null, null, null, false],
    ],
  )
  assert.deepEqual(steps[1]?.sample.toSorted(), [
    ['Brno', 1],
    ['Praha', 1],
    ['x', 1],
    ['y', '9007199254740993'],
  ])
  assert.match(String(steps[2]?.problem), /Conversion Error/)
  assert.deepEqual(
    steps[3]?.sample.map(([i]) => i),
    [0, 1, 2, 3, 4],
  )
  const [long, ...others] = steps[4]?.sample[0] ?? []
  assert.equal(String(long).length, 500)
  assert.deepEqual(others, ['1.50', null, 'NaN'])
  assert.deepEqual(steps[5]?.sample, [[2]], 'tables that are named directly are a sample, too')
  assert.ok(steps.every(({ ms }) => ms >= 0))
  assert.deepEqual(outputs, [
    { source: 'cities', destination: 'out.c-result.tried', rows: 4 },
    { source: 'none', destination: 'out.c-result.none', rows: null },
  ])
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-result.tried')).status, 404)
  const whole = (await tryScript({ ...blocksOf('SELECT count(*) FROM orders'), storage }, { sampleRows: null })).json<Tried>()
  assert.deepEqual(whole.steps[0]?.sample, [[3]])
})

test('a trial answers with what failed and what ran before it, and has variables', async () => {
  const failed = (await tryScript(blocksOf('SELECT 1 AS a', 'SELECT\n  wrong; SELECT 3'))).json<Tried>()
  assert.equal(failed.steps.length, 1)
  const { message, ...place } = failed.failure ?? {}
  assert.match(String(message), /^Block "B", code "C", statement 2: Binder Error/)
  assert.deepEqual(place, {
    ...{ kind: 'sql.unknownColumn', pointer: '/parameters/blocks/0/codes/0/script/1', block: 'B', code: 'C', statement: 2 },
    ...{ line: 2, character: 3 },
  })
  const made = async (component: string, path: string, json: object) =>
    (await stack.request('POST', `/v2/storage/components/${component}/configs${path}`, { json })).json<{ id: string }>().id
  const variables = await made('keboola.variables', '', {
    name: 'v',
    configuration: { variables: [{ name: 'word', type: 'string' }] },
  })
  const values = await made('keboola.variables', `/${variables}/rows`, {
    name: 'd',
    configuration: { values: [{ name: 'word', value: 'hello' }] },
  })
  const configuration = { ...blocksOf("SELECT '{{ word }}' AS w"), variables_id: variables, variables_values_id: values }
  const tried = await tryScript(configuration)
  assert.deepEqual(tried.json<Tried>().steps[0]?.sample, [['hello']], tried.text)
  assert.equal((await dryRun(configuration)).status, 200, 'a dry run has them, too')
})

test('a trial is bounded in time, rows, statements and size, and refuses bad input in a sentence', async () => {
  const many = (await tryScript(blocksOf('SELECT 1;'.repeat(501)))).json<{ error: string }>()
  assert.match(many.error, /The script has 501 statements; at most 500 are tried in one request/)
  const wide = `SELECT ${Array.from({ length: 300 }, (_, i) => `repeat('w', 500) AS column_${i}`).join(', ')} FROM range(100)`
  const large = await tryScript(blocksOf(wide, wide), { shownRows: 100 })
  assert.ok(large.text.length < 2_500_000, `${large.text.length} characters`)
  const { steps } = large.json<Tried>()
  assert.deepEqual([steps[0]?.isCut, steps[1]?.isCut], [true, true])
  for (const [configData, more, words] of [
    [{}, {}, /needs parameters\.blocks/],
    ['[1]', {}, /should be an object/],
    [blocksOf('SELECT 1'), { sampleRows: 0 }, /sampleRows/],
    [blocksOf('SELECT 1'), { sampleRows: 1e9 }, /sampleRows/],
    [blocksOf('SELECT 1'), { shownRows: 1000 }, /shownRows/],
    [blocksOf('SELECT 1'), { componentId: 'keboola.ex-generic-v2' }, /is not a SQL transformation/],
    [blocksOf('SELECT 1'), { componentId: 'none.such' }, /none\.such/],
    [blocksOf('SELECT 1'), { branchId: '77' }, /Branch "77"/],
    [{ ...blocksOf('SELECT 1'), storage: { input: { tables: [{ source: 'in.c-main.no' }] } } }, {}, /in\.c-main\.no/],
    [{ ...blocksOf('SELECT 1'), variables_id: 'none' }, {}, /its variables "none" do not exist/],
  ] as const) {
    const answer = await tryScript(configData, more)
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text)
    assert.match(answer.text.replaceAll('\\"', '"'), words)
  }
  assert.match(
    String((await tryScript(blocksOf(`COPY (SELECT 1) TO '/tmp/x'`))).json<Tried>().failure?.message),
    /COPY .* is not allowed/,
  )
})

test('a trial reads what its token may read, and nothing else', async () => {
  const json = {
    description: 'trial',
    componentAccess: ['keboola.duckdb-transformation'],
    bucketPermissions: { 'out.c-result': 'read' },
  }
  const { token } = (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>()
  const direct = await tryScript(blocksOf('SELECT * FROM "in.c-main"."orders"'), {}, token)
  assert.equal(direct.status, 403, direct.text)
  const mapped = await tryScript({ ...blocksOf('SELECT * FROM orders'), storage: { input: INPUT } }, {}, token)
  assert.equal(mapped.status, 403, mapped.text)
  const other = { description: 'other', bucketPermissions: { 'in.c-main': 'read' } }
  const stranger = (await stack.request('POST', '/v2/storage/tokens', { json: other })).json<{ token: string }>()
  assert.equal((await tryScript(blocksOf('SELECT 1'), {}, stranger.token)).status, 403)
})
