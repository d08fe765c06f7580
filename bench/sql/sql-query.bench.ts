// Queries through a session of the SQL engine against bare DuckDB over one plain Parquet file of the same rows, threads alike.
// Target: at most 1.3 x, and the first row of a select within 60 ms of bare DuckDB.

import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createSqlEngine } from '../../server/src/engines/sql/engine.ts'
import { systemClock } from '../../server/src/kit/clock.ts'
import { createSqlTables } from '../../server/src/services/storage/tables/rows/sql-tables.ts'
import { round } from '../support/measure.ts'
import { benchRows, emptyTable, report, startBench, timed } from '../support/table-bench.ts'
import { writeCsv } from '../support/table-csv.ts'

const THREADS = 2
const bench = await startBench()
const rows = benchRows(1_000_000)
writeCsv(bench.path('data.csv'), { rows })
const { snapshot } = await bench.load(await bench.upload('data.csv'), emptyTable(['id']), 'full')

const QUERIES = [
  'SELECT country, count(*) AS n, sum(amount::DOUBLE) AS total FROM orders GROUP BY country ORDER BY country',
  "SELECT count(*), min(amount::DOUBLE), max(amount::DOUBLE) FROM orders WHERE country = 'CZ'",
  'SELECT a.country, count(*) FROM orders a JOIN orders b ON a.id = b.id GROUP BY a.country ORDER BY 1',
  'SELECT id, amount FROM orders ORDER BY amount::DOUBLE DESC, id LIMIT 100',
  'SELECT count(DISTINCT left(id, 4)) FROM orders',
]

const bare = await (await DuckDBInstance.create(':memory:', { threads: String(THREADS) })).connect()
await bare.run(
  `COPY (FROM read_csv('${bench.path('data.csv')}', all_varchar = true, header = true)) TO '${bench.path('plain.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
)
await bare.run(`CREATE VIEW orders AS FROM read_parquet('${bench.path('plain.parquet')}')`)

const engine = await createSqlEngine({
  openLocal: async (key) => ({ path: join(bench.dir, 'objects', key), release: async () => {} }),
  scratchDir: bench.path('sql-scratch'),
  settings: { threads: THREADS },
})
// The tables module without its records: one table, as it is read everywhere.
const table = { columns: snapshot.columns.map(({ name }) => name), filters: [] }
const catalog = { get: async () => table, reading: async () => ({ snapshot, snapshotId: 1 }) }
const tables = createSqlTables({ catalog, clock: systemClock } as unknown as Parameters<typeof createSqlTables>[0])
const open = () => engine.open({ mode: 'read', findTable: (schema, name) => tables.find({} as never, schema, name) })
const ours = (sql: string) => sql.replaceAll(/ orders\b/g, ' "in.c-main".orders')

/** A session for each, as the query route has it; the process is warm. */
async function throughSession(sql: string): Promise<string> {
  await using session = await open()
  const { bytes } = await session.copy(ours(sql), 'json')
  return Buffer.concat(await Array.fromAsync(bytes)).toString()
}
const bareRows = async (sql: string) => (await bare.runAndReadAll(sql)).getRowsJson()

const median = async (work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < 5; i++) times.push(await timed(async () => void (await work())))
  return times.toSorted((a, b) => a - b)[2] ?? 0
}

await throughSession('SELECT 1')
let [mine, theirs] = [0, 0]
for (const sql of QUERIES) {
  const count = (await throughSession(sql)).trim().split('\n').length
  if (count !== (await bareRows(sql)).length) throw new Error(`another result: ${sql}`)
  theirs += await median(() => bareRows(sql))
  mine += await median(() => throughSession(sql))
}
const first = await median(() => throughSession('SELECT * FROM orders LIMIT 100'))
const bareFirst = await median(() => bareRows('SELECT * FROM orders LIMIT 100'))
report({
  bench: 'sql-query',
  ratio: round(mine / theirs),
  target: '<= 1.3',
  rows,
  seconds: round(mine),
  bareSeconds: round(theirs),
  firstRowsMs: round(first * 1000),
  bareFirstRowsMs: round(bareFirst * 1000),
})
bare.closeSync()
await engine.close()
await bench.close()
