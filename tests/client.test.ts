// The types of the client are those of the OpenAPI document.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type OperationName, requestOf } from '../client/src/client.ts'
import { type OpenApi, operationsSource } from '../tools/client-operations.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test('client/src/operations.ts is made from docs/openapi.json: node tools/client-operations.ts', () => {
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
  const inBranch = (operation: OperationName, input: object) => requestOf(operation, input as never, '7')
  assert.equal(inBranch('tables.get', { path: { tableId: 'in.c-main.a' } }).address, '/v2/storage/branch/7/tables/in.c-main.a')
  assert.equal(inBranch('queue.search', { query: { limit: 5 } }).address, '/queue/search/jobs?branchId=7&limit=5')
  assert.equal(inBranch('queue.search', { query: { branchId: '8' } }).address, '/queue/search/jobs?branchId=8')
  assert.equal(inBranch('queue.create', { body: { component: 'a' } }).body, '{"branchId":"7","component":"a"}')
  assert.equal(inBranch('branches.list', {}).address, '/v2/storage/dev-branches')
  assert.equal(inBranch('queue.get', { path: { id: '1' } }).address, '/queue/jobs/1')
})
