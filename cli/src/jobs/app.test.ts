import assert from 'node:assert/strict'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { findIsolation } from '../../../server/src/engines/runner/isolation.ts'
import { tableClient } from '../../../tests/support/clients/table-client.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'
import { until } from '../../../tests/support/until.ts'

const EXAMPLE = fileURLToPath(new URL('../../../examples/data-app/app.mjs', import.meta.url))
const path = process.env.PATH ?? '/usr/bin:/bin'
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
const { problem } = await findIsolation({ ...isolation, path, hidden: [] })

test('the example app is made, deployed, opened and deleted from the command line', async (t) => {
  const stack = await startTestStack(t, { worker: { isolation, path }, sql: { memoryMb: 512, diskMb: 64 } })
  const client = tableClient(stack)
  await client.bucket('shop')
  await client.create('in.c-shop', 'orders', 'id,note\n1,<b>bold</b>\n')
  const millrace = (args: string[]) => runCli(['app', ...args], { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken })

  const made = await millrace(['create', 'Orders', '--script', EXAMPLE, '--set', 'TABLE=in.c-shop.orders', '--json'])
  assert.equal(made.code, 0, made.err)
  const { id } = made.json<{ id: string }>()
  assert.match((await millrace(['list'])).out, new RegExp(`${id} +Orders +node +created +stopped`))
  assert.match((await millrace(['create', 'x', '--script', EXAMPLE, '--set', 'TABLE'])).err, /name=value/)
  const deployed = await millrace(['deploy', id])
  if (problem !== undefined) return assert.match(deployed.err, /only run isolated/) // this machine cannot run it
  assert.equal(deployed.code, 0, deployed.err)
  const page = await stack.request('GET', (await millrace(['open', id])).out.trim(), { token: null })
  assert.equal(page.status, 200, page.text)
  assert.match(page.text, /<th>note<\/th>/)
  assert.match(page.text, /<td>&#60;b&#62;bold/, 'what a table holds is shown, not run')
  await until('its log', async () => (await millrace(['log', id])).out.includes('Shows in.c-shop.orders'))
  assert.match((await millrace(['stop', id])).out, /is stopped/)
  assert.match((await millrace(['delete', id])).out, /is deleted/)
})
