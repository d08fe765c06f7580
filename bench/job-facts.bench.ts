// What writing the facts of a job costs beside a small job: lineage, the state before and after, the usual duration. The facts are written
// once more, in a transaction that is undone, and their time is divided by that of whole jobs which read a table and write one.

import { undone } from '../server/src/model/dry-run.ts'
import { createStateHistory } from '../server/src/services/jobs/queue/state-history.store.ts'
import { createLineageStore } from '../server/src/services/storage/lineage/lineage.store.ts'
import { tableClient } from '../tests/support/clients/table-client.ts'
import { type Job, shellStack } from '../tests/support/shell-stack.ts'
import { median, report } from './support/measure.ts'

const ROUNDS = 15
const ends: (() => unknown)[] = []
const stack = await shellStack({ after: (end) => ends.push(end) })
await stack.add(
  'bench.small',
  'cp "$KBC_DATADIR/in/tables/in.csv" "$KBC_DATADIR/out/tables/out.c-main.copy"; echo "{}" > "$KBC_DATADIR/out/state.json"',
)
const tables = tableClient(stack)
await tables.bucket('main')
await tables.create('in.c-main', 'orders', 'id\n1\n')
const storage = { input: { tables: [{ source: 'in.c-main.orders', destination: 'in.csv' }] } }
const config = await stack.configure('bench.small', { storage })
const { db, inTransaction } = stack.platform.metadata
const [lineage, states] = [createLineageStore(db), createStateHistory(db)]
const jobs: number[] = []
const facts: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const begun = performance.now()
  const started = (await stack.request('POST', '/queue/jobs', { json: { component: 'bench.small', config } })).json<Job>()
  const { status, id, result } = await stack.wait(started)
  if (status !== 'success') throw new Error(JSON.stringify(result))
  jobs.push(performance.now() - begun)
  const use = {
    projectId: stack.projectId,
    branchId: 1,
    componentId: 'bench.small',
    configurationId: config,
    rowId: null,
    jobId: Number(id),
  }
  await undone(inTransaction)(async (trx) => {
    const writing = performance.now()
    await lineage.recordUse(trx, { ...use, read: ['in.c-main.orders'], written: ['out.c-main.copy'], columns: {} }, Date.now())
    await states.record(trx, { ...use, before: `{"component":{"n":${round}}}`, after: `{"component":{"n":${round + 1}}}` })
    facts.push(performance.now() - writing)
  })
}
report({
  bench: 'job-facts',
  ratio: median(facts) / median(jobs),
  target: '<= 0.03',
  factsMs: median(facts),
  jobMs: median(jobs),
})
for (const end of ends) await end()
process.exit(0)
