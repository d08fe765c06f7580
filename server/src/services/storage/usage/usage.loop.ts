// Measures the storage of every project every ten minutes, and stores the time of queries every few seconds.

import { repeat } from '../../../kit/repeat.ts'

export interface UsageLoopDeps {
  readonly measureStorage: () => Promise<void>
  readonly storeQueries: () => Promise<void>
  readonly onError: (error: unknown) => void
}

const STORAGE_EVERY_MS = 600_000
const QUERIES_EVERY_MS = 5_000

export function createUsageLoop({ measureStorage, storeQueries, onError }: UsageLoopDeps) {
  const storage = repeat({ everyMs: STORAGE_EVERY_MS, work: measureStorage, onError })
  const queries = repeat({ everyMs: QUERIES_EVERY_MS, work: storeQueries, onError })
  return {
    storage: {
      start(): void {
        storage.start()
        void storage.tick()
      },
      stop: storage.stop,
    },
    queries: {
      start: queries.start,
      async stop(): Promise<void> {
        await queries.stop()
        await queries.tick()
      },
    },
  }
}
