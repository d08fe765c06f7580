// docs/notifications.md and docs/streams.md, run as they stand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the pages about notifications and streams work, command by command', async (t) => {
  const stack = await startTestStack(t, { worker: { path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken, MILLRACE_DATA_DIR: stack.dataDir }
  const notifications = await runCommandsOf(t, 'docs/notifications.md', env)
  const { id } = await notifications.readJson<{ id: string }>('job.json')
  const messages = (await notifications.readFile('messages.jsonl')).trim().split('\n')
  assert.deepEqual(
    messages.map((line) => JSON.parse(line).job.id as string),
    ['0', id],
  )
  assert.match(await notifications.readFile('log.txt'), /job-failed .* delivered +1 +200 thanks/)

  const streams = await runCommandsOf(t, 'docs/streams.md', env)
  const orders = (await streams.readFile('orders.csv')).trim().split('\n')
  assert.deepEqual(orders.slice(1).sort(), ['"",""," "', '"7","Ann","sale 7"', '"8",""," 8"'].sort())
  assert.equal(await streams.readFile('spans.csv'), '"name","service"\n"GET /orders","shop"\n')
})
