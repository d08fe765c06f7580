// Typed tables: the definition in results and records, and how it is changed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TableAnswer, tableClient } from '../../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../../tests/support/test-stack.ts'

interface Defined extends TableAnswer {
  readonly definition: { readonly columns: { readonly name: string; readonly definition: Record<string, unknown> }[] }
  readonly metadata: { readonly key: string; readonly value: string; readonly provider: string }[]
  readonly columnMetadata: Record<string, { readonly key: string; readonly value: string; readonly provider: string }[]>
}

const COLUMNS = [
  { name: 'id', definition: { type: 'BIGINT' } },
  { name: 'price', definition: { type: 'NUMBER', length: '10,2', default: '0' } },
  { name: 'note', definition: { type: 'VARCHAR', length: '20' } },
]

const startProject = shareTestStack()

async function typedTable() {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket()
  const define = (name: string, columns: readonly object[], more: object = {}) =>
    stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: { name, columns, ...more } })
  const made = await client.succeed(await define('t', COLUMNS, { primaryKeysNames: ['id'] }))
  const detail = async () => (await client.detail('in.c-main.t')) as Defined
  const put = (path: string, json: object) => stack.request('PUT', `/v2/storage/tables/in.c-main.t/${path}`, { json })
  return { stack, ...client, detailOf: client.detail, define, made: made.results as unknown as Defined, detail, put }
}

test('the results of a definition show the types as they were written, like the record of the table', async () => {
  const { made, detail, stack, succeed, load } = await typedTable()
  const table = await detail()
  assert.deepEqual(made.definition, table.definition)
  assert.deepEqual(
    made.definition.columns.map(({ name, definition }) => [name, definition.type, definition.length, definition.nullable]),
    [
      ['id', 'BIGINT', undefined, false],
      ['note', 'VARCHAR', '20', true],
      ['price', 'NUMBER', '10,2', true],
    ],
  )
  assert.deepEqual([made.metadata, made.columnMetadata], [table.metadata, table.columnMetadata])
  assert.deepEqual(
    made.metadata.map(({ provider, key, value }) => [provider, key, value]),
    [['storage', 'KBC.dataTypesEnabled', 'true']],
  )
  await load('in.c-main.t', 'id,price,note\n1,2.5,x\n')
  const snapshot = await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.t/snapshots', { json: {} }))
  const copy = await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
      json: { name: 'copy', snapshotId: (snapshot.results as { id: string }).id },
    }),
  )
  assert.equal((copy.results as unknown as Defined).columnMetadata.price?.length, 5)
})

test('length, nullable, default and description of a column are changed; what the rows do not allow is refused', async () => {
  const { detail, put, succeed, finish, load, rows } = await typedTable()
  await load('in.c-main.t', 'id,price,note\n1,12345678.25,x\n2,,\n')
  await succeed(
    await put('columns/price/definition', { length: '12,2', default: '1.5', nullable: true, description: 'what it costs' }),
  )
  const price = (await detail()).definition.columns.find(({ name }) => name === 'price')?.definition
  assert.deepEqual(price, { type: 'NUMBER', nullable: true, length: '12,2', default: '1.5' })
  const metadata = (await detail()).columnMetadata.price ?? []
  assert.equal(metadata.find(({ key }) => key === 'KBC.description')?.value, 'what it costs')
  assert.equal(metadata.find(({ key }) => key === 'KBC.datatype.length')?.value, '12,2')
  await load('in.c-main.t', 'id,price,note\n3,1234567890.12,y\n', { incremental: true })
  assert.deepEqual(
    (await rows('in.c-main.t', 'orderBy[0][column]=id')).map(([, value]) => value),
    ['12345678.25', null, '1234567890.12'],
  )
  await succeed(await put('columns/price/definition', { default: null }))
  assert.equal(
    (await detail()).columnMetadata.price?.some(({ key }) => key === 'KBC.datatype.default'),
    false,
  )
  assert.equal((await detail()).definition.columns[2]?.definition.default, undefined)

  const failed = await finish(await put('columns/price/definition', { nullable: false }))
  assert.equal(failed.error?.code, 'storage.tables.columnHasNulls')
  for (const [column, json, status, code] of [
    ['price', {}, 400, 'storage.tables.validation'],
    ['price', { length: '12,3' }, 400, 'storage.tables.validation'],
    ['price', { length: '8,2' }, 400, 'storage.tables.validation'],
    ['price', { length: 'wide' }, 400, 'storage.tables.validation'],
    ['price', { default: 'cheap' }, 400, 'storage.tables.invalidDefaultValueForType'],
    ['id', { nullable: true }, 400, 'storage.tables.validation'],
    ['nope', { nullable: true }, 404, 'notFound'],
  ] as const) {
    const answer = await put(`columns/${column}/definition`, json)
    assert.deepEqual([answer.status, answer.json().code], [status, code], JSON.stringify(json))
  }
})

test('columns that exchange their names, and loads before and after, are read right by SQL', async () => {
  const { succeed, load, stack } = await typedTable()
  const create = { name: 'u', columns: ['id', 'a', 'b'].map((name) => ({ name })), primaryKeysNames: ['id'] }
  await succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: create }))
  const rename = async (from: string, to: string) =>
    succeed(
      await stack.request('PUT', `/v2/storage/tables/in.c-main.u/columns/${from}/definition`, {
        json: { name: to },
      }),
    )
  const queried = async (sql = 'SELECT * FROM "in.c-main".u ORDER BY id') => {
    const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
    return answer.json<{ rows?: unknown }>().rows ?? answer.text
  }
  await load('in.c-main.u', 'id,a,b\n1,A,B\n')
  await rename('a', 'passing')
  await rename('b', 'a')
  await load('in.c-main.u', 'id,passing,a\n2,A,B\n', { incremental: true })
  await rename('passing', 'b')
  assert.deepEqual(await queried(), [
    ['1', 'A', 'B'],
    ['2', 'A', 'B'],
  ])
  assert.deepEqual(await queried('SELECT a, count(*) FROM "in.c-main".u WHERE b = \'A\' GROUP BY 1'), [['B', 2]])
  await load('in.c-main.u', 'id,a,b\n2,B2,A2\n3,B,A\n', { incremental: true })
  assert.deepEqual(await queried('SELECT id, b, a FROM "in.c-main".u ORDER BY id'), [
    ['1', 'A', 'B'],
    ['2', 'A2', 'B2'],
    ['3', 'A', 'B'],
  ])
})

test('a column is renamed: rows, key, description and aliases keep it, and a taken name is refused', async () => {
  const { detail, detailOf, put, succeed, load, stack } = await typedTable()
  await load('in.c-main.t', 'id,price,note\n1,2,first\n')
  const alias = {
    sourceTable: 'in.c-main.t',
    name: 'some',
    aliasColumns: ['id', 'note'],
    aliasFilter: { column: 'note', values: ['first'] },
  }
  assert.equal((await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: alias })).status, 201)
  const said = { provider: 'user', metadata: [{ key: 'unit', value: 'words' }] }
  for (const id of ['t.note', 'some.note', 'some.remark']) // the last does not exist
    await stack.request('POST', `/v2/storage/columns/in.c-main.${id}/metadata`, { json: said })

  const dry = await put('columns/note/definition?dryRun=1', { name: 'remark' })
  assert.deepEqual(dry.json<{ tables: string[] }>().tables, ['in.c-main.some', 'in.c-main.t'])
  assert.deepEqual((await detail()).columns, ['id', 'price', 'note'], 'a dry run changes nothing')
  const done = await succeed(await put('columns/note/definition', { name: 'remark', length: '30', description: 'what is said' }))
  assert.equal((done.results as unknown as { name: string }).name, 'remark')
  const table = await detail()
  assert.deepEqual(table.columns, ['id', 'price', 'remark'])
  assert.deepEqual(table.definition.columns.find(({ name }) => name === 'remark')?.definition.length, '30')
  assert.deepEqual(Object.keys(table.columnMetadata).sort(), ['id', 'price', 'remark'])
  const shown = (await detailOf('in.c-main.some')) as Defined
  assert.deepEqual(shown.columns, ['id', 'remark'])
  assert.equal(shown.columnMetadata.remark?.find(({ key }) => key === 'unit')?.value, 'words')
  const rows = async (id: string) => (await stack.request('GET', `/v2/storage/tables/in.c-main.${id}/data-preview`)).text
  assert.equal(await rows('t'), '"id","price","remark"\n"1","2.00","first"\n')
  assert.equal(await rows('some'), '"id","remark"\n"1","first"\n')
  const queried = async () => {
    const sql = 'SELECT * FROM "in.c-main".t ORDER BY id'
    const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
    return answer.json<{ rows?: unknown }>().rows ?? answer.text
  }
  assert.deepEqual(await queried(), [[1, '2.00', 'first']], 'SQL reads files that have the old name')
  await succeed(await put('columns/remark/definition', { name: 'passing' }))
  await load('in.c-main.t', 'id,price,passing\n2,3,second\n', { incremental: true })
  assert.deepEqual(await queried(), [
    [1, '2.00', 'first'],
    [2, '3.00', 'second'],
  ])
  await succeed(await put('columns/passing/definition', { name: 'remark' }))
  await succeed(await put('columns/id/definition', { name: 'ID' }))
  assert.deepEqual((await detail()).primaryKey, ['ID'])
  for (const [json, code] of [
    [{ name: 'PRICE' }, 'storage.tables.columnAlreadyExists'],
    [{ name: 'n'.repeat(65) }, 'storage.tables.invalidColumnName'],
    [{ name: {} }, 'validation.failed'],
    [{ name: ['other'] }, 'validation.failed'],
    [{ name: 'remark' }, 'storage.tables.validation'],
  ] as const) {
    const answer = await put('columns/remark/definition', json)
    assert.deepEqual([answer.status, answer.json().code], [400, code], JSON.stringify(json))
  }
})

test('two columns exchange their names, and each keeps its values in SQL', async () => {
  const { put, succeed, load, stack } = await typedTable()
  await load('in.c-main.t', 'id,price,note\n1,2,3\n')
  for (const [from, to] of [
    ['note', 'passing'],
    ['id', 'note'],
    ['passing', 'id'],
  ])
    await succeed(await put(`columns/${from}/definition`, { name: to }))
  const sql = 'SELECT note, id FROM "in.c-main".t'
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.deepEqual(answer.json<{ rows: unknown }>().rows, [[1, '3']], answer.text)
})

test('a definition is changed as a whole: name, description and columns together or not at all', async () => {
  const { detail, put, succeed, finish, create, stack } = await typedTable()
  const columns = [
    { name: 'price', definition: { length: '14,2' } },
    { name: 'note', definition: { nullable: false, default: '-' }, description: 'remarks' },
  ]
  const done = await succeed(await put('definition', { displayName: 'Prices', description: 'of all', columns }))
  const table = await detail()
  assert.equal(table.displayName, 'Prices')
  assert.deepEqual((done.results as unknown as Defined).definition, table.definition)
  assert.deepEqual(table.definition.columns[2]?.definition, { type: 'NUMBER', nullable: true, length: '14,2', default: '0' })
  assert.deepEqual(table.definition.columns[1]?.definition, { type: 'VARCHAR', nullable: false, length: '20', default: '-' })
  assert.equal(table.metadata.find(({ key }) => key === 'KBC.description')?.value, 'of all')
  const wrong = await put('definition', { displayName: 'Other', columns: [{ name: 'price', definition: { length: '2,1' } }] })
  assert.equal(wrong.status, 400)
  assert.equal((await detail()).displayName, 'Prices')
  for (const json of [{}, { columns: [] }, { columns: 'price' }, { columns: [{}] }, { columns: [{ name: 'price' }] }])
    assert.equal((await put('definition', json)).status, 400, JSON.stringify(json))
  assert.equal((await put('definition', { columns: [{ name: 'gone', definition: { nullable: true } }] })).status, 404)

  await create('in.c-main', 'plain', 'id\n1\n')
  const plain = (json: object) => stack.request('PUT', '/v2/storage/tables/in.c-main.plain/columns/id/definition', { json })
  assert.equal((await plain({ nullable: false })).status, 400)
  assert.equal((await finish(await plain({ description: 'a number' }))).status, 'success')
})

test('a default that is not of its type fails the job; rows always carry their load time', async () => {
  const { define, finish, stack } = await typedTable()
  const failed = await finish(await define('bad', [{ name: 'n', definition: { type: 'INTEGER', default: 'CURRENT_DATE' } }]))
  assert.equal(failed.error?.code, 'storage.tables.invalidDefaultValueForType')
  assert.match(failed.error?.message ?? '', /"CURRENT_DATE".*"n".*INTEGER/)
  const added = await finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.t/columns', {
      json: { name: 'day', definition: { type: 'DATE', default: 'today' } },
    }),
  )
  assert.equal(added.error?.code, 'storage.tables.invalidDefaultValueForType')
  for (const more of [{ timestampType: 'NONE' }, { clustering: ['id'] }]) {
    const answer = await define('other', COLUMNS, more)
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.tables.validation'], JSON.stringify(more))
  }
  assert.equal((await finish(await define('same', COLUMNS, { timestampType: 'MANAGED', clustering: null }))).status, 'success')
})

test('a column gets another type: counted before, refused or emptied where values do not fit, with what the records say', async () => {
  const { stack, create, detail, put, succeed, finish, load, rows } = await typedTable()
  await load('in.c-main.t', 'id,price,note\n1,12.00,7\n2,2.50,\n3,,x\n')
  const trial = async (column: string, json: object) => {
    const answer = await put(`columns/${column}/type?dryRun=1`, json)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ results: Record<string, unknown> }>().results
  }
  const before = await detail()
  assert.deepEqual(await trial('note', { type: 'INTEGER', invalidValues: 'null' }), {
    type: 'INTEGER',
    nullable: true,
    invalidRows: 1,
    invalidExamples: ['x'],
  })
  assert.deepEqual((await detail()).definition, before.definition, 'a dry run changes nothing')
  const failed = await finish(await put('columns/note/type', { type: 'INTEGER' }))
  assert.equal(failed.error?.code, 'storage.tables.valuesDoNotFit')
  assert.match(failed.error?.message ?? '', /1 of its values are not of that type, for example "x"/)
  assert.equal(
    (await put('columns/price/type', { type: 'DATE' })).json<{ code: string }>().code,
    'storage.tables.invalidDefaultValueForType',
  )

  const done = await succeed(await put('columns/note/type', { type: 'bigint', invalidValues: 'null' }))
  assert.deepEqual([done.operationName, done.results?.invalidRows], ['tableColumnTypeUpdate', 1])
  assert.deepEqual(
    (await rows('in.c-main.t', 'orderBy[0][column]=id')).map(([, , note]) => note),
    ['7', null, null],
  )
  const { definition, columnMetadata } = await detail()
  assert.deepEqual(definition.columns[1]?.definition, { type: 'BIGINT', nullable: true })
  assert.deepEqual(columnMetadata.note?.map(({ key, value }) => [key, value]).sort(), [
    ['KBC.datatype.basetype', 'INTEGER'],
    ['KBC.datatype.nullable', '1'],
    ['KBC.datatype.type', 'BIGINT'],
  ])
  await succeed(await put('columns/id/type', { type: 'STRING' }))
  await load('in.c-main.t', 'id,price,note\n1,1.00,1\n01,1.00,1\n', { incremental: true })
  const same = await finish(await put('columns/id/type', { type: 'INTEGER' }))
  assert.equal(same.error?.code, 'storage.tables.primaryKeyDuplicateValues', 'two keys must not become one')
  assert.equal((await detail()).rowsCount, 4)

  await create('in.c-main', 'plain', 'id,v\n1,\n2,5\n')
  await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', {
    json: { sourceTable: 'in.c-main.plain', name: 'fives', aliasFilter: { column: 'v', values: ['5'] } },
  })
  const plain = (json: object) => stack.request('PUT', '/v2/storage/tables/in.c-main.plain/columns/v/type', { json })
  assert.equal((await plain({ type: 'INTEGER' })).json<{ code: string }>().code, 'storage.tables.columnIsFiltered')
  assert.equal((await plain({ type: 'MONEY' })).status, 400)
  assert.equal((await plain({})).status, 400)
})

test('what is loaded while the type of a column changes is neither lost nor left with the old type', async () => {
  const { stack, create, succeed, load, detailOf, rows } = await typedTable()
  const line = (i: number) => `${i},${i * 2}\n`
  await create('in.c-main', 'busy', `id,v\n${Array.from({ length: 50_000 }, (_row, i) => line(i)).join('')}`, {
    primaryKey: 'id',
  })
  const change = async () =>
    succeed(await stack.request('PUT', '/v2/storage/tables/in.c-main.busy/columns/v/type', { json: { type: 'INTEGER' } }))
  const loads = [0, 1].map((i) => load('in.c-main.busy', `id,v\n${line(50_000 + i)}`, { incremental: true }))
  await Promise.all([
    ...loads,
    change(),
    ...[2, 3].map((i) => load('in.c-main.busy', `id,v\n${line(50_000 + i)}`, { incremental: true })),
  ])
  const table = (await detailOf('in.c-main.busy')) as Defined
  assert.deepEqual([table.rowsCount, table.isTyped], [50_004, true])
  const last = await rows(
    'in.c-main.busy',
    'whereFilters[0][column]=id&whereFilters[0][operator]=ge&whereFilters[0][values][0]=50000&whereFilters[0][dataType]=INTEGER&orderBy[0][column]=v&columns=v',
  )
  assert.deepEqual(
    last.map(([v]) => Number(v)),
    [0, 1, 2, 3].map((i) => (50_000 + i) * 2),
  )
})
