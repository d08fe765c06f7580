// Tables of 1,000 and of 4,000 columns, created and loaded through the API with 100 rows: the server's processor time grows with the columns, not with
// their square. Processor time of this process, which is the server and a client that polls; the table workers are processes of their own.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startApiStack } from './support/api-stack.ts'
import { inTurns, round } from './support/measure.ts'
import { report } from './support/table-bench.ts'

const { dir, post, ended, upload, close } = await startApiStack()
await post('buckets', { name: 'bench', stage: 'in' })
let tables = 0

async function load(columns: number): Promise<number> {
  const header = Array.from({ length: columns }, (_, at) => `column_${at}`).join(',')
  const row = Array.from({ length: columns }, (_, at) => at).join(',')
  const path = join(dir, `${columns}.csv`)
  writeFileSync(path, `${header}\n${`${row}\n`.repeat(100)}`)
  const dataFileId = await upload(path)
  const before = process.cpuUsage()
  await ended(await post('buckets/in.c-bench/tables-async', { name: `t${tables}`, dataFileId }))
  await ended(await post(`tables/in.c-bench.t${tables++}/import-async`, { dataFileId, incremental: 1 }))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

await load(1000) // loads and compiles what every further one uses
const took = await inTurns(3, { narrow: () => load(1000), wide: () => load(4000) })
report({
  bench: 'table-columns',
  ratio: round(took.wide / took.narrow),
  target: '<= 4.5',
  cpuSeconds1000: round(took.narrow),
  cpuSeconds4000: round(took.wide),
})
await close()
process.exit(0)
