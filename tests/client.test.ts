// The types of the client are those of the OpenAPI document.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { requestOf } from '../client/src/client.ts'
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
