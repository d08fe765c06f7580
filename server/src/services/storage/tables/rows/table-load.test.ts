import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRaw, gzipSync, zstdCompress } from 'node:zlib'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import avro from 'avsc'
import writeWorkbook from 'write-excel-file/node'
import { prepareFile, uploadClient } from '../../../../../../tests/support/clients/file-client.ts'
import { type TableAnswer, tableClient } from '../../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

interface EventAnswer {
  readonly event: string
  readonly params: Record<string, unknown>
  readonly attachments: { readonly url: string | null; readonly [field: string]: unknown }[]
}

test('G14, A27: named columns that leave others out and do not fit the file are refused with the columns that are missing', async () => {
  const stack = await startProject()
  const { bucket, create, load, upload, finish } = tableClient(stack)
  await bucket()
  await create('in.c-main', 'g', 'Id,Name,Region,Status,First_Order\n1,a,b,c,d\n')
  const columns = ['Status', 'Region', 'Id', 'First_Order']
  const body = { dataFileId: await upload('s,r,2,o,n\n'), columns, withoutHeaders: true }
  const job = await finish(await stack.request('POST', '/v2/storage/tables/in.c-main.g/import-async', { json: body }))
  assert.deepEqual(
    [job.error?.code, job.error?.message],
    [
      'csvImport.columnsNotMatch',
      'Some columns are missing in the csv file. Missing columns: Name. Expected columns: Id,Name,Region,Status,First_Order. Please check if the expected delimiter "," is used in the csv file.',
    ],
  )
  await load('in.c-main.g', 's,r,2,o\n', { columns, incremental: true })
  const empty = await finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.g/import-async', {
      json: { dataFileId: await upload(''), columns },
    }),
  )
  assert.equal(empty.status, 'success', 'a file without rows has no width')
})

test('named columns are loaded and the others stay empty; a header that lacks columns is refused', async () => {
  const stack = await startProject()
  const { bucket, create, load, upload, finish, succeed, rows } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id,a,b\n1,x,y\n', { primaryKey: 'id' })
  await load('in.c-main.t', '2,z\n', { columns: ['id', 'b'], incremental: true })
  assert.deepEqual(await rows('in.c-main.t', 'orderBy[0][column]=id'), [
    ['1', 'x', 'y'],
    ['2', '', 'z'],
  ])
  const refused = async (tableId: string, csv: string, fields: object = {}) =>
    finish(
      await stack.request('POST', `/v2/storage/tables/${tableId}/import-async`, {
        json: { dataFileId: await upload(csv), ...fields },
      }),
    )
  assert.equal((await refused('in.c-main.t', 'id,b\n2,z\n')).error?.code, 'csvImport.columnsNotMatch')
  const keyless = await refused('in.c-main.t', 'z\n', { columns: ['b'], incremental: true })
  assert.equal(keyless.error?.code, 'csvImport.columnsNotMatch', 'a row without its key is none')
  const unknown = await refused('in.c-main.t', '1,2\n', { columns: ['id', 'nope'] })
  assert.deepEqual([unknown.error?.code, /"nope"/.test(unknown.error?.message ?? '')], ['storage.invalidColumns', true])
  const skipped = await refused('in.c-main.t', '#\n1,2\n', { columns: ['id', 'nope'], ignoredLinesCount: 1 })
  assert.equal(skipped.error?.code, 'storage.invalidColumns')

  await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
      json: {
        name: 'typed',
        columns: [
          { name: 'id', basetype: 'INTEGER' },
          { name: 'n', definition: { type: 'INTEGER', nullable: false } },
          { name: 'd', definition: { type: 'INTEGER', nullable: false, default: '7' } },
          { name: 'o', basetype: 'STRING' },
        ],
      },
    }),
  )
  const strict = await refused('in.c-main.typed', '1\n', { columns: ['id'] })
  assert.deepEqual(
    [strict.error?.code, strict.results],
    ['csvImport.columnsNotMatch', { missingColumns: ['n'], expectedColumns: ['id', 'n', 'd', 'o'] }],
  )
  await load('in.c-main.typed', '1,2\n', { columns: ['id', 'n'] })
  assert.deepEqual(await rows('in.c-main.typed'), [['1', '2', '7', null]])
})

test('the event of a load says how it was read and carries the file, with a link for those who may read it', async () => {
  const stack = await startProject()
  const { bucket, create, load, succeed, upload } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id;v\n1;a\n', { delimiter: ';' })
  await load('in.c-main.t', 'id,v\n2,b\n', { incremental: true })
  const events = async (token?: string) =>
    (await stack.request('GET', '/v2/storage/tables/in.c-main.t/events', token ? { token } : {}))
      .json<EventAnswer[]>()
      .filter(({ event }) => event === 'storage.tableImportDone')
  const [second, first] = await events()
  assert.deepEqual(
    [first?.params.incremental, first?.params.csv],
    [false, { delimiter: ';', enclosure: '"', escapedBy: '' }],
    'the load that made the table is one too',
  )
  assert.deepEqual(
    [second?.params.incremental, second?.params.partial, second?.params.csv, second?.params.importedColumns],
    [true, false, { delimiter: ',', enclosure: '"', escapedBy: '' }, ['id', 'v']],
  )
  const attached = second?.attachments[0]
  assert.deepEqual(
    Object.keys(attached ?? {}).sort(),
    ['created', 'id', 'isExpired', 'isSliced', 'name', 'sizeBytes', 'uploadType', 'url'],
    JSON.stringify(second?.attachments),
  )
  assert.deepEqual([attached?.isSliced, attached?.isExpired, attached?.name, attached?.sizeBytes], [false, false, 'data.csv', 9])
  assert.equal(await (await fetch(attached?.url ?? '')).text(), 'id,v\n2,b\n')

  const reader = await stack.request('POST', '/v2/storage/tokens', { json: { bucketPermissions: { 'in.c-main': 'read' } } })
  const [seen] = await events(reader.json<{ token: string }>().token)
  assert.equal(seen?.attachments[0]?.url, null, 'the file of another token is named, not handed out')

  const dataFileId = await upload('id,v\n3,c\n')
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.t/import-async', { json: { dataFileId } }))
  await stack.request('DELETE', `/v2/storage/files/${dataFileId}`)
  const [gone] = await events()
  assert.deepEqual(
    [gone?.attachments[0]?.id, gone?.attachments[0]?.isExpired, gone?.attachments[0]?.url],
    [dataFileId, true, null],
  )
})

test('a load that the caller waits for fails with the code its job failed with', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  for (const [path, form, code] of [
    [
      '/v2/storage/buckets/in.c-main/tables',
      { name: 'x', dataString: 'id,id\n1,2\n' },
      'storage.tables.validation.invalidColumnName',
    ],
    ['/v2/storage/buckets/in.c-main/tables', { name: 'x', dataString: 'id\n"1\n' }, 'invalidCsv'],
    ['/v2/storage/tables/in.c-main.t/import', { dataString: 'nope\n1\n' }, 'csvImport.columnsNotMatch'],
  ] as const) {
    const answer = await stack.request('POST', path, { form })
    assert.deepEqual([answer.status, answer.json().code, answer.json().status], [400, code, 'error'], answer.text)
  }
  const written = new FormData()
  written.set('tableId', 'in.c-main.t')
  written.set('data', new Blob(['id\n"1\n']), 'x.csv')
  const answer = await stack.request('POST', '/import/write-table', { body: written })
  assert.equal(answer.status, 400)
  assert.match(String(answer.json().message), /line 2/)
})

test('slices outside of the file, missing slices and broken manifests fail the job with their own codes', async () => {
  const stack = await startProject()
  const { bucket, create, upload, finish, rows } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const foreign = await upload('id\n666\n')
  const foreignFile = (await stack.request('GET', `/v2/storage/files/${foreign}?federationToken=1`)).json<{
    s3Path: { bucket: string; key: string }
  }>().s3Path
  const withManifest = async (manifest: (place: { bucket: string; key: string }) => string | undefined): Promise<string> => {
    const file = await prepareFile(stack, { name: 'sliced.csv', isSliced: true })
    const place = { bucket: file.uploadParams!.bucket, key: file.uploadParams!.key }
    const s3 = uploadClient(file)
    await s3.send(new PutObjectCommand({ Bucket: place.bucket, Key: `${place.key}part0`, Body: '5\n' }))
    const Body = manifest(place)
    if (Body !== undefined) await s3.send(new PutObjectCommand({ Bucket: place.bucket, Key: `${place.key}manifest`, Body }))
    const answer = await stack.request('POST', '/v2/storage/tables/in.c-main.t/import-async', {
      json: { dataFileId: file.id, columns: ['id'] },
    })
    const job = await finish(answer)
    return job.error?.code ?? job.status
  }
  const entries = (...urls: string[]) => JSON.stringify({ entries: urls.map((url) => ({ url })) })
  for (const [manifest, code] of [
    [() => entries(`s3://${foreignFile.bucket}/${foreignFile.key}`), 'storage.unauthorizedAccess'],
    [(p) => entries(`s3://${p.bucket}/${p.key}part0`, `s3://${p.bucket}/tables/1/1/x.parquet`), 'storage.unauthorizedAccess'],
    [(p) => entries(`s3://${p.bucket}/${p.key}/../../../${foreignFile.key}`), 'storage.importFileMissing'],
    [(p) => entries(`s3://elsewhere/${p.key}part0`), 'storage.unauthorizedAccess'],
    [() => entries('file:///etc/passwd'), 'storage.unauthorizedAccess'],
    [(p) => entries(`s3://${p.bucket}/${p.key}part7`), 'storage.importFileMissing'],
    [() => undefined, 'storage.manifestFileMissing'],
    [() => 'no json', 'storage.invalidManifest'],
    [() => '{"entries":{}}', 'storage.invalidManifest'],
    [() => '{"entries":[{"uri":"x"}]}', 'storage.invalidManifest'],
    [(p) => entries(`s3://${p.bucket}/${p.key}part0`), 'success'],
  ] as readonly (readonly [(place: { bucket: string; key: string }) => string | undefined, string])[])
    assert.equal(await withManifest(manifest), code, String(manifest))
  assert.deepEqual(await rows('in.c-main.t'), [['5']])
})

test('a table made from a snapshot or an earlier moment of a typed table is typed and says so', async () => {
  const stack = await startProject()
  const { bucket, succeed, load, finish, upload } = tableClient(stack)
  await bucket()
  const make = (json: object) => stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json })
  await succeed(
    await make({
      name: 'typed',
      primaryKeysNames: ['id'],
      columns: [
        { name: 'id', basetype: 'INTEGER' },
        { name: 'price', definition: { type: 'NUMBER', length: '10,2' } },
      ],
    }),
  )
  await load('in.c-main.typed', 'id,price\n1,9.5\n')
  const kept = await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.typed/snapshots', { json: {} }))
  const create = (json: object) => stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json })
  await succeed(await create({ name: 'restored', snapshotId: kept.results?.id }))
  const asked = { name: 'travelled', sourceTableId: 'in.c-main.typed', timestamp: new Date().toISOString() }
  const travelled = await succeed(await create(asked))
  assert.deepEqual(Object.keys(travelled.operationParams.source as object).sort(), [
    'destinationTableName',
    'sourceTableId',
    'timestamp',
    'type',
  ])
  const made = (await stack.request('GET', '/v2/storage/tables/in.c-main.restored')).json<
    TableAnswer & {
      metadata: { key: string; value: string; provider: string }[]
      columnMetadata: Record<string, { key: string; value: string }[]>
      definition: { columns: { definition: { type: string; length?: string } }[] }
    }
  >()
  assert.equal(made.isTyped, true)
  assert.deepEqual(
    made.metadata.map(({ key, value, provider }) => [key, value, provider]),
    [['KBC.dataTypesEnabled', 'true', 'storage']],
  )
  assert.equal(made.columnMetadata.price?.find(({ key }) => key === 'KBC.datatype.basetype')?.value, 'NUMERIC')
  assert.equal(made.definition.columns[1]?.definition.length, '10,2')
  const wrong = await finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.restored/import-async', {
      json: { dataFileId: await upload('id,price\n1,cheap\n') },
    }),
  )
  assert.equal(wrong.error?.code, 'storage.tables.invalidValue')
})

test('the load time of the file is taken only where the file has one', async () => {
  const stack = await startProject()
  const { bucket, create, load, upload, finish, exported } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  await load('in.c-main.t', 'id,_timestamp\n2,2020-01-02 03:04:05\n', { useTimestampFromDataFile: true })
  assert.equal(await exported('in.c-main.t', { includeInternalTimestamp: true }), '"2","2020-01-02 03:04:05"\n')
  const without = await finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.t/import-async', {
      json: { dataFileId: await upload('id\n1\n'), useTimestampFromDataFile: true },
    }),
  )
  assert.deepEqual(
    [without.error?.code, (without.results as { missingColumns?: string[] })?.missingColumns],
    ['csvImport.columnsNotMatch', ['_timestamp']],
  )
})

test('each slice is unpacked by its own name; one without .gz in a file with it, by what it begins with', async () => {
  const stack = await startProject()
  const { bucket, create, finish, rows } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const load = async (name: string, slices: Readonly<Record<string, string | Uint8Array>>) => {
    const file = await prepareFile(stack, { name, isSliced: true })
    const { bucket: Bucket, key } = file.uploadParams!
    const put = (suffix: string, Body: string | Uint8Array) =>
      uploadClient(file).send(new PutObjectCommand({ Bucket, Key: key + suffix, Body }))
    for (const [suffix, body] of Object.entries(slices)) await put(suffix, body)
    await put(
      'manifest',
      JSON.stringify({ entries: Object.keys(slices).map((slice) => ({ url: `s3://${Bucket}/${key}${slice}` })) }),
    )
    const json = { dataFileId: file.id, columns: ['id'] }
    return finish(await stack.request('POST', '/v2/storage/tables/in.c-main.t/import-async', { json }))
  }
  const plain = await load('data.csv.gz', { part0: '5\n', part1: '', part2: '6\n' })
  assert.deepEqual([plain.status, plain.metrics.inCompressed], ['success', false], plain.error?.message)
  assert.deepEqual(await rows('in.c-main.t'), [['5'], ['6']])
  const mixed = await load('data.csv.gz', { part0: gzipSync('7\n'), 'part1.gz': gzipSync('8\n'), part2: '9\n' })
  assert.deepEqual([mixed.status, mixed.metrics.inCompressed], ['success', true], mixed.error?.message)
  assert.deepEqual(await rows('in.c-main.t'), [['7'], ['8'], ['9']])
  const wrong = await load('data.csv', { 'part0.gz': '5\n' })
  assert.equal(wrong.error?.code, 'invalidCsv')
  assert.match(wrong.error?.message ?? '', /part0\.gz.*is not valid gzip/)
  assert.deepEqual(await rows('in.c-main.t'), [['7'], ['8'], ['9']])
})

test('the importer writes into the branch its form names', async () => {
  const stack = await startProject()
  const { bucket, create, rows, succeed, upload } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const made = await succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } }))
  const { id } = made.results as { id: number }
  const at = (path: string, json: object) => stack.request('POST', `/v2/storage/branch/${id}/${path}`, { json })
  await at('buckets', { name: 'main' })
  await succeed(await at('buckets/in.c-main/tables-async', { name: 't', dataFileId: await upload('id\n7\n') }))
  const write = (branchId: string) => {
    const form = new FormData()
    form.set('tableId', 'in.c-main.t')
    form.set('branchId', branchId)
    form.set('incremental', '1')
    form.set('data', new Blob(['id\n8\n']), 'x.csv')
    return stack.request('POST', '/import/write-table', { body: form })
  }
  assert.equal((await write(String(id))).json().totalRowsCount, 2)
  assert.deepEqual(await rows('in.c-main.t'), [['1']], 'the default branch is as before')
  assert.equal((await write('default')).json().totalRowsCount, 2)
  const unknown = await write('987654')
  assert.deepEqual([unknown.status, unknown.json().status], [404, 'error'])
  assert.match(String(unknown.json().message), /987654/)
})

test('a strategy that files are not loaded with is refused', async () => {
  const stack = await startProject()
  const { bucket, create, upload } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const load = async (deduplicationStrategy: string) =>
    stack.request('POST', '/v2/storage/tables/in.c-main.t/import-async', {
      json: { dataFileId: await upload('id\n2\n'), deduplicationStrategy },
    })
  assert.equal((await load('upsert')).status, 202)
  assert.equal((await load('insert')).status, 400)
})

test('JSON, JSON lines and Parquet are loaded as tables, packed or not, and what cannot be read is refused with the reason', async () => {
  const stack = await startProject()
  const { bucket, create, upload, finish, load, rows } = tableClient(stack)
  await bucket()
  const sniff = async (body: Buffer) =>
    (
      await stack.request('POST', '/v2/storage/files/sniff', {
        body: new Uint8Array(body),
        headers: { 'content-type': 'application/octet-stream' },
      })
    ).json<{ format: string; rows: number; columns: { name: string; type: string }[]; preview: string[][] }>()
  const list = '[{"id": 1, "name": "Tea, \\"green\\"", "tags": ["a", "b"]},\n {"id": 2, "late": "2026-01-31T12:00:00Z"}]'
  const found = await sniff(Buffer.from(list))
  assert.deepEqual([found.format, found.rows, found.columns.map(({ name }) => name)], ['json', 2, ['id', 'name', 'tags', 'late']])
  assert.deepEqual(found.preview[0], ['1', 'Tea, "green"', '["a","b"]', ''])
  const expected = [
    ['1', 'Tea, "green"', '["a","b"]', ''],
    ['2', '', '', '2026-01-31T12:00:00Z'],
  ]
  const ordered = (table: string) => rows(table, 'orderBy[0][column]=id')
  await create('in.c-main', 'list', list)
  assert.deepEqual(await ordered('in.c-main.list'), expected)
  const lines = '{"id":1,"name":"Tea, \\"green\\"","tags":["a","b"]}\n{"id":2,"late":"2026-01-31T12:00:00Z"}\n'
  await create('in.c-main', 'lines', gzipSync(lines))
  assert.deepEqual(await ordered('in.c-main.lines'), expected)
  await load('in.c-main.lines', '{"id":3,"name":"Milk","tags":null,"late":null}\n', { incremental: true })
  assert.equal((await ordered('in.c-main.lines')).length, 3)

  const made = await finish(
    await stack.request('POST', '/v2/storage/tables/in.c-main.list/export-async', { form: { fileType: 'parquet' } }),
  )
  const { file } = made.results as { file: { id: number } }
  const copied = await finish(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json: { name: 'copy', dataFileId: file.id } }),
  )
  assert.equal(copied.status, 'success', JSON.stringify(copied.error))
  assert.deepEqual(await ordered('in.c-main.copy'), expected)

  const broken = await finish(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
      json: { name: 'broken', dataFileId: await upload('{"id": 1}\n{"id": \n') },
    }),
  )
  assert.equal(broken.error?.code, 'storage.tables.fileUnreadable')
  assert.match(broken.error?.message ?? '', /looks like JSON, but cannot be read: /)
  assert.doesNotMatch(broken.error?.message ?? '', /\/tmp|scratch/)
  await create('in.c-main', 'odd', '{"a":1}\n', { columns: ['text'], enclosure: '' })
  assert.deepEqual(await rows('in.c-main.odd'), [['{"a":1}']], 'who names the columns has a CSV file')
})

test('workbooks and Avro files are loaded as tables, packed or not, and what cannot be read is refused with the reason', async () => {
  const stack = await startProject()
  const { bucket, create, upload, finish, load, rows } = tableClient(stack)
  await bucket()
  const cell = (value: string | number | Date) =>
    value instanceof Date ? { value, type: Date, format: 'yyyy-mm-dd' } : { value }
  const goods = [
    ['id', 'name', 'since'].map(cell),
    [1.25, 'Tea, "green"', new Date('2026-01-31')].map(cell),
    [cell(2), cell('Milk'), null],
  ]
  const workbook = await writeWorkbook([{ sheet: 'Goods', data: goods }]).toBuffer()
  const expected = [
    ['1.25', 'Tea, "green"', '2026-01-31'],
    ['2', 'Milk', ''],
  ]
  await create('in.c-main', 'book', workbook)
  assert.deepEqual(await rows('in.c-main.book', 'orderBy[0][column]=id'), expected)
  await load('in.c-main.book', gzipSync(workbook))
  assert.deepEqual(await rows('in.c-main.book', 'orderBy[0][column]=id'), expected)

  const written = async (codec: string, codecs: object) => {
    const encoder = new avro.streams.BlockEncoder(AVRO, { codec, codecs } as object)
    for (const id of [1, 2])
      encoder.write({
        id,
        name: id === 1 ? 'Tea' : null,
        day: 20_484,
        tags: ['a', 'b'],
        at: 1_769_817_600_000,
        price: Buffer.from([0xff, 0x85]),
      })
    encoder.end()
    return Buffer.concat(await encoder.toArray())
  }
  const codecs = {
    null: (data: Buffer, done: (error: Error | null, data: Buffer) => void) => done(null, data),
    deflate: deflateRaw,
    snappy: (data: Buffer, done: (error: Error | null, data: Buffer) => void) => done(null, asSnappyLiteral(data)),
    zstandard: zstdCompress,
  }
  for (const codec of ['null', 'deflate', 'snappy', 'zstandard']) {
    await create('in.c-main', codec, codec === 'null' ? gzipSync(await written(codec, codecs)) : await written(codec, codecs))
    assert.deepEqual(await rows(`in.c-main.${codec}`, 'orderBy[0][column]=id'), [
      ['1', 'Tea', '2026-01-31', '["a","b"]', '2026-01-31 00:00:00+00', '-1.23'],
      ['2', '', '2026-01-31', '["a","b"]', '2026-01-31 00:00:00+00', '-1.23'],
    ])
  }

  for (const [bytes, reason] of [
    [Buffer.from('PK\u0003\u0004 no workbook at all'), /looks like Excel, but cannot be read: /],
    [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), /Excel 97 to 2003; save it as \.xlsx/],
    [Buffer.from('Obj\u0001\u0000 nothing'), /looks like Avro, but cannot be read: /],
    [(await written('deflate', codecs)).subarray(0, 300), /looks like Avro, but cannot be read: /],
  ] as const) {
    const json = { name: 'broken', dataFileId: await upload(bytes) }
    const broken = await finish(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json }))
    assert.equal(broken.error?.code, 'storage.tables.fileUnreadable', JSON.stringify(broken))
    assert.match(broken.error?.message ?? '', reason)
  }
})

const AVRO: avro.Schema = {
  type: 'record',
  name: 'Good',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'name', type: ['null', 'string'] },
    { name: 'day', type: { type: 'int', logicalType: 'date' } },
    { name: 'tags', type: { type: 'array', items: 'string' } },
    { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'price', type: { type: 'bytes', logicalType: 'decimal', precision: 5, scale: 2 } as avro.Schema },
  ],
}

/** Its length, one literal with a length of two bytes, and the checksum that Avro puts behind. */
const asSnappyLiteral = (data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([(data.length & 0x7f) | 0x80, data.length >> 7, 61 << 2, (data.length - 1) & 0xff, (data.length - 1) >> 8]),
    data,
    Buffer.alloc(4),
  ])
