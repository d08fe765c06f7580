// Word that a job has said or done something, for whoever follows it on this node. What other nodes do is found by looking: a follower
// that hears nothing looks again after a while.

export interface JobFollower {
  /** Resolves at the next news, at once when there were some since the last call; false after `ms` without any. */
  next(ms: number): Promise<boolean>
  /** This node stops: whoever follows goes on at another one, or when it is back. */
  isOver(): boolean
  leave(): void
}

export interface JobNotifier {
  tell(jobId: number): void
  follow(jobId: number): JobFollower
  /** Wakes everybody for the last time. */
  end(): void
}

export function createJobNotifier(): JobNotifier {
  const bells = new Map<number, Set<() => void>>()
  let isOver = false

  function follow(jobId: number): JobFollower {
    let hasNews = false
    let wake = () => {}
    const ring = () => {
      hasNews = true
      wake()
    }
    const others = bells.get(jobId) ?? new Set()
    bells.set(jobId, others.add(ring))
    return {
      next: async (ms) => {
        if (!hasNews)
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, ms)
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        const heard = hasNews
        hasNews = false
        return heard
      },
      isOver: () => isOver,
      leave: () => {
        others.delete(ring)
        if (others.size === 0) bells.delete(jobId)
      },
    }
  }

  function tell(jobId: number): void {
    for (const ring of bells.get(jobId) ?? []) ring()
  }

  function end(): void {
    isOver = true
    for (const jobId of bells.keys()) tell(jobId)
  }

  return { tell, follow, end }
}
