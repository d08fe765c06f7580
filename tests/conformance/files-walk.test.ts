// docs/files.md, run as it stands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the walk through files works, command by command', async (t) => {
  const stack = await startTestStack(t)
  const walk = await runCommandsOf(t, 'docs/files.md', { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })
  assert.equal(await walk.readFile('back.csv'), 'id,name\n1,Ann\n2,Bob\n')
  assert.equal((await walk.readJson<{ sizeBytes: number }>('imported.json')).sizeBytes, 20)
  assert.equal((await walk.readJson<unknown[]>('found.json')).length, 2)
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
})
