// Jobs of the queue while nodes, their clocks and their connections fail, by a simulated time: see queue-simulation.ts.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { SEED } from '../support/chance.ts'
import { placeMigratedSqlite } from '../support/migrated-sqlite.ts'
import { simulateQueue } from './queue-simulation.ts'

const EPISODES = Number(process.env.MILLRACE_EPISODES ?? (process.env.MILLRACE_LONG ? 2_000 : 5))

test(`${EPISODES} episodes of failing nodes break no rule of the queue (seed ${SEED})`, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-simulation-'))
  await placeMigratedSqlite(join(folder, 'metadata.sqlite'))
  const metadata = await openMetadataDb({ path: join(folder, 'metadata.sqlite') })
  await metadata.migrate()
  const total = { steps: 0, activeMs: 0, jobs: 0, crashes: 0, lostCalls: 0, jumps: 0 }
  const statuses: Record<string, number> = {}
  try {
    for (let i = 0; i < EPISODES; i++) {
      const report = await simulateQueue(metadata, SEED + i).catch((error: unknown) => {
        throw new Error(`episode ${i}: repeat it with MILLRACE_EPISODES=1 MILLRACE_SEED=${SEED + i}`, { cause: error })
      })
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += report[key]
      for (const [status, count] of Object.entries(report.statuses)) statuses[status] = (statuses[status] ?? 0) + count
    }
  } finally {
    await metadata.close()
    await rm(folder, { recursive: true })
  }
  t.diagnostic(JSON.stringify({ episodes: EPISODES, ...total, statuses }))
  assert.ok(total.jobs > EPISODES && total.crashes + total.jumps > 0)
})
