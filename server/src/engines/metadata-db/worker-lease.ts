// The lease by which a worker counts as alive. On PostgreSQL, where other nodes read it, a thread with a connection of its own renews it: an event loop that
// is busy for a minute must not cost the worker its jobs. On SQLite there is no other node, and nothing to announce.
//  (1) A job is abandoned only when its own lease has run out and its worker is silent too.
//  (2) The thread falls silent when the event loop has not turned for STUCK_MS: such a node does nothing for its jobs any more.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type RawBuilder, sql } from 'kysely'

export interface WorkerLease {
  /** Releases the lease: others may adopt what this worker has left. */
  release(): Promise<void>
}

export interface LeaseSettings {
  readonly leaseMs: number
  readonly renewMs: number
  /** How long the event loop may be blocked before the worker counts as dead. */
  readonly stuckMs: number
}

/** What the thread is started with. */
export interface LeaseOrder extends LeaseSettings {
  readonly url: string
  readonly worker: string
  /** One counter that rises while the event loop turns. */
  readonly turns: SharedArrayBuffer
}

const SETTINGS: LeaseSettings = { leaseMs: 15_000, renewMs: 2_000, stuckMs: 300_000 }

/** Resolves when the lease is held for the first time. */
export async function holdWorkerLease(url: string, worker: string, settings: Partial<LeaseSettings> = {}): Promise<WorkerLease> {
  const order: LeaseOrder = { ...SETTINGS, ...settings, url, worker, turns: new SharedArrayBuffer(4) }
  const turns = new Int32Array(order.turns)
  const thread = new Worker(new URL('./worker-lease.thread.ts', import.meta.url), { workerData: order, env: {} })
  const timer = setInterval(() => Atomics.add(turns, 0, 1), order.renewMs).unref()
  await once(thread, 'message')
  thread.unref()
  return {
    async release() {
      clearInterval(timer)
      const ended = once(thread, 'exit')
      thread.postMessage('release')
      // A database that is gone does not keep the node: the lease runs out by itself.
      const late = setTimeout(() => void thread.terminate(), order.leaseMs / 5)
      await ended
      clearTimeout(late)
    },
  }
}

/** The worker in this column has not renewed its lease in time. */
export const isSilent = (workerColumn: string, now: number): RawBuilder<boolean> =>
  sql<boolean>`not exists (select 1 from worker_lease where worker_lease.worker = ${sql.ref(workerColumn)} and worker_lease.alive_until >= ${now})`
