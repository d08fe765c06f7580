// Where nothing is delivered: in a restored copy that was not resumed, by a job or by a flow, and in a development branch without permission.
// The forms work. Every writer that the stack has is refused, whatever its configuration.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { startApi } from './harness.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] }, restoredAt: new Date() })
const startOriginal = shareShellStack()
const COMPONENT = 'platform.wr-http'

/** Ids of all components that write to other systems. */
async function writersOf(stack: ShellStack): Promise<readonly string[]> {
  const { components } = (await stack.request('GET', '/v2/storage')).json<{ components: { id: string; type: string }[] }>()
  const writers = components.flatMap(({ id, type }) => (type === 'writer' ? [id] : []))
  const known = [
    'platform.wr-database',
    'platform.wr-files',
    'platform.wr-http',
    'platform.wr-messages',
    'platform.singer-target',
  ]
  for (const id of known) assert.ok(writers.includes(id), `${id} is a writer`)
  return writers
}

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
  for (const component of await writersOf(stack)) {
    const refused = await start({ component, configData: { parameters: {} }, mode: 'run' })
    assert.equal(refused.status, 409, `${component}: ${refused.text}`)
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

test('a development branch starts no writer whose configuration does not permit it', async () => {
  const stack = await startOriginal()
  const made = await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } })
  const { id } = (await stack.wait(made.json<Job>())).results as { id: number }
  for (const component of await writersOf(stack)) {
    const json = { component, configData: { parameters: {} }, mode: 'run', branchId: String(id) }
    const refused = await stack.request('POST', '/queue/jobs', { json })
    assert.equal(refused.status, 400, `${component}: ${refused.text}`)
    assert.match(refused.text, /in a development branch it may change things outside the project/, component)
  }
})
