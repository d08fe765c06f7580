// The sweep of workspaces: those that were unused for long, and database files without a record.

import type { DatabaseFiles, ResultFiles } from '../../../engines/sql/database-files.ts'
import type { Workspaces } from './workspaces.ts'

export interface WorkspacesLoopDeps {
  readonly workspaces: Pick<Workspaces, 'listUnusedSince' | 'listIds' | 'remove'>
  readonly files: Pick<DatabaseFiles, 'list' | 'remove'>
  readonly results: Pick<ResultFiles, 'removeOlderThan'>
  /** Removes the sandboxes whose time is over. */
  readonly removeExpired: () => Promise<void>
  readonly clock: { now(): Date }
  readonly keepDays: number
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 10 * 60 * 1000
const DAY_MS = 24 * 3600 * 1000

export function createWorkspacesLoop({
  workspaces,
  files,
  results,
  removeExpired,
  clock,
  keepDays,
  onError,
}: WorkspacesLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function tick(now: Date): Promise<void> {
    for (const unused of await workspaces.listUnusedSince(new Date(now.getTime() - keepDays * DAY_MS)))
      await workspaces.remove(unused)
    await removeExpired()
    await results.removeOlderThan(new Date(now.getTime() - DAY_MS))
    const withFile = await files.list() // before the records: a file that is made meanwhile has one
    const known = await workspaces.listIds()
    for (const id of withFile.filter((one) => !known.has(one))) await files.remove(id)
  }

  return {
    tick,
    start(): void {
      timer = setInterval(() => {
        running = tick(clock.now()).catch(onError)
      }, EVERY_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}
