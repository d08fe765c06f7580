// Starts scheduled merges when their time has come.

import type { Merging } from './merge-requests.jobs.ts'

const EVERY_MS = 5000

export interface MergeRequestsLoop {
  start(): void
  stop(): Promise<void>
}

export function createMergeRequestsLoop(merging: Merging, log: { warn(details: object, text: string): void }): MergeRequestsLoop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const tick = () =>
    merging
      .tick()
      .catch((error: unknown) => log.warn({ err: error }, 'Merge requests could not be read; they are looked at again'))

  return {
    start() {
      timer = setInterval(() => {
        running = running.then(tick)
      }, EVERY_MS)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
