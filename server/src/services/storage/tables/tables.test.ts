import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { prepareFile } from '../../../../../tests/support/clients/file-client.ts'
import { type JobAnswer, type TableAnswer, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { shareTestStack, startTestStack } from '../../../../../tests/support/test-stack.ts'
import { NO_ORIGIN } from '../../../model/event.ts'

const startProject = shareTestStack()

test('a full load replaces all rows, an incremental one appends, with a key the last row wins', async () => {
  const stack = await startProject()
  const { bucket, create, load, rows, detail } = tableClient(stack)
  const id = await bucket()
  await create(id, 'plain', 'id,v\n1,a\n2,b\n')
  await load(`${id}.plain`, 'id,v\n3,c\n', { incremental: true })
  assert.deepEqual(await rows(`${id}.plain`), [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ])
  const replaced = await load(`${id}.plain`, 'id,v\n9,z\n')
  assert.deepEqual(await rows(`${id}.plain`), [['9', 'z']])
  assert.deepEqual(
    [
      replaced.results?.transaction,
      replaced.results?.warnings,
      replaced.results?.importedColumns,
      replaced.results?.totalRowsCount,
    ],
    [null, [], ['id', 'v'], 1],
  )

  await create(id, 'keyed', 'id,v\n1,a\n1,b\n2,c\n', { primaryKey: 'id' })
  assert.deepEqual(await rows(`${id}.keyed`, 'orderBy[0][column]=id'), [
    ['1', 'b'],
    ['2', 'c'],
  ])
  await load(`${id}.keyed`, 'id,v\n2,x\n3,y\n3,z\n', { incremental: 1 })
  assert.deepEqual(await rows(`${id}.keyed`, 'orderBy[0][column]=id'), [
    ['1', 'b'],
    ['2', 'x'],
    ['3', 'z'],
  ])
  const table = await detail(`${id}.keyed`)
  assert.deepEqual([table.primaryKey, table.rowsCount], [['id'], 3])
})

test('the primary key comes as a string with commas, in JSON and in a form', async () => {
  const stack = await startProject()
  const { bucket, upload, succeed, detail } = tableClient(stack)
  const id = await bucket()
  const dataFileId = await upload('a,b,c\n1,2,3\n')
  const forms = [
    { json: { name: 't0', dataFileId, primaryKey: 'a,b' } },
    { body: new URLSearchParams({ name: 't1', dataFileId: String(dataFileId), primaryKey: 'a,b' }) },
  ]
  for (const [i, form] of forms.entries()) {
    await succeed(await stack.request('POST', `/v2/storage/buckets/${id}/tables-async`, form))
    assert.deepEqual((await detail(`${id}.t${i}`)).primaryKey, ['a', 'b'])
  }
})

test('gzip files and sliced files load; slices outside of the file are refused', async () => {
  const stack = await startProject()
  const { bucket, upload, uploadSliced, succeed, finish, rows } = tableClient(stack)
  const id = await bucket()
  const post = (path: string, json: object) => stack.request('POST', `/v2/storage/${path}`, { json })
  const packed = await upload(gzipSync('id,v\n1,a\n'), 'data.csv.gz')
  const job = await succeed(await post(`buckets/${id}/tables-async`, { name: 'packed', dataFileId: packed }))
  assert.deepEqual(await rows(`${id}.packed`), [['1', 'a']])
  assert.deepEqual([job.metrics.inCompressed, job.metrics.inBytesUncompressed], [true, 0])
  assert.ok(Number(job.metrics.inBytes) > 0)

  const sliced = await uploadSliced(['1,a\n2,b\n', '3,c\n'])
  await succeed(await post(`buckets/${id}/tables-async`, { name: 'sliced', dataFileId: sliced, columns: ['id', 'v'] }))
  assert.deepEqual(await rows(`${id}.sliced`), [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ])
  const slicedGz = await uploadSliced([gzipSync('4,d\n'), gzipSync('5,e\n')], 'data.csv.gz')
  await succeed(await post(`tables/${id}.sliced/import-async`, { dataFileId: slicedGz, columns: ['id', 'v'], incremental: true }))
  assert.equal((await rows(`${id}.sliced`)).length, 5)

  const headerless = await finish(await post(`buckets/${id}/tables-async`, { name: 'x', dataFileId: sliced }))
  assert.equal(headerless.error?.code, 'storage.tables.validation.invalidColumnName')
})

test('what is wrong with a file fails the job with its own code, and the table is as before', async () => {
  const stack = await startProject()
  const { bucket, upload, finish, create, rows } = tableClient(stack)
  const id = await bucket()
  await create(id, 'kept', 'id,name\n1,one\n')
  const refused = async (bytes: string | Uint8Array, fields: object = {}, name = 'data.csv') => {
    const dataFileId = await upload(bytes, name)
    const job = await finish(
      await stack.request('POST', `/v2/storage/tables/${id}.kept/import-async`, { json: { dataFileId, ...fields } }),
    )
    assert.equal(job.status, 'error', JSON.stringify(job.results))
    return job
  }
  for (const [bytes, code, text] of [
    ['id,name\n1,"open\n', 'invalidCsv', /line 2/],
    ['id,name\n1,a\n2\n', 'invalidCsv', /line 3/],
    ['id,name\n1,a,b\n', 'invalidCsv', /line 2/],
    [Buffer.concat([Buffer.from('id,name\n1,'), Buffer.from([0xff, 0xfe]), Buffer.from('\n')]), 'invalidCsv', /UTF-8/i],
    ['id,name\n1,a\u0000b\n', 'invalidCsv', /NUL/i],
    ['', 'csvImport.columnsNotMatch', /id/],
    ['id;name\n1;a\n', 'csvImport.columnsNotMatch', /delimiter/],
    ['id,id\n1,2\n', 'storage.tables.validation.invalidColumnName', /"id"/],
    ['id,\n1,2\n', 'storage.tables.validation.invalidColumnName', /column 2/],
    [`id,name,${'x'.repeat(65)}\n`, 'storage.tables.validation.invalidColumnName', /64/],
  ] as const) {
    const job = await refused(bytes)
    assert.equal(job.error?.code, code, `${String(bytes).slice(0, 40)}: ${job.error?.message}`)
    assert.match(job.error?.message ?? '', text)
  }
  const mismatch = await refused('id\n1\n')
  assert.deepEqual(mismatch.results, { missingColumns: ['name'], expectedColumns: ['id', 'name'] })
  assert.equal((await refused('no gzip at all', {}, 'x.csv.gz')).error?.code, 'invalidCsv')
  const never = await prepareFile(stack)
  const missing = await finish(
    await stack.request('POST', `/v2/storage/tables/${id}.kept/import-async`, { json: { dataFileId: never.id } }),
  )
  assert.equal(missing.error?.code, 'storage.fileNotUploaded')
  assert.deepEqual(await rows(`${id}.kept`), [['1', 'one']])
})

test('a request that cannot work is refused at once, with the code clients know', async () => {
  const stack = await startProject()
  const { bucket, upload, create } = tableClient(stack)
  const other = await stack.newProject()
  const id = await bucket()
  const dataFileId = await upload('id\n1\n')
  await create(id, 'there', 'id\n1\n')
  const foreign = await stack.request('POST', '/v2/storage/files/prepare', { json: { name: 'x' }, token: other.masterToken })
  const cases: readonly [string, object, number, string][] = [
    ['buckets/in.c-none/tables-definition', { name: 't', columns: [{ name: 'id' }] }, 404, 'storage.buckets.notFound'],
    [`buckets/${id}/tables-async`, { dataFileId }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: '', dataFileId }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: 'bad.name', dataFileId }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: '_t', dataFileId }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: 'x'.repeat(97), dataFileId }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: 'there', dataFileId }, 400, 'storage.buckets.tableAlreadyExists'],
    [`buckets/${id}/tables-async`, { name: 't' }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: 't', dataFileId: 12345 }, 404, 'storage.files.notFound'],
    [`buckets/${id}/tables-async`, { name: 't', dataFileId: 'abc' }, 400, 'storage.tables.validation'],
    [`buckets/${id}/tables-async`, { name: 't', dataFileId: foreign.json().id }, 404, 'storage.files.notFound'],
    [`buckets/${id}/tables-async`, { name: 't', dataFileId, delimiter: '/t' }, 400, 'invalidCsv'],
    [`buckets/${id}/tables-async`, { name: 't', dataFileId, delimiter: '"' }, 400, 'csvImport.invalidCsvParams'],
    [`buckets/${id}/tables-async`, { name: 't', dataFileId, enclosure: '"', escapedBy: '\\' }, 400, 'csvImport.invalidCsvParams'],
    [`buckets/${id}/tables-async`, { name: 't', snapshotId: 77 }, 404, 'storage.snapshots.notFound'],
    [
      `buckets/${id}/tables-async`,
      { name: 't', sourceTableId: `${id}.there`, timestamp: '-3 days' },
      400,
      'storage.timetravel.invalid',
    ],
    ['tables/in.c-main.none/import-async', { dataFileId }, 404, 'storage.tables.notFound'],
    ['tables/nothing/import-async', { dataFileId }, 404, 'storage.tables.notFound'],
    [`tables/${id}.there.x/import-async`, { dataFileId }, 404, 'storage.tables.notFound'],
    [`tables/${id}.there/import-async`, { dataFileId, treatValuesAsNull: ['a', 'b'] }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/import-async`, { dataFileId, incremental: 'yes' }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/import-async`, {}, 400, 'storage.tables.validation'],
    [`tables/${id}.there/import-async`, { snapshotId: 1 }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/export-async`, { gzip: 'maybe' }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/primary-key`, { columns: ['id'], skipDuplicatesCheck: {} }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/export-async`, { columns: 'nope' }, 400, 'storage.tables.validation.columnNotExists'],
    [`tables/${id}.there/export-async`, { format: 'xml' }, 400, 'storage.tables.validation.invalidFormat'],
    [`tables/${id}.there/export-async`, { whereFilters: 'x' }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/export-async`, { whereFilters: ['x'] }, 400, 'storage.tables.validation'],
    [`tables/${id}.there/export-async`, { whereFilters: [{ column: 'id' }] }, 400, 'storage.tables.validation'],
    [
      `tables/${id}.there/export-async`,
      { whereFilters: [{ column: 'id', values: ['1'], operator: 'like' }] },
      400,
      'storage.tables.validation',
    ],
    [`tables/${id}.there/export-async`, { changedSince: 'someday' }, 400, 'storage.tables.validation'],
  ]
  for (const [path, json, status, code] of cases) {
    const answer = await stack.request('POST', `/v2/storage/${path}`, { json })
    assert.deepEqual([answer.status, answer.json().code], [status, code], `${path} ${JSON.stringify(json)}: ${answer.text}`)
    assert.equal(answer.json().status, 'error')
  }
  const foreignTable = await stack.request('GET', `/v2/storage/tables/${id}.there`, { token: other.masterToken })
  assert.equal(foreignTable.status, 404)
})

test('headers become names: marks are taken off, other characters become underscores; a BOM is no part of them', async () => {
  const { bucket, create, detail } = tableClient(await startProject())
  const id = await bucket()
  await create(id, 't', '\ufeffČíslo účtu,price (€),"a-b",_x_\r\n1,2,3,4\r\n')
  assert.deepEqual((await detail(`${id}.t`)).columns, ['Cislo_uctu', 'price__EUR', 'a_b', 'x'])
})

test('new columns of a file are added; older rows have them empty', async () => {
  const { bucket, create, load, rows, detail } = tableClient(await startProject())
  const id = await bucket()
  await create(id, 't', 'id\n1\n')
  await load(`${id}.t`, 'extra,id\nx,2\n', { incremental: true })
  assert.deepEqual((await detail(`${id}.t`)).columns, ['id', 'extra'])
  assert.deepEqual(await rows(`${id}.t`), [
    ['1', ''],
    ['2', 'x'],
  ])
})

test('withoutHeaders, columns and ignoredLinesCount say how a file without a header is read', async () => {
  const { bucket, create, load, rows } = tableClient(await startProject())
  const id = await bucket()
  await create(id, 't', 'a,b\n')
  await load(`${id}.t`, '1,2\n', { withoutHeaders: true })
  assert.deepEqual(await rows(`${id}.t`), [['1', '2']])
  await load(`${id}.t`, '1,2\n', { columns: ['b', 'a'] })
  assert.deepEqual(await rows(`${id}.t`), [['2', '1']])
  await load(`${id}.t`, '# a comment\nignored,too\n5,6\n', { ignoredLinesCount: 2 })
  assert.deepEqual(await rows(`${id}.t`), [['5', '6']])
})

test('an export takes columns, filters of every form, order, limit and times', async () => {
  const stack = await startProject()
  const { bucket, create, exported } = tableClient(stack)
  const id = await bucket()
  await create(id, 't', 'id,city,n\n1,Praha,5\n2,Brno,40\n3,Brno,7\n4,,100\n')
  const ask = (fields: Record<string, unknown>) => exported(`${id}.t`, { columns: 'id', orderBy: [{ column: 'id' }], ...fields })
  assert.equal(
    await exported(`${id}.t`, { columns: ['n', 'id'], limit: 1, orderBy: [{ column: 'n', order: 'DESC', dataType: 'INTEGER' }] }),
    '"100","4"\n',
  )
  for (const [fields, ids] of [
    [{ whereColumn: 'city', whereValues: ['Brno'] }, [2, 3]],
    [{ whereColumn: 'city', whereValues: ['Brno', ''], whereOperator: 'ne' }, [1]],
    [{ whereColumn: 'city', whereValues: ['Brno'], whereOperator: 'neq' }, [1, 4]],
    [{ whereFilters: [{ column: 'city', values: ['Brno', 'Praha'] }] }, [1, 2, 3]],
    [{ whereFilters: [{ column: 'n', operator: 'gt', values: ['7'], dataType: 'INTEGER' }] }, [2, 4]],
    [
      {
        whereFilters: [
          { column: 'n', operator: 'le', values: ['7'], dataType: 'DOUBLE' },
          { column: 'city', values: ['Brno'] },
        ],
      },
      [3],
    ],
    [{ fulltextSearch: 'brn' }, [2, 3]],
    [{ changedSince: '-1 hour' }, [1, 2, 3, 4]],
    [{ changedUntil: '-1 hour' }, []],
    [{ changedSince: Math.floor(Date.now() / 1000) + 3600 }, []],
    [{ limit: 2 }, [1, 2]],
  ] as const)
    assert.equal(await ask(fields), ids.map((n) => `"${n}"\n`).join(''), JSON.stringify(fields))
})

test('a merged export is one file with a header for people; parquet is a file of its own kind', async () => {
  const stack = await startProject()
  const { bucket, create, exported, succeed } = tableClient(stack)
  const id = await bucket()
  await create(id, 't', 'id,v\n1,"a ""b"""\n')
  assert.equal(await exported(`${id}.t`, { merged: true }), '"id","v"\n"1","a ""b"""\n')
  const files = (await stack.request('GET', '/v2/storage/files?tags[]=storage-merged-export')).json<{ isSliced: boolean }[]>()
  assert.deepEqual(
    files.map((file) => file.isSliced),
    [false],
  )
  assert.equal((await exported(`${id}.t`, { fileType: 'parquet' })).slice(0, 4), 'PAR1')
  const gz = await succeed(await stack.request('POST', `/v2/storage/tables/${id}.t/export-async`, { form: { gzip: '1' } }))
  assert.deepEqual([gz.metrics.outCompressed, Number(gz.metrics.outBytes) > 0], [true, true])
})

test('the same export of an unchanged table gives the same file again; after a load it does not', async () => {
  const stack = await startProject()
  const { bucket, create, load, succeed } = tableClient(stack)
  const id = await bucket()
  await create(id, 't', 'id\n1\n')
  const run = async () => {
    const job = await succeed(await stack.request('POST', `/v2/storage/tables/${id}.t/export-async`, { json: {} }))
    return job.results as { file: { id: number }; cacheHit: boolean }
  }
  const first = await run()
  const again = await run()
  assert.deepEqual([again.file.id, again.cacheHit], [first.file.id, true])
  await load(`${id}.t`, 'id\n2\n')
  const after = await run()
  assert.notEqual(after.file.id, first.file.id)
  await stack.request('DELETE', `/v2/storage/files/${after.file.id}`)
  assert.equal((await run()).cacheHit, false)
})

test('the preview is CSV or JSON, cut at 100 rows unless asked, at most 1000; long cells are cut and marked', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  const id = await bucket()
  const long = 'x'.repeat(20_000)
  await create(id, 't', `id,v\n${Array.from({ length: 150 }, (_, i) => `${i},${i === 0 ? long : i}`).join('\n')}\n`)
  const csv = await stack.request('GET', `/v2/storage/tables/${id}.t/data-preview/`)
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/)
  assert.equal(csv.text.split('\n').length, 102)
  assert.ok(csv.text.startsWith(`"id","v"\n"0","${long}"\n`))
  const json = (await stack.request('GET', `/v2/storage/tables/${id}.t/data-preview?format=json&limit=0`)).json<{
    columns: string[]
    rows: { columnName: string; value: string; isTruncated: boolean }[][]
  }>()
  assert.deepEqual([json.columns, json.rows.length], [['id', 'v'], 100])
  assert.deepEqual(
    [json.rows[0]?.[1]?.isTruncated, json.rows[0]?.[1]?.value.length, json.rows[1]?.[1]?.isTruncated],
    [true, 16_384, false],
  )
  const tooMany = await stack.request('GET', `/v2/storage/tables/${id}.t/data-preview?limit=1001`)
  assert.deepEqual([tooMany.status, tooMany.json().code], [400, 'storage.tables.validation'])
  assert.match(String(tooMany.json().error), /1000/)
})

test('columns and keys are added and deleted by jobs; what cannot be is refused with a reason', async () => {
  const stack = await startProject()
  const { bucket, create, succeed, finish, detail, rows } = tableClient(stack)
  const id = `${await bucket()}.t`
  await create('in.c-main', 't', 'id,v\n1,a\n1,b\n')
  const call = (method: string, path: string, json?: object) =>
    stack.request(method, `/v2/storage/tables/${id}/${path}`, json ? { json } : {})
  await succeed(await call('POST', 'columns', { name: 'neu' }))
  assert.deepEqual((await detail(id)).columns, ['id', 'v', 'neu'])
  assert.equal((await call('POST', 'columns', { name: 'NEU' })).json().code, 'storage.tables.columnAlreadyExists')
  assert.equal((await call('POST', 'columns', { name: '' })).json().code, 'storage.tables.invalidColumnName')
  const duplicates = await finish(await call('POST', 'primary-key', { columns: ['id'] }))
  assert.equal(duplicates.error?.code, 'storage.tables.primaryKeyDuplicateValues')
  assert.match(duplicates.error?.message ?? '', /"1"/)
  await succeed(await call('POST', 'primary-key', { columns: ['id', 'v'] }))
  assert.equal((await call('POST', 'primary-key', { columns: ['id'] })).json().code, 'storage.validation.primaryKey')
  assert.equal((await call('DELETE', 'columns/v')).json().code, 'storage.tables.cannotDeletePrimaryKeyColumn')
  await succeed(await call('DELETE', 'primary-key'))
  assert.deepEqual((await detail(id)).primaryKey, [])
  await succeed(await call('DELETE', 'columns/v'))
  assert.deepEqual(await rows(id), [
    ['1', ''],
    ['1', ''],
  ])
  assert.equal((await call('DELETE', 'columns/v')).status, 404)
})

test('rows are deleted by filter, from a body or a query; emptying a table must be meant', async () => {
  const stack = await startProject()
  const { bucket, create, succeed, rows } = tableClient(stack)
  const id = `${await bucket()}.t`
  await create('in.c-main', 't', 'id,v\n1,a\n2,b\n3,c\n')
  const path = `/v2/storage/tables/${id}/rows`
  const unmeant = await stack.request('DELETE', path)
  assert.deepEqual([unmeant.status, unmeant.json().code], [400, 'storage.tables.validation.unintendedTruncation'])
  const unknown = await stack.request('DELETE', path, { json: { whereFilters: [{ column: 'nope', values: ['1'] }] } })
  assert.deepEqual([unknown.status, unknown.json().code], [400, 'storage.tables.columnNotExists'])
  const one = await succeed(await stack.request('DELETE', path, { json: { whereColumn: 'id', whereValues: ['1'] } }))
  assert.deepEqual(one.results, { deletedRows: 1 })
  await succeed(await stack.request('DELETE', `${path}?whereFilters[0][column]=v&whereFilters[0][values][]=b`))
  assert.deepEqual(await rows(id), [['3', 'c']])
  assert.deepEqual((await succeed(await stack.request('DELETE', `${path}?allowTruncate=1`))).results, { deletedRows: 1 })
  assert.deepEqual(await rows(id), [])
})

test('a typed table keeps types, refuses values that are none by row and column, and takes no new columns from files', async () => {
  const stack = await startProject()
  const { bucket, upload, succeed, finish, detail, rows } = tableClient(stack)
  const id = `${await bucket()}.typed`
  const created = await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
      json: {
        name: 'typed',
        primaryKeysNames: ['id'],
        columns: [
          { name: 'id', definition: { type: 'INTEGER' } },
          { name: 'price', definition: { type: 'NUMBER', length: '10,2' } },
          { name: 'day', basetype: 'DATE' },
          { name: 'note', basetype: 'STRING' },
        ],
      },
    }),
  )
  assert.equal((created.results as TableAnswer).id, id)
  const load = async (csv: string) =>
    finish(
      await stack.request('POST', `/v2/storage/tables/${id}/import-async`, {
        json: { dataFileId: await upload(csv), incremental: true },
      }),
    )
  assert.equal((await load('id,price,day,note\n1,2.50,2026-01-31,x\n2,,,\n')).status, 'success')
  assert.deepEqual(await rows(id, 'orderBy[0][column]=id'), [
    ['1', '2.50', '2026-01-31', 'x'],
    ['2', null, null, null],
  ] as unknown[])
  const csv = await stack.request('GET', `/v2/storage/tables/${id}/data-preview?orderBy[0][column]=id`)
  assert.equal(csv.text, '"id","price","day","note"\n"1","2.50","2026-01-31","x"\n"2","","",""\n', 'every value is quoted')
  const wrong = await load('id,price,day,note\n3,cheap,2026-01-31,x\n')
  assert.equal(wrong.error?.code, 'storage.tables.invalidValue')
  assert.match(wrong.error?.message ?? '', /"cheap".*"price"/)
  assert.equal((await load('id,price,day,note,more\n')).error?.code, 'storage.tables.typedColumnsFixed')
  const table = await detail(id)
  const definition = table.definition as { columns: { name: string; basetype: string; definition: Record<string, unknown> }[] }
  assert.deepEqual(
    definition.columns.map((column) => [column.name, column.basetype, column.definition.type, column.definition.length]),
    [
      ['day', 'DATE', 'DATE', undefined],
      ['id', 'INTEGER', 'INTEGER', undefined],
      ['note', 'STRING', 'STRING', undefined],
      ['price', 'NUMERIC', 'NUMBER', '10,2'],
    ],
  )
  assert.equal(table.isTyped, true)
  const keys = (table.columnMetadata as Record<string, { key: string; value: string }[]>).price?.map(
    ({ key, value }) => `${key}=${value}`,
  )
  assert.ok(keys?.includes('KBC.datatype.basetype=NUMERIC'), String(keys))
  const metadata = (name: string) =>
    stack.request('POST', `/v2/storage/tables/${id}/metadata`, { json: { provider: name, metadata: [{ key: 'a', value: 'b' }] } })
  assert.equal((await metadata('storage')).status, 403)
  assert.equal((await metadata('user')).status, 201)
  const untypedColumn = await stack.request('POST', `/v2/storage/tables/${id}/columns`, { json: { name: 'c' } })
  assert.match(String(untypedColumn.json().error), /"definition" or "basetype" must be set/)
})

test('an alias shows its table through a filter and some columns, and takes no data', async () => {
  const stack = await startProject()
  const { bucket, create, load, rows, detail, upload } = tableClient(stack)
  await bucket('main')
  await bucket('views', 'out')
  await create('in.c-main', 't', 'id,city\n1,Praha\n2,Brno\n')
  const alias = (json: object) => stack.request('POST', '/v2/storage/buckets/out.c-views/table-aliases', { json })
  assert.equal((await alias({ sourceTable: 'in.c-main.t', name: 'all' })).status, 201)
  assert.equal(
    (
      await alias({
        sourceTable: 'in.c-main.t',
        name: 'brno',
        aliasFilter: { column: 'city', values: ['Brno'] },
        aliasColumns: ['id'],
      })
    ).status,
    201,
  )
  assert.deepEqual(await rows('out.c-views.brno'), [['2']])
  const [all, brno] = [await detail('out.c-views.all'), await detail('out.c-views.brno')]
  assert.deepEqual([all.isAlias, all.rowsCount, all.aliasColumnsAutoSync], [true, 2, true])
  assert.deepEqual(
    [brno.rowsCount, brno.aliasColumnsAutoSync, (brno.aliasFilter as { column: string }).column],
    [null, false, 'city'],
  )
  assert.equal((all.sourceTable as { id: string }).id, 'in.c-main.t')
  await load('in.c-main.t', 'id,city,more\n3,Brno,x\n', { incremental: true })
  assert.deepEqual((await detail('out.c-views.all')).columns, ['id', 'city', 'more'])
  assert.deepEqual(await rows('out.c-views.brno'), [['2'], ['3']])
  const refused = await stack.request('POST', '/v2/storage/tables/out.c-views.all/import-async', {
    json: { dataFileId: await upload('id\n') },
  })
  assert.deepEqual([refused.status, refused.json().code], [400, 'storage.tables.aliasImportNotAllowed'])
  assert.equal((await alias({ sourceTable: 'out.c-views.brno', name: 'x' })).json().code, 'storage.buckets.invalidAlias')
  assert.equal(
    (await stack.request('DELETE', '/v2/storage/tables/in.c-main.t')).json().code,
    'tables.cannotDeletedTableWithAliases',
  )
  assert.equal((await stack.request('DELETE', '/v2/storage/tables/out.c-views.brno/alias-filter')).status, 204)
  assert.equal((await rows('out.c-views.brno')).length, 3)
  assert.equal((await stack.request('DELETE', '/v2/storage/tables/in.c-main.t?force=1')).status, 204)
  assert.equal((await stack.request('GET', '/v2/storage/tables/out.c-views.all')).status, 404)
})

test('the rows of a snapshot and of a moment are put back, as a dry run first, and the state before stays reachable', async (t) => {
  let nowMs = Date.now()
  const stack = await startTestStack(t, { clock: { now: () => new Date(nowMs) } })
  const { bucket, create, load, rows, succeed, finish } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id,name\n1,a\n', { primaryKey: 'id' })
  await create('in.c-main', 'other', 'id,name\n7,x\n')
  const keep = async (table: string) => {
    const job = await succeed(await stack.request('POST', `/v2/storage/tables/${table}/snapshots`, { json: {} }))
    return job.results as { id: string; rowsCount: number }
  }
  const [kept, foreign] = [await keep('in.c-main.t'), await keep('in.c-main.other')]
  assert.equal(kept.rowsCount, 1)
  nowMs += 60_000
  await load('in.c-main.t', 'id,name\n2,b\n3,c\n')
  const loadedAt = Math.floor(nowMs / 1000) + 1
  nowMs += 60_000
  const restore = (json: object, query = '') => stack.request('POST', `/v2/storage/tables/in.c-main.t/restore${query}`, { json })
  const tried = (await restore({ snapshotId: kept.id }, '?dryRun=1')).json<{ rows: { before: number; after: number } }>()
  assert.deepEqual(tried.rows, { before: 2, after: 1 })
  assert.equal((await rows('in.c-main.t')).length, 2, 'a dry run changes nothing')
  assert.deepEqual((await succeed(await restore({ snapshotId: kept.id }))).results, { totalRowsCount: 1 })
  assert.deepEqual(await rows('in.c-main.t'), [['1', 'a']])
  await succeed(await restore({ timestamp: loadedAt }))
  assert.deepEqual((await rows('in.c-main.t')).map(([id]) => id).sort(), ['2', '3'])
  await load('in.c-main.t', 'id,name\n3,d\n', { incremental: true })
  assert.equal((await rows('in.c-main.t')).length, 2, 'the key still holds')
  for (const [body, code] of [
    [{}, 'storage.tables.validation'],
    [{ snapshotId: foreign.id }, 'storage.snapshots.otherTable'],
    [{ snapshotId: 999 }, 'storage.snapshots.notFound'],
    [{ timestamp: new Date(nowMs + 3_600_000).toISOString() }, 'storage.timetravel.invalid'],
  ] as const)
    assert.equal((await restore(body)).json<{ code: string }>().code, code)
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.t/columns', { json: { name: 'more' } }))
  const refused = await finish(await restore({ snapshotId: kept.id }))
  assert.equal(refused.error?.code, 'storage.snapshots.otherColumns')
})

test('a snapshot keeps a state, a table is made from it, and from any moment the table has been through', async (t) => {
  let nowMs = Date.now()
  const stack = await startTestStack(t, { clock: { now: () => new Date(nowMs) } })
  const { bucket, create, load, rows, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n', { primaryKey: 'id' })
  const kept = await succeed(
    await stack.request('POST', '/v2/storage/tables/in.c-main.t/snapshots', { json: { description: 'before' } }),
  )
  const snapshot = kept.results as { id: string; description: string }
  assert.deepEqual([typeof snapshot.id, snapshot.description], ['string', 'before'])
  const between = Math.floor(nowMs / 1000) + 1
  nowMs += 60_000
  await load('in.c-main.t', 'id\n2\n')
  const make = async (name: string, fields: object) =>
    succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json: { name, ...fields } }))
  const made = (await make('from-snapshot', { snapshotId: snapshot.id })).results as unknown as TableAnswer
  assert.equal(made.lastChangeDate, made.created, 'its rows are new here')
  const home = made.bucket as { rowsCount: number; lastChangeDate: string }
  assert.deepEqual([home.rowsCount, home.lastChangeDate], [2, made.created], 'the bucket as it is with the table in it')
  const past = await make('from-past', { sourceTableId: 'in.c-main.t', timestamp: between })
  assert.deepEqual(past.operationParams.source, {
    type: 'timeTravel',
    sourceTableId: 'in.c-main.t',
    timestamp: new Date(between * 1000).toISOString().replace('.000Z', '+0000'),
    destinationTableName: 'from-past',
  })
  assert.deepEqual(await rows('in.c-main.from-snapshot'), [['1']])
  assert.deepEqual(await rows('in.c-main.from-past'), [['1']])
  assert.deepEqual(await rows('in.c-main.t'), [['2']])
  await load('in.c-main.from-snapshot', 'id\n1\n9\n', { incremental: true })
  assert.equal((await rows('in.c-main.from-snapshot')).length, 2)
  const list = (await stack.request('GET', '/v2/storage/tables/in.c-main.t/snapshots')).json<{ id: string }[]>()
  assert.deepEqual(
    list.map((one) => one.id),
    [snapshot.id],
  )
  const one = (await stack.request('GET', `/v2/storage/snapshots/${snapshot.id}`)).json<{
    table: { id: string; columns: string[] }
  }>()
  assert.deepEqual([one.table.id, one.table.columns], ['in.c-main.t', ['id']])
  await succeed(await stack.request('DELETE', `/v2/storage/snapshots/${snapshot.id}`))
  assert.equal((await stack.request('GET', `/v2/storage/snapshots/${snapshot.id}`)).status, 404)
  assert.deepEqual(await rows('in.c-main.from-snapshot', 'whereFilters[0][column]=id&whereFilters[0][values][]=1'), [['1']])
})

test('metadata of tables and columns is set in all shapes, listed, replaced in place and deleted', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id,v\n1,2\n')
  const path = '/v2/storage/tables/in.c-main.t/metadata'
  const set = (json: object) => stack.request('POST', path, { json })
  type Items = { id: string; key: string; value: string; provider: string; timestamp: string }[]
  const item = (key: string, value: string, columnName?: string) => ({ key, value, ...(columnName && { columnName }) })
  const first = await set({
    provider: 'user',
    metadata: [item('KBC.description', 'one')],
    columnsMetadata: { id: [item('a', '1', 'id')] },
  })
  assert.equal(first.status, 201)
  const answer = first.json<{ metadata: Items; columnsMetadata: Record<string, Items> }>()
  assert.equal(typeof answer.metadata[0]?.id, 'string')
  assert.deepEqual(Object.keys(answer.columnsMetadata), ['id'])
  assert.equal(
    (await set({ provider: 'user', columnsMetadata: { all: [item('b', '2', 'v'), item('b', '3', 'id')] } })).status,
    201,
  )
  assert.equal((await set({ provider: 'user', columnsMetadata: [[item('c', '4', 'v')]] })).status, 201)
  await set({ provider: 'user', metadata: [item('KBC.description', 'two')] })
  const listed = (await stack.request('GET', path)).json<Items>()
  assert.deepEqual(
    listed.map(({ key, value, provider }) => [key, value, provider]),
    [['KBC.description', 'two', 'user']],
  )
  const search = async (query: string) =>
    (await stack.request('GET', `/v2/storage/search/tables?${query}`)).json<{ id: string }[]>().map((table) => table.id)
  assert.deepEqual(await search('metadataKey=KBC.description&metadataValue=two'), ['in.c-main.t'])
  assert.deepEqual(await search('metadataKey=KBC.description&metadataValue=one'), [])
  assert.equal((await stack.request('GET', '/v2/storage/search/tables')).json().code, 'validationError')
  assert.equal((await stack.request('GET', '/v2/storage/branch/default/search/tables?metadataKey=a')).status, 501)
  const column = (await stack.request('GET', '/v2/storage/columns/in.c-main.t.v/metadata')).json<Items>()
  assert.deepEqual(
    column.map(({ key, value }) => [key, value]),
    [
      ['b', '2'],
      ['c', '4'],
    ],
  )
  assert.equal((await stack.request('DELETE', `/v2/storage/columns/in.c-main.t.v/metadata/${column[0]?.id}`)).status, 204)
  assert.equal((await stack.request('DELETE', `${path}/${listed[0]?.id}`)).status, 204)
  assert.equal((await stack.request('DELETE', `${path}/${listed[0]?.id}`)).json().code, 'storage.metadata.notFound')
  const form = await stack.request('POST', path, {
    body: new URLSearchParams([
      ['provider', 'f'],
      ['metadata[0][key]', 'k'],
      ['metadata[0][value]', 'v'],
    ]),
  })
  assert.ok(Array.isArray(form.json()))
  for (const [json, code] of [
    [{ metadata: [item('a', 'b')] }, 'storage.metadata.invalidProvider'],
    [{ provider: 'u', metadata: 'x' }, 'storage.metadata.invalidParameter'],
    [{ provider: 'u', metadata: [{ key: 'a' }] }, 'storage.metadata.invalidStructure'],
    [{ provider: 'u', metadata: [item('bad key!', 'v')] }, 'storage.metadata.invalidKey'],
    [{ provider: 'u', columnsMetadata: { none: [item('a', 'b')] } }, 'storage.metadata.invalidStructure'],
  ] as const)
    assert.equal((await set(json)).json().code, code)
})

test('lists carry what is included, and by default the bucket and the metadata', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const list = async (query: string) =>
    (await stack.request('GET', `/v2/storage/tables${query}`)).json<Record<string, unknown>[]>()[0] ?? {}
  const has = (table: Record<string, unknown>) =>
    ['bucket', 'metadata', 'columns', 'columnMetadata'].filter((name) => name in table)
  assert.deepEqual(has(await list('')), ['bucket', 'metadata'])
  assert.deepEqual(has(await list('?include=')), [])
  assert.deepEqual(has(await list('?include=columns,columnMetadata')), ['columns', 'columnMetadata'])
  assert.equal((await stack.request('GET', '/v2/storage/tables?include=everything')).status, 400)
  const ofBucket = (await stack.request('GET', '/v2/storage/buckets/in.c-main/tables?include=metadata')).json<TableAnswer[]>()
  assert.deepEqual(
    ofBucket.map((table) => table.id),
    ['in.c-main.t'],
  )
  const detail = (await stack.request('GET', '/v2/storage/buckets/in.c-main?include=columns')).json<{
    tables: TableAnswer[]
    rowsCount: number
    attributes: unknown[]
  }>()
  assert.deepEqual(
    [detail.tables[0]?.columns, detail.tables[0]?.bucket, detail.rowsCount, detail.attributes],
    [['id'], undefined, 1, []],
  )
})

test('loads and changes of one table run one after the other; a reader sees one whole state', async () => {
  const stack = await startProject()
  const { bucket, create, upload, finish, rows } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id,batch\n1,0\n')
  const files = await Promise.all(
    Array.from({ length: 8 }, (_, i) => upload(`id,batch\n${Array.from({ length: 50 }, (_, n) => `${n},${i}`).join('\n')}\n`)),
  )
  const starts = await Promise.all(
    files.map((dataFileId) => stack.request('POST', '/v2/storage/tables/in.c-main.t/import-async', { json: { dataFileId } })),
  )
  let ended = false
  const reading = (async () => {
    while (!ended) {
      const batches = new Set((await rows('in.c-main.t')).map((row) => row[1]))
      assert.equal(batches.size, 1, [...batches].join())
    }
  })()
  const jobs = await Promise.all(starts.map((start) => finish(start)))
  ended = true
  await reading
  assert.deepEqual(
    jobs.map((job) => job.status),
    jobs.map(() => 'success'),
  )
  const ids = starts.map((start) => start.json<JobAnswer>().id)
  assert.equal(
    (await rows('in.c-main.t'))[0]?.[1],
    String(ids.indexOf(Math.max(...ids))),
    'the job created last is the state that stays',
  )
})

test('sync create, sync import and the importer take the data along and wait for the load', async () => {
  const stack = await startProject()
  const { bucket, rows } = tableClient(stack)
  await bucket()
  const form = new FormData()
  form.set('name', 'sync')
  form.set('data', new Blob(['id,v\n1,ž\n']), 'x.csv')
  form.set('primaryKey', 'id')
  const created = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { body: form })
  assert.equal(created.status, 201, created.text)
  assert.deepEqual(created.json<TableAnswer>().primaryKey, ['id'])
  const text = await stack.request('POST', '/v2/storage/tables/in.c-main.sync/import', {
    form: { dataString: 'id,v\n2,b\n', incremental: '1' },
  })
  assert.deepEqual([text.status, text.json().totalRowsCount], [200, 2])
  const write = new FormData()
  write.set('tableId', 'in.c-main.sync')
  write.set('data', new Blob([gzipSync('id,v\n3,c\n')]), 'x.csv.gz')
  const written = await stack.request('POST', '/import/write-table', { body: write })
  assert.deepEqual([written.status, written.json().totalRowsCount], [200, 1], written.text)
  assert.deepEqual(await rows('in.c-main.sync'), [['3', 'c']])
  const bad = await stack.request('POST', '/v2/storage/tables/in.c-main.sync/import', { form: { dataString: 'id,v\n"2\n' } })
  assert.equal(bad.status, 400)
  assert.match(String(bad.json().error), /line 2/)
})

test('a token reads and writes only the buckets it was given', async () => {
  const stack = await startProject()
  const { bucket, create, upload } = tableClient(stack)
  await bucket('open')
  await bucket('secret')
  await create('in.c-open', 't', 'id\n1\n')
  await create('in.c-secret', 't', 'id\n1\n')
  const token = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'reader', bucketPermissions: { 'in.c-open': 'read' }, canReadAllFileUploads: true },
    })
  ).json<{ token: string }>().token
  const as = (method: string, path: string, json?: object) =>
    stack.request(method, `/v2/storage/${path}`, { token, ...(json && { json }) })
  assert.equal((await as('GET', 'tables/in.c-open.t')).status, 200)
  assert.equal((await as('GET', 'tables/in.c-open.t/data-preview')).status, 200)
  assert.equal((await as('GET', 'tables/in.c-secret.t')).status, 403)
  assert.equal((await as('GET', 'tables/in.c-secret.t/data-preview')).status, 403)
  assert.deepEqual(
    (await as('GET', 'tables')).json<TableAnswer[]>().map((table) => table.id),
    ['in.c-open.t'],
  )
  assert.deepEqual(
    (await as('GET', 'buckets')).json<{ id: string }[]>().map((one) => one.id),
    ['in.c-open'],
  )
  const dataFileId = await upload('id\n2\n')
  assert.equal((await as('POST', 'tables/in.c-open.t/import-async', { dataFileId })).json().code, 'accessDenied')
  assert.equal((await as('DELETE', 'tables/in.c-open.t')).status, 403)
  assert.equal((await as('POST', 'buckets', { name: 'x' })).status, 403)
})

test('display names, deletion by job, profile, swap and events', async () => {
  const stack = await startProject()
  const { bucket, create, succeed, detail, rows } = tableClient(stack)
  await bucket()
  await create('in.c-main', 'a', 'id,v\n1,x\n2,x\n')
  await create('in.c-main', 'b', 'id\n7\n')
  const renamed = await stack.request('PUT', '/v2/storage/tables/in.c-main.a', { json: { displayName: 'Orders' } })
  assert.equal(renamed.json().displayName, 'Orders')
  assert.equal(
    (await stack.request('PUT', '/v2/storage/tables/in.c-main.b', { json: { displayName: 'Orders' } })).json().code,
    'storage.buckets.tableAlreadyExists',
  )
  const profile = await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.a/profile'))
  const latest = (await stack.request('GET', '/v2/storage/tables/in.c-main.a/profile/latest')).json<{
    uuid: string
    profile: { rowCount: number }
    columns: { profile: { distinctCount: number } }[]
  }>()
  assert.deepEqual(
    [latest.uuid, latest.profile.rowCount, latest.columns.map((column) => column.profile.distinctCount)],
    [profile.results?.uuid, 2, [2, 1]],
  )
  const swapped = await succeed(
    await stack.request('POST', '/v2/storage/branch/default/tables/in.c-main.a/swap', { json: { targetTableId: 'in.c-main.b' } }),
  )
  assert.deepEqual(swapped.results, { tableAStringId: 'in.c-main.a', tableBStringId: 'in.c-main.b' })
  assert.deepEqual(await rows('in.c-main.a'), [['7']])
  const events = (await stack.request('GET', '/v2/storage/tables/in.c-main.a/events'))
    .json<{ event: string }[]>()
    .map((event) => event.event)
  assert.ok(events.includes('storage.tableCreated'), events.join())
  const dropped = await succeed(await stack.request('DELETE', '/v2/storage/tables/in.c-main.a?async=1'))
  assert.deepEqual([dropped.operationName, dropped.results], ['tableDrop', null])
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.a')).status, 404)
  assert.equal((await detail('in.c-main.b')).rowsCount, 2)
})

test('the statistics of a run count its loads, exports and files, those of its children included', async () => {
  const stack = await startProject()
  const { bucket, create, upload, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const dataFileId = await upload('id\n2\n')
  const as = (runId: string, path: string, json: object) =>
    stack.request('POST', `/v2/storage/tables/in.c-main.t/${path}`, { json, headers: { 'X-KBC-RunId': runId } })
  await succeed(await as('77', 'import-async', { dataFileId }))
  await succeed(await as('77.1', 'import-async', { dataFileId }))
  await succeed(await as('77', 'export-async', {}))
  await succeed(await as('78', 'import-async', { dataFileId }))
  const stats = (await stack.request('GET', '/v2/storage/stats?runId=77')).json<{
    tables: { import: { tables: { id: string; count: number }[]; totalCount: number }; export: { totalCount: number } }
    files: { total: { count: number } }
  }>()
  assert.deepEqual(
    stats.tables.import.tables.map(({ id, count }) => [id, count]),
    [['in.c-main.t', 2]],
  )
  assert.deepEqual([stats.tables.import.totalCount, stats.tables.export.totalCount, stats.files.total.count], [2, 1, 1])
  assert.equal((await stack.request('GET', '/v2/storage/stats')).json().code, 'storage.validation')
})

test('all of it on PostgreSQL: loads, keys, aliases, snapshots, swaps, links, deletion', async (t) => {
  const { location, remove } = await migratedPostgres()
  const stack = await startTestStack(t, 'url' in location ? { databaseUrl: location.url } : {})
  t.after(remove) // after the stack is closed: hooks run in this order
  const { bucket, create, load, rows, succeed, detail, exported } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id,v\n1,a\n2,b\n', { primaryKey: 'id' })
  await load('in.c-main.t', 'id,v\n2,x\n3,y\n', { incremental: true })
  assert.equal(await exported('in.c-main.t', { orderBy: [{ column: 'id' }], columns: 'v' }), '"a"\n"x"\n"y"\n')
  const alias = { sourceTable: 'in.c-main.t', name: 'a', aliasFilter: { column: 'id', values: ['3'] } }
  assert.equal((await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: alias })).status, 201)
  assert.deepEqual(await rows('in.c-main.a'), [['3', 'y']])
  const kept = await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.t/snapshots', { json: {} }))
  await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
      json: { name: 'b', snapshotId: kept.results?.id },
    }),
  )
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.t/swap', { json: { targetTableId: 'in.c-main.b' } }))
  assert.equal((await detail('in.c-main.b')).rowsCount, 3)
  await succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/share-organization', { json: {} }))
  const other = await stack.newProject()
  const link = { sourceProjectId: stack.projectId, sourceBucketId: 'in.c-main', name: 'l' }
  assert.equal((await stack.request('POST', '/v2/storage/buckets', { json: link, token: other.masterToken })).status, 201)
  assert.equal(
    (await stack.request('GET', '/v2/storage/tables/in.c-l.b', { token: other.masterToken })).json<TableAnswer>().rowsCount,
    3,
  )
  const metadata = { provider: 'u', metadata: [{ key: 'k', value: 'v' }] }
  for (let i = 0; i < 2; i++)
    assert.equal((await stack.request('POST', '/v2/storage/tables/in.c-main.b/metadata', { json: metadata })).status, 201)
  await stack.platform.tables.loop.tick(new Date(Date.now() + 40 * 86_400_000))
  assert.equal((await stack.request('DELETE', `/v2/storage/buckets/in.c-main/links/${other.projectId}`)).status, 204)
  await succeed(await stack.request('DELETE', '/v2/storage/buckets/in.c-main?force=1&async=1'))
  assert.deepEqual((await stack.request('GET', '/v2/storage/tables')).json(), [])
})

test('local files load side by side, visible together with what the caller commits, or not at all', async (t) => {
  const stack = await startProject()
  const { rows } = tableClient(stack)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-local-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { local } = stack.platform.tables
  const actor = await stack.platform.tokens.authenticate(stack.masterToken)
  assert.ok(actor)
  const branches = (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number; isDefault: boolean }[]>()
  const branch = { id: branches[0]?.id ?? 0, isDefault: true }
  const requester = { actor, branch, origin: NO_ORIGIN, baseUrl: stack.url }
  const file = async (name: string, text: string) => {
    const path = join(folder, name)
    await writeFile(path, text)
    return { tableId: `out.c-made.${name}`, isSliced: false, files: [{ path, sizeBytes: Buffer.byteLength(text) }] }
  }
  let committed = 0
  const commit = async () => {
    committed++
  }
  const first = await local.load(
    requester,
    [await file('a', 'id\n1\n'), { ...(await file('b', 'id,v\n1,x\n')), primaryKey: ['id'] }],
    commit,
  )
  assert.deepEqual(
    first.map((one) => [one.tableId, one.rows]),
    [
      ['out.c-made.a', 1],
      ['out.c-made.b', 1],
    ],
  )
  assert.equal(committed, 1)
  const failure = await local
    .load(requester, [await file('a', 'id\n2\n'), await file('b', 'id,v\n"\n')], commit)
    .catch((error: unknown) => error)
  assert.match(String(failure), /out\.c-made\.b: /)
  assert.deepEqual([committed, await rows('out.c-made.a')], [1, [['1']]])
  const refusing = async () => {
    throw new Error('the state cannot be saved')
  }
  await assert.rejects(local.load(requester, [await file('a', 'id\n3\n')], refusing))
  assert.deepEqual(await rows('out.c-made.a'), [['1']])
  await local.load(requester, [
    {
      ...(await file('b', 'id,v\n2,y\n')),
      incremental: true,
      deleteWhere: [{ filters: [{ column: 'id', operator: 'eq', values: ['1'] }] }],
    },
  ])
  const target = join(folder, 'out.csv')
  assert.deepEqual(await local.exportTo({ actor, branch }, 'out.c-made.b', target, { columns: ['v', 'id'] }), {
    columns: ['v', 'id'],
    rows: 1,
  })
  assert.equal(await readFile(target, 'utf8'), '"v","id"\n"y","2"\n')
})
