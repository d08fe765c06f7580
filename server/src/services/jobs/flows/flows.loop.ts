// Looks after flows: at once when a job of one has ended on this node, and every second for what other nodes did and for time limits.

import type { Flows } from './flows.ts'

export interface FlowsLoopDeps {
  readonly flows: Pick<Flows, 'advanceDue'>
  readonly onError: (error: unknown) => void
}

const LOOK_MS = 1_000

export type FlowsLoop = ReturnType<typeof createFlowsLoop>

export function createFlowsLoop({ flows, onError }: FlowsLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let lookAgain = false
  let isStopped = true

  function nudge(): void {
    lookAgain = true
    if (isStopped || looking) return
    looking = look().finally(() => {
      looking = undefined
      if (lookAgain) nudge()
    })
  }

  async function look(): Promise<void> {
    while (lookAgain && !isStopped) {
      lookAgain = false
      try {
        while (!isStopped && (await flows.advanceDue()) > 0);
      } catch (error) {
        onError(error)
      }
    }
  }

  return {
    nudge,
    start(): void {
      isStopped = false
      timer = setInterval(nudge, LOOK_MS).unref()
      nudge()
    },
    async stop(): Promise<void> {
      isStopped = true
      clearInterval(timer)
      await looking
    },
  }
}
