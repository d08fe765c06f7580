// A preview of a large table, before and after loads by key have left delete files behind. Target: under 100 ms.

import { round } from './support/measure.ts'
import { benchRows, emptyTable, report, startBench, timed } from './support/table-bench.ts'
import { writeCsv } from './support/table-csv.ts'

const bench = await startBench()
const rows = benchRows(1_000_000)
writeCsv(bench.path('data.csv'), { rows })
writeCsv(bench.path('delta.csv'), { rows: Math.round(rows / 100) }, { seed: 7, idOf: (row) => (row * 97) % rows })
const { snapshot } = await bench.load(await bench.upload('data.csv'), emptyTable(['id']), 'full')
const later = (await bench.load(await bench.upload('delta.csv'), snapshot, 'incremental')).snapshot

async function milliseconds(table: typeof snapshot): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 21; i++)
    times.push(await timed(() => bench.engine.preview({ snapshot: table, limit: 100, maxCellChars: 16_384 })))
  return (times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0) * 1000
}
const plain = await milliseconds(snapshot)
const withDeletes = await milliseconds(later)
const filtered = await timed(() =>
  bench.engine.preview({ snapshot: later, limit: 100, filters: [{ column: 'country', operator: 'eq', values: ['CZ'] }] }),
)
const sorted = await timed(() =>
  bench.engine.preview({ snapshot: later, limit: 100, orderBy: [{ column: 'amount', order: 'DESC', dataType: 'DOUBLE' }] }),
)
report({
  bench: 'table-preview',
  ratio: round(Math.max(plain, withDeletes) / 100),
  target: '<= 1 (100 ms)',
  rows,
  medianMs: round(plain),
  medianMsWithDeletes: round(withDeletes),
  filteredMs: round(filtered * 1000),
  sortedMs: round(sorted * 1000),
})
await bench.close()
