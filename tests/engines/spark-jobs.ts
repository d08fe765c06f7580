// Jobs of `platform.spark-sql` on a real Spark: threads of the machine, a standalone cluster of two workers, Spark Connect. Called by run.ts.

import assert from 'node:assert/strict'
import type { SparkSettings } from '../../server/src/services/jobs/spark/spark-scripts.ts'
import { type TableClient, tableClient } from '../support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

interface Job {
  readonly id: number
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
  readonly progress?: unknown
}

export interface Code {
  readonly script: readonly string[]
  readonly language?: 'python'
}

export interface SparkStack extends AsyncDisposable {
  readonly stack: TestStack
  readonly client: TableClient
  start(codes: readonly Code[], storage: object, component?: string): Promise<number>
  end(id: number): Promise<Job>
  /** To its end, which must be a success. */
  run(codes: readonly Code[], storage: object, component?: string): Promise<number>
  /** The log of the job. */
  said(id: number): Promise<string>
  /** Resolves when it has ended. */
  kill(id: number): Promise<void>
}

export async function startSparkStack(
  spark: SparkSettings,
  options: Parameters<typeof startTestStack>[1] = {},
): Promise<SparkStack> {
  const ends: (() => unknown)[] = []
  const stack = await startTestStack({ after: (end) => ends.push(end) }, { ...options, spark })
  const client = tableClient(stack)

  async function start(codes: readonly Code[], storage: object, component = 'platform.spark-sql'): Promise<number> {
    const configuration = {
      parameters: { blocks: [{ name: 'Sums', codes: codes.map((code, i) => ({ name: `code ${i + 1}`, ...code })) }] },
      storage,
    }
    const made = await stack.request('POST', `/v2/storage/components/${component}/configs`, {
      json: { name: 'c', configuration },
    })
    assert.equal(made.status, 201, made.text)
    const json = { component, config: made.json<{ id: string }>().id, mode: 'run' }
    const started = await stack.request('POST', '/queue/jobs', { json })
    assert.equal(started.status, 201, started.text)
    return started.json<Job>().id
  }

  const end = (id: number): Promise<Job> =>
    until(
      `job ${id} ends`,
      async () => {
        const job = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
        return job.isFinished && job
      },
      900_000,
    )

  async function said(id: number): Promise<string> {
    const events = (await stack.request('GET', `/v2/storage/events?runId=${id}&limit=1000`)).json<{ message: string }[]>()
    return events
      .map(({ message }) => message)
      .reverse()
      .join('\n')
  }

  return {
    stack,
    client,
    start,
    end,
    said,
    async run(codes, storage, component) {
      const id = await start(codes, storage, component)
      const job = await end(id)
      assert.equal(job.status, 'success', `${job.result.message}\n${await said(id)}`)
      return id
    },
    async kill(id) {
      assert.equal((await stack.request('POST', `/queue/jobs/${id}/kill`)).status, 200)
      assert.equal((await end(id)).status, 'terminated')
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of ends) await one()
    },
  }
}

const CODES: readonly Code[] = [
  {
    script: [
      `CREATE TABLE "sums" AS SELECT "city", count(*) AS "orders", sum(CAST(nullif("price", '') AS INTEGER)) AS "total" FROM "orders" GROUP BY "city"; INSERT INTO "sums" VALUES ('Ostrava', 0, NULL)`,
      `UPDATE "sums" SET "orders" = 9 WHERE "city" = 'Ostrava'; CREATE VIEW "large" AS SELECT "city" FROM "sums" WHERE "total" > 15`,
    ],
  },
]
const STORAGE = (result: string) => ({
  input: {
    tables: [{ source: 'in.c-main.orders', destination: 'orders', where_column: 'city', where_values: ['Praha', 'Brno'] }],
  },
  output: {
    tables: [
      { source: 'sums', destination: `out.c-result.${result}`, primary_key: ['city'] },
      { source: 'large', destination: `out.c-result.${result}_large` },
      { source: 'sums', destination: 'out.c-result.typed', incremental: true },
    ],
  },
})

/** Every kind of input, and columns of a result. */
const PARTS_SCRIPT = [
  `CREATE TABLE "all" AS SELECT 'since' AS "from", "id", "city" FROM "since" UNION ALL SELECT 'days', "id", "city" FROM "days" UNION ALL SELECT 'alias', "id", "city" FROM "alias" UNION ALL SELECT 'branch', "id", "city" FROM "branch" UNION ALL SELECT 'typed', CAST("id" + 1 AS VARCHAR(10)), coalesce("town", 'none') FROM "typed" UNION ALL SELECT 'own', "id", "city" FROM "own"`,
  `DELETE FROM "own" WHERE "id" = '1'; CREATE VIEW "left" AS SELECT "id", "city" FROM "own" WHERE "id" < '3'`,
]

/** The same configuration on both, whose only difference is the component: tables equal row for row. */
async function checkParts({ stack, client, run }: SparkStack): Promise<void> {
  const source = 'in.c-main.parts'
  await client.create('in.c-main', 'parts', 'id,city\n1,old\n2,\n', { primaryKey: 'id' })
  const since = new Date().toISOString()
  await client.load(source, 'id,city\n2,new\n3,new\n', { incremental: true })
  const alias = { sourceTable: source, name: 'some', aliasFilter: { column: 'city', values: ['new'] } }
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: alias })
  assert.equal(made.status, 201, made.text)
  const branch = await client.succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'b' } }))
  const branchId = Number(branch.results?.id)
  const theirs = tableClient({
    ...stack,
    request: (method, path, options) =>
      stack.request(method, path.replace(/^\/v2\/storage\/(?=buckets|tables)/, `/v2/storage/branch/${branchId}/`), options),
  } as TestStack)
  await theirs.bucket()
  await theirs.create('in.c-main', 'parts', 'id,city\n9,branch\n')
  const column_types = [
    { source: 'id', type: 'INTEGER' },
    { source: 'city', destination: 'town', type: 'VARCHAR', convert_empty_values_to_null: true },
  ]
  const input = {
    tables: [
      { source, destination: 'since', changed_since: since },
      { source, destination: 'days', days: 1, where_column: 'city', where_operator: 'ne', where_values: ['old'] },
      { source: 'in.c-main.some', destination: 'alias' },
      { source, destination: 'branch', source_branch_id: branchId },
      { source, destination: 'typed', column_types },
      { source, destination: 'own', load_type: 'COPY', columns: ['id', 'city'] },
    ],
  }
  const storage = (name: string) => ({
    input,
    output: {
      tables: [
        { source: 'all', destination: `out.c-result.${name}_all`, columns: ['city', 'from', 'id'] },
        { source: 'left', destination: `out.c-result.${name}_left`, primary_key: ['id'] },
      ],
    },
  })
  await run([{ script: PARTS_SCRIPT }], storage('on_duckdb'), 'platform.sql-transformation')
  await run([{ script: PARTS_SCRIPT }], storage('on_spark'))
  for (const table of ['all', 'left']) {
    const [duckdb, spark] = [`out.c-result.on_duckdb_${table}`, `out.c-result.on_spark_${table}`]
    assert.deepEqual((await client.detail(spark)).columns, (await client.detail(duckdb)).columns)
    assert.deepEqual((await client.rows(spark)).sort(), (await client.rows(duckdb)).sort())
  }
  assert.equal((await client.detail('out.c-result.on_spark_all')).rowsCount, 2 + 2 + 2 + 1 + 3 + 3)
}

/** The same configuration on DuckDB and on Spark, by another word; then again over what is there, then in Python. */
export async function checkTransformation(spark: SparkStack): Promise<void> {
  const { stack, client, run, start, end, said } = spark
  await client.bucket('main')
  await client.bucket('result', 'out')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n4,Kladno,7\n', { primaryKey: 'id' })
  const columns = [
    { name: 'city', definition: { type: 'STRING' } },
    { name: 'orders', definition: { type: 'INTEGER' } },
    { name: 'total', definition: { type: 'NUMERIC', length: '12,2' } },
  ]
  const typed = { name: 'typed', primaryKeysNames: ['city'], columns }
  await client.succeed(await stack.request('POST', '/v2/storage/buckets/out.c-result/tables-definition', { json: typed }))
  const sorted = async (table: string) => (await client.rows(`out.c-result.${table}`)).sort()
  await run(CODES, STORAGE('duckdb'), 'platform.sql-transformation')
  const [plain, large, kept] = [await sorted('duckdb'), await sorted('duckdb_large'), await sorted('typed')]
  const first = await run(CODES, STORAGE('spark'))
  const log = await said(first)
  for (const words of ['runs the application millrace-', 'Running block "Sums", code "code 1".', 'Storing "sums".'])
    assert.ok(log.includes(words), log)
  await run(CODES, STORAGE('spark'))
  assert.deepEqual([await sorted('spark'), await sorted('spark_large'), await sorted('typed')], [plain, large, kept])
  const python = [
    {
      language: 'python' as const,
      script: [
        'from pyspark.sql import functions as f',
        "orders = spark.table('orders').withColumn('price', f.col('price').cast('string'))",
        "print('seen', orders.count())",
        "orders.select('id', f.upper('city').alias('the city')).createOrReplaceTempView('upper')",
      ],
    },
  ]
  const storage = {
    input: { tables: [{ source: 'in.c-main.orders', destination: 'orders', load_type: 'COPY', limit: 3 }] },
    output: { tables: [{ source: 'upper', destination: 'out.c-result.upper' }] },
  }
  assert.match(await said(await run(python, storage)), /seen 3/)
  assert.equal((await client.detail('out.c-result.upper')).rowsCount, 3)

  const wrong = await end(await start([{ script: ['SELECT 1', 'SELECT nothing FROM orders'] }], STORAGE('spark')))
  assert.match(wrong.result.message ?? '', /^Block "Sums", code "code 1", statement 2: .*UNRESOLVED_COLUMN/)
  const division = [{ script: ['CREATE TABLE sums AS SELECT 1 / (CAST(id AS INT) - CAST(id AS INT)) AS city FROM orders'] }]
  assert.match((await end(await start(division, STORAGE('spark')))).result.message ?? '', /DIVIDE_BY_ZERO/)
  assert.deepEqual(await sorted('spark'), plain, 'failed runs change nothing')
  await checkParts(spark)
}

/** A script that runs until somebody ends it. */
const ENDLESS: readonly Code[] = [
  {
    script: [`CREATE TABLE "t" AS SELECT count(*) AS "n" FROM range(0, 100000000000, 1, 4) a WHERE sqrt(a.id) * rand() < -1`],
  },
]
const ENDLESS_STORAGE = { output: { tables: [{ source: 't', destination: 'out.c-result.never' }] } }

/** Starts a run that does not end; resolves when the cluster works on it. */
export async function startEndless({ start, said }: SparkStack): Promise<number> {
  const id = await start(ENDLESS, ENDLESS_STORAGE)
  await until(`job ${id} runs on the cluster`, async () => (await said(id)).includes('Running block'), 900_000)
  return id
}

/** One small run, and what it makes. */
export async function checkRun({ client, stack, run }: SparkStack): Promise<void> {
  const known = (await stack.request('GET', '/v2/storage/buckets/out.c-result')).status === 200
  if (!known) {
    await client.bucket('main')
    await client.bucket('result', 'out')
    await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n')
  }
  const script = ['CREATE TABLE sums AS SELECT city, count(*) AS orders FROM orders GROUP BY city']
  await run([{ script }], {
    input: { tables: [{ source: 'in.c-main.orders', destination: 'orders' }] },
    output: { tables: [{ source: 'sums', destination: 'out.c-result.sums', primary_key: ['city'] }] },
  })
  assert.deepEqual((await client.rows('out.c-result.sums')).sort(), [
    ['Brno', '1'],
    ['Praha', '1'],
  ])
}
