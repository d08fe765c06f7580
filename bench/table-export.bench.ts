// Export to gzip slices against raw DuckDB COPY TO csv with its own gzip. Target: at least 4 times faster.

import { availableParallelism } from 'node:os'
import { round } from './support/measure.ts'
import { benchMb, emptyTable, rawDuckDb, report, startBench, timed } from './support/table-bench.ts'
import { writeCsv } from './support/table-csv.ts'

const bench = await startBench()
const { rows, bytes } = writeCsv(bench.path('data.csv'), { bytes: benchMb(200) * 1e6 })
const { snapshot } = await bench.load(await bench.upload('data.csv'), emptyTable(), 'full')
const files = snapshot.segments.map((s) => `'${bench.path(`objects/${s.key}`)}'`).join(', ')
const copy = `COPY (SELECT * EXCLUDE ("_timestamp") FROM read_parquet([${files}])) TO '${bench.path('raw.csv.gz')}' (FORMAT csv, HEADER false, FORCE_QUOTE *, COMPRESSION gzip)`

let ours = Number.POSITIVE_INFINITY
let slices = 0
let packed = 0
for (let i = 0; i < 2; i++)
  ours = Math.min(
    ours,
    await timed(async () => {
      const result = await bench.engine.unload({ snapshot, format: 'csv', gzip: true, keyPrefix: `exports/${i}/` })
      slices = result.slices.length
      packed = result.slices.reduce((sum, s) => sum + s.bytes, 0)
    }),
  )
const one = await (await rawDuckDb(bench.dir))(copy)
const all = await (await rawDuckDb(bench.dir, availableParallelism()))(copy)
report({
  bench: 'table-export',
  ratio: round(one / ours),
  target: '>= 4',
  ratioAgainstAllCores: round(all / ours),
  mb: Math.round(bytes / 1e6),
  rows,
  rawSeconds: round(one),
  rawSecondsAllCores: round(all),
  seconds: round(ours),
  slices,
  packedMb: Math.round(packed / 1e6),
})
await bench.close()
