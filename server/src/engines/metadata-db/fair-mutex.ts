// First come, first served: the one writer SQLite allows is passed on in the order of the requests, so no request starves.

/** SQLite answers without leaving the event loop's turn, so a long row of writers would keep requests and timers waiting. */
const TURNS_BEFORE_A_BREATH = 32

export interface FairMutex {
  /** Resolves when it is the caller's turn, with the function that ends the turn. */
  acquire(): Promise<() => void>
}

export interface FairMutexOptions {
  /** Waiting longer is a programming error (a turn that waits for something that itself needs a turn), and fails instead of hanging for ever. */
  readonly patienceMs: number
  readonly explain: () => string
  /** Called at the end of a turn when the queue is empty, or before the row takes a breath: when no next turn follows at once. */
  readonly onPause?: () => void
}

export function createFairMutex({ patienceMs, explain, onPause = () => {} }: FairMutexOptions): FairMutex {
  const waiting: Array<() => void> = []
  let held = false
  let turns = 0

  function release(): void {
    const breathe = ++turns % TURNS_BEFORE_A_BREATH === 0
    if (breathe || waiting.length === 0) onPause()
    if (breathe) setImmediate(handOn)
    else handOn()
  }

  function handOn(): void {
    const next = waiting.shift()
    if (next) next()
    else held = false
  }

  function turn(): () => void {
    let ended = false
    return () => {
      if (ended) return
      ended = true
      release()
    }
  }

  function acquire(): Promise<() => void> {
    if (!held) {
      held = true
      return Promise.resolve(turn())
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        resolve(turn())
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1)
        reject(new Error(explain()))
      }, patienceMs)
      timer.unref()
      waiting.push(start)
    })
  }

  return { acquire }
}
