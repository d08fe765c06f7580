// Loads of workspaces, by the points of corrections-2.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareTestStack({ sql: { memoryMb: 512, diskMb: 64, workspaceMb: 16 } })
const source = 'in.c-main.orders'

async function start() {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n3,Praha\n', { primaryKey: 'id' })
  const open = async (prefix = '/v2/storage') => {
    const { id } = (await stack.request('POST', `${prefix}/workspaces`, { json: {} })).json<{ id: number }>()
    const path = `${prefix}/workspaces/${id}`
    const post = (input: object[], more: object = {}) => stack.request('POST', `${path}/load`, { json: { input, ...more } })
    const load = async (input: object[], more: object = {}) => client.finish(await post(input, more))
    const query = async (sql: string) => {
      const answer = await stack.request('POST', `${path}/query`, { json: { query: sql } })
      const { status, message, data } = answer.json<{
        status: string
        message?: string
        data?: { rows: Record<string, string | null>[] }
      }>()
      assert.equal(status, 'ok', message)
      return data?.rows.map((row) => Object.values(row))
    }
    const loaded = async (input: object[], more: object = {}) => {
      const job = await load(input, more)
      assert.equal(job.status, 'success', JSON.stringify(job.error))
    }
    const failed = async (input: object[]) => {
      const { error } = await load(input)
      return [error?.code, error?.message ?? '']
    }
    return { post, load, loaded, failed, query }
  }
  return { ...stack, client, open }
}

test('W8: an incremental load keeps the rows of its table also without preserve, and drops the others', async () => {
  const { client, open } = await start()
  const { loaded, query } = await open()
  await loaded([
    { source, destination: 't', whereColumn: 'id', whereValues: ['1', '2'] },
    { source, destination: 'other' },
  ])
  await client.load(source, 'id,city\n2,Ostrava\n4,Zlín\n', { incremental: 1 })
  await loaded([{ source, destination: 'T', incremental: true, whereColumn: 'id', whereValues: ['2', '3', '4'] }])
  assert.deepEqual(await query('SELECT * FROM t ORDER BY id'), [
    ['1', 'Praha'],
    ['2', 'Ostrava'],
    ['3', 'Praha'],
    ['4', 'Zlín'],
  ])
  assert.deepEqual(await query("SELECT table_name FROM duckdb_tables() WHERE database_name = 'workspace'"), [['t']])
})

test('W8: an incremental load into other columns, types or constraints is refused and changes nothing', async () => {
  const { client, open } = await start()
  await client.create('in.c-main', 'wide', 'id,city,sex\n1,Praha,f\n')
  const { loaded, failed, query } = await open()
  const typed = [
    { source: 'id', type: 'INTEGER' },
    { source: 'city', type: 'VARCHAR', nullable: false },
  ]
  await loaded([{ source, destination: 't', columns: typed }])
  const [more, fewer] = [
    await failed([
      { source: 'in.c-main.wide', destination: 't', incremental: true, columns: [...typed, { source: 'sex', type: 'VARCHAR' }] },
    ]),
    await failed([{ source, destination: 't', incremental: true, columns: [{ source: 'id', type: 'INTEGER' }] }]),
  ]
  assert.equal(more[0], 'workspace.columnsNotMatch')
  assert.match(more[1]!, /columns are missing in workspace table "t": sex\./)
  assert.equal(fewer[0], 'workspace.columnsNotMatch')
  assert.match(fewer[1]!, /columns are missing in source table "in\.c-main\.orders": city\./)
  for (const columns of [
    undefined,
    [
      { source: 'id', type: 'BIGINT' },
      { source: 'city', type: 'VARCHAR', nullable: false },
    ],
    [
      { source: 'id', type: 'INTEGER' },
      { source: 'city', type: 'VARCHAR' },
    ],
  ]) {
    const [code, message] = await failed([{ source, destination: 't', incremental: true, columns }])
    assert.equal(code, 'workspace.columnsTypesNotMatch', message)
    assert.match(message!, /Different mapping between/)
  }
  assert.deepEqual(await query('SELECT count(*) FROM t'), [['3']])
})

test('W8: NULL in a column that is not nullable fails the load, the first and an incremental one', async () => {
  const { client, open } = await start()
  await client.create('in.c-main', 'gaps', 'id,city\n1,Praha\n7,\n', { primaryKey: 'id' })
  const { loaded, failed, query } = await open()
  const columns = [
    { source: 'id', type: 'INTEGER', nullable: false },
    { source: 'city', type: 'VARCHAR', nullable: false, convertEmptyValuesToNull: true },
  ]
  const gaps = 'in.c-main.gaps'
  assert.equal((await failed([{ source: gaps, destination: 't', columns }]))[0], 'workspace.tableLoad')
  await loaded([{ source: gaps, destination: 't', columns, whereColumn: 'id', whereValues: ['1'] }])
  const [code, message] = await failed([{ source: gaps, destination: 't', columns, incremental: true }])
  assert.equal(code, 'workspace.tableLoad')
  assert.match(message!, /NOT NULL/)
  assert.deepEqual(await query('SELECT * FROM t'), [['1', 'Praha']])
})

test('W7: seconds loads the rows that were changed in that time, and nonsense is refused', async () => {
  const { open } = await start()
  const { loaded, post, query } = await open()
  await loaded([
    { source, destination: 'all', seconds: 3600 },
    { source, destination: 'too', seconds: 0 },
  ])
  assert.deepEqual(await query('SELECT (SELECT count(*) FROM "all"), (SELECT count(*) FROM too)'), [['3', '3']])
  // Later than a second after the rows were loaded: the loads before took as long as they took.
  const isLater = async () => {
    await loaded([{ source, destination: 'none', seconds: 1 }])
    return (await query('SELECT count(*) FROM none'))?.[0]?.[0] === '0'
  }
  await until('the rows are older than a second', isLater)
  for (const [item, code] of [
    [{ seconds: 'soon' }, 'workspace.loadRequestBadInput'],
    [{ seconds: -5 }, 'workspace.loadRequestBadInput'],
    [{ seconds: 5, days: 1 }, 'workspace.loadRequestLogicalException'],
    [{ seconds: 5, changedSince: '-1 day' }, 'workspace.loadRequestLogicalException'],
  ] as const) {
    const answer = await post([{ source, destination: 'x', ...item }])
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [400, code], JSON.stringify(item))
  }
})

test('W16: datatypes give columns their types, by name or as a list', async () => {
  const { open } = await start()
  const { loaded, post, query } = await open()
  const list = [{ column: 'id', type: 'NUMBER', length: '10,0', nullable: false, convertEmptyValuesToNull: true }]
  await loaded([
    { source, destination: 'a', datatypes: { id: 'INTEGER' } },
    { source, destination: 'b', datatypes: list, columns: ['id'] },
    { source, destination: 'c', datatypes: {} },
  ])
  const types = await query(
    "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE database_name = 'workspace' ORDER BY 1, column_index",
  )
  assert.deepEqual(types, [
    ['a', 'id', 'INTEGER', 'true'],
    ['a', 'city', 'VARCHAR', 'true'],
    ['b', 'id', 'DECIMAL(10,0)', 'false'],
    ['c', 'id', 'VARCHAR', 'true'],
    ['c', 'city', 'VARCHAR', 'true'],
  ])
  for (const [item, code] of [
    [{ datatypes: { nope: 'INTEGER' } }, 'storage.tables.nonExistingColumns'],
    [{ datatypes: { id: 'no type!' } }, 'workspace.inputMapping'],
    [{ datatypes: 'INTEGER' }, 'workspace.loadRequestBadInput'],
    [{ datatypes: { id: 'INTEGER' }, columns: [{ source: 'id', type: 'BIGINT' }] }, 'workspace.loadRequestLogicalException'],
    [{ columns: ['id', 'ID'] }, 'workspace.loadRequestBadInput'],
    [
      {
        columns: [
          { source: 'id', destination: 'x' },
          { source: 'city', destination: 'X' },
        ],
      },
      'workspace.loadRequestBadInput',
    ],
  ] as const) {
    const answer = await post([{ source, destination: 'x', ...item }])
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [400, code], JSON.stringify(item))
  }
})

test('W10: a load in a branch takes the table of the default branch, unless sourceBranchId names another', async () => {
  const { client, open, request } = await start()
  const { results } = await client.succeed(await request('POST', '/v2/storage/dev-branches', { json: { name: 'b' } }))
  const branchId = (results as { id: number }).id
  const prefix = `/v2/storage/branch/${branchId}`
  for (const [path, json] of [
    ['buckets', { stage: 'in', name: 'main' }],
    ['buckets/in.c-main/tables', { name: 'orders', dataString: 'id,city,sex\n9,Jihlava,f\n' }],
    ['buckets/in.c-main/tables', { name: 'own', dataString: 'id\n1\n' }],
  ] as const) {
    const answer = await request('POST', `${prefix}/${path}`, { json })
    assert.ok(answer.status < 300, answer.text)
  }
  const { loaded, post, query } = await open(prefix)
  await loaded([
    { source, destination: 'theirs' },
    { source, destination: 'ours', sourceBranchId: branchId },
  ])
  assert.deepEqual(await query('SELECT count(*) FROM theirs'), [['3']])
  assert.deepEqual(await query('SELECT * FROM ours'), [['9', 'Jihlava', 'f']])
  const unknown = await post([{ source: 'in.c-main.own', destination: 'x' }])
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /in the default branch\. Send \\"sourceBranchId\\"/)
  await loaded([{ source: 'in.c-main.own', destination: 'x', sourceBranchId: branchId }])
})
