import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestStack } from '../../../../tests/support/test-stack.ts'

test('there are no workspaces, and making one is refused in words', async (t) => {
  const { request } = await startTestStack(t)
  const configs = '/v2/storage/components/platform.ex-http/configs'
  const { id } = (await request('POST', configs, { json: { name: 'c' } })).json<{ id: string }>()
  for (const path of ['/v2/storage/workspaces', `/v2/storage/branch/default/${configs.slice(12)}/${id}/workspaces`]) {
    assert.deepEqual((await request('GET', path)).json(), [], path)
    const refused = await request('POST', path, { json: {} })
    assert.equal(refused.status, 501, path)
    assert.match(refused.json<{ error: string }>().error, /not built yet/)
  }
  assert.equal((await request('GET', '/v2/storage/workspaces/1')).status, 404)
  for (const method of ['GET', 'POST']) assert.equal((await request(method, `${configs}/nowhere/workspaces`)).status, 404, method)
})
