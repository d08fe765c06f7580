// A table of ten million rows: the first rows of a select against bare DuckDB over a plain Parquet file (target: within 60 ms of it), and
// its load into a workspace without a copy (target: below 200 ms, job and polling included).

import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { seconds, startApiStack } from '../support/api-stack.ts'
import { inTurns, report, round } from '../support/measure.ts'
import { benchRows } from '../support/table-bench.ts'

const rows = benchRows(10_000_000)
const stack = await startApiStack()
const at = (name: string): string => join(stack.dir, name)
const bare = await (await DuckDBInstance.create(':memory:')).connect()
const select = `SELECT i AS id, 'city ' || i % 1000 AS city, ((i % 100000) / 100)::DECIMAL(12, 2) AS amount FROM range(${rows}) t(i)`
await bare.run(`COPY (${select}) TO '${at('big.csv')}' (FORMAT csv, HEADER)`)
await bare.run(`COPY (${select}) TO '${at('big.parquet')}' (FORMAT parquet, COMPRESSION zstd)`)
await stack.post('buckets', { name: 'bench', stage: 'in' })
const columns = [
  { name: 'id', definition: { type: 'INTEGER' } },
  { name: 'city', definition: { type: 'STRING' } },
  { name: 'amount', definition: { type: 'NUMERIC', length: '12,2' } },
]
await stack.load('in.c-bench', 'big', columns, at('big.csv'))

const workspace = (await (await stack.post('workspaces', {})).json()) as { id: number }
const input = [{ source: 'in.c-bench.big', destination: 'big', loadType: 'VIEW', overwrite: true }]
await stack.query('SELECT 1')
const time = await inTurns(7, {
  first: () => seconds(() => stack.query('SELECT * FROM "in.c-bench".big LIMIT 100')),
  bare: () => seconds(() => bare.runAndReadAll(`SELECT * FROM read_parquet('${at('big.parquet')}') LIMIT 100`)),
  load: () => seconds(async () => stack.ended(await stack.post(`workspaces/${workspace.id}/load`, { input }))),
})
const ms = (value: number): number => round(value * 1000)
report({
  bench: 'sql-first-rows',
  ratio: (time.first - time.bare) / 0.06,
  target: '<= 1',
  rows,
  milliseconds: ms(time.first),
  bareMilliseconds: ms(time.bare),
})
report({ bench: 'sql-workspace-view', ratio: time.load / 0.2, target: '<= 1', rows, milliseconds: ms(time.load) })
bare.closeSync()
await stack.close()
