import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'

test('what a new trigger lacks is named by its option', async () => {
  const create = (...options: string[]) =>
    runCli(['trigger', 'create', 'keboola.flow', 'nightly', ...options], { MILLRACE_TOKEN: 'x' })
  const withoutTime = await create('--table', 'in.c-main.orders')
  assert.deepEqual([withoutTime.code, withoutTime.err.match(/--[a-z-]+/)?.[0]], [1, '--every-minutes'])
  const withoutTable = await create('--every-minutes', '10')
  assert.deepEqual([withoutTable.code, withoutTable.err.match(/--[a-z-]+/)?.[0]], [1, '--table'])
})
