// How long the event loop of this process was held, for tests of stacks that run in it.

/** What a user sends may hold the loop no longer than this on the machine the spin below was measured on. */
const BOUND_MS = 200
/** Processor time of one spin there. */
const REFERENCE_SPIN_MS = 10
const LOOK_MS = 5

/**
 * The most processor time of this thread between two turns of its event loop, and the bound for it. Processor time, because other
 * programs on the machine must not decide a test; the bound grows with how slow the processor is.
 */
export async function longestHold(work: () => Promise<void>): Promise<{ readonly heldMs: number; readonly boundMs: number }> {
  const boundMs = BOUND_MS * slowness()
  let before = threadMs()
  let heldMs = 0
  const timer = setInterval(() => {
    const now = threadMs()
    heldMs = Math.max(heldMs, now - before)
    before = now
  }, LOOK_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return { heldMs, boundMs }
}

let known: number | undefined

/** Measured once: a processor does not change. */
function slowness(): number {
  known ??= Math.max(1, spinMs() / REFERENCE_SPIN_MS)
  return known
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function spinMs(): number {
  const times = Array.from({ length: 20 }, () => {
    const begun = threadMs()
    let sum = 0
    for (let i = 0; i < 2_000_000; i++) sum = (sum * 31 + i) | 0
    return threadMs() - begun + (sum & 0)
  })
  return Math.min(...times)
}
