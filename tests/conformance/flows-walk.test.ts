// docs/flows.md, run as it stands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the pipeline of the page about flows works, command by command', async (t) => {
  const stack = await startTestStack(t, { worker: { path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken, MILLRACE_DATA_DIR: stack.dataDir }
  const walk = await runCommandsOf(t, 'docs/flows.md', env)
  assert.match(
    await walk.readFile('run.txt'),
    /✔ Flow \d+ {2}success.*✔ Extract.*✔ Transform.*└─ ✔ Export.*3 tasks were processed\./s,
  )
  assert.equal(await walk.readFile('totals.csv'), '"customer","total"\n"Ann","38"\n"Bob","12"\n')
  const files = await walk.readJson<{ name: string }[]>('files.json')
  assert.deepEqual(
    files.map(({ name }) => name),
    ['totals.csv'],
  )
})
