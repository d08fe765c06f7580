// How much work a piece of code is, in processor time of this thread: other programs on the machine do not count. Tests compare two
// measurements with each other and never one of them with a number of milliseconds.

/** Systems count in steps of some milliseconds; short work is repeated until that no longer matters. */
const ENOUGH_MS = 100

/** Milliseconds per run. */
export function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  for (let runs = 1; ; runs++) {
    work()
    const { user, system } = process.threadCpuUsage(before)
    const ms = (user + system) / 1000
    if (ms >= ENOUGH_MS) return ms / runs
  }
}
