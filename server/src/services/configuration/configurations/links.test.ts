import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { listLinks } from './links.ts'
import { listConfigurationNames } from './records/configurations.store.ts'

const startProject = shareTestStack()

const SQL = 'keboola.duckdb-transformation'
const FLOW = 'keboola.flow'

test('links and names are read of all components of a branch, or of some', async () => {
  const { request, platform, projectId } = await startProject()
  const create = async (componentId: string, configurationId: string, configuration: object) => {
    const json = { configurationId, name: `Name of ${configurationId}`, configuration }
    assert.equal((await request('POST', `/v2/storage/components/${componentId}/configs`, { json })).status, 201)
  }
  await create(SQL, 'sums', { storage: { input: { tables: [{ source: 'in.c-main.orders', destination: 'orders' }] } } })
  const rows = `/v2/storage/components/${SQL}/configs/sums/rows`
  const row = {
    rowId: 'more',
    name: 'More',
    configuration: { storage: { output: { tables: [{ destination: 'out.c-main.sums' }] } } },
  }
  assert.equal((await request('POST', rows, { json: row })).status, 201)
  const task = { id: 1, name: 'Task', phase: 1, task: { componentId: SQL, configId: 'sums', mode: 'run' } }
  await create(FLOW, 'nightly', { phases: [{ id: 1, name: 'Phase' }], tasks: [task] })

  const [branch] = (await request('GET', '/v2/storage/dev-branches')).json<{ id: number }[]>()
  const of = async (componentIds?: readonly string[]) => {
    const at = [platform.metadata.db, projectId, branch!.id, componentIds] as const
    const links = (await listLinks(...at)).map(({ configurationId, rowId }) => `${configurationId} ${rowId}`)
    return [links.sort(), (await listConfigurationNames(...at)).map(({ name }) => name).sort()]
  }
  assert.deepEqual(await of(), [
    ['nightly null', 'sums more', 'sums null'],
    ['Name of nightly', 'Name of sums'],
  ])
  assert.deepEqual(await of([SQL]), [['sums more', 'sums null'], ['Name of sums']])
  assert.deepEqual(await of([FLOW]), [['nightly null'], ['Name of nightly']])
})
