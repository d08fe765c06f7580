// Reports how long the event loop of this thread is held: processor time between two turns, because other programs on the machine must
// not decide a test. Plain JavaScript, because every process that a stack under test starts loads it.

import { readFileSync } from 'node:fs'

const LOOK_MS = 5
const LOOKS_PER_READING = 10
const TICK_MS = 10
const STEAL_COLUMN = 8

/** Calls `onHold` with the milliseconds of every hold longer than `worthNotingMs`, until the returned function is called. */
export function watchLoop(onHold, worthNotingMs) {
  let before = threadMs()
  let stolenBefore = stolenMs()
  let looks = 0
  const timer = setInterval(() => {
    const ms = threadMs() - before
    const isHeld = ms > worthNotingMs
    if (isHeld || ++looks % LOOKS_PER_READING === 0) {
      const stolen = stolenMs()
      const ownMs = ms - (stolen - stolenBefore)
      stolenBefore = stolen
      if (isHeld && ownMs > worthNotingMs) onHold(ownMs)
    }
    before = threadMs()
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

export function threadMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** What the host of a virtual machine gave to others while programs here were ready to run: some kernels count it as their work. */
function stolenMs() {
  if (process.platform !== 'linux') return 0
  const [all] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  return Number(all.split(/\s+/)[STEAL_COLUMN] ?? 0) * TICK_MS
}
