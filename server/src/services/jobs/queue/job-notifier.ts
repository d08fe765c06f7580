// Notifies the followers of a job on this node that it has logged something or changed its state. Changes by other nodes are found by
// polling: a follower that is not notified looks again after a while.

export interface JobFollower {
  /** Resolves at the next notification, at once when there was one since the last call; false after `ms` without any. */
  next(ms: number): Promise<boolean>
  /** This node stops: followers reconnect to another one, or when it is back. */
  isOver(): boolean
  leave(): void
}

export interface JobNotifier {
  notify(jobId: number): void
  /** A job changed its state; its parent changes with it. */
  moved(job: { readonly id: number; readonly parent_job_id: number | null }): void
  follow(jobId: number): JobFollower
  /** Wakes all followers for the last time. */
  end(): void
}

export function createJobNotifier(): JobNotifier {
  const followers = new Map<number, Set<() => void>>()
  let isOver = false

  function follow(jobId: number): JobFollower {
    let isNotified = false
    let wake = () => {}
    const notifyThis = () => {
      isNotified = true
      wake()
    }
    const others = followers.get(jobId) ?? new Set()
    followers.set(jobId, others.add(notifyThis))
    return {
      next: async (ms) => {
        if (!isNotified)
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, ms)
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        const wasNotified = isNotified
        isNotified = false
        return wasNotified
      },
      isOver: () => isOver,
      leave: () => {
        others.delete(notifyThis)
        if (others.size === 0) followers.delete(jobId)
      },
    }
  }

  function notify(jobId: number): void {
    for (const follower of followers.get(jobId) ?? []) follower()
  }

  function moved({ id, parent_job_id }: { readonly id: number; readonly parent_job_id: number | null }): void {
    notify(id)
    if (parent_job_id !== null) notify(parent_job_id)
  }

  function end(): void {
    isOver = true
    for (const jobId of followers.keys()) notify(jobId)
  }

  return { notify, moved, follow, end }
}
