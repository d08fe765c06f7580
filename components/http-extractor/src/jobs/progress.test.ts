import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../log.ts'
import { createRedactor } from '../redaction.ts'
import { createProgress } from './progress.ts'

test('progress is said at most every five seconds, with pages, items and how fast they came since', () => {
  const lines: string[] = []
  let clock = 0
  const log = createLog({ debug: false, redactor: createRedactor(), write: (line) => lines.push(line), now: () => new Date(0) })
  const progress = createProgress(log, () => clock)
  for (let page = 1; page <= 12; page++) {
    clock += 1000
    progress.page(page <= 6 ? 100 : 10)
  }
  assert.deepEqual(
    lines.map((line) => line.slice(line.indexOf('INFO'))),
    [
      'INFO: Progress: 5 pages, 500 items, 100 items per second. {}\n',
      'INFO: Progress: 10 pages, 640 items, 28 items per second. {}\n',
    ],
  )
  assert.deepEqual([progress.pages, progress.items], [12, 660])
})
