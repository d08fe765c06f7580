// docs/schedules.md, run as it stands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the page about schedules works, command by command', async (t) => {
  const stack = await startTestStack(t)
  const walk = await runCommandsOf(t, 'docs/schedules.md', { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })
  assert.equal((await walk.readJson<unknown[]>('preview.json')).length, 3)
  assert.equal((await walk.readJson<unknown[]>('next.json')).length, 5)
  assert.deepEqual((await stack.request('GET', '/scheduler/schedules')).json(), [])
})
