import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

test('tests of a table follow a renamed column, those that refer to it as well', async () => {
  const stack = await startProject()
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.create('in.c-main', 'cities', 'name,day\nPraha,2026-01-01\n')
  await tables.create('in.c-main', 'orders', 'id,name\n1,Praha\n')
  const add = async (tableId: string, type: string, parameters: object) => {
    const json = { tableId, name: `${type} ${JSON.stringify(parameters).slice(0, 60)}`, type, parameters }
    const answer = await stack.request('POST', '/v2/storage/data-tests', { json })
    assert.equal(answer.status, 201, answer.text)
  }
  const cities = 'in.c-main.cities'
  await add(cities, 'notNull', { columns: ['day', 'name'] })
  await add(cities, 'unique', { columns: ['name'] })
  await add(cities, 'acceptedValues', { column: 'name', values: ['Praha', 'Brno'] })
  await add(cities, 'range', { column: 'day', min: '2026-01-01' })
  await add(cities, 'pattern', { column: 'name', pattern: '[A-Z].*' })
  await add(cities, 'usual', { measure: 'nulls', column: 'name' })
  await add(cities, 'usual', { measure: 'rows' })
  await add(cities, 'schema', { columns: [{ name: 'name' }, { name: 'day' }], primaryKey: [] })
  await add('in.c-main.orders', 'relationships', { column: 'name', toTable: cities, toColumn: 'name' })
  await add('in.c-main.orders', 'notNull', { columns: ['name'] })
  const renamed = await stack.request('PUT', `/v2/storage/tables/${cities}/columns/name/definition`, { json: { name: 'city' } })
  await tables.succeed(renamed)

  const all = (await stack.request('GET', '/v2/storage/data-tests')).json<
    { tableId: string; type: string; parameters: object }[]
  >()
  const found = (tableId: string, type: string) =>
    all.filter((one) => one.tableId === tableId && one.type === type).map(({ parameters }) => parameters)
  assert.deepEqual(found(cities, 'notNull'), [{ columns: ['day', 'city'] }])
  assert.deepEqual(found(cities, 'range'), [{ column: 'day', min: '2026-01-01' }])
  assert.deepEqual(found('in.c-main.orders', 'notNull'), [{ columns: ['name'] }], 'of another table')
  assert.deepEqual(found('in.c-main.orders', 'relationships'), [{ column: 'name', toTable: cities, toColumn: 'city' }])
  const upload = await tables.upload('city,day\nBrno,2026-02-01\n')
  const load = { json: { dataFileId: upload } }
  await tables.succeed(await stack.request('POST', `/v2/storage/tables/${cities}/import-async`, load))
  const [run] = (await stack.request('GET', `/v2/storage/tables/${cities}/data-tests/runs`)).json<
    { status: string; results: object[] }[]
  >()
  assert.deepEqual([run?.status, run?.results.length], ['passed', 8], JSON.stringify(run))
})

test('a data contract follows a renamed column, and the rest of its text stays as it was', async () => {
  const stack = await startProject()
  const tables = tableClient(stack)
  await tables.bucket('main')
  await tables.create('in.c-main', 'orders', 'id,name\n1,Praha\n', { primaryKey: 'id' })
  const tableId = 'in.c-main.orders'
  const path = `/v2/storage/tables/${tableId}`
  const contractOf = (name: string) => `apiVersion: v3.0.2 # of the shop
kind: DataContract
id: orders
name: name
schema:
  - name: customers
    properties: [{name: name}]
  - name: orders
    physicalName: ${tableId}
    properties:
      - {name: id,   required: true, primaryKey: true}
      - name:   ${name}   # of the city
        physicalName: '${name}x'
        required: true
    quality:
      - {rule: uniqueCheck, columns: [id, ${name}]}
      - {rule: nullCheck, arguments: {properties: [${name}]}}
      - {type: sql, name: by SQL, query: 'SELECT 0 AS name', mustBe: 0}
slaProperties:
  - {property: freshness, value: 100, unit: y, element: orders.${name}}
`
  const saved = await stack.request('PUT', `${path}/contract`, { json: { contract: contractOf('name') } })
  assert.equal(saved.status, 200, saved.text)
  const rename = async (from: string, to: string) =>
    tables.succeed(await stack.request('PUT', `${path}/columns/${from}/definition`, { json: { name: to } }))
  const contract = async () => (await stack.request('GET', `${path}/contract`)).json<{ contract: string }>().contract
  const expected = contractOf('city').replace('cityx', 'namex')
  await rename('name', 'city')
  assert.equal(await contract(), expected)
  const load = { json: { dataFileId: await tables.upload('id,city\n2,Brno\n'), incremental: 1 } }
  await tables.succeed(await stack.request('POST', `${path}/import-async`, load))
  await rename('city', 'null')
  assert.ok((await contract()).includes('- name:   "null"   # of the city'), 'a word that YAML reads as something else is quoted')
})
