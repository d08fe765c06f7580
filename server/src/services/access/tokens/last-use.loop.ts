// Writes once a minute, and when the node stops, which tokens were used.

import { repeat } from '../../../kit/repeat.ts'
import type { LastUse } from './last-use.ts'

export interface LastUseLoopDeps {
  readonly lastUse: Pick<LastUse, 'write'>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 60_000

export function createLastUseLoop({ lastUse, onError }: LastUseLoopDeps) {
  const { tick, start, stop } = repeat({ everyMs: EVERY_MS, work: lastUse.write, onError })
  return {
    tick,
    start,
    async stop(): Promise<void> {
      void tick()
      await stop()
    },
  }
}
