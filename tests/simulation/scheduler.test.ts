// Schedules while nodes, their clocks and their connections fail, by a simulated time: see scheduler-simulation.ts.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { SEED } from '../support/chance.ts'
import { placeMigratedSqlite } from '../support/migrated-sqlite.ts'
import { simulateScheduler } from './scheduler-simulation.ts'

const EPISODES = Number(process.env.MILLRACE_EPISODES ?? (process.env.MILLRACE_LONG ? 500 : 1))

test(`${EPISODES} episodes of failing nodes miss no schedule in silence (seed ${SEED})`, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-simulation-'))
  await placeMigratedSqlite(join(folder, 'metadata.sqlite'))
  const metadata = await openMetadataDb({ path: join(folder, 'metadata.sqlite') })
  await metadata.migrate()
  const total = { steps: 0, activeMs: 0, started: 0, recorded: 0, crashes: 0, lostCalls: 0, jumps: 0 }
  try {
    for (let i = 0; i < EPISODES; i++) {
      const report = await simulateScheduler(metadata, SEED + i).catch((error: unknown) => {
        throw new Error(`episode ${i}: repeat it with MILLRACE_EPISODES=1 MILLRACE_SEED=${SEED + i}`, { cause: error })
      })
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += report[key]
    }
  } finally {
    await metadata.close()
    await rm(folder, { recursive: true })
  }
  t.diagnostic(JSON.stringify({ episodes: EPISODES, ...total }))
  assert.ok(total.started > 0)
})
