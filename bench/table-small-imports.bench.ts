// 200 tables of 1,000 rows each. Target: at least 20 imports per second on two cores.

import { round } from './support/measure.ts'
import { emptyTable, report, startBench, timed } from './support/table-bench.ts'
import { writeCsv } from './support/table-csv.ts'

const IMPORTS = 200
const bench = await startBench({ warmWorkers: 2 })
writeCsv(bench.path('small.csv'), { rows: 1000 })
const key = await bench.upload('small.csv')
await bench.load(key, emptyTable(), 'full')
const seconds = await timed(() =>
  Promise.all(Array.from({ length: IMPORTS }, (_, i) => bench.load(key, emptyTable(['id']), 'full', `tables/${i}/`))),
)
report({
  bench: 'table-small-imports',
  ratio: round(IMPORTS / seconds / 20),
  target: '>= 1 (20 per second)',
  imports: IMPORTS,
  rowsEach: 1000,
  perSecond: round(IMPORTS / seconds),
})
await bench.close()
