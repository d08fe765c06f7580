// 1 % of a table's rows loaded again by primary key, against rewriting the table. Target: at most 0.25 times, and the twentieth such
// load at most twice the first. Rows that come again unchanged are the dearer case (their columns must be compared) and shown too.

import { round } from './support/measure.ts'
import { benchRows, emptyTable, rawDuckDb, report, startBench, timed } from './support/table-bench.ts'
import { writeCsv } from './support/table-csv.ts'

const LOADS = 20
const bench = await startBench()
const rows = benchRows(1_000_000)
const changed = Math.round(rows / 100)
writeCsv(bench.path('data.csv'), { rows })
let { snapshot } = await bench.load(await bench.upload('data.csv'), emptyTable(['id']), 'full')

const raw = await rawDuckDb(bench.dir)
const files = snapshot.segments.map((s) => `'${bench.path(`objects/${s.key}`)}'`).join(', ')
const rewrite = await raw(
  `COPY (FROM read_parquet([${files}])) TO '${bench.path('raw.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
)

const seconds: number[] = []
let compacting = 0
for (let i = 0; i < LOADS; i++) {
  // A prime step spreads the changed ids over the whole table.
  writeCsv(bench.path(`delta${i}.csv`), { rows: changed }, { seed: 1000 + i, idOf: (row) => (row * 97 + i * 13) % rows })
  const key = await bench.upload(`delta${i}.csv`)
  seconds.push(
    await timed(async () => {
      snapshot = (await bench.load(key, snapshot, 'incremental')).snapshot
    }),
  )
  // What the housekeeping of tables does behind the loads; loads do not wait for it, so it is counted apart.
  compacting += await timed(async () => {
    snapshot = (await bench.engine.compact({ snapshot, keyPrefix: 'tables/bench/' })) ?? snapshot
  })
}
let unchanged = 0
const again = await timed(async () => {
  unchanged = (await bench.load(`uploads/delta${LOADS - 1}.csv`, snapshot, 'incremental')).rowsUnchanged
})
const first = Math.min(...seconds.slice(0, 2))
const last = Math.min(...seconds.slice(-2))
report({
  bench: 'table-upsert',
  ratio: round(first / rewrite),
  target: '<= 0.25',
  rows,
  changed,
  rewriteSeconds: round(rewrite),
  firstSeconds: round(first),
  unchangedSeconds: round(again),
  unchanged,
})
report({
  bench: 'table-upsert-twentieth',
  ratio: round(last / first),
  target: '<= 2',
  lastSeconds: round(last),
  compactingSeconds: round(compacting),
})
await bench.close()
