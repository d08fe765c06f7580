// Tables through the API, jobs and metadata included: 200 small imports, and one large import against raw DuckDB in the same run.

import { join } from 'node:path'
import { startApiStack } from './support/api-stack.ts'
import { inTurns, round } from './support/measure.ts'
import { benchMb, rawCsv, rawDuckDb, report, sizeMb, timed } from './support/table-bench.ts'
import { writeCsv } from './support/table-csv.ts'

const IMPORTS = 200
const CLIENTS = 8
const { dir, post, ended, upload, close } = await startApiStack()

/** As a client: created, polled, ended. */
const load = async (name: string, dataFileId: number): Promise<void> =>
  ended(await post('buckets/in.c-bench/tables-async', { name, dataFileId }))

await post('buckets', { name: 'bench', stage: 'in' })
writeCsv(join(dir, 'small.csv'), { rows: 1000 })
const small = await upload(join(dir, 'small.csv'))
await load('warm', small)
let next = 0
const client = async () => {
  while (next < IMPORTS) await load(`small${next++}`, small)
}
const seconds = await timed(() => Promise.all(Array.from({ length: CLIENTS }, client)))
report({
  bench: 'table-api-small-imports',
  ratio: round(IMPORTS / seconds / 20),
  target: '>= 1 (20 per second)',
  perSecond: round(IMPORTS / seconds),
})

writeCsv(join(dir, 'large.csv'), { bytes: benchMb(100) * 1e6 })
const large = await upload(join(dir, 'large.csv'))
const raw = await rawDuckDb(dir)
const rawCopy = `copy (select * from ${rawCsv(join(dir, 'large.csv'))}) to '${join(dir, 'raw.parquet')}' (format parquet, compression zstd)`
let loads = 0
const took = await inTurns(3, { ours: () => timed(() => load(`large${loads++}`, large)), raw: () => raw(rawCopy) })
report({
  bench: 'table-api-import',
  ratio: round(took.ours / took.raw),
  target: '<= 1.2',
  megabytes: sizeMb(join(dir, 'large.csv')),
  seconds: round(took.ours),
  rawSeconds: round(took.raw),
})
await close()
process.exit(0)
