// Writes once a minute, and when the node stops, which tokens were used.

import type { LastUse } from './last-use.ts'

export interface LastUseLoopDeps {
  readonly lastUse: Pick<LastUse, 'write'>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 60_000

export function createLastUseLoop({ lastUse, onError }: LastUseLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  const tick = (): Promise<void> => {
    writing = writing.then(lastUse.write).catch(onError)
    return writing
  }
  return {
    tick,
    start(): void {
      timer = setInterval(tick, EVERY_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await tick()
    },
  }
}
