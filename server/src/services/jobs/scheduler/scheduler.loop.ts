// Looks every second whether something is due. One look at a time: a long one delays the next, it never overlaps it.

import type { Clock } from '../../../kit/clock.ts'

const EVERY_MS = 1000

export interface SchedulerLoopDeps {
  readonly clock: Clock
  readonly fireDue: (now: Date) => Promise<number>
  readonly onError: (error: unknown) => void
}

export function createSchedulerLoop({ clock, fireDue, onError }: SchedulerLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> = Promise.resolve()
  let stopped = true

  const tick = (now: Date): Promise<number> => fireDue(now)

  function plan(): void {
    if (stopped) return
    // Just after the full second, so that a due minute starts in its first moments.
    const delay = EVERY_MS - (clock.now().getTime() % EVERY_MS) + 5
    timer = setTimeout(() => {
      running = tick(clock.now()).catch(onError).finally(plan)
    }, delay)
  }

  return {
    tick,
    start(): void {
      stopped = false
      plan()
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
