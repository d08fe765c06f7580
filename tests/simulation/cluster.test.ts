// Months of schedules, flows, jobs and loads on several nodes, by a simulated time: see cluster-simulation.ts. Years: `npm run simulate`.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { count, SEED } from '../support/chance.ts'
import { placeMigratedSqlite } from '../support/migrated-sqlite.ts'
import { simulateCluster } from './cluster-simulation.ts'

const DAYS = Number(process.env.MILLRACE_DAYS ?? (process.env.MILLRACE_LONG ? 3_650 : 30))

test(`${DAYS} days of schedules, flows, jobs and loads on failing nodes break no rule (seed ${SEED})`, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-simulation-'))
  const path = join(folder, 'metadata.sqlite')
  await placeMigratedSqlite(path)
  const metadata = await openMetadataDb({ path })
  await metadata.migrate()
  try {
    const report = await simulateCluster(metadata, path, SEED, DAYS).catch((error: unknown) => {
      throw new Error(`repeat it with MILLRACE_DAYS=${DAYS} MILLRACE_SEED=${SEED}`, { cause: error })
    })
    t.diagnostic(JSON.stringify(report))
    count('hours', Math.floor(report.hours))
    assert.ok(report.started > 0 && report.flows > 0 && report.storageJobs > 0 && report.faults > 0)
  } finally {
    await metadata.close()
    await rm(folder, { recursive: true })
  }
})
