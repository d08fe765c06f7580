import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../../../tests/support/until.ts'
import { WorkerPool } from './worker-pool.ts'

test('a pool without work has no processes after a while, not even warm ones', async (t) => {
  const spillDir = await mkdtemp(join(tmpdir(), 'millrace-pool-'))
  const pool = new WorkerPool({
    lanes: { long: 1, short: 1 },
    warmWorkers: 2,
    workerMemoryMb: 512,
    workerThreads: 1,
    spillDir,
    idleMs: 200,
  })
  t.after(async () => {
    await pool.close()
    await rm(spillDir, { recursive: true, force: true })
  })
  assert.equal(pool.pids().length, 2)
  await until('the warm processes have ended', () => pool.pids().length === 0)
})
