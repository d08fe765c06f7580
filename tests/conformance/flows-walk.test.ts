// docs/flows.md, run as it stands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the pipeline of the page about flows works, command by command', async (t) => {
  const stack = await startTestStack(t, { worker: { path: process.env.PATH ?? '' } })
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken, MILLRACE_DATA_DIR: stack.dataDir }
  const walk = await runCommandsOf(t, 'docs/flows.md', env)
  assert.match(
    await walk.readFile('run.txt'),
    /✔ Flow \d+ {2}success.*✔ Extract.*✔ Transform.*└─ ✔ Export.*3 tasks were processed\./s,
  )
  const orders = await walk.readFile('orders.csv')
  assert.match(orders, /^"?orders"?,"?revenue"?\n"?25\d"?,/, 'the shop keeps 250 orders, and gets new ones')
  assert.equal(await walk.readFile('totals.csv'), orders, 'the totals by customer add up to those of all orders')
  const files = await walk.readJson<{ name: string }[]>('files.json')
  assert.deepEqual(
    files.map(({ name }) => name),
    ['table.csv'],
  )
})
