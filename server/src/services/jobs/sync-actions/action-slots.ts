// How many actions run at once: so many on this node, and so many of one project. Who comes when all are taken waits a moment, and is
// then gets an error that suggests a retry. A project that uses up its own share lets the others pass.

import { PlatformError } from '../../../kit/errors.ts'

export interface ActionLimits {
  /** On this node. */
  readonly max: () => number
  readonly maxPerProject: () => number
  /** How long an action may wait for its turn. */
  readonly waitMs: number
}

interface Waiting {
  readonly projectId: number
  start(): void
}

export interface ActionSlots {
  /** Runs `work` when it is its turn. Aborting `signal` gives up waiting. */
  run<T>(projectId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

export function createActionSlots({ max, maxPerProject, waitMs }: ActionLimits): ActionSlots {
  const running = new Map<number, number>()
  const waiting = new Set<Waiting>()
  let total = 0

  const isFree = (projectId: number): boolean => total < max() && (running.get(projectId) ?? 0) < maxPerProject()

  /** Which of the two limits it was that is still reached. */
  const refusal = (projectId: number): PlatformError =>
    (running.get(projectId) ?? 0) >= maxPerProject()
      ? new PlatformError('syncActions.projectBusy', { limit: maxPerProject() })
      : new PlatformError('syncActions.busy', { limit: max() })

  function take(projectId: number): void {
    total += 1
    running.set(projectId, (running.get(projectId) ?? 0) + 1)
  }

  function leave(projectId: number): void {
    total -= 1
    const left = (running.get(projectId) ?? 1) - 1
    if (left > 0) running.set(projectId, left)
    else running.delete(projectId)
    for (const one of waiting) if (isFree(one.projectId)) one.start()
  }

  async function wait(projectId: number, signal: AbortSignal): Promise<void> {
    const ahead = [...waiting].filter((one) => one.projectId === projectId).length
    if (ahead >= maxPerProject()) throw refusal(projectId)
    let timer: NodeJS.Timeout | undefined
    let onAbort = () => {}
    let entry: Waiting | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        entry = {
          projectId,
          start() {
            waiting.delete(this)
            take(projectId)
            resolve()
          },
        }
        waiting.add(entry)
        timer = setTimeout(() => reject(refusal(projectId)), waitMs)
        onAbort = () => reject(refusal(projectId)) // the caller is gone
        signal.addEventListener('abort', onAbort, { once: true })
      })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (entry) waiting.delete(entry)
    }
  }

  return {
    async run(projectId, signal, work) {
      if (isFree(projectId)) take(projectId)
      else await wait(projectId, signal)
      try {
        return await work()
      } finally {
        leave(projectId)
      }
    },
  }
}
