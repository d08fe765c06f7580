// TPC-H through the direct route against bare DuckDB over plain Parquet files of the same rows: tables imported through the API, all 22 queries,
// same results. Target: at most 1.3 x. `node bench/sql-tpch.bench.ts 1` runs scale 1; the default is small.

import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createLog } from '../server/src/kit/log.ts'
import { createSecrets } from '../server/src/kit/secrets.ts'
import { createPlatform } from '../server/src/wiring/platform.ts'
import { inTurns, median, report, round } from './measure.ts'
import { makeTpch, TPCH_TABLES } from './tpch-data.ts'
import { TPCH_QUERIES, TPCH_SCHEMA } from './tpch-queries.ts'

const scale = Number(process.argv[2] ?? process.env.MILLRACE_BENCH_SCALE ?? 0.05)
const ROUNDS = 3
const dir = mkdtempSync(join(tmpdir(), 'millrace-tpch-'))
const bare = await (await DuckDBInstance.create(join(dir, 'made.duckdb'))).connect()
await makeTpch(bare, scale)
await bare.run(`CREATE SCHEMA "${TPCH_SCHEMA}"`)

const platform = await createPlatform({
  version: 'bench',
  region: 'us-east-1',
  bucket: 'millrace',
  bodyLimitBytes: 8 << 20,
  corsOrigins: [],
  log: createLog({ level: 'fatal', secrets: createSecrets() }),
  dataDir: join(dir, 'data'),
})
const { master } = await platform.tokens.createProject('Bench')
await platform.start()
const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
await platform.objects.listen(0, '127.0.0.1')
const actor = (await platform.tokens.authenticate(master.value)) ?? fail('the master token is not valid')

function fail(message: string): never {
  throw new Error(message)
}
const headers = { 'X-StorageApi-Token': master.value, 'Content-Type': 'application/json' }
const post = (path: string, body: object) =>
  fetch(`${url}/v2/storage/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })

interface Job {
  readonly url: string
  readonly status: string
}

async function ended(answer: Response): Promise<void> {
  let job = (await answer.json()) as Job
  while (job.status === 'waiting' || job.status === 'processing') {
    await new Promise((resolve) => setTimeout(resolve, 20))
    job = (await (await fetch(job.url, { headers })).json()) as Job
  }
  if (job.status !== 'success') fail(JSON.stringify(job))
}

/** The rows as CSV through the API into a typed table, and as one plain Parquet file beside it. */
async function load(table: string): Promise<void> {
  const columns = (TPCH_TABLES[table] ?? []).map(({ name, type }) => ({
    name,
    definition: type === 'NUMERIC' ? { type, length: '12,2' } : { type },
  }))
  await ended(await post('buckets/in.c-tpch/tables-definition', { name: table, primaryKeysNames: [], columns }))
  const csv = join(dir, `${table}.csv`)
  await bare.run(`COPY ${table} TO '${csv}' (FORMAT csv, HEADER)`)
  const origin = { runId: null, remoteAddress: null, userAgent: null }
  const file = await platform.files.upload(
    actor,
    `${table}.csv`,
    createReadStream(csv),
    async () => ({ name: `${table}.csv` }),
    origin,
  )
  await ended(await post(`tables/in.c-tpch.${table}/import-async`, { dataFileId: file.id }))
  rmSync(csv)
  const plain = join(dir, `${table}.parquet`)
  await bare.run(`COPY ${table} TO '${plain}' (FORMAT parquet, COMPRESSION zstd)`)
  await bare.run(`DROP TABLE ${table}`)
  await bare.run(`CREATE VIEW "${TPCH_SCHEMA}".${table} AS FROM read_parquet('${plain}')`)
}

await post('buckets', { name: 'tpch', stage: 'in' })
for (const table of Object.keys(TPCH_TABLES)) await load(table)

async function queried(sql: string): Promise<string> {
  const answer = await post('query', { sql, format: 'csv' })
  const text = await answer.text()
  return answer.ok ? text : fail(`${text}\n${sql}`)
}

const bareRows = async (sql: string) => (await bare.runAndReadAll(sql)).getRowsJson()

async function bareText(sql: string): Promise<string> {
  await bare.run(`COPY (${sql}) TO '${join(dir, 'result.csv')}' (FORMAT csv, HEADER)`)
  return readFileSync(join(dir, 'result.csv'), 'utf8')
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

await queried('SELECT 1')
const ratios: number[] = []
let [mine, theirs, slowest] = [0, 0, '']
for (const [i, sql] of TPCH_QUERIES.entries()) {
  if ((await queried(sql)) !== (await bareText(sql))) fail(`query ${i + 1} has another result`)
  const time = await inTurns(ROUNDS, { ours: () => seconds(() => queried(sql)), bare: () => seconds(() => bareRows(sql)) })
  mine += time.ours
  theirs += time.bare
  ratios.push(time.ours / time.bare)
  if (Math.max(...ratios) === ratios.at(-1)) slowest = `Q${i + 1}`
}
report({
  bench: 'sql-tpch',
  ratio: mine / theirs,
  target: '<= 1.3',
  scale,
  seconds: round(mine),
  bareSeconds: round(theirs),
  medianOfQueries: round(median(ratios)),
  worstOfQueries: `${slowest} ${round(Math.max(...ratios))}`,
})

bare.closeSync()
await platform.close()
rmSync(dir, { recursive: true, force: true })
