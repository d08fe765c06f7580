// Work that is done once after a start, beside everything else.

import type { BackgroundPart } from './lifecycle.ts'

/** `work` checks between its steps whether it should stop. */
export function once(work: (isStopped: () => boolean) => Promise<unknown>, onError: (error: unknown) => void) {
  let stopped = false
  let running: Promise<unknown> = Promise.resolve()
  return {
    start(): void {
      running = work(() => stopped).catch(onError)
    },
    /** Waits for the step under way. */
    async stop(): Promise<void> {
      stopped = true
      await running
    },
  } satisfies BackgroundPart
}
