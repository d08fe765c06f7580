// Pages and compact lists of tables and configurations.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareTestStack, type TestStack } from '../support/test-stack.ts'

const startProject = shareTestStack()
const CONFIGS = '/v2/storage/components/keboola.ex-generic-v2/configs'

async function ok({ request }: TestStack, method: string, path: string, json?: object) {
  const answer = await request(method, path, { ...(json && { json }) })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return answer
}

/** Every page of a list, and the total that each of them named. */
async function pagesOf(stack: TestStack, path: string, limit: number, query = '') {
  const items: Record<string, unknown>[] = []
  const totals = new Set<string | null>()
  for (let offset = 0; ; offset += limit) {
    const answer = await ok(stack, 'GET', `${path}?limit=${limit}&offset=${offset}&${query}`)
    const page = answer.json<Record<string, unknown>[]>()
    totals.add(answer.headers.get('x-millrace-total'))
    items.push(...page)
    if (page.length < limit) return { items, totals: [...totals] }
  }
}

test('the pages of tables together are the list, and fields make it compact', async () => {
  const stack = await startProject()
  for (const name of ['a', 'b']) await ok(stack, 'POST', '/v2/storage/buckets', { name, stage: 'in' })
  for (let i = 0; i < 7; i++)
    await ok(stack, 'POST', `/v2/storage/buckets/in.c-${i % 2 ? 'a' : 'b'}/tables`, { name: `t${i}`, dataString: 'id\n1\n' })
  const all = (await ok(stack, 'GET', '/v2/storage/tables')).json<{ id: string }[]>()
  const { items, totals } = await pagesOf(stack, '/v2/storage/tables', 3)
  const byId = (list: readonly Record<string, unknown>[]) => list.toSorted((x, y) => (String(x.id) < String(y.id) ? -1 : 1))
  assert.deepEqual(byId(items), byId(all as unknown as Record<string, unknown>[]))
  assert.deepEqual(totals, ['7'])
  const compact = await pagesOf(stack, '/v2/storage/tables', 4, 'fields=id,rowsCount')
  assert.deepEqual(byId(compact.items), byId(all.map(({ id }) => ({ id, rowsCount: 1 }))))
  const withBucket = (await ok(stack, 'GET', '/v2/storage/tables?fields=id,bucket,nonsense&limit=1')).json<
    Record<string, unknown>[]
  >()
  assert.deepEqual(Object.keys(withBucket[0]!), ['id', 'bucket'])
  for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'fields=a%20b'])
    assert.equal((await stack.request('GET', `/v2/storage/tables?${query}`)).status, 400, query)
})

test('a token sees pages of the tables that it may read', async () => {
  const stack = await startProject()
  for (const name of ['open', 'closed']) {
    await ok(stack, 'POST', '/v2/storage/buckets', { name, stage: 'in' })
    await ok(stack, 'POST', `/v2/storage/buckets/in.c-${name}/tables`, { name: 't', dataString: 'id\n1\n' })
  }
  const token = (
    await ok(stack, 'POST', '/v2/storage/tokens', { description: 'x', bucketPermissions: { 'in.c-open': 'read' } })
  ).json<{ token: string }>().token
  const answer = await stack.request('GET', '/v2/storage/tables?limit=10&fields=id', { token })
  assert.deepEqual([answer.json(), answer.headers.get('x-millrace-total')], [[{ id: 'in.c-open.t' }], '1'])
})

test('the pages of configurations together are the list, and fields make it compact', async () => {
  const stack = await startProject()
  for (let i = 0; i < 7; i++) await ok(stack, 'POST', CONFIGS, { name: `n${i}`, configurationId: `c${i}`, configuration: { i } })
  await ok(stack, 'DELETE', `${CONFIGS}/c6`)
  const all = (await ok(stack, 'GET', CONFIGS)).json<Record<string, unknown>[]>()
  const { items, totals } = await pagesOf(stack, CONFIGS, 4)
  assert.deepEqual([items, totals], [all, ['6']])
  const compact = (await ok(stack, 'GET', `${CONFIGS}?fields=id,name`)).json()
  assert.deepEqual(
    compact,
    all.map(({ id, name }) => ({ id, name })),
  )
  const deleted = await ok(stack, 'GET', `${CONFIGS}?isDeleted=1&limit=5&fields=id`)
  assert.deepEqual(deleted.json(), [{ id: 'c6' }])
  const { masterToken } = await stack.newProject()
  const other = await stack.request('GET', `${CONFIGS}?limit=5`, { token: masterToken })
  assert.deepEqual([other.json(), other.headers.get('x-millrace-total')], [[], '0'])
})
