// Jobs of platform.spark-sql with a program in the place of Spark: what the driver receives and may reach, and what becomes of what it leaves.
// Real clusters are in tests/engines.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import type { StandInTask } from '../../../../../tests/support/servers/spark-stand-in.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { planInput, planPart } from './spark-plan.ts'
import { NO_SPARK } from './spark-scripts.ts'

const COMPONENT = 'platform.spark-sql'
const STAND_IN = fileURLToPath(new URL('../../../../../tests/support/servers/spark-stand-in.ts', import.meta.url))

interface Job {
  readonly id: number
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string; readonly error?: { readonly type?: string } }
}

/** Changed by tests: the stack reads it at every run. */
const spark: { url: string | undefined; python: string; conf: Record<string, string> } = {
  ...NO_SPARK,
  url: 'local[1]',
  python: STAND_IN,
}
let stack: TestStack
let client: TableClient
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { spark, worker: { path: `${dirname(process.execPath)}:/usr/bin:/bin` } })
  client = tableClient(stack)
  await client.bucket('main')
  await client.bucket('secret')
  await client.bucket('result', 'out')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n')
  await client.create('in.c-secret', 'people', 'id\n1\n')
})
test.after(() => stop?.())

async function start(task: StandInTask, storage: object): Promise<number> {
  const codes = [{ name: 'c', language: 'python', script: [JSON.stringify(task)] }]
  const configuration = { parameters: { blocks: [{ name: 'b', codes }] }, storage }
  const made = await stack.request('POST', `/v2/storage/components/${COMPONENT}/configs`, { json: { name: 'c', configuration } })
  assert.equal(made.status, 201, made.text)
  const json = { component: COMPONENT, config: made.json<{ id: string }>().id, mode: 'run' }
  const started = await stack.request('POST', '/queue/jobs', { json })
  assert.equal(started.status, 201, started.text)
  return started.json<Job>().id
}

const end = (id: number): Promise<Job> =>
  until(`job ${id} ends`, async () => {
    const job = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
    return job.isFinished && job
  })

const said = async (id: number): Promise<string> =>
  (await stack.request('GET', `/v2/storage/events?runId=${id}&limit=200`))
    .json<{ message: string }[]>()
    .map(({ message }) => message)
    .join('\n')

const output = (...tables: readonly object[]) => ({ output: { tables } })
const tokensOfRuns = async () => {
  const tokens = (await stack.request('GET', '/v2/storage/tokens')).json<{ description: string }[]>()
  return tokens.filter(({ description }) => description.startsWith('Spark run'))
}
/** Objects of tables, wherever they lie. */
async function keys(): Promise<readonly string[]> {
  const { parts } = stack.platform.tables
  const { data } = await parts.catalog.get(await scope(), 'out.c-result.sums')
  const { snapshot } = (await parts.store.findState(data.snapshotId ?? 0)) ?? assert.fail('a table without a state')
  return snapshot.segments.map(({ key }) => key)
}

async function scope() {
  const actor = (await stack.platform.tokens.authenticate(stack.masterToken)) ?? assert.fail('the master token is valid')
  const { id } = (await stack.request('GET', '/v2/storage/dev-branches/default')).json<{ id: number }>()
  return { actor, branch: { id, isDefault: true } }
}

test('files that the cluster wrote are tables of the project where they lie; the token of the run reads the inputs, writes its own tables, and ends with it', async () => {
  const first = await start(
    {
      write: { sums: { columns: ['the city', 'total'], select: `SELECT 'Praha' AS "the city", '10' AS total` } },
      ask: ['/in.c-main/tables/orders', '/in.c-secret/tables/people', '/out.c-result/tables', '/run', '/run/tables/none'],
    },
    {
      input: { tables: [{ source: 'in.c-main.orders', destination: 'orders', where_column: 'city', where_values: ['Praha'] }] },
      ...output({ source: 'sums', destination: 'out.c-result.sums', primary_key: ['the_city'] }),
    },
  )
  const job = await end(first)
  const words = await said(first)
  assert.equal(job.status, 'success', `${job.result.message}\n${words}`)
  assert.deepEqual(await client.rows('out.c-result.sums'), [['Praha', '10']])
  const { columns, primaryKey, rowsCount } = await client.detail('out.c-result.sums')
  assert.deepEqual([columns, primaryKey, rowsCount], [['the_city', 'total'], ['the_city'], 1])
  const [key = ''] = await keys()
  assert.match(key, new RegExp(`^tables/${stack.projectId}/new-[0-9a-f-]{36}/data/`), 'the file that the writer put')

  assert.match(words, new RegExp(`millrace-${stack.projectId}-${first} with \\[hidden\\]`))
  assert.match(words, /"table":\["in","c-main","orders"\].*coalesce\(CAST\(`city` AS STRING\), ''\) IN \('Praha'\)/)
  for (const [path, status] of [
    ['/in.c-main/tables/orders', 200],
    ['/in.c-secret/tables/people', 403],
    ['/out.c-result/tables', 403],
    ['/run', 200],
    ['/run/tables/none', 404],
  ] as const)
    assert.match(words, new RegExp(`asked ${path}: ${status}\n?`))
  assert.deepEqual(await tokensOfRuns(), [])
  assert.equal((await stack.request('GET', `/iceberg/v1/${stack.projectId}/namespaces/run`)).status, 404, 'not of this token')

  const second = await end(
    await start(
      {
        write: {
          sums: {
            columns: ['total', 'The_City', 'note'],
            select: `FROM (VALUES ('11', 'Praha', ''), ('20', 'Brno', 'n')) t(total, "The_City", note)`,
          },
        },
      },
      output({ source: 'sums', destination: 'out.c-result.sums', incremental: true }),
    ),
  )
  assert.equal(second.status, 'success', second.result.message)
  assert.deepEqual((await client.rows('out.c-result.sums')).sort(), [
    ['Brno', '20', 'n'],
    ['Praha', '11', ''],
  ])
  const own = `tables/${stack.projectId}/\\d+/run-[0-9a-f-]{36}/data/`
  assert.match((await keys()).at(-1) ?? '', new RegExp(`^${own}`), 'below the folder of the table')
})

test('rows for a typed table have its types, and several results are published together', async () => {
  const columns = [
    { name: 'id', definition: { type: 'INTEGER' } },
    { name: 'at', definition: { type: 'TIMESTAMP' } },
    { name: 'price', definition: { type: 'NUMERIC', length: '9,2' } },
  ]
  const made = await stack.request('POST', '/v2/storage/buckets/out.c-result/tables-definition', {
    json: { name: 'typed', columns },
  })
  await client.succeed(made)
  const select = `SELECT 7::BIGINT AS id, TIMESTAMP '2026-01-02 03:04:05' AS at, 1.50::DECIMAL(9, 2) AS price`
  const write = { typed: { columns: ['id', 'at', 'price'], select }, other: { columns: ['a'], select: `SELECT 'x' AS a` } }
  const storage = output(
    { source: 'typed', destination: 'out.c-result.typed' },
    { source: 'other', destination: 'out.c-result.other' },
    { source: 'other', destination: 'out.c-result.another' },
  )
  const id = await start({ write }, storage)
  const job = await end(id)
  assert.equal(job.status, 'success', `${job.result.message}\n${await said(id)}`)
  assert.match(await said(id), /"table":"typed","name":"result-0","columns":null,"isText":false/)
  assert.deepEqual(await client.rows('out.c-result.typed'), [['7', '2026-01-02 03:04:05', '1.50']])
  for (const table of ['other', 'another']) assert.deepEqual(await client.rows(`out.c-result.${table}`), [['x']])
})

test('what cannot be taken over changes no table, and is said in one sentence', async () => {
  await client.create('out.c-result', 'kept', 'a\nbefore\n')
  const good = { columns: ['a'], select: `SELECT 'after' AS a` }
  const kept = { source: 'kept', destination: 'out.c-result.kept' }
  const fails = async (task: StandInTask, storage: object, words: RegExp) => {
    const job = await end(await start(task, storage))
    assert.deepEqual([job.status, job.result.error?.type], ['error', 'user'], job.result.message)
    assert.match(job.result.message ?? '', words)
  }
  await Promise.all([
    fails({ write: { kept: { ...good, rows: 9 } } }, output(kept), /has 1 rows, but its manifest has 9/),
    fails({ write: { kept: { ...good, ids: { a: 9 } } } }, output(kept), /has the field id 9/),
    fails({ exit: 3 }, output(kept), /exited before its work was done: it ended with exit code 3: no more memory/),
    fails({}, output(kept), /Output table "kept": the run did not store it/),
    fails(
      { problem: { kind: 'cluster', message: 'The Spark cluster at spark://a:7077 is gone.' } },
      output(kept),
      /^The Spark cluster at spark:\/\/a:7077 is gone. No table was changed; run the job again.$/,
    ),
    fails({}, { output: { tables: [kept], data_type_support: 'authoritative' } }, /make the table with its types first/),
  ])
  assert.deepEqual(await client.rows('out.c-result.kept'), [['before']])
  assert.deepEqual(await tokensOfRuns(), [])
})

test('an input that shows less than the files of its table is files of its own; another branch is another catalogue', async () => {
  await client.create('in.c-main', 'loads', 'id,city\n1,old\n')
  await client.create('in.c-secret', 'cities', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Brno,30\n')
  const alias = { sourceTable: 'in.c-secret.cities', name: 'brno', aliasFilter: { column: 'city', values: ['Brno'] } }
  assert.equal((await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: alias })).status, 201)
  const since = new Date().toISOString()
  await client.load('in.c-main.loads', 'id,city\n2,new\n', { incremental: true })
  const made = await client.succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'other' } }))
  const branchId = Number(made.results?.id)
  const id = await start(
    {
      write: { x: { columns: ['a'], select: `SELECT 'x' AS a` } },
      read: ['input-0', 'input-1'],
      ask: ['/in.c-main/tables/brno', '/in.c-secret/tables/cities'],
    },
    {
      input: {
        tables: [
          { source: 'in.c-main.loads', destination: 'loads', changed_since: since, columns: ['city'] },
          { source: 'in.c-main.brno', destination: 'brno', where_column: 'id', where_values: ['3', '1'] },
          { source: 'in.c-main.orders', destination: 'theirs', source_branch_id: branchId },
        ],
      },
      ...output({ source: 'x', destination: 'out.c-result.parts' }),
    },
  )
  const job = await end(id)
  const words = await said(id)
  assert.equal(job.status, 'success', `${job.result.message}\n${words}`)
  assert.match(words, /read input-0: \[\["new"\]\]/)
  assert.match(words, /read input-1: \[\["3","Brno","30"\]\]/)
  assert.match(words, new RegExp(`"catalogue":"millrace_${branchId}","table":\\["in","c-main","orders"\\]`))
  assert.match(words, new RegExp(`"millrace":"","millrace_${branchId}":"${branchId}"`))
  assert.match(words, /asked \/in.c-main\/tables\/brno: 40\d/)
  assert.match(words, /asked \/in.c-secret\/tables\/cities: 403/)
  const left = await stack.platform.objects.store.list({ prefix: `tables/${stack.projectId}/run-` })
  assert.deepEqual(left.objects, [], 'the files of the run went with it')
})

test('a kill ends the driver; without a cluster, or without its Python, the job says what to set', async () => {
  const id = await start({ hang: true }, output({ source: 'x', destination: 'out.c-result.x' }))
  await until('the driver runs', async () => (await said(id)).includes('Statement') || (await said(id)).includes('millrace-'))
  assert.equal((await stack.request('POST', `/queue/jobs/${id}/kill`)).status, 200)
  const killed = await end(id)
  assert.ok(['terminated', 'cancelled'].includes(killed.status), killed.status)
  assert.deepEqual(await tokensOfRuns(), [])

  const python = spark.python
  spark.python = '/nowhere/python'
  const without = await end(await start({}, output({ source: 'x', destination: 'out.c-result.x' })))
  assert.match(without.result.message ?? '', /MILLRACE_SPARK_PYTHON/)
  spark.python = python
  spark.url = undefined
  const none = await end(await start({}, output({ source: 'x', destination: 'out.c-result.x' })))
  assert.match(none.result.message ?? '', /No Spark cluster is registered with this stack.*MILLRACE_SPARK_URL/)
  spark.url = 'local[1]'
})

test('inputs and statements are planned in the words of Spark', async () => {
  const input = {
    name: 'o',
    scope: { branchId: 1 },
    tableId: 'in.c-main.o',
    query: {
      columns: ['a'],
      where: { column: 'a`b', operator: 'ne', values: ["it's", 'a\\b'] },
      changedSince: undefined,
      limit: 5,
    },
    columns: [
      { source: 'a', destination: 'b', type: 'TIMESTAMP', isNullable: true, emptyIsNull: true },
      { source: 'c', destination: 'c', isNullable: true, emptyIsNull: false },
    ],
    isCopied: false,
  }
  const run = { scope: { branchId: 1 }, inputs: [input] } as unknown as Parameters<typeof planInput>[0]
  assert.deepEqual(planInput(run, run.inputs[0]!, undefined), {
    name: 'o',
    catalogue: 'millrace',
    table: ['in', 'c-main', 'o'],
    columns: ["CAST(nullif(CAST(`a` AS STRING), '') AS TIMESTAMP_NTZ) AS `b`", '`c` AS `c`'],
    where: "coalesce(CAST(`a``b` AS STRING), '') NOT IN ('it\\'s', 'a\\\\b')",
    limit: 5,
    isCopied: false,
  })
  const elsewhere = { ...run, scope: { ...run.scope, branchId: 2 } }
  assert.equal(planInput(elsewhere, run.inputs[0]!, undefined).catalogue, 'millrace_1')
  assert.deepEqual(planInput(run, { ...run.inputs[0]!, columns: undefined }, 'input-0'), {
    name: 'o',
    catalogue: 'millrace',
    table: ['run', 'input-0'],
    columns: null,
    where: null,
    limit: null,
    isCopied: false,
  })
  assert.throws(
    () => planInput({ ...run, inputs: [...run.inputs, { ...run.inputs[0]!, name: 'O' }] }, run.inputs[0]!, undefined),
    /same name/,
  )
  const part = { block: 'b', code: 'c', pointer: '/p', script: ["SELECT ';'; SELECT 2", 'SELECT 3'] }
  assert.deepEqual((await planPart({ ...part, language: 'sql' })).statements, ["SELECT ';'", 'SELECT 2', 'SELECT 3'])
  assert.deepEqual((await planPart({ ...part, language: 'python' })).statements, ["SELECT ';'; SELECT 2\nSELECT 3"])
  await assert.rejects(planPart({ ...part, script: ["SELECT 'open"], language: 'sql' }), /Block "b", code "c"/)
})
