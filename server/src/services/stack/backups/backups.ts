// Rules of backups that hold on all nodes.
//  (1) From the moment a backup begins until it has ended, no object is removed from an external S3: its removal is remembered. A record in
//      the backup was there after the beginning, so its bytes are, too.
//  (2) The process that makes the backup renews its lease while it runs. If it dies, removals resume after a while.
//  (3) A planned backup is made once, by one node.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type BackupRow, createBackupsStore } from './backups.store.ts'

export type Backups = ReturnType<typeof createBackups>

export interface RunningBackup {
  end(error?: unknown): Promise<void>
}

export interface Drilled {
  readonly result: 'good' | 'damaged' | 'filesOnly' | 'failed'
  /** What was found, in a sentence. */
  readonly note: string
}

/** What is known of a backup. */
export interface BackupState {
  readonly row: BackupRow
  readonly state: 'running' | 'good' | 'failed' | 'interrupted' | 'removed'
  readonly drill: 'running' | 'interrupted' | Drilled['result'] | undefined
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

  const stateOf = (row: BackupRow): BackupState => {
    const isDrilled = row.drill_started_at !== null
    const isDrilling = isDrilled && Number(row.drill_hold_until) > now()
    const drill = (row.drill_result ?? (isDrilling ? 'running' : 'interrupted')) as Exclude<BackupState['drill'], undefined> // written below
    return { row, state: endOf(row), drill: isDrilled ? drill : undefined }
  }

  function endOf({ ended_at, error, removed_at, hold_until }: BackupRow): BackupState['state'] {
    if (ended_at === null) return Number(hold_until) > now() ? 'running' : 'interrupted'
    return error !== null ? 'failed' : removed_at !== null ? 'removed' : 'good'
  }

  /** Runs `work` with a backup that ended well; one drill at a time on all nodes. The promise resolves when it has begun. */
  async function drill(id: number, work: (folder: string) => Promise<Drilled>, onError: (error: unknown) => void): Promise<void> {
    const row = await store.find(id)
    if (!row) throw new PlatformError('notFound', { what: `Backup ${id}` })
    const state = endOf(row)
    if (state !== 'good') throw new PlatformError('backup.notGood', { id, state })
    if (!(await store.beginDrill(id, now(), now() + HOLD_MS))) throw new PlatformError('backup.drillRuns')
    const renewal = setInterval(() => void store.holdDrill(id, now() + HOLD_MS).catch(() => {}), RENEW_MS).unref() // as of a backup
    void work(row.folder)
      .catch((error: unknown): Drilled => ({ result: 'failed', note: error instanceof Error ? error.message : String(error) }))
      .then(({ result, note }) => store.endDrill(id, now(), result, note))
      .catch(onError)
      .finally(() => clearInterval(renewal))
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
    drill,
    list: async (limit: number): Promise<readonly BackupState[]> => (await store.list(limit)).map(stateOf),
    /** Their files are gone; the record of them stays. */
    markRemoved: (folders: readonly string[]) => store.markRemoved(folders, now()),
    keeping,
    removeHeld,
    lastGoodAt: store.lastGoodAt,
    lastDueAt: store.lastDueAt,
    restoredAt: store.restoredAt,
    markRestored: () => store.markRestored(now()),
    forgetRestored: store.forgetRestored,
  }
}
