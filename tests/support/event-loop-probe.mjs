// Loaded into a stack that tests start (`--import`): writes to a file for how long its event loop was held and when, one line each, after
// a line `start`. The time is processor time of the thread, as in event-loop.ts. Plain JavaScript, because every process that the stack
// starts loads it too.

import { appendFileSync } from 'node:fs'

const WORTH_NOTING_MS = 20
const LOOK_MS = 5

const file = process.env.MILLRACE_TEST_EVENT_LOOP_FILE
// The processes that the stack starts inherit NODE_OPTIONS; they may be as busy as they like.
if (file !== undefined && /[\\/](serve\.js|main\.ts)$/.test(process.argv[1] ?? '')) {
  appendFileSync(file, 'start\n')
  let before = threadMs()
  setInterval(() => {
    const ms = threadMs() - before
    if (ms > WORTH_NOTING_MS) appendFileSync(file, `${Date.now()} ${ms}\n`)
    before = threadMs()
  }, LOOK_MS).unref()
}

function threadMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
