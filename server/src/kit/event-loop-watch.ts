// How late the event loop is, and which operations were running when it was held for long: what one request does in one go, all others
// wait for.

const LOOK_MS = 50
const LONG_MS = 200
const MAX_NAMED = 10

export interface LongDelay {
  readonly delayMs: number
  /** Processor time of this thread meanwhile: much less than the delay means that other programs had the processor. */
  readonly cpuMs: number
  /** Operations of requests that ran or ended meanwhile, with how many of each; none where background work held the loop. */
  readonly operations: Readonly<Record<string, number>>
}

export interface EventLoopWatchDeps {
  readonly onDelay: (delayMs: number) => void
  readonly onLongDelay: (delay: LongDelay) => void
}

export function createEventLoopWatch({ onDelay, onLongDelay }: EventLoopWatchDeps) {
  const running = new Map<string, string>()
  let ended: string[] = []
  let timer: NodeJS.Timeout | undefined
  let lookedAt = 0
  let cpuBefore = 0

  function look(): void {
    const now = performance.now()
    const cpu = threadMs()
    const delayMs = Math.max(0, now - lookedAt - LOOK_MS)
    onDelay(delayMs)
    if (delayMs > LONG_MS) onLongDelay({ delayMs, cpuMs: cpu - cpuBefore, operations: counted([...running.values(), ...ended]) })
    ended = []
    cpuBefore = cpu
    lookedAt = now
  }

  return {
    begun(id: string, operation: string): void {
      running.set(id, operation)
    },
    ended(id: string): void {
      const operation = running.get(id)
      if (operation === undefined) return
      running.delete(id)
      ended.push(operation)
    },
    start(): void {
      lookedAt = performance.now()
      cpuBefore = threadMs()
      timer = setInterval(look, LOOK_MS)
      timer.unref()
    },
    stop: (): void => clearInterval(timer),
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function counted(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_NAMED))
}
