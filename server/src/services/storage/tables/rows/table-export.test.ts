import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

test('an export answered from an earlier one counts as one: run, event, size and link are there', async () => {
  const stack = await startProject()
  const { bucket, create, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const run = async (runId: string) =>
    succeed(
      await stack.request('POST', '/v2/storage/tables/in.c-main.t/export-async', {
        json: { gzip: true },
        headers: { 'X-KBC-RunId': runId },
      }),
    )
  const first = await run('11')
  const again = await run('22')
  await run('22')
  const { file } = first.results as { file: { id: number } }
  assert.deepEqual(again.results, { file, cacheHit: true, note: (again.results as { note: string }).note })
  assert.deepEqual(again.metrics, first.metrics)
  const record = (await stack.request('GET', `/v2/storage/files/${file.id}`)).json()
  assert.deepEqual([record.runId, record.runIds], ['11', ['11', '22']])
  const ofRun = async (runId: string) =>
    (await stack.request('GET', `/v2/storage/files?runId=${runId}`)).json<{ id: number }[]>().map(({ id }) => id)
  assert.deepEqual([await ofRun('11'), await ofRun('22'), await ofRun('2')], [[file.id], [file.id], []])
  const events = (await stack.request('GET', '/v2/storage/tables/in.c-main.t/events'))
    .json<{ event: string; runId: string; attachments: { id: number }[] }[]>()
    .filter(({ event }) => event === 'storage.tableExported')
  assert.deepEqual(
    events.map(({ runId, attachments }) => [runId, attachments.map(({ id }) => id)]),
    [
      ['22', [file.id]],
      ['22', [file.id]],
      ['11', [file.id]],
    ],
  )
})

test('a filter compares with a moment in words where its type is TIME_STRING', async () => {
  const stack = await startProject()
  const { bucket, create, exported } = tableClient(stack)
  await bucket()
  const recent = new Date(Date.now() - 3_600_000).toISOString().replace('T', ' ').slice(0, 19)
  await create('in.c-main', 't', `id,at\nold,2020-01-01 00:00:00\nnew,${recent}\n`)
  const filter = { column: 'at', operator: 'gt', values: ['-2 days'], type: 'TIME_STRING' }
  assert.equal(await exported('in.c-main.t', { columns: 'id', whereFilters: [filter] }), '"new"\n')
  assert.equal(
    await exported('in.c-main.t', { columns: 'id', whereFilters: [{ ...filter, operator: 'lt', type: 'time_string' }] }),
    '"old"\n',
  )
  for (const wrong of [
    { ...filter, values: ['someday'] },
    { ...filter, type: 'WORDS' },
  ]) {
    const answer = await stack.request('POST', '/v2/storage/tables/in.c-main.t/export-async', { json: { whereFilters: [wrong] } })
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.tables.validation'])
  }
})

test('a format, a zone or a branch is built as the specification describes it or refused, never guessed', async () => {
  const stack = await startProject()
  const { bucket, create, exported, succeed, upload } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const start = (json: object) => stack.request('POST', '/v2/storage/tables/in.c-main.t/export-async', { json })
  for (const format of ['json', 'escaped', 'raw', 'xml']) {
    const answer = await start({ format })
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.tables.validation.invalidFormat'], format)
    assert.match(String(answer.json().error), new RegExp(`"${format}".*rfc.*parquet`))
  }
  for (const format of ['escaped', 'raw'])
    assert.equal((await stack.request('GET', `/v2/storage/tables/in.c-main.t/data-preview?format=${format}`)).status, 400)
  assert.equal(await exported('in.c-main.t', { format: 'rfc', timezone: 'UTC' }), '"1"\n')
  for (const timezone of ['Europe/Prague', 'Moon/Base', 7]) {
    const answer = await start({ timezone })
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.tables.validation'], String(timezone))
    assert.match(String(answer.json().error), /timezone.*UTC/s)
  }

  const made = await succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } }))
  const { id: sourceBranchId } = made.results as { id: number }
  const at = (path: string, json: object) => stack.request('POST', `/v2/storage/branch/${sourceBranchId}/${path}`, { json })
  await at('buckets', { name: 'main' })
  await succeed(await at('buckets/in.c-main/tables-async', { name: 't', dataFileId: await upload('id\n7\n') }))
  assert.equal(await exported('in.c-main.t', { sourceBranchId }), '"7"\n')
  assert.equal(await exported('in.c-main.t', { sourceBranchId: 'default' }), '"1"\n')
  assert.equal(await exported('in.c-main.t'), '"1"\n')
  const unknown = await start({ sourceBranchId: 987_654 })
  assert.deepEqual([unknown.status, unknown.json().error], [404, 'Branch id:"987654" was not found.'])
  assert.equal((await start({ sourceBranchId: 'mine' })).status, 400)
})

test('in a typed table a filter compares by type; the empty value means absent, and what is not of the type is refused', async () => {
  const stack = await startProject()
  const { bucket, load, rows, succeed } = tableClient(stack)
  const id = `${await bucket()}.typed`
  const columns = ['INTEGER', 'STRING', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP'].map((basetype, i) => ({
    name: 'isnfbdt'[i],
    basetype,
  }))
  await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: { name: 'typed', columns } }),
  )
  await load(id, 'i,s,n,f,b,d,t\n9,x,1.5,1e2,true,2026-01-09,2026-01-09 10:00:00\n10,y,10,2,no,2026-01-10,2026-01-10\n,,,,,,\n')
  const found = async (column: string, operator: string, ...values: string[]) => {
    const filter = values.map((value, i) => `whereFilters[0][values][${i}]=${encodeURIComponent(value)}`).join('&')
    const query = `columns=i&whereFilters[0][column]=${column}&whereFilters[0][operator]=${operator}&${filter}`
    return (await rows(id, query))
      .flat()
      .map((value) => value ?? 'none')
      .join()
  }
  for (const [column, small, large] of [
    ['i', '9', '10'],
    ['n', '1.50', '10.0'],
    ['d', '2026-01-09', '2026-01-10'],
    ['t', '2026-01-09T11:00:00+01:00', '2026-01-10'],
  ] as const) {
    assert.equal(await found(column, 'eq', small), '9', column)
    assert.equal(await found(column, 'ne', small), '10', column)
    assert.equal(await found(column, 'gt', small), '10', column)
    assert.equal(await found(column, 'ge', small), '9,10', column)
    assert.equal(await found(column, 'lt', large), '9', column)
    assert.equal(await found(column, 'le', large), '9,10', column)
    assert.equal(await found(column, 'eq', small, large), '9,10', column)
  }
  assert.equal(await found('b', 'eq', 'yes'), '9')
  for (const { name = '' } of columns) {
    assert.equal(await found(name, 'eq', ''), 'none', name)
    assert.equal(await found(name, 'ne', ''), '9,10', name)
  }
  assert.equal(await found('i', 'eq', '', '10'), '10,none')
  assert.equal(await found('i', 'ne', '', '10'), '9')

  for (const [column, operator, value] of [
    ['i', 'eq', 'abc'],
    ['i', 'ne', '1.5'],
    ['i', 'gt', ''],
    ['n', 'eq', 'cheap'],
    ['b', 'ne', 'maybe'],
    ['d', 'eq', '31.1.2026'],
    ['t', 'lt', '2026-02-30'],
  ] as const) {
    const whereFilters = [{ column, operator, values: [value] }]
    for (const [method, path] of [
      ['POST', 'export-async'],
      ['DELETE', 'rows'],
    ] as const) {
      const answer = await stack.request(method, `/v2/storage/tables/${id}/${path}`, { json: { whereFilters } })
      assert.deepEqual([answer.status, answer.json().code], [400, 'storage.tables.filterValue'], `${column} ${value} ${path}`)
      assert.match(String(answer.json().error), new RegExp(`"${value}".*"${column}"`))
    }
  }
  const dataType = { column: 's', operator: 'gt', values: ['many'], dataType: 'INTEGER' }
  const wrong = await stack.request('POST', `/v2/storage/tables/${id}/export-async`, { json: { whereFilters: [dataType] } })
  assert.deepEqual([wrong.status, wrong.json().code], [400, 'storage.tables.filterValue'])
})

test('rows are deleted by the values of a table in a workspace', async () => {
  const stack = await startProject()
  const { bucket, create, rows, succeed, finish } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n2\n3\n4\n')
  const remove = (filter: object) =>
    stack.request('DELETE', '/v2/storage/tables/in.c-main.t/rows', { json: { whereFilters: [{ column: 'id', ...filter }] } })
  const { id } = (await stack.request('POST', '/v2/storage/workspaces', { json: {} })).json<{ id: number }>()
  const query = (sql: string) => stack.request('POST', `/v2/storage/workspaces/${id}/query`, { json: { query: sql } })
  await query('CREATE TABLE ids AS SELECT * FROM (VALUES (2), (2), (NULL), (4), (9)) v(id)')
  const by = { workspaceId: id, table: 'ids', column: 'id' }
  const removed = await succeed(await remove({ valuesByTableInWorkspace: by }))
  assert.deepEqual(removed.results, { deletedRows: 2 })
  assert.deepEqual(Object.keys(removed.operationParams).sort(), ['query', 'queue', 'workspaceFilters'], 'not whose rights')
  assert.deepEqual(await rows('in.c-main.t'), [['1'], ['3']])
  await query('DELETE FROM ids')
  assert.deepEqual((await succeed(await remove({ valuesByTableInWorkspace: by }))).results, { deletedRows: 0 })
  assert.equal((await finish(await remove({ valuesByTableInWorkspace: by, operator: 'ne' }))).status, 'error')
  await query('INSERT INTO ids VALUES (1)')
  assert.deepEqual((await succeed(await remove({ valuesByTableInWorkspace: by, operator: 'ne' }))).results, { deletedRows: 1 })
  assert.match(String((await finish(await remove({ valuesByTableInWorkspace: { ...by, table: 'no' } }))).error?.message), /"no"/)
  const { masterToken } = await stack.newProject()
  const foreign = (await stack.request('POST', '/v2/storage/workspaces', { json: {}, token: masterToken })).json<{ id: number }>()
  assert.equal((await remove({ valuesByTableInWorkspace: { ...by, workspaceId: foreign.id } })).status, 404)
  assert.equal((await remove({ valuesByTableInWorkspace: by, operator: 'gt' })).status, 400)
  assert.equal((await remove({ valuesByTableInWorkspace: by, values: ['1'] })).status, 400)
  assert.match(String((await remove({ valuesByTableInWorkspace: { workspaceId: 1 } })).json().error), /\[table\].*missing/)
  assert.deepEqual(await rows('in.c-main.t'), [['1']])
})
