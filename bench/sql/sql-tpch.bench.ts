// TPC-H through the direct route against bare DuckDB over plain Parquet files of the same rows: tables imported through the API, all 22 queries,
// same results. Target: at most 1.3 x. `node bench/sql/sql-tpch.bench.ts 1` runs scale 1; the default is small.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { seconds, startApiStack } from '../support/api-stack.ts'
import { inTurns, median, report, round } from '../support/measure.ts'
import { makeTpch, TPCH_TABLES } from '../support/tpch-data.ts'
import { TPCH_QUERIES, TPCH_SCHEMA } from '../support/tpch-queries.ts'

const scale = Number(process.argv[2] ?? process.env.MILLRACE_BENCH_SCALE ?? 0.05)
const ROUNDS = 3
const stack = await startApiStack()
const at = (name: string): string => join(stack.dir, name)
const bare = await (await DuckDBInstance.create(at('made.duckdb'))).connect()
await makeTpch(bare, scale)
await bare.run(`CREATE SCHEMA "${TPCH_SCHEMA}"`)

/** The rows as CSV through the API into a typed table, and as one plain Parquet file beside it. */
async function load(table: string): Promise<void> {
  const columns = (TPCH_TABLES[table] ?? []).map(({ name, type }) => ({
    name,
    definition: type === 'NUMERIC' ? { type, length: '12,2' } : { type },
  }))
  const [csv, parquet] = [at(`${table}.csv`), at(`${table}.parquet`)]
  await bare.run(`COPY ${table} TO '${csv}' (FORMAT csv, HEADER)`)
  await stack.load(TPCH_SCHEMA, table, columns, csv)
  rmSync(csv)
  await bare.run(`COPY ${table} TO '${parquet}' (FORMAT parquet, COMPRESSION zstd)`)
  await bare.run(`DROP TABLE ${table}`)
  await bare.run(`CREATE VIEW "${TPCH_SCHEMA}".${table} AS FROM read_parquet('${parquet}')`)
}

await stack.post('buckets', { name: TPCH_SCHEMA.replace('in.c-', ''), stage: 'in' })
for (const table of Object.keys(TPCH_TABLES)) await load(table)

const bareRows = async (sql: string) => (await bare.runAndReadAll(sql)).getRowsJson()

async function bareText(sql: string): Promise<string> {
  await bare.run(`COPY (${sql}) TO '${at('result.csv')}' (FORMAT csv, HEADER)`)
  return readFileSync(at('result.csv'), 'utf8')
}

await stack.query('SELECT 1')
const ratios: number[] = []
let [mine, theirs] = [0, 0]
for (const [i, sql] of TPCH_QUERIES.entries()) {
  if ((await stack.query(sql)) !== (await bareText(sql))) throw new Error(`query ${i + 1} has another result`)
  const time = await inTurns(ROUNDS, {
    ours: () => seconds(() => stack.query(sql)),
    bare: () => seconds(() => bareRows(sql)),
  })
  mine += time.ours
  theirs += time.bare
  ratios.push(time.ours / time.bare)
}
const worst = Math.max(...ratios)
report({
  bench: 'sql-tpch',
  ratio: mine / theirs,
  target: '<= 1.3',
  scale,
  seconds: round(mine),
  bareSeconds: round(theirs),
  medianOfQueries: round(median(ratios)),
  worstOfQueries: round(worst),
  worstQuery: ratios.indexOf(worst) + 1,
})
bare.closeSync()
await stack.close()
