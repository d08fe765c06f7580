// PostgreSQL goes away for a moment under a whole stack whose jobs are running, again and again: each ends as it should have.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { migratedPostgres } from '../support/fresh-databases.ts'
import { frozenProxy } from '../support/servers/frozen-proxy.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 10 : 1
const JOBS = 4
/** A restart takes about so long. */
const AWAY_MS = 1000

test('jobs that run and end while PostgreSQL is restarted end as they should, and none is lost', async (t) => {
  const database = await migratedPostgres()
  t.after(database.remove)
  const way = await frozenProxy((database.location as { url: string }).url) // of PostgreSQL
  t.after(way.close)
  const stack = await shellStack(t, { databaseUrl: way.url, databaseConnections: 6 })
  await stack.add('good', 'sleep 1; printf "id\\n1\\n" > "$KBC_DATADIR/out/tables/t.csv"')
  await stack.add('bad', 'sleep 1; echo "as asked" >&2; exit 1')
  for (let round = 0; round < ROUNDS; round++) {
    const jobs: Job[] = []
    for (let i = 0; i < JOBS; i++) {
      const component = i % 2 === 0 ? 'good' : 'bad'
      const output = { tables: [{ source: 't.csv', destination: `out.c-r${round}.t${i}` }] }
      const config = await stack.configure(component, component === 'good' ? { storage: { output } } : {})
      jobs.push((await stack.request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })).json<Job>())
    }
    const state = async (job: Job) => (await stack.request('GET', job.url)).json<Job>()
    await until('all jobs run', async () => (await Promise.all(jobs.map(state))).every(({ status }) => status !== 'created'))
    way.cut()
    await pause(AWAY_MS)
    way.join()
    const ended = await until('all jobs have ended', async () => {
      const all = await Promise.all(jobs.map((job) => state(job).catch(() => job)))
      return all.every(({ isFinished }) => isFinished) && all
    })
    assert.deepEqual(
      ended.map(({ status, result }) => [status, status === 'success' ? '' : result.message]),
      jobs.map((_, i) => (i % 2 === 0 ? ['success', ''] : ['error', 'as asked'])),
      `round ${round}`,
    )
  }
})
