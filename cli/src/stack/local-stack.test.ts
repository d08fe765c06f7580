import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startStackProcess } from '../../../tests/support/stack-process.ts'

test('commands on the data folder use the address of the stack that runs on it, whatever PORT says', async (t) => {
  const stack = await startStackProcess(t)
  const env = { MILLRACE_DATA_DIR: stack.dataDir }
  const link = async (...args: string[]) => (await runCli([...args, '--json'], env)).json<{ link: string }>().link
  assert.ok((await link('people', 'invite', 'ann@example.com')).startsWith(`${stack.url}/console/#link=`))
  assert.ok((await link('admin', 'sign-in-link')).startsWith(`${stack.url}/console/#link=`))
  const { out } = await runCli(['doctor'], env)
  assert.match(out, new RegExp(`ok +stack port +${new URL(stack.url).port} is held by the running stack`))
  assert.match(out, /event loop +(never held for more than 200 ms|held \d+ times? for more than 200 ms, at most \d+ ms)/)
  assert.match(out, new RegExp(`ok +object store port +${new URL(stack.s3Url).port} is held by the running stack`))
  assert.match(out, new RegExp(`ok +running +process \\d+ uses this data folder at ${stack.url};`))

  await stack.kill()
  const later = await runCli(['doctor'], env)
  assert.match(later.out, /running +no/)
  assert.ok(!later.out.includes(new URL(stack.url).port), 'the file of a killed stack is not taken for a stack')
})
