import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../../tests/support/run-cli.ts'
import { startTestStack } from '../../tests/support/test-stack.ts'

test('any request of the API is sent from the command line, and a refused one says why', async (t) => {
  const stack = await startTestStack(t)
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const made = await runCli(['api', 'post', '/v2/storage/buckets', '--data', '{"stage":"in","name":"shop"}'], env)
  assert.equal(made.json<{ id: string }>().id, 'in.c-shop', made.err)
  assert.match((await runCli(['api', 'GET', '/v2/storage/buckets'], env)).out, /^\[\{.*in\.c-shop.*\]\n$/)
  const refused = await runCli(['api', 'GET', '/v2/storage/buckets/in.c-none'], env)
  assert.equal(refused.out, '')
  assert.match(refused.err, /in\.c-none/)
  assert.notEqual(refused.code, 0)
})
