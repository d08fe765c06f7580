// A restored copy that was not resumed: the forms work, and nothing is delivered, by a job or by a flow.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { type Job, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { startApi } from './harness.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] }, restoredAt: new Date() })
const COMPONENT = 'platform.wr-http'

test('a restored copy delivers nothing: jobs of writers are refused, a flow fails at them, preview and input data work', async (t) => {
  const { url, got } = await startApi(t, () => ({ status: 200 }))
  const stack = await startProject()
  await makeTable(stack, 'in.c-crm.people', { columns: { id: 'INTEGER' }, primaryKey: ['id'] })
  await fillTable(stack, 'in.c-crm.people', ['id'], [['1'], ['2']])
  const configuration = {
    parameters: { api: { baseUrl: url }, requests: { create: { path: 'p' } } },
    storage: { input: { tables: [{ source: 'in.c-crm.people' }] } },
  }
  const config = await stack.configure(COMPONENT, configuration)
  const start = (json: object) => stack.request('POST', '/queue/jobs', { json })
  for (const request of [
    { component: COMPONENT, config, mode: 'run' },
    { component: COMPONENT, config, mode: 'debug' },
    { component: COMPONENT, configData: configuration, mode: 'run' },
  ]) {
    const refused = await start(request)
    assert.equal(refused.status, 409, refused.text)
    assert.match(refused.text, /Run \\"millrace resume\\" and restart/)
  }
  const flow = await stack.configure('keboola.orchestrator', {
    phases: [{ id: 1, name: 'Deliver', dependsOn: [] }],
    tasks: [{ id: 1, name: 'To the API', phase: 1, task: { componentId: COMPONENT, configId: config, mode: 'run' } }],
  })
  const ended = await stack.wait((await start({ component: 'keboola.orchestrator', config: flow, mode: 'run' })).json<Job>())
  assert.equal(ended.status, 'error')
  assert.match(JSON.stringify(ended.result), /restored copy/)
  const preview = await stack.request('POST', '/sync-actions/actions', {
    json: { componentId: COMPONENT, action: 'preview', configData: configuration },
  })
  assert.deepEqual(preview.json<{ operations: object }>().operations, { create: 2 })
  assert.equal(got.length, 0)
})
