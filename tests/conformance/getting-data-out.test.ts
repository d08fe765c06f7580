// docs/getting-data-out.md: its curl commands, run as they stand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../support/clients/table-client.ts'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the commands of getting-data-out.md write a table as CSV, Parquet and JSON lines', async (t) => {
  const stack = await startTestStack(t)
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 'orders', 'id,amount\n1,10\n2,20\n')
  const out = await runCommandsOf(t, 'docs/getting-data-out.md', { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })
  assert.equal(await out.readFile('table.csv'), '"id","amount"\n"1","10"\n"2","20"\n')
  assert.equal(await out.readFile('table.jsonl'), '{"id":"1","amount":"10"}\n{"id":"2","amount":"20"}\n')
  assert.match(await out.readFile('table.parquet'), /^PAR1.*PAR1$/s)
})
