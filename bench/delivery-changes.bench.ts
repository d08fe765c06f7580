// What changed of a large table since its last delivery: found by SQL in under two seconds for one per cent of 10,000,000 rows, and delivered
// as a file by a job that takes as long as the changes, not as the table. DELIVERY_CHANGES_ROWS changes the size of the table.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestStack } from '../tests/support/test-stack.ts'
import { until } from '../tests/support/until.ts'
import { cpuSecondsBelow, median, report, round } from './support/measure.ts'

const ROUNDS = 3
const MAX_SECONDS = 2
const TABLE = 'in.c-bench.items'
const rows = Number(process.env.DELIVERY_CHANGES_ROWS ?? 10_000_000)
const outbox = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const ends: (() => unknown)[] = []
const stack = await startTestStack({ after: (end) => ends.push(end) }, { worker: { folders: { read: {}, write: { outbox } } } })

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
  readonly durationMs: number
  readonly result: { readonly message?: string }
}

/** Answers its seconds. */
async function run(json: object): Promise<number> {
  const { id } = (await stack.request('POST', '/queue/jobs', { json: { mode: 'run', ...json } })).json<Job>()
  const job = await until(
    `job ${id} ends`,
    async () => {
      const read = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
      return read.isFinished && read
    },
    1_800_000,
  )
  if (job.status !== 'success') throw new Error(job.result.message)
  return job.durationMs / 1000
}

/** Every `step`th row, with another name for each `round`. */
const load = (step: number, round: number, incremental: boolean) =>
  run({
    component: 'keboola.duckdb-transformation',
    configData: {
      parameters: {
        blocks: [
          {
            name: 'rows',
            codes: [
              {
                name: 'rows',
                script: [
                  `create table items as select i * ${step} as id, 'name ' || (i + ${round}) as name, i % 1000 as amount from range(${rows / step}) as r(i)`,
                ],
              },
            ],
          },
        ],
      },
      storage: { output: { tables: [{ source: 'items', destination: TABLE, primary_key: ['id'], incremental }] } },
    },
  })

await load(1, 0, false)
const made = await stack.request('POST', '/v2/storage/components/platform.wr-files/configs', {
  json: {
    configurationId: 'bench',
    name: 'bench',
    configuration: {
      parameters: { target: { type: 'folder', folder: 'outbox' }, path: 'items-{{run}}.csv', format: 'csv' },
      storage: { input: { tables: [{ source: TABLE, changes: true }] } },
    },
  },
})
if (made.status !== 201) throw new Error(made.text)
const deliver = () => run({ component: 'platform.wr-files', config: 'bench' })
const whole = await deliver()
const since = new Date().toISOString()
await load(100, 1, true)
const found: number[] = []
const cpu: number[] = []
for (let round = 1; round <= ROUNDS; round++) {
  const sql = `select _change, count(*) from table_changes('${TABLE}', '${since}') group by all order by ${round % 2 === 0 ? 1 : 2}`
  const [began, before] = [performance.now(), cpuSecondsBelow([])]
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  found.push((performance.now() - began) / 1000)
  cpu.push(cpuSecondsBelow([]) - before)
  if (!answer.text.includes(String(rows / 100))) throw new Error(answer.text)
}
const onePercent = await deliver()
await load(1000, 2, true)
const oneInAThousand = await deliver()
report({
  bench: 'delivery-changes',
  ratio: median(found) / MAX_SECONDS,
  target: '<= 1',
  rows,
  foundSeconds: round(median(found)),
  foundCpuSeconds: round(median(cpu)),
  wholeSeconds: round(whole),
  onePercentSeconds: round(onePercent),
  oneInAThousandSeconds: round(oneInAThousand),
})
for (const end of ends) await end()
rmSync(outbox, { recursive: true, force: true })
process.exit(0)
