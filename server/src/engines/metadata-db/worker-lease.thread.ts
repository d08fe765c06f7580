// The thread of worker-lease.ts: one statement every few seconds over a connection of its own, opened again when it breaks.

import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { endClient } from './postgres-stop.ts'
import type { LeaseOrder } from './worker-lease.ts'

const { url, worker, turns, leaseMs, renewMs, stuckMs } = workerData as LeaseOrder // worker-lease.ts started us with it
const counter = new Int32Array(turns)
const main = parentPort! // this file is a thread
const released = new AbortController()
/** Rows of workers that have been silent for so long belong to no living worker. */
const FORGOTTEN_MS = 24 * 3600 * 1000

main.on('message', () => released.abort())

let client: pg.Client | undefined
let seen = Atomics.load(counter, 0)
let seenAt = performance.now()

async function connected(): Promise<pg.Client> {
  if (client) return client
  const fresh = new pg.Client({
    connectionString: url,
    application_name: 'millrace lease',
    connectionTimeoutMillis: leaseMs,
    query_timeout: leaseMs,
  })
  fresh.on('error', () => {
    client = undefined
  })
  await fresh.connect()
  client = fresh
  return fresh
}

function isStuck(): boolean {
  const now = Atomics.load(counter, 0)
  if (now !== seen) {
    seen = now
    seenAt = performance.now()
  }
  return performance.now() - seenAt > stuckMs
}

/** By the clock of the database, like every other lease. */
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

async function renew(): Promise<void> {
  await (await connected()).query(
    `insert into worker_lease (worker, alive_until) values ($1, ${NOW} + $2::bigint) on conflict (worker) do update set alive_until = excluded.alive_until`,
    [worker, leaseMs],
  )
}

async function tried(work: () => Promise<unknown>): Promise<void> {
  await work().catch(async () => {
    const broken = client
    client = undefined
    if (broken) await endClient(broken)
  })
}

await tried(async () =>
  (await connected()).query(`delete from worker_lease where alive_until < ${NOW} - $1::bigint`, [FORGOTTEN_MS]),
)
await tried(renew)
main.postMessage('held')
while (!released.signal.aborted) {
  await sleep(renewMs, undefined, { signal: released.signal }).catch(() => {})
  if (!released.signal.aborted && !isStuck()) await tried(renew)
}
await tried(async () => (await connected()).query('delete from worker_lease where worker = $1', [worker]))
if (client) await endClient(client)
main.close()
