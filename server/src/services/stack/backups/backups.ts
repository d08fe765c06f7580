// Rules of backups that hold on all nodes.
//  (1) From the moment a backup begins until it has ended, no object is removed from an external S3: its removal is remembered. A record in
//      the backup was there after the beginning, so its bytes are, too.
//  (2) The process that makes the backup renews its lease while it runs. If it dies, removals resume after a while.
//  (3) A planned backup is made once, by one node.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { createBackupsStore } from './backups.store.ts'

export type Backups = ReturnType<typeof createBackups>

export interface RunningBackup {
  end(error?: unknown): Promise<void>
}

const HOLD_MS = 5 * 60_000
const RENEW_MS = 60_000
const REMOVALS_AT_ONCE = 500

export function createBackups({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  const store = createBackupsStore(db)
  const now = () => clock.now().getTime()

  /** Undefined when another node makes the planned backup that is due at `dueAt`. */
  async function begin(folder: string, dueAt: number | null = null): Promise<RunningBackup | undefined> {
    const id = await store.begin({ dueAt, startedAt: now(), holdUntil: now() + HOLD_MS, folder })
    if (id === undefined) return undefined
    const renewal = setInterval(() => void store.hold(id, now() + HOLD_MS).catch(() => {}), RENEW_MS).unref() // the next one may reach the database again
    return {
      async end(error) {
        clearInterval(renewal)
        await store.end(id, now(), error === undefined ? null : error instanceof Error ? error.message : String(error))
      },
    }
  }

  /** The same store, whose objects stay while a backup is made. */
  const keeping = (objects: ObjectStore): ObjectStore => ({
    ...objects,
    delete: async (keys) => ((await store.isHeld(now())) ? store.removeLater([keys].flat()) : objects.delete(keys)),
  })

  /** Removes what had to wait for a backup, unless one is being made. */
  async function removeHeld(objects: ObjectStore): Promise<void> {
    for (;;) {
      const keys = await store.listRemovals(REMOVALS_AT_ONCE)
      if (keys.length === 0 || (await store.isHeld(now()))) return
      await objects.delete(keys)
      await store.forgetRemovals(keys)
    }
  }

  return {
    begin,
    keeping,
    removeHeld,
    lastGoodAt: store.lastGoodAt,
    lastDueAt: store.lastDueAt,
    restoredAt: store.restoredAt,
    markRestored: () => store.markRestored(now()),
    forgetRestored: store.forgetRestored,
  }
}
