import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshPostgres } from '../../../../tests/support/on-both-databases.ts'
import { newMember, newStackAdmin } from '../../../../tests/support/person-client.ts'
import { startTestStack, type TestStack } from '../../../../tests/support/test-stack.ts'
import type { Found } from './search.ts'

const HTTP = 'keboola.ex-generic-v2'

async function fill({ request }: TestStack): Promise<void> {
  const ok = async (path: string, json: object) => {
    const answer = await request('POST', path, { json })
    assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  }
  await ok('/v2/storage/buckets', { name: 'main', stage: 'in' })
  await ok('/v2/storage/buckets/in.c-main/tables', { name: 'orders', dataString: 'id,Customer_Name\n1,x\n' })
  const configs = `/v2/storage/components/${HTTP}/configs`
  const configuration = {
    parameters: { note: 'sold at 100%_off', '#password': 'zebra-secret', nested: { '#deep': 'zebra-deep' } },
  }
  await ok(configs, { name: 'Shop of Orders', configurationId: 'shop', configuration })
  await ok(`${configs}/shop/rows`, {
    rowId: 'r1',
    name: 'orders row',
    configuration: { parameters: { endpoint: 'warehouse/items' } },
  })
  await ok('/v2/storage/files/prepare', { name: 'orders.csv' })
  await ok('/v2/storage/components/keboola.scheduler/configs', {
    name: 'Daily',
    configurationId: 'daily-orders',
    configuration: {
      schedule: { cronTab: '0 6 * * *', timezone: 'UTC', state: 'enabled' },
      target: { componentId: HTTP, configurationId: 'shop', mode: 'run' },
    },
  })
  await ok('/scheduler/schedules', { configurationId: 'daily-orders' })
  await ok('/queue/jobs', { component: HTTP, config: 'shop', delay: '86400' })
}

for (const database of ['SQLite', 'PostgreSQL'])
  test(`everything is found by a word, with the rights of the token, on ${database}`, async (t) => {
    const fresh = database === 'PostgreSQL' ? await freshPostgres() : undefined
    const stack = await startTestStack(t, fresh && { databaseUrl: (fresh.location as { url: string }).url })
    if (fresh) t.after(fresh.remove)
    await fill(stack)
    const find = async (query: string, token = stack.masterToken): Promise<Found> => {
      const answer = await stack.request('GET', `/v2/storage/search?${query}`, { token })
      assert.equal(answer.status, 200, answer.text)
      return answer.json<Found>()
    }
    const shown = async (query: string, token?: string) => (await find(query, token)).items.map(({ kind, id }) => `${kind} ${id}`)
    assert.deepEqual((await shown('text=ORDERS')).sort(), [
      'configuration daily-orders',
      'configuration shop',
      'file 2',
      'row r1',
      'schedule 1',
      'table in.c-main.orders',
    ])
    assert.deepEqual(await shown('text=customer'), ['column in.c-main.orders.Customer_Name'])
    assert.deepEqual(await shown('text=warehouse'), ['content r1'])
    assert.deepEqual(await shown('text=100%25_OFF'), ['content shop'], 'signs of patterns mean themselves')
    assert.deepEqual(await shown('text=zebra'), [], 'secrets are not found')
    assert.deepEqual(await shown('text=shop&kinds[]=job'), ['job 1'])
    assert.deepEqual(await shown('text=1&kinds=job'), ['job 1'])
    assert.deepEqual((await find('text=o&limit=1')).items.length <= 8, true)
    assert.deepEqual((await find('text=s&kinds[]=configuration&limit=1')).more, ['configuration'])
    const admin = await newStackAdmin(stack)
    await newMember(stack, admin, { projectId: stack.projectId, role: 'viewer' })
    const { items } = await find('text=VIEWER&kinds=person')
    assert.deepEqual(
      items.map(({ kind, name, email }) => [kind, name, email]),
      [['person', `viewer-${stack.projectId}`, `viewer-${stack.projectId}@example.com`]],
    )
    const { masterToken } = await stack.newProject()
    assert.deepEqual(await find('text=o', masterToken), { items: [], more: [] })
    const limited = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'limited' } })
    assert.deepEqual(await shown('text=o', limited.json<{ token: string }>().token), ['schedule 1'])
    for (const query of ['', 'text=', 'text=x&kinds[]=nonsense', 'text=x&limit=101'])
      assert.equal((await stack.request('GET', `/v2/storage/search?${query}`)).status, 400, query)
  })
