// The commands of README.md and of docs/sample-api.md, run as they stand, against one stack.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import type { Job } from '../support/shell-stack.ts'
import { startTestStack } from '../support/test-stack.ts'

test('the README and the guide of the sample shop work, command by command', async (t) => {
  const stack = await startTestStack(t)
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
  const rowsOf = async (id: string) =>
    (await stack.request('GET', `/v2/storage/tables/in.c-keboola-ex-generic-v2-${id}`)).json<{ rowsCount: number }>().rowsCount

  const { output } = await runCommandsOf(t, 'README.md', env)
  assert.equal(await rowsOf('shop.orders'), 250)
  assert.ok((await rowsOf('shop.orders_items')) > 250)
  const detail = await stack.request('GET', '/v2/storage/components/keboola.ex-generic-v2/configs/shop')
  assert.doesNotMatch(detail.text, /lovelace/)
  const [bad, shop] = (await stack.request('GET', '/queue/jobs')).json<Job[]>()
  assert.deepEqual([shop!.status, bad!.status], ['success', 'error'])
  assert.ok(
    (await readFile(new URL('../../README.md', import.meta.url), 'utf8')).includes(bad!.result.message),
    `the README quotes: ${bad!.result.message}`,
  )
  assert.ok(output.includes(bad!.result.message), 'the command does not say why the run failed')

  await runCommandsOf(t, 'docs/sample-api.md', env)
  assert.equal(await rowsOf('both.customers'), 57)
  assert.equal(await rowsOf('both.orders'), 250)
})
