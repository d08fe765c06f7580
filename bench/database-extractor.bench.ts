// A table of PostgreSQL as a table of the project, by a job, against what the bare engines need for the same: COPY TO STDOUT into a CSV file, and
// that file by DuckDB into Parquet with exact types. Then the proof that both are equal (`mode` verify), against the reading.
// DATABASE_EXTRACTOR_ROWS changes the size of the table (10,000,000).

import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { startPostgres } from '../tests/support/servers/postgres-server.ts'
import { inTurns, report, round, usedCpuSeconds } from './support/measure.ts'
import { connectionOf, peakOf, startJobStack } from './support/stack-jobs.ts'

const ROUNDS = Number(process.env.DATABASE_EXTRACTOR_ROUNDS ?? 3)
const COMPONENT = 'platform.ex-database'
const rows = Number(process.env.DATABASE_EXTRACTOR_ROWS ?? 10_000_000)
const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const postgres = await startPostgres()
const client = new pg.Client({ connectionString: postgres.url })
await client.connect()
await client.query(
  `create table items as select i as id, 'customer ' || i % 99991 as customer, (i % 100000)::numeric(12,2) / 7 as price, i % 1000 as amount,
     i % 3 = 0 as paid, date '2020-01-01' + (i % 2000)::int as day, timestamp '2020-01-01' + i * interval '1 second' as at, i * 0.1::float8 as weight,
     case when i % 5 = 0 then null else 'note ' || i end as note, ('{"a":' || i % 10 || '}')::json as more
   from generate_series(1, ${rows}) as i`,
)
await client.query('alter table items alter price type numeric(12,2), add primary key (id)')
await client.query('vacuum analyze items')

const { stack: _, run, configure, query, stop } = await startJobStack()
const parameters = { db: connectionOf(postgres.url), table: { tableName: 'items' } }
const config = await configure(COMPONENT, { parameters })
const [reading, verifying] = [{ parameters }, { parameters: { ...parameters, mode: 'verify' } }]
const cpu: Record<string, number[]> = { copy: [], ours: [], verify: [] }
const measured = async (name: string, work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  cpu[name]?.push(await usedCpuSeconds(work))
  return (performance.now() - began) / 1000
}

async function copyToParquet(): Promise<void> {
  const csv = join(folder, 'items.csv')
  await pipeline(client.query(copyTo('copy items to stdout (format csv)')), createWriteStream(csv))
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '512MiB', temp_directory: folder })
  const connection = await instance.connect()
  const columns = `{id: 'bigint', customer: 'varchar', price: 'decimal(12,2)', amount: 'bigint', paid: 'boolean', day: 'date', "at": 'timestamp', weight: 'double', note: 'varchar', more: 'varchar'}`
  await connection.run(
    `copy (select * from read_csv('${csv}', header = false, columns = ${columns})) to '${folder}/items.parquet' (format parquet)`,
  )
  connection.closeSync()
  instance.closeSync()
}

let seconds = { copy: 0, ours: 0, verify: 0 }
const peak = await peakOf('database-extractor/', async () => {
  seconds = await inTurns(ROUNDS, {
    copy: () => measured('copy', copyToParquet),
    ours: () => measured('ours', () => run({ component: COMPONENT, config, configData: reading })),
    verify: () => measured('verify', () => run({ component: COMPONENT, config, configData: verifying })),
  })
})
const [[count] = []] = await query(`select count(*) from "in.c-platform-ex-database-${config}".items`)
if (Number(count) !== rows) throw new Error(`${count} rows arrived, not ${rows}`)
const middle = (name: string) => round((cpu[name] ?? []).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0)
report({
  bench: 'database-extractor',
  ratio: seconds.copy / seconds.ours,
  target: '>= 0.8',
  rows,
  copySeconds: round(seconds.copy),
  oursSeconds: round(seconds.ours),
  copyCpuSeconds: middle('copy'),
  oursCpuSeconds: middle('ours'),
  cpuRatio: round(middle('copy') / middle('ours')),
  peakMib: Math.round(peak),
})
report({
  bench: 'database-verify',
  ratio: seconds.verify / seconds.ours,
  target: '<= 0.5',
  rows,
  verifySeconds: round(seconds.verify),
  verifyCpuSeconds: middle('verify'),
  cpuRatio: round(middle('verify') / middle('ours')),
})
await stop()
await client.end()
await postgres.stop()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
