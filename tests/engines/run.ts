// Whether other programs read and write the tables right: pyiceberg, DuckDB with its own Iceberg reader, clients of PostgreSQL (postgres/clients.ts),
// Spark, Trino; and whether jobs of
// `platform.spark-sql` run on threads, on a cluster and on Spark Connect, and MLflow servers that the stack starts. `npm run test:engines`, not part of
// `npm test`: it needs Python 3, Java 11 or 17 and, the first time, the package index of Python and Maven Central. What is missing is reported, and the
// suite fails. MILLRACE_ENGINES names another folder for the packages. `npm run test:engines -- readers tpch` runs some of its parts;
// MILLRACE_TPCH_SCALE is the scale of TPC-H, 0.1 by default.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { makeTpch, TPCH_TABLES } from '../../bench/support/tpch-data.ts'
import { TPCH_QUERIES, TPCH_SCHEMA } from '../../bench/support/tpch-queries.ts'
import { medianOf } from '../../server/src/kit/median.ts'
import { parseExactly } from '../../server/src/kit/text/exact-json.ts'
import { icebergReader, type Loaded } from '../support/clients/iceberg-reader.ts'
import { icebergWriter } from '../support/clients/iceberg-writer.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'
import { startCluster, startConnect } from './spark-cluster.ts'
import { checkRun, checkTransformation, startEndless, startSparkStack } from './spark-jobs.ts'
import { startTrino } from './trino.ts'

const run = promisify(execFile)
const PACKAGES = [
  'pyiceberg[pyarrow]==0.12.0',
  ...['', '-extension-iceberg', '-extension-httpfs', '-extension-avro'].map((part) => `duckdb${part}==1.5.5`),
  'pyspark==3.5.6',
  ...['', '-status'].map((part) => `grpcio${part}==1.85.1`), // of Spark Connect; its own list requires an older numpy than pyarrow accepts
  'pandas==3.1.1',
]
const FOLDER = process.env.MILLRACE_ENGINES ?? join(tmpdir(), 'millrace-engines')
const PYTHON = join(FOLDER, 'bin', 'python')
const ICEBERG_JARS = ['org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1', 'org.apache.iceberg:iceberg-aws-bundle:1.10.1']
const CONNECT_JAR = 'org.apache.spark:spark-connect_2.12:3.5.5'
const RACE_ROUNDS = 6
/** One load of all lines of scale 1 would not fit into the memory of this process. */
const TPCH_ROWS_AT_ONCE = 500_000

/** As Python writes the values. */
const TYPED = [
  'x',
  '9007199254740993',
  '1.5',
  'True',
  '1969-12-31',
  '2026-01-02 03:04:05',
  '1.25',
  '1.2500',
  '12345678901234567890123456789.123456789',
]

interface Found {
  readonly rows: number
  readonly nulls: number
  readonly travelled: readonly number[]
  readonly typed: readonly (readonly (string | null)[])[]
}

type Rows = readonly (readonly (string | null)[])[]

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const wanted = process.argv.slice(2)
if (wanted.join() === 'clients') {
  await checkClients() // has packages and a stack of its own
  process.exit()
}

await prepare()
const ends: (() => unknown)[] = []
const stack = await startTestStack({ after: (end) => ends.push(end) })
const { bucket, create, load, succeed } = tableClient(stack)
const PARTS = {
  readers: checkReaders,
  clients: checkClients,
  writers: checkPyicebergWrites,
  spark: checkSpark,
  jobs: checkSparkJobs,
  cluster: checkSparkCluster,
  connect: checkSparkConnect,
  mlflow: checkMlflow,
  trino: checkTrino,
  tpch: checkTpch,
  measure,
}
const unknown = wanted.filter((word) => !(word in PARTS))
try {
  assert.deepEqual(unknown, [], `the parts are ${Object.keys(PARTS).join(', ')}`)
  await fill()
  for (const [name, check] of Object.entries(PARTS)) if (wanted.length === 0 || wanted.includes(name)) await check()
} finally {
  for (const end of ends) await end()
}

/** Reports all that this machine lacks, and exits. */
async function prepare(): Promise<void> {
  const missing: string[] = []
  const works = async (what: string, program: string, args: readonly string[]) => {
    await run(program, args).catch(() => missing.push(what))
  }
  await works('Python 3 with the module venv (python3)', 'python3', ['-c', 'import venv, ensurepip'])
  await works('Java 11 or 17 (java), which Spark runs on', 'java', ['-version'])
  if (missing.length === 0) await install(FOLDER, PACKAGES).catch((error: Error) => missing.push(error.message))
  if (missing.length === 0) return
  say(`Nothing was tested. This machine lacks:\n${missing.map((what) => `- ${what}`).join('\n')}`)
  process.exit(1)
}

/** Once for each folder. */
async function install(folder: string, packages: readonly string[]): Promise<void> {
  const isThere = await access(join(folder, 'packages')).then(
    () => true,
    () => false,
  )
  if (isThere) return
  await mkdir(folder, { recursive: true })
  try {
    await run('python3', ['-m', 'venv', folder])
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...packages])
  } catch (cause) {
    throw new Error(`the package index of Python, for ${packages.join(', ')} (in ${folder})`, { cause })
  }
  await writeFile(join(folder, 'packages'), packages.join('\n'))
}

async function python<T>(program: string, ...args: readonly string[]): Promise<T> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const { stdout } = await run(PYTHON, [path, ...args], { maxBuffer: 64 << 20 })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T // printed by the programs beside this file
}

/** Clients of PostgreSQL, with a stack of their own. */
async function checkClients(): Promise<void> {
  const file = fileURLToPath(new URL('./postgres/clients.ts', import.meta.url))
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=spec', file], { maxBuffer: 64 << 20 })
  say(stdout)
}

async function checkReaders(): Promise<void> {
  const { masterToken: foreign } = await stack.newProject()
  const { pyiceberg, duckdb } = await python<{
    readonly pyiceberg: Found & { readonly filtered: unknown; readonly foreign: string; readonly wrong: string }
    readonly duckdb: Found & { readonly joined: number }
  }>('./readers.py', stack.url, stack.masterToken, foreign)
  checkFound('pyiceberg', pyiceberg)
  checkFound('duckdb', duckdb)
  assert.deepEqual(pyiceberg.filtered, [{ id: '7', name: 'a7', note: '' }])
  assert.deepEqual([pyiceberg.foreign, pyiceberg.wrong], ['NoSuchTableError', 'UnauthorizedError'])
  assert.equal(duckdb.joined, 500)
}

function checkFound(name: string, found: Found): void {
  assert.deepEqual([found.rows, found.nulls], [1011, 0], name)
  assert.deepEqual(found.travelled, [1000, 1005, 1011], name)

  assert.deepEqual(found.typed, [TYPED, TYPED.map(() => null)], name)
  say(`${name}: ${found.rows} rows, states of ${found.travelled.join(', ')} rows, all types right`)
}

async function checkPyicebergWrites(): Promise<void> {
  const { masterToken: foreign } = await stack.newProject()
  const reading = { description: 'reader', bucketPermissions: { 'in.c-main': 'read' } }
  const { token: reader } = (await stack.request('POST', '/v2/storage/tokens', { json: reading })).json<{ token: string }>()
  const found = await python<Record<string, unknown>>('./writers.py', stack.url, stack.masterToken, reader, foreign)
  const { duplicate, conflict, reader: readersWrite, foreign: strangers, ...rest } = found
  assert.deepEqual(rest, {
    appended: ['1', '10', '11', '2', '3'],
    deleted: ['1', '10', '11', '3'],
    overwritten: ['20', '21'],
    travelled: 5,
    widened: [
      ['20', ''],
      ['21', ''],
      ['22', 'n'],
    ],
    refreshed: 3,
    exactId: true,
    wideId: true,
    upserted: [1, 1, ['1', '2', '9']],
    both: ['1', '2', '30', '31', '9'],
    made: [
      ['9007199254740993', null, null, 'True', '1.5', null],
      [null, null, null, null, null, null],
    ],
    staged: [1],
    dropped: false,
  })
  assert.match(String(duplicate), /same primary key "id": "1"/)
  // pyiceberg repeats an append over the newer state by itself, or reports that the commit failed and leaves it to its caller.
  assert.match(String(conflict), /^nothing$|CommitFailed/)
  assert.match(String(readersWrite), /ACCESS_DENIED|AccessDenied|Forbidden/)
  assert.match(String(strangers), /NoSuchTableError/)
  const rows = await tableClient(stack).rows('in.c-main.keyed')
  assert.deepEqual(rows.map(([id]) => id).sort(), ['1', '2', '30', '31', '9'], 'as the API shows it')
  say('pyiceberg: append, upsert, overwrite, delete, new columns, tables made, staged and dropped, refusals right')
}

async function checkSpark(): Promise<void> {
  const before = await conflicts()
  const found = await python<
    Found & {
      readonly [part in 'appended' | 'merged' | 'widened' | 'overwritten' | 'ctas']: Rows
    } & {
      readonly duplicate: string
      readonly zone: string
      readonly race: { readonly failures: string[]; readonly rows: Rows; readonly seconds: number }
    }
  >('./spark.py', stack.url, stack.masterToken, join(FOLDER, 'ivy'), String(RACE_ROUNDS))
  checkFound('spark', found)
  assert.deepEqual(found.appended, [
    ['1', 'a'],
    ['10', 'x'],
    ['11', 'y'],
    ['2', 'b'],
    ['3', 'c'],
  ])
  assert.deepEqual(found.merged, [
    ['1', 'U'],
    ['10', 'm'],
    ['11', 'y'],
    ['12', 'n'],
    ['3', 'c'],
  ])
  assert.match(found.duplicate, /same primary key "id": "10"/)
  assert.deepEqual(found.widened.at(3), ['12', ''])
  assert.deepEqual(found.widened.at(4), ['13', 'n'])
  assert.deepEqual(found.overwritten.flat(), ['1', '10', '11'])
  assert.deepEqual(found.ctas, [['1', '1', '1.50', '2026-01-02 03:04:05']])
  assert.match(found.zone, /timestamp_ntz/)
  assert.deepEqual(found.race.failures, [])
  const each = String(RACE_ROUNDS)
  assert.deepEqual(found.race.rows, [
    ['a', each, each],
    ['b', each, each],
  ])
  await checkKilled()
  const lost = (await conflicts()) - before
  assert.ok(lost > 0, 'two writers at once never met: run the suite again with more rounds')
  say(
    `spark: append, merge, update, delete, overwrite, new columns, CTAS right; two writers at once: ${lost} conflicts answered with 409, no row lost; kill -9 between bytes and commit: nothing published`,
  )
}

/** Spark is killed when its commit is on the way: its bytes are there, and the table is as before. */
async function checkKilled(): Promise<void> {
  await create('in.c-main', 'killed', 'id,name\n1,a\n')
  const program = fileURLToPath(new URL('./spark.py', import.meta.url))
  const proxy = createServer((request, answer) => {
    if (request.method === 'POST' && request.url?.endsWith('/tables/killed')) return process.kill(-(child.pid ?? 0), 'SIGKILL')
    const { method, headers, url = '/' } = request
    const onward = httpRequest(`${stack.url}${url}`, { ...(method && { method }), headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 500, answered.headers)
      answered.pipe(answer)
    })
    request.pipe(onward)
    return undefined
  })
  const port = await new Promise<number>((resolve) => {
    proxy.listen(0, '127.0.0.1', () => resolve((proxy.address() as { port: number }).port)) // it listens on a port
  })
  const args = [program, `http://127.0.0.1:${port}`, stack.masterToken, join(FOLDER, 'ivy'), 'insert']
  const child = spawn(PYTHON, args, { detached: true, stdio: 'ignore' })
  const signal = await new Promise((resolve) => child.once('exit', (_, name) => resolve(name)))
  proxy.closeAllConnections()
  proxy.close()
  assert.equal(signal, 'SIGKILL')
  const { objects } = await stack.platform.objects.store.list({ prefix: `tables/${stack.projectId}/` })
  assert.ok(
    objects.some(({ key }) => /\/staged\/data\/.*parquet$/.test(key)),
    'the bytes were there',
  )
  assert.deepEqual(await tableClient(stack).rows('in.c-main.killed'), [['1', 'a']])
  await load('in.c-main.killed', 'id,name\n3,c\n', { incremental: true })
  assert.equal((await tableClient(stack).rows('in.c-main.killed')).length, 2)
}

/** What `MILLRACE_SPARK_CONF` would contain. */
function sparkConf(): Record<string, string> {
  return {
    'spark.jars.packages': ICEBERG_JARS.join(','),
    'spark.jars.ivy': join(FOLDER, 'ivy'),
    'spark.driver.memory': '1g',
    'spark.executor.memory': '600m',
    'spark.sql.shuffle.partitions': '2',
  }
}

/** `platform.spark-sql` on threads of this machine, isolated where the kernel allows it, beside DuckDB. */
async function checkSparkJobs(): Promise<void> {
  const isolation = { mode: 'auto', readable: [FOLDER], uid: 65_534 } as const
  const worker = { isolation, path: process.env.PATH ?? '/usr/bin:/bin' }
  await using spark = await startSparkStack({ url: 'local[2]', python: PYTHON, conf: sparkConf() }, { worker })
  await checkTransformation(spark)
  say('platform.spark-sql: local[2]: the results of DuckDB, also over tables that are there and typed; Python; refusals right')
}

/** On a master with two workers: a run, a kill that ends the application, and a cluster that is gone in the middle. */
async function checkSparkCluster(): Promise<void> {
  const cluster = await startCluster(await sparkHome(), PYTHON)
  try {
    await using spark = await startSparkStack({ url: cluster.url, python: PYTHON, conf: sparkConf() })
    await checkRun(spark)
    const killed = await startEndless(spark)
    const name = `millrace-${spark.stack.projectId}-${killed}`
    assert.deepEqual(
      (await cluster.applications()).map((one) => one.name),
      [name],
    )
    await spark.kill(killed)
    await until('the cluster has ended it', async () => (await cluster.applications()).length === 0, 60_000)

    const orphaned = await startEndless(spark)
    await cluster.kill()
    const { status, result } = await spark.end(orphaned)
    assert.equal(status, 'error')
    assert.match(
      result.message ?? '',
      /^The Spark cluster at spark:\/\/127.0.0.1:\d+ is gone: .* No table was changed; run the job again.$/,
    )
    assert.equal((await spark.stack.request('GET', '/v2/storage/tables/out.c-result.never')).status, 404)
  } finally {
    await cluster.kill()
  }
  say('platform.spark-sql: master and two workers: a run, a kill that ends the application, a cluster gone in the middle right')
}

/** On a server of Spark Connect: a run, and a kill that ends its query. */
async function checkSparkConnect(): Promise<void> {
  const server = await startConnect(await sparkHome(), PYTHON, {
    packages: [...ICEBERG_JARS, CONNECT_JAR],
    ivy: join(FOLDER, 'ivy'),
  })
  try {
    await using spark = await startSparkStack({ url: server.url, python: PYTHON, conf: {} })
    await checkRun(spark)
    await spark.kill(await startEndless(spark))
    await checkRun(spark) // one core: it would wait for ever behind the query that was killed
  } finally {
    await server.kill()
  }
  say('platform.spark-sql: Spark Connect: a run, a kill that ends the query right')
}

async function sparkHome(): Promise<string> {
  return (await run(PYTHON, ['-c', 'import os, pyspark; print(os.path.dirname(pyspark.__file__))'])).stdout.trim()
}

/** Servers that the stack starts: a run is logged and found by its own project, and by no other. */
async function checkMlflow(): Promise<void> {
  const folder = join(FOLDER, 'mlflow')
  await install(folder, ['mlflow==3.17.2']) // it requires older packages than the others
  const python = join(folder, 'bin', 'python')
  const own: (() => unknown)[] = []
  const served = await startTestStack({ after: (end) => own.push(end) }, { servers: { mlflowPython: python } })
  try {
    const { masterToken: other } = await served.newProject()
    const use = async (token: string) => {
      const env = { ...process.env, MLFLOW_TRACKING_URI: `${served.url}/mlflow`, MLFLOW_TRACKING_TOKEN: token }
      const path = fileURLToPath(new URL('./mlflow_use.py', import.meta.url))
      return JSON.parse((await run(python, [path], { env })).stdout.trim().split('\n').at(-1) ?? '') as unknown // printed by it
    }
    const logged = { runs: [[{ depth: '3' }, { rmse: 0.5 }]], note: 'hello' }
    for (const token of [served.masterToken, other]) {
      const { text } = await served.request('GET', '/mlflow/server', { token })
      assert.match(text, /"problem":null/)
      assert.deepEqual(await use(token), { ...logged, before: ['Default'] })
    }
  } finally {
    for (const end of own) await end()
  }
  say('mlflow: servers of the stack for two projects: a run, its metric and its file are logged and found in their own project')
}

/** Trino where the machine has it: it is neither in Maven's usual shape nor content with the Java of Spark. */
async function checkTrino(): Promise<void> {
  const { MILLRACE_TRINO: home, MILLRACE_TRINO_JAVA: java = 'java' } = process.env
  if (home === undefined) return say('trino: not run; MILLRACE_TRINO names an unpacked server, MILLRACE_TRINO_JAVA a Java for it')
  await using trino = await startTrino(home, java, {
    stackUrl: stack.url,
    s3Url: stack.platform.objects.url(),
    token: stack.masterToken,
  })
  const schema = 'millrace."in.c-main"'
  const count = async (sql: string) => Number((await trino.rows(`SELECT count(*) FROM ${sql}`))[0]?.[0])
  assert.deepEqual([await count(`${schema}.people`), await count(`${schema}.people WHERE note IS NULL`)], [1011, 0])
  const snapshots = await trino.rows(`SELECT snapshot_id FROM ${schema}."people$snapshots" ORDER BY committed_at, snapshot_id`)
  const travelled = await Promise.all(snapshots.map(([id]) => count(`${schema}.people FOR VERSION AS OF BIGINT '${id}'`)))
  assert.deepEqual(travelled, [1000, 1005, 1011])
  const [typed, nulls] = await trino.rows(`SELECT * FROM ${schema}.typed ORDER BY 1 NULLS LAST`)
  const values = TYPED.map((value) => (value === 'True' ? 'true' : value.replace('03:04:05', '03:04:05.000')))
  assert.deepEqual([typed?.map(String), nulls], [values, TYPED.map(() => null)])
  assert.equal(await count(`${schema}.people p JOIN ${schema}.other o ON p.id = o.id`), 500)
  say(`trino: 1011 rows, states of ${travelled.join(', ')} rows, all types right`)
}

/** Both engines read the same tables through the catalogue. */
async function checkTpch(): Promise<void> {
  const scale = Number(process.env.MILLRACE_TPCH_SCALE ?? 0.1)
  await fillTpch(scale)
  const path = join(stack.dataDir, 'queries.json')
  await writeFile(path, JSON.stringify(TPCH_QUERIES.map((sql) => sql.replaceAll(`"${TPCH_SCHEMA}".`, ''))))
  const found = await python<{
    readonly different: readonly number[]
    readonly empty: readonly number[]
    readonly rows: number
    readonly executors: number
    readonly duckdbSeconds: number
    readonly sparkSeconds: number
  }>('./tpch.py', stack.url, stack.masterToken, path, join(FOLDER, 'ivy'))
  const { duckdbSeconds, sparkSeconds } = found
  assert.deepEqual([found.different, found.executors], [[], 2], 'numbers of queries with different results, executors')
  say(
    `TPC-H at scale ${scale}: ${TPCH_QUERIES.length} queries, ${found.rows} rows equal on DuckDB and Spark (2 workers); processor seconds ${duckdbSeconds} and ${sparkSeconds}, ratio ${(sparkSeconds / duckdbSeconds).toFixed(1)}`,
  )
}

async function fillTpch(scale: number): Promise<void> {
  const made = await (await DuckDBInstance.create()).connect()
  await makeTpch(made, scale)
  await bucket('tpch')
  for (const [name, columns] of Object.entries(TPCH_TABLES)) {
    const defined = columns.map((column) => ({
      name: column.name,
      definition: column.type === 'NUMERIC' ? { type: column.type, length: '12,2' } : { type: column.type },
    }))
    const definition = { json: { name, columns: defined } }
    await succeed(await stack.request('POST', `/v2/storage/buckets/${TPCH_SCHEMA}/tables-definition`, definition))
    const path = join(stack.dataDir, `${name}.csv`)
    const [[rows] = []] = (await made.runAndReadAll(`SELECT count(*)::INTEGER FROM ${name}`)).getRows()
    for (let from = 0; from < Number(rows); from += TPCH_ROWS_AT_ONCE) {
      const part = `FROM ${name} WHERE rowid >= ${from} AND rowid < ${from + TPCH_ROWS_AT_ONCE}`
      await made.run(`COPY (${part}) TO '${path}' (FORMAT csv, HEADER)`)
      await load(`${TPCH_SCHEMA}.${name}`, await readFile(path), { incremental: from > 0 })
      await rm(path)
    }
  }
  made.closeSync()
}

/** Commits that were answered with 409 so far. */
async function conflicts(): Promise<number> {
  const { text } = await stack.request('GET', '/metrics', { token: null })
  const line = text.split('\n').find((one) => /_count\{.*operation="iceberg.commit",status="409"/.test(one))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** Times of this machine now: loads of tables of many files, and commits of one small file. */
async function measure(): Promise<void> {
  for (const files of [1, 100, 1000]) {
    const name = `files${files}`
    await create('in.c-main', name, 'id\n1\n')
    await publishFiles(name, files)
    const address = `/iceberg/v1/${stack.projectId}/namespaces/in.c-main/tables/${name}`
    const headers = { 'x-iceberg-access-delegation': 'vended-credentials' }
    const timed = () => milliseconds(async () => assert.equal((await stack.request('GET', address, { headers })).status, 200))
    const first = await timed()
    const again = await Promise.all([await timed(), await timed(), await timed()])
    say(`catalogue: a table of ${files} files loads in ${first} ms the first time, then in ${medianOf(again)} ms`)
  }
  const times: number[] = []
  await create('in.c-main', 'latency', 'id\n1\n')
  // One more would make the table worth a compaction, which may come between a load and its commit.
  for (let i = 0; i < 7; i++) times.push(await commitOne(`row${i}`))
  say(`commit: one small file is published in ${medianOf(times)} ms (${Math.min(...times)} to ${Math.max(...times)})`)
}

async function publishFiles(name: string, files: number): Promise<void> {
  const { parts } = stack.platform.tables
  const { data: row } = await parts.catalog.get(await scope(), `in.c-main.${name}`)
  const { snapshot } = (await parts.store.findState(row.snapshotId ?? 0)) ?? assert.fail('a table without a state')
  const [segment] = snapshot.segments
  const segments = Array.from({ length: files }, (_, i) => ({
    ...segment!,
    key: `tables/${row.projectId}/${row.key}/${i}.parquet`,
  }))
  await parts.inTransaction((trx) => parts.store.publish(trx, row, { ...snapshot, segments }, parts.clock.now(), {}))
}

async function scope() {
  const actor = (await stack.platform.tokens.authenticate(stack.masterToken)) ?? assert.fail('the master token is valid')
  const { id } = (await stack.request('GET', '/v2/storage/dev-branches/default')).json<{ id: number }>()
  return { actor, branch: { id, isDefault: true } }
}

async function commitOne(value: string): Promise<number> {
  const address = `/iceberg/v1/${stack.projectId}/namespaces/in.c-main/tables/latency`
  const answer = await stack.request('GET', address, { headers: { 'x-iceberg-access-delegation': 'vended-credentials' } })
  const loaded = parseExactly(answer.text) as Loaded // the wire format
  const writer = icebergWriter(loaded)
  const file = await writer.dataFile(`SELECT '${value}' AS id`)
  const body = writer.commitOf(await writer.snapshot([file], { kept: await icebergReader(loaded).manifests() }))
  const headers = { 'content-type': 'application/json' }
  return milliseconds(async () => assert.equal((await stack.request('POST', address, { body, headers })).status, 200))
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return Math.round(performance.now() - began)
}

/** Upserts, a column added after the first loads, every type, nulls, decimals of 9, 18 and 38 digits, a date before 1970. */
async function fill(): Promise<void> {
  const lines = (from: number, to: number, text: string) =>
    Array.from({ length: to - from }, (_, i) => `${from + i},${text}${from + i}\n`).join('')
  await bucket()
  await create('in.c-main', 'people', `id,name\n${lines(0, 1000, 'a')}`, { primaryKey: 'id' })
  await load('in.c-main.people', `id,name\n${lines(950, 1005, 'b')}`, { incremental: true })
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.people/columns', { json: { name: 'note' } }))
  await load('in.c-main.people', 'id,name,note\n1005,x,n\n3,y,n\n', { incremental: true })
  const more = Array.from({ length: 5 }, (_, i) => `${1006 + i},z,n\n`).join('')
  await load('in.c-main.people', `id,name,note\n${more}`, { incremental: true })
  await create('in.c-main', 'other', `id,v\n${lines(0, 500, 'o')}`)
  await create('in.c-main', 'plain', 'id,name\n1,a\n2,b\n3,c\n')
  await create('in.c-main', 'keyed', 'id,name\n1,a\n2,b\n', { primaryKey: 'id' })
  await create('in.c-main', 'spark', 'id,name\n1,a\n2,b\n3,c\n', { primaryKey: 'id' })
  const columns = [
    ...['STRING', 'INTEGER', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP'].map((basetype) => ({
      name: basetype.toLowerCase(),
      basetype,
    })),
    ...['9,2', '18,4', '38,9'].map((length, i) => ({ name: `decimal${i}`, definition: { type: 'NUMERIC', length } })),
  ]
  const definition = { json: { name: 'typed', columns } }
  await succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', definition))
  const header = columns.map(({ name }) => name).join()
  const values = TYPED.map((value) => value.replace('True', 'true')).join()
  await load('in.c-main.typed', `${header}\n${values}\n${','.repeat(columns.length - 1)}\n`)
}
