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
