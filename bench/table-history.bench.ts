// What it costs to keep the history of a table (versions of rows, SCD2): the processor time for one per cent of changed rows against that of
// the same number of changes in a table of a tenth of the size. The work grows with the changes, not with the table.
// MILLRACE_BENCH_ROWS sets the size; the target is stated for 10,000,000 rows.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startApiStack } from './support/api-stack.ts'
import { report, round, usedCpuSeconds } from './support/measure.ts'
import { benchRows } from './support/table-bench.ts'

const rows = benchRows(1_000_000)
const { dir, post, get, ended, upload, query, close } = await startApiStack()
const columns = [
  { name: 'id', definition: { type: 'INTEGER', nullable: false } },
  { name: 'name', definition: { type: 'STRING' } },
  { name: 'amount', definition: { type: 'INTEGER' } },
]

/** Rows with the ids 0, step, 2 * step ...; the name distinguishes the rounds. */
async function csvFile(name: string, count: number, step: number, round: number): Promise<number> {
  const path = join(dir, name)
  const lines = Array.from({ length: count }, (_, i) => `${i * step},name ${i + round},${i % 1000}`)
  writeFileSync(path, `id,name,amount\n${lines.join('\n')}\n`)
  return upload(path)
}

async function untilCurrent(table: string): Promise<void> {
  for (;;) {
    const { isCurrent, problem } = (await (await get(`tables/${table}/history`)).json()) as {
      isCurrent: boolean
      problem: string | null
    }
    if (problem) throw new Error(problem)
    if (isCurrent) return
    await new Promise((resolve) => setTimeout(resolve, 250)) // each look is part of the measured processor time
  }
}

/** Processor time of the history alone: it follows a load that has ended. */
async function changeCpu(name: string, size: number, changes: number): Promise<{ whole: number; changed: number }> {
  const table = `in.c-bench.${name}`
  await ended(await post('buckets/in.c-bench/tables-definition', { name, primaryKeysNames: ['id'], columns }))
  await ended(await post(`tables/${table}/import-async`, { dataFileId: await csvFile(`${name}.csv`, size, 1, 0) }))
  await post(`tables/${table}/history`, { isEnabled: true }, 'PUT')
  const whole = await usedCpuSeconds(() => untilCurrent(table))
  const part = await csvFile(`${name}-part.csv`, changes, size / changes, 1)
  await ended(await post(`tables/${table}/import-async`, { dataFileId: part, incremental: true }))
  const changed = await usedCpuSeconds(() => untilCurrent(table))
  const versions = Number((await query(`SELECT count(*) FROM table_history('${table}')`)).split('\n')[1])
  if (versions !== size + changes) throw new Error(`${versions} versions instead of ${size + changes}`)
  return { whole, changed }
}

await post('buckets', { name: 'bench', stage: 'in' })
const changes = rows / 100
const small = await changeCpu('small', rows / 10, changes)
const large = await changeCpu('large', rows, changes)
report({
  bench: 'table-history',
  ratio: large.changed / small.changed,
  target: '<= 2',
  rows,
  changes,
  changesCpuSeconds: round(large.changed),
  sameChangesOfTenthCpuSeconds: round(small.changed),
  wholeTableCpuSeconds: round(large.whole),
})
await close()
process.exit(0)
