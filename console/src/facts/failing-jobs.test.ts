import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failingNow } from './failing-jobs.ts'

const job = (component: string, config: string, status: string, runId: string) => ({ component, config, status, runId })

test('a flow that fails with its task is one failure, and counts by itself when no task failed', () => {
  const flow = job('keboola.flow', 'nightly', 'error', '7')
  const task = job('acme.shop', 'orders', 'error', '7.8')
  assert.deepEqual(failingNow([task, flow]), [task])
  assert.deepEqual(failingNow([job('acme.shop', 'orders', 'success', '7.8'), flow]), [flow])
  assert.deepEqual(failingNow([job('acme.shop', 'orders', 'success', '9'), task, flow]), [flow], 'the task was repaired since')
})
