import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { sql } from 'kysely'
import { freshPostgres } from '../../../../tests/support/fresh-databases.ts'
import { openMetadataDb } from './metadata-db.ts'
import { holdWorkerLease } from './worker-lease.ts'

const SETTINGS = { leaseMs: 3_000, renewMs: 50, stuckMs: 60_000 }

async function openPostgres(t: test.TestContext) {
  const { location, remove } = await freshPostgres()
  assert.ok('url' in location)
  const metadata = await openMetadataDb(location)
  await metadata.migrate()
  t.after(async () => {
    await metadata.close()
    await remove()
  })
  const aliveUntil = async (): Promise<number | undefined> => {
    const found = await sql<{ alive_until: number }>`select alive_until from worker_lease where worker = 'w'`.execute(metadata.db)
    return found.rows[0]?.alive_until
  }
  return { url: location.url, aliveUntil }
}

function holdTheEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('a worker stays alive for others while its event loop is held for longer than the lease', async (t) => {
  const { url, aliveUntil } = await openPostgres(t)
  const lease = await holdWorkerLease(url, 'w', SETTINGS)
  const before = await aliveUntil()
  holdTheEventLoop(SETTINGS.leaseMs + 500)
  const after = await aliveUntil()
  assert.ok(before && after && after - before >= SETTINGS.leaseMs, `${before} to ${after}`)
  await lease.release()
  assert.equal(await aliveUntil(), undefined)
})

/** Queries in another process, while the event loop of this one stands still. */
function aliveUntilMeanwhile(url: string): string {
  const script = `import pg from 'pg'; const client = new pg.Client(process.argv[1]); await client.connect();
    console.log((await client.query("select alive_until from worker_lease")).rows[0].alive_until); await client.end()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, url], { encoding: 'utf8' })
  assert.match(stdout, /^\d+\n$/, stderr)
  return stdout
}

test('an event loop that stands still for good is not spoken for', async (t) => {
  const { url } = await openPostgres(t)
  const lease = await holdWorkerLease(url, 'w', { ...SETTINGS, stuckMs: 200 })
  holdTheEventLoop(1_000)
  assert.equal(aliveUntilMeanwhile(url), aliveUntilMeanwhile(url))
  await lease.release()
})
