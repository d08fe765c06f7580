// Loaded into a stack that tests start (`--import`): writes to a file for how long its event loop was held and when, one line each, after
// a line `start`.

import { appendFileSync } from 'node:fs'
import { watchLoop } from './loop-watch.mjs'

const WORTH_NOTING_MS = 20

const file = process.env.MILLRACE_TEST_EVENT_LOOP_FILE
// The processes that the stack starts inherit NODE_OPTIONS; they may be as busy as they like.
if (file !== undefined && /[\\/](serve\.js|main\.ts)$/.test(process.argv[1] ?? '')) {
  appendFileSync(file, 'start\n')
  watchLoop((ms) => appendFileSync(file, `${Date.now()} ${ms}\n`), WORTH_NOTING_MS)
}
