// The sweep: expired files, files deleted while credentials for them are still valid, unreferenced bytes.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { CREDENTIALS_SECONDS } from '../../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { FileRecord } from './files.store.ts'
import type { Files } from './files.ts'

export interface FilesLoopDeps {
  readonly files: Files
  readonly objects: ObjectStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: { now(): Date }
  readonly onError: (error: unknown) => void
  readonly everyMs?: number
}

const BATCH = 100
const MAX_BATCHES = 1000
const CREDENTIALS_MS = CREDENTIALS_SECONDS * 1000
const HOUR_MS = 3600 * 1000
const DAY_MS = 24 * HOUR_MS

export interface FilesLoop {
  start(): void
  stop(): Promise<void>
  tick(now: Date): Promise<void>
}

export function createFilesLoop({
  files,
  objects,
  inTransaction,
  clock,
  onError,
  everyMs = 10 * 60 * 1000,
}: FilesLoopDeps): FilesLoop {
  const { store } = files
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function tick(now: Date): Promise<void> {
    await expire(now)
    await forget('expired', now, (trx, file) => store.changeState(trx, file, ['expired'], 'swept', now))
    await forget('deleted', now, (trx, file) => store.remove(trx, file.projectId, file.id))
    await dropUnpublished(now)
    // Uploads in parts outlive the credentials that could finish them by a little, then go.
    await objects.sweep({ abandonedBefore: new Date(now.getTime() - CREDENTIALS_MS - HOUR_MS) })
  }

  async function expire(now: Date): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const past = await store.listPastAge(now, BATCH)
      for (const file of past) await inTransaction((trx) => store.changeState(trx, file, ['visible'], 'expired', now))
      if (past.length < BATCH) return
    }
  }

  /**
   * Removes the bytes of deleted files, again in every sweep: the process may have ended before it did, and issued credentials
   * earlier may have written the key again. Once those have expired nothing can, and the file needs no further look.
   */
  async function forget(
    state: 'deleted' | 'expired',
    now: Date,
    done: (trx: Trx, file: FileRecord) => Promise<unknown>,
  ): Promise<void> {
    await each(state, now, async (file) => {
      await files.removeBytes(file)
      if (now.getTime() - file.stateChangedAt.getTime() > CREDENTIALS_MS + HOUR_MS) await inTransaction((trx) => done(trx, file))
    })
  }

  /** Reserved for bytes that never came: the process ended in between. */
  async function dropUnpublished(now: Date): Promise<void> {
    await each('reserved', new Date(now.getTime() - 2 * DAY_MS), files.discard)
  }

  async function each(state: FileRecord['state'], before: Date, work: (file: FileRecord) => Promise<void>): Promise<void> {
    for (let afterId = 0, batch = 0; batch < MAX_BATCHES; batch++) {
      const found = await store.listSince(state, before, afterId, BATCH)
      for (const file of found) await work(file)
      if (found.length < BATCH) return
      afterId = found.at(-1)!.id
    }
  }

  return {
    tick,
    start() {
      timer = setInterval(() => {
        running = running.then(() => tick(clock.now())).catch(onError)
      }, everyMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
