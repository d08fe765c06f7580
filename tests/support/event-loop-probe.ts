// Loaded into a stack that tests start (`--import`): writes to a file for how long its event loop was held and when, one line each. The
// first line is the bound on this machine.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdBoundMs, watchTurns } from './event-loop.ts'

const WORTH_NOTING_MS = 20

const file = process.env.MILLRACE_TEST_EVENT_LOOP_FILE
// The processes that the stack starts inherit NODE_OPTIONS; they may be as busy as they like.
if (file !== undefined && process.argv[1]?.endsWith(join('server', 'src', 'main.ts'))) {
  appendFileSync(file, `bound ${holdBoundMs()}\n`)
  watchTurns((ms) => {
    if (ms > WORTH_NOTING_MS) appendFileSync(file, `${Date.now()} ${ms}\n`)
  })
}
