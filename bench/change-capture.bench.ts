// A continuous change capture of PostgreSQL beside a writer of 10,000 changes per second: how many are captured per second, how long after its
// commit a change is in the table of the project, and the processor time of both. CHANGE_CAPTURE_SECONDS changes how long the writer works (60),
// CHANGE_CAPTURE_RATE how fast it is.

import pg from 'pg'
import { startPostgres } from '../tests/support/servers/postgres-server.ts'
import { until } from '../tests/support/until.ts'
import { median, report, round, usedCpuSeconds } from './support/measure.ts'
import { connectionOf, peakOf, startJobStack } from './support/stack-jobs.ts'

const COMPONENT = 'platform.ex-database-changes'
const [ROWS, TURNS_PER_SECOND] = [100_000, 20]
const MAX_DELAY_SECONDS = 2
const seconds = Number(process.env.CHANGE_CAPTURE_SECONDS ?? 60)
const rate = Number(process.env.CHANGE_CAPTURE_RATE ?? 10_000)
const postgres = await startPostgres()
const client = new pg.Client({ connectionString: postgres.url })
await client.connect()
await client.query(`create table busy (id int primary key, n int, word text); insert into busy select i, 0, 'word ' || i from generate_series(0, ${ROWS - 1}) as i;
  create table marks (id int primary key)`)

const { start, configure, query, stack, stop } = await startJobStack()
const tables = [{ tableName: 'busy' }, { tableName: 'marks' }]
const parameters = { db: connectionOf(postgres.url), tables, continuousMinutes: 60 }
const config = await configure(COMPONENT, { parameters })
const bucket = `"in.c-platform-ex-database-changes-${config}"`
const job = await start({ component: COMPONENT, config })
await until('the first rows are read', async () => (await query(`select count(*) from ${bucket}.marks`)).length > 0, 300_000)

const committed = new Map<number, number>()
const delays: number[] = []
let isOver = false
/** The newest mark that has arrived, several times a second. */
const watching = (async () => {
  let seen = 0
  while (!isOver || seen < committed.size) {
    const [[newest] = []] = await query(`select max(id) from ${bucket}.marks`)
    for (; seen < Number(newest ?? 0); seen++) delays.push((performance.now() - (committed.get(seen + 1) ?? 0)) / 1000)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
})()

let written = 0
let writing = 0
let caughtUp = 0
let cpu = 0
const peak = await peakOf('database-extractor/', async () => {
  cpu = await usedCpuSeconds(async () => {
    const began = performance.now()
    for (let turn = 0; turn < seconds * TURNS_PER_SECOND; turn++) {
      const size = rate / TURNS_PER_SECOND
      const first = (turn * size) % ROWS
      await client.query(`update busy set n = n + 1, word = 'changed ' || n where id >= ${first} and id < ${first + size}`)
      written += size
      if (turn % TURNS_PER_SECOND === 0) {
        const id = turn / TURNS_PER_SECOND + 1
        await client.query(`insert into marks values (${id})`)
        committed.set(id, performance.now())
      }
      const wait = began + ((turn + 1) * 1000) / TURNS_PER_SECOND - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    }
    writing = (performance.now() - began) / 1000
    isOver = true
    await watching
    caughtUp = (performance.now() - began) / 1000
  })
})
const expected = await client.query('select sum(n)::int as sum from busy')
await until('the table equals the source', async () => {
  const [[sum] = []] = await query(`select sum(n)::int from ${bucket}.busy`)
  return Number(sum) === expected.rows[0].sum
})
await stack.request('POST', `/queue/jobs/${job}/kill`)
report({
  bench: 'change-capture',
  ratio: median(delays) / MAX_DELAY_SECONDS,
  target: '<= 1',
  changes: written,
  writtenPerSecond: Math.round(written / writing),
  capturedPerSecond: Math.round(written / caughtUp),
  medianDelaySeconds: round(median(delays)),
  greatestDelaySeconds: round(Math.max(...delays)),
  cpuSecondsPerSecond: round(cpu / caughtUp),
  peakMib: Math.round(peak),
})
await stop()
await client.end()
await postgres.stop()
process.exit(0)
