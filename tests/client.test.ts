// The types of the client are those of the OpenAPI document.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type AnyInput, createClient, type OperationName, requestOf } from '../client/src/client.ts'
import { type OpenApi, operationsSource } from '../tools/client-operations.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('client/src/operations.ts is made from docs/openapi.json: npm run docs:api', () => {
  assert.equal(read('client/src/operations.ts'), operationsSource(JSON.parse(read('docs/openapi.json')) as OpenApi))
})

test('a request has its parameters where the operation has them', () => {
  assert.deepEqual(requestOf('tables.get', { path: { tableId: 'in.c-main.a b' } }), {
    method: 'GET',
    address: '/v2/storage/tables/in.c-main.a%20b',
    body: undefined,
  })
  const { address } = requestOf('queue.search', { query: { status: ['error', 'warning'], limit: 5 } })
  assert.equal(address, '/queue/search/jobs?status%5B%5D=error&status%5B%5D=warning&limit=5')
})

test('a request names the branch where the operation takes it, and nowhere else', () => {
  const inBranch = (operation: OperationName, input: AnyInput) => requestOf(operation, input, '7')
  assert.equal(inBranch('tables.get', { path: { tableId: 'in.c-main.a' } }).address, '/v2/storage/branch/7/tables/in.c-main.a')
  assert.equal(inBranch('queue.search', { query: { limit: 5 } }).address, '/queue/search/jobs?branchId=7&limit=5')
  assert.equal(inBranch('queue.search', { query: { branchId: '8' } }).address, '/queue/search/jobs?branchId=8')
  assert.equal(inBranch('queue.create', { body: { component: 'a' } }).body, '{"branchId":"7","component":"a"}')
  assert.equal(inBranch('branches.list', {}).address, '/v2/storage/dev-branches')
  assert.equal(inBranch('queue.get', { path: { id: '1' } }).address, '/queue/jobs/1')
})

test('a path parameter that is missing or empty is refused before anything is sent', async () => {
  const sent: string[] = []
  const client = createClient({
    url: '',
    fetch: async (address) => {
      sent.push(String(address))
      return new Response('{}')
    },
  })
  for (const tableId of [undefined, null, '', {}, Number.NaN]) {
    const path = { tableId } as { tableId: string } // as a program without types may pass it
    await assert.rejects(client.call('tables.get', { path }), /^InputError: tables\.get: path parameter tableId is /)
  }
  const untyped = client as unknown as { call(operation: string): Promise<unknown> }
  await assert.rejects(untyped.call('tables.get'), /path parameter tableId is undefined/)
  await assert.rejects(untyped.call('tables.gets'), /^InputError: tables\.gets is not an operation of the API/)
  assert.deepEqual(sent, [])
  await client.call('files.get', { path: { id: '0' }, query: {} })
  assert.deepEqual(sent, ['/v2/storage/files/0'])
})

/** Compiled, never run: `npm run types` fails when one of these lines starts to compile. */
export function callsThatDoNotCompile({ call, open, dryRun }: ReturnType<typeof createClient>): void {
  // @ts-expect-error the path is required
  void call('tables.get')
  // @ts-expect-error the path is required
  void call('tables.get', {})
  // @ts-expect-error its parameter is required
  void call('tables.get', { path: {} })
  // @ts-expect-error its parameter has a value
  void call('tables.get', { path: { tableId: undefined } })
  // @ts-expect-error its parameter is called tableId
  void call('tables.get', { path: { tableId: 'in.c-main.a', table: 'a' } })
  // @ts-expect-error the operation has no body
  void call('tables.get', { path: { tableId: 'in.c-main.a' }, body: {} })
  // @ts-expect-error the body is required
  void call('configurations.create', { path: { componentId: 'a' } })
  // @ts-expect-error a member of the body is required
  void call('configurations.create', { path: { componentId: 'a' }, body: {} })
  // @ts-expect-error the query has no such parameter
  void call('queue.search', { query: { state: 'error' } })
  // @ts-expect-error there is no such operation
  void call('tables.gets', { path: { tableId: 'in.c-main.a' } })
  // @ts-expect-error the path is required
  void open('tables.download', {})
  // @ts-expect-error the path is required
  void dryRun('tables.deleteColumn', {})
  void call('buckets.list')
  void call('buckets.list', { query: {} })
  void call('buckets.create', { body: { stage: 'in', name: 'main' } })
}
