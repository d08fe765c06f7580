import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'

interface Answer {
  all: number
  items: {
    id: string
    type: string
    name: string
    projectName: string
    fullPath: Record<string, { id: unknown }>
    componentId: string | null
  }[]
  byType: Record<string, number>
  byProject: Record<string, string>
}

test('buckets, configurations and rows are found by name, by type and by branch, and only those of the project', async (t) => {
  const { request, newProject, projectId } = await startTestStack(t)
  const search = async (query: string, token?: string) =>
    (await request('GET', `/v2/storage/global-search?${query}`, token === undefined ? {} : { token })).json<Answer>()
  await request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'orders' } })
  const configs = '/v2/storage/components/platform.ex-http/configs'
  await request('POST', configs, {
    json: { name: 'Orders of shop', configurationId: 'c', configuration: { hidden: 'orders-inside' } },
  })
  await request('POST', `${configs}/c/rows`, { json: { rowId: 'r', name: 'orders 2026' } })
  await request('POST', '/v2/storage/components/keboola.flow/configs', { json: { name: 'Nightly orders' } })

  const found = await search('query=orders')
  assert.deepEqual(found.byType, { total: 4, bucket: 1, configuration: 1, 'configuration-row': 1, flow: 1 })
  assert.deepEqual(found.byProject, { [projectId]: 'Test' })
  assert.ok(found.items.every((item) => typeof item.id === 'string' && item.projectName === 'Test'))
  const row = found.items.find((item) => item.type === 'configuration-row')
  assert.deepEqual([row?.id, row?.fullPath.configuration?.id, row?.componentId], ['r', 'c', 'keboola.ex-generic-v2'])
  assert.deepEqual((await search('query=orders&types[]=flow&types[]=bucket')).byType, { total: 2, bucket: 1, flow: 1 })
  assert.equal((await search('query=shop%20orders')).all, 1)
  assert.equal((await search('query=inside')).all, 0, 'contents are not searched')
  assert.equal((await search('query=%5Eorders&mode=regex&types[]=configuration')).all, 1)
  assert.deepEqual((await search('query=orders&limit=1&offset=1')).items.length, 1)
  assert.equal((await search('query=orders&branchTypes[]=development')).all, 0)
  assert.equal((await search(`query=orders&projectIds[]=${projectId + 1}`)).all, 0)
  const { masterToken } = await newProject()
  assert.deepEqual(await search('query=orders', masterToken), { all: 0, items: [], byType: { total: 0 }, byProject: {} })
})

test('queries that cannot be run are refused, also expressions that would take for ever', async (t) => {
  const { request } = await startTestStack(t)
  await request('POST', '/v2/storage/components/platform.ex-http/configs', { json: { name: `${'a'.repeat(60)}!` } })
  for (const query of ['', 'query=', 'query=x&types[]=nonsense', 'query=(&mode=regex', 'query=x&limit=0']) {
    assert.equal((await request('GET', `/v2/storage/global-search?${query}`)).status, 400, query)
  }
  const slow = await request('GET', `/v2/storage/global-search?mode=regex&query=${encodeURIComponent('^(a+)+$')}`)
  assert.deepEqual([slow.status, /too long/.test(slow.text)], [400, true], slow.text)
})
