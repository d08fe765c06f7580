// Measures the storage of every project every ten minutes.

import { repeat } from '../../../kit/repeat.ts'

export interface UsageLoopDeps {
  readonly measureStorage: () => Promise<void>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 600_000

export function createUsageLoop({ measureStorage, onError }: UsageLoopDeps) {
  const { tick, start, stop } = repeat({ everyMs: EVERY_MS, work: measureStorage, onError })
  return {
    start(): void {
      start()
      void tick()
    },
    stop,
  }
}
