// Import of a CSV file against raw DuckDB COPY (read_csv) TO parquet with the same threads and memory. Target: at most 1.2 times.

import { round } from './support/measure.ts'
import { benchMb, emptyTable, rawCsv, rawDuckDb, report, sizeMb, startBench, timed, workerUse } from './support/table-bench.ts'
import { writeCsv } from './support/table-csv.ts'

const bench = await startBench()
const { rows } = writeCsv(bench.path('data.csv'), { bytes: benchMb(200) * 1e6 })
const key = await bench.upload('data.csv')
const raw = await rawDuckDb(bench.dir)
const copy = `COPY (FROM ${rawCsv(bench.path('data.csv'))}) TO '${bench.path('raw.parquet')}' (FORMAT parquet, COMPRESSION zstd)`

const rawSeconds: number[] = []
const ourSeconds: number[] = []
const rawCpu: number[] = []
const ourCpu: number[] = []
let peak = 0
for (let i = 0; i < 3; i++) {
  const before = process.cpuUsage()
  rawSeconds.push(await raw(copy))
  const spent = process.cpuUsage(before)
  rawCpu.push((spent.user + spent.system) / 1e6)
  const use = await workerUse(bench.engine, async () => ourSeconds.push(await timed(() => bench.load(key, emptyTable(), 'full'))))
  ourCpu.push(use.cpuSeconds)
  peak = Math.max(peak, use.peakMb)
}
const withKey = await timed(() => bench.load(key, emptyTable(['id']), 'full'))
const best = { raw: Math.min(...rawSeconds), ours: Math.min(...ourSeconds) }
report({
  bench: 'table-import',
  ratio: round(best.ours / best.raw),
  target: '<= 1.2',
  cpuRatio: round(Math.min(...ourCpu) / Math.min(...rawCpu)),
  mb: sizeMb(bench.path('data.csv')),
  rows,
  rawSeconds: round(best.raw),
  seconds: round(best.ours),
  secondsWithPrimaryKey: round(withKey),
})
report({ bench: 'table-worker-memory', ratio: round(peak / 1536), target: '<= 1 (of its 1536 MB)', peakMb: peak })
await bench.close()
