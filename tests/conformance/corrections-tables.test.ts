// What real clients expect of tables, by number: parts B and C. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'

type Json = Readonly<Record<string, unknown>>

interface Table {
  readonly id: string
  readonly columns: readonly string[]
  readonly metadata: readonly { readonly key: string; readonly value: string; readonly provider: string }[]
  readonly columnMetadata: Readonly<Record<string, readonly { readonly key: string; readonly value: string }[]>>
  readonly bucket: Json
  readonly definition: {
    readonly columns: readonly { readonly name: string; readonly definition: Json; readonly basetype?: string }[]
  }
  readonly sourceTable: { readonly columnMetadata: Table['columnMetadata'] }
}

interface File {
  readonly id: number
  readonly maxAgeDays: number
}

const TYPED = {
  name: 'typed',
  primaryKeysNames: ['id'],
  columns: [
    { name: 'id', basetype: 'integer' },
    { name: 'code', definition: { type: 'VARCHAR', length: '3' } },
    { name: 'price', definition: { type: 'NUMERIC', length: '10,2' } },
  ],
}

test('corrections of tables', async (t) => {
  const stack = await startTestStack(t)
  const project = (name: string) => newProjectClient(stack, name)

  await t.test('B12: the job that changes a column answers its definition', async () => {
    const { bucket, succeed } = await project('B12')
    await succeed('POST', `buckets/${await bucket()}/tables-definition`, TYPED)
    const changed = await succeed('PUT', 'tables/in.c-a.typed/columns/price/definition', { length: '12,2', nullable: false })
    assert.deepEqual(changed, { type: 'NUMERIC', nullable: false, length: '12,2' })
  })

  await t.test('B13: a snapshot has a file, and a table made from it has the metadata of its source', async () => {
    const { bucket, ok, succeed, table, rows } = await project('B13')
    const source = await table(await bucket(), 'source', 'id,name\n1,one\n', { primaryKey: 'id' })
    await ok('POST', `tables/${source}/metadata`, {
      provider: 'user',
      metadata: [{ key: 'owner', value: 'me' }],
      columnsMetadata: { name: [{ columnName: 'name', key: 'words', value: 'yes' }] },
    })
    const made = await succeed<{ id: string; dataFileId: number }>('POST', `tables/${source}/snapshots`, { description: 'one' })
    assert.ok(made.dataFileId > 0, `dataFileId is ${made.dataFileId}`)
    const kept = await ok<{ dataFileId: number; table: Table }>('GET', `snapshots/${made.id}`)
    assert.equal(kept.dataFileId, made.dataFileId)
    assert.equal((await ok<File>('GET', `files/${made.dataFileId}`)).maxAgeDays, null)
    // Later metadata of the table, and the table itself, are not the snapshot's business.
    await ok('POST', `tables/${source}/metadata`, { provider: 'user', metadata: [{ key: 'owner', value: 'somebody else' }] })
    await ok('DELETE', `tables/${source}`)
    const copy = await succeed<Table>('POST', 'buckets/in.c-a/tables-async', { name: 'copy', snapshotId: made.id })
    assert.deepEqual(
      copy.metadata.map(({ provider, key, value }) => [provider, key, value]),
      [['user', 'owner', 'me']],
    )
    assert.deepEqual(
      copy.columnMetadata.name?.map(({ key, value }) => [key, value]),
      [['words', 'yes']],
    )
    assert.equal(await rows(copy.id), '"id","name"\n"1","one"\n')
    await succeed('DELETE', `snapshots/${made.id}`)
  })

  await t.test('B16: names that databases use for themselves get an underscore, and files may use either', async () => {
    const { bucket, ok, succeed, table, upload, rows } = await project('B16')
    const id = await table(await bucket(), 't', 'id,oid,XMIN,ctid\n1,2,3,4\n')
    assert.deepEqual((await ok<Table>('GET', `tables/${id}`)).columns, ['id', 'oid_', 'XMIN_', 'ctid_'])
    for (const csv of ['id,oid,XMIN,ctid\n5,6,7,8\n', 'id,oid_,XMIN_,ctid_\n5,6,7,8\n']) {
      await succeed('POST', `tables/${id}/import-async`, { dataFileId: await upload(csv) })
      assert.equal(await rows(id), '"id","oid_","XMIN_","ctid_"\n"5","6","7","8"\n')
    }
    await succeed('POST', `tables/${id}/columns`, { name: 'tableoid' })
    assert.equal((await ok<Table>('GET', `tables/${id}`)).columns.at(-1), 'tableoid_')
    const names = ['Oid', 'tableOID', 'xmin', 'CMIN', 'xmax', 'cMax', 'ctid']
    const columns = names.map((name) => ({ name, basetype: 'STRING' }))
    const typed = await succeed<Table>('POST', 'buckets/in.c-a/tables-definition', { name: 'all', columns })
    assert.deepEqual(
      typed.columns,
      names.map((name) => `${name}_`),
    )
    const keyed = await table('in.c-a', 'keyed', 'oid,cmax\n1,2\n', { primaryKey: 'oid' })
    assert.deepEqual((await ok<{ primaryKey: string[] }>('GET', `tables/${keyed}`)).primaryKey, ['oid_'])
    const listed = { dataFileId: await upload('9,8\n'), columns: ['cmax', 'oid'], withoutHeaders: 1 }
    await succeed('POST', `tables/${keyed}/import-async`, listed)
    assert.equal(await rows(keyed), '"oid_","cmax_"\n"8","9"\n')
  })

  await t.test('C24: a taken display name is refused with the table that has it', async () => {
    const { bucket, ok, refused, table, upload } = await project('C24')
    await bucket()
    await table('in.c-a', 'first', 'id\n1\n')
    await table('in.c-a', 'second', 'id\n1\n')
    await ok('PUT', 'tables/in.c-a.first', { displayName: 'Sales' })
    const taken = {
      error: 'The table "first" in the bucket already has the same display name "Sales".',
      code: 'storage.buckets.tableAlreadyExists',
    }
    await refused(['PUT', 'tables/in.c-a.second', { displayName: 'Sales' }], 400, taken)
    await refused(['PUT', 'tables/in.c-a.second?async=1', { displayName: 'Sales' }], 400, taken)
    await refused(['POST', 'buckets/in.c-a/tables-async', { name: 'Sales', dataFileId: await upload('id\n1\n') }], 400, taken)
    await refused(['PUT', 'tables/in.c-a.second', { displayName: '_x' }], 400, {
      error: "Invalid data - displayName: '_x' contains not allowed characters. Cannot start with underscore.",
      code: 'storage.tables.validation',
    })
    await refused(['PUT', 'buckets/in.c-a', { displayName: '_x' }], 400, {
      error: "Invalid data - displayName: '_x' contains not allowed characters. Cannot start with underscore.",
      code: 'storage.buckets.validation',
    })
    await refused(['PUT', 'tables/in.c-a.second', { displayName: 'a%20b' }], 400, {
      error:
        "Invalid data - displayName: 'a%20b' contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.",
    })
  })

  await t.test('C28: a name is missed first, and a missing bucket fails the job', async () => {
    const { refused, fail, upload } = await project('C28')
    await refused(['POST', 'buckets/in.c-none/tables-async', { dataFileId: 1 }], 400, {
      error: 'Table create option "name" is required and cannot be empty.',
    })
    const dataFileId = await upload('id\n1\n')
    await fail(['POST', 'buckets/in.c-none/tables-async', { name: 't', dataFileId }], { code: 'storage.buckets.notFound' })
  })

  await t.test(
    'C38: a table shows the metadata of its bucket, an alias of an alias what is said of the columns of that alias',
    async () => {
      const { bucket, ok, table } = await project('C38')
      const source = await table(await bucket(), 't', 'id\n1\n')
      await ok('POST', 'buckets/in.c-a/metadata', { provider: 'user', metadata: [{ key: 'owner', value: 'me' }] })
      await ok('POST', `columns/${source}.id/metadata`, { provider: 'user', metadata: [{ key: 'k', value: 'v' }] })
      const [item] = (await ok<Table>('GET', `tables/${source}`)).bucket.metadata as readonly Json[]
      assert.deepEqual([item?.provider, item?.key, item?.value], ['user', 'owner', 'me'])
      await ok('POST', 'buckets/in.c-a/table-aliases', { sourceTable: source, name: 'alias' })
      await ok('POST', 'buckets/in.c-a/table-aliases', { sourceTable: 'in.c-a.alias', name: 'again' })
      await ok('POST', 'columns/in.c-a.alias.id/metadata', { provider: 'user', metadata: [{ key: 'of', value: 'the alias' }] })
      const { sourceTable } = await ok<Table>('GET', 'tables/in.c-a.again')
      assert.deepEqual(
        sourceTable.columnMetadata.id?.map(({ key, value }) => [key, value]),
        [['of', 'the alias']],
      )
    },
  )

  await t.test('C41: keys and filters, in the words clients compare', async () => {
    const { bucket, refused, succeed, table } = await project('C41')
    const id = await table(await bucket(), 't', 'id\n1\n')
    assert.equal(await succeed('DELETE', `tables/${id}/primary-key`), null)
    await refused(
      ['POST', 'buckets/in.c-a/table-aliases', { sourceTable: id, name: 'f', aliasFilter: { column: 'x', values: ['1'] } }],
      400,
      {
        error: 'Filter validation: Cannot filter by column "x", column does not exist',
      },
    )
    await refused(['POST', `tables/${id}/export-async`, { whereColumn: 'x', whereValues: ['1'] }], 400, {
      error: 'Filter validation: Cannot filter by column "x", column does not exist',
      code: 'storage.tables.validation.columnNotExists',
    })
    await refused(['DELETE', `tables/${id}/rows`, { whereColumn: 'x', whereValues: ['1'] }], 400, {
      error: 'Filter validation: Cannot filter by column "x", column does not exist',
      code: 'storage.tables.columnNotExists',
    })
    await refused(['GET', `tables/${id}/data-preview?whereColumn=id`], 400, {
      error: 'To use "whereColumn" specify "whereValues".',
    })
    await refused(['POST', `tables/${id}/export-async`, { columns: ['id', 'none'] }], 400, {
      code: 'storage.tables.validation.columnNotExists',
    })
    for (const request of [
      ['GET', 'tables/in.c-dummy.dummy'],
      ['DELETE', 'tables/in.c-dummy.dummy/primary-key'],
    ] as const)
      await refused(request, 404, {
        error: /^The table "dummy" was not found in the bucket "in\.c-dummy" in the project "\d+"$/,
        code: 'storage.tables.notFound',
      })
  })

  await t.test('C42: exported files live two days, and another token that may read gets the same file', async () => {
    const { bucket, call, ok, succeed, table, token, finished, refused } = await project('C42')
    const id = await table(await bucket(), 't', 'id\n1\n')
    const first = await succeed<{ file: File; cacheHit: boolean }>('POST', `tables/${id}/export-async`, { gzip: true })
    assert.equal(first.cacheHit, false)
    assert.equal((await ok<File>('GET', `files/${first.file.id}`)).maxAgeDays, 2)
    /** Requests the same export, concurrently with others, and may read what it gets. */
    async function sameFileFor(reader: string): Promise<void> {
      const started = await call('POST', `tables/${id}/export-async`, { token: reader, json: { gzip: true } })
      const again = (await finished(started.json())).results as { file: File; cacheHit: boolean }
      assert.deepEqual([again.file.id, again.cacheHit], [first.file.id, true])
      const opened = await call('GET', `files/${first.file.id}?federationToken=1`, { token: reader })
      assert.equal(opened.status, 200, opened.text)
    }
    const readers = [1, 2, 3].map((i) => token({ description: `reads ${i}`, bucketPermissions: { 'in.c-a': 'read' } }))
    await Promise.all(readers.map(async (one) => sameFileFor((await one).token)))
    const stranger = await token({ description: 'reads nothing' })
    await refused(['GET', `files/${first.file.id}`], 403, {}, stranger.token)
  })

  await t.test('C43: the metrics of an export say what was packed', async () => {
    const { bucket, ok, table, finished } = await project('C43')
    const id = await table(await bucket(), 't', 'id\n1\n')
    type Measured = { id: number; metrics: { outCompressed: boolean; outBytes: number; outBytesUncompressed: number } }
    const metrics = async (gzip: boolean) => {
      const { id: job } = await finished(await ok<Measured>('POST', `tables/${id}/export-async`, { gzip }))
      return (await ok<Measured>('GET', `jobs/${job}`)).metrics
    }
    const plain = await metrics(false)
    assert.deepEqual([plain.outCompressed, plain.outBytes], [false, 0])
    assert.ok(plain.outBytesUncompressed > 0)
    const packed = await metrics(true)
    assert.equal(packed.outCompressed, true)
    assert.ok(packed.outBytes > 0)
  })

  await t.test('C44: absent values, times of the file and spelling in imports', async () => {
    const { bucket, call, fail, succeed, table, upload, rows } = await project('C44')
    const id = await table(await bucket(), 't', 'id,name\n1,one\n')
    const load = async (csv: string, fields: object) => ({ dataFileId: await upload(csv), ...fields })
    await succeed('POST', `tables/${id}/import-async`, await load('id,name\n1,none\n2,two\n', { treatValuesAsNull: ['none'] }))
    const preview = await call('GET', `tables/${id}/data-preview?format=json`)
    const values = preview.json<{ rows: { value: string | null }[][] }>().rows.map((row) => row[1]?.value)
    assert.deepEqual(values.toSorted(), ['', 'two'], 'untyped tables write absent values as empty ones')

    const timed = await load('1,a,2020-02-03 04:05:06\n', {
      useTimestampFromDataFile: true,
      columns: ['id', 'name', '_timestamp'],
    })
    await succeed('POST', `tables/${id}/import-async`, timed)
    assert.equal(await rows(id), '"id","name"\n"1","a"\n')
    const old = await call('GET', `tables/${id}/data-preview?changedUntil=2020-02-04`)
    assert.equal(old.text, '"id","name"\n"1","a"\n')

    await fail(['POST', `tables/${id}/import-async`, await load('ID,name\n1,a\n', {})], { code: 'csvImport.columnsNotMatch' })
  })

  await t.test('C45: typed tables, as clients of other backends make and fill them', async () => {
    const { bucket, ok, refused, fail, succeed, table, upload } = await project('C45')
    await bucket()
    const layout = {
      distribution: { type: 'HASH', distributionColumnsNames: ['id'] },
      index: { type: 'CLUSTERED INDEX', indexColumnsNames: ['id'] },
      timePartitioning: { type: 'DAY', expirationMs: '864000000', field: 'id' },
      clustering: { fields: ['id'] },
    }
    const made = await succeed<Table>('POST', 'buckets/in.c-a/tables-definition', { ...TYPED, ...layout })
    assert.equal(made.definition.columns.find(({ name }) => name === 'id')?.basetype, 'INTEGER')
    const shown = await ok<Table & Json>('GET', 'tables/in.c-a.typed')
    for (const [name, value] of Object.entries(layout))
      assert.deepEqual((shown.definition as unknown as Json)[name], value, `definition.${name}`)
    const [listed] = await ok<Table[]>('GET', 'tables?include=columns,definition')
    assert.deepEqual(
      listed?.definition.columns.map(({ name }) => name),
      ['code', 'id', 'price'],
    )

    const plain = await table('in.c-a', 'plain', 'id\n1\n')
    await refused(['POST', `tables/${plain}/columns`, { name: 'x', definition: { type: 'VARCHAR' } }], 400, {
      error: 'Invalid parameters - definition: This field was not expected.',
    })
    await succeed('POST', 'tables/in.c-a.typed/import-async', { dataFileId: await upload('id,code,price\n1,abc,1.5\n') })
    await refused(['POST', 'tables/in.c-a.typed/columns', { name: 'x', definition: { type: 'INTEGER', nullable: false } }], 400, {
      code: 'storage.tables.columnNeedsValues',
    })
    await succeed('POST', 'tables/in.c-a.typed/columns', {
      name: 'y',
      definition: { type: 'INTEGER', nullable: false, default: '7' },
    })
    await fail(['POST', 'tables/in.c-a.typed/import-async', { dataFileId: await upload('id,code,price,y\n2,abcd,1,1\n') }], {
      error: /^Load error: .*"abcd" of column "code" is not a valid STRING\(3\)/,
    })
  })

  await t.test('C46: load errors say so, and keys of a new table are one text', async () => {
    const { bucket, call, fail, succeed, upload } = await project('C46')
    await bucket()
    await succeed('POST', 'buckets/in.c-a/tables-definition', TYPED)
    for (const csv of ['id,code,price\nx,a,1\n', 'id,code,price\n,a,1\n', 'id,code,price\n1,a\n', 'id,code,price\n1,"a,1\n'])
      await fail(['POST', 'tables/in.c-a.typed/import-async', { dataFileId: await upload(csv) }], { error: /^Load error: / })
    await fail(['POST', 'buckets/in.c-a/tables-async', { name: 'wide', dataFileId: await upload('id\n1,2\n') }], {
      error: /^Load error: data\.csv, line 2, column "number 2": 2 values instead of 1/,
      code: 'invalidCsv',
    })
    await fail(['POST', 'buckets/in.c-a/tables-async', { name: 'packed', dataFileId: await upload('id\n1\n', 'data.csv.gz') }], {
      error: /^Load error: The file data\.csv\.gz is not valid gzip/,
    })
    const body = new FormData()
    body.set('name', 'keyed')
    body.set('dataString', 'id\n1\n')
    body.set('primaryKey[]', 'id')
    const answer = await call('POST', 'buckets/in.c-a/tables', { body })
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.validation.primaryKey'])
  })

  await t.test('C51: a profile counts rows, columns and values', async () => {
    const { bucket, ok, succeed, table } = await project('C51')
    const id = await table(await bucket(), 't', 'id,name\n1,a\n2,a\n3,\n')
    const profile = {
      bucketId: 'in.c-a',
      tableName: id,
      profile: { rowCount: 3, columnCount: 2 },
      columns: [
        { name: 'id', profile: { nullCount: 0, distinctCount: 3, duplicateCount: 0 } },
        { name: 'name', profile: { nullCount: 0, distinctCount: 2, duplicateCount: 1 } },
      ],
    }
    const { uuid, createdAt, ...made } = await succeed<Json>('POST', `tables/${id}/profile`)
    assert.deepEqual(Object.keys({ uuid, createdAt, ...made }), [
      'uuid',
      'createdAt',
      'bucketId',
      'tableName',
      'profile',
      'columns',
    ])
    assert.deepEqual(made, profile)
    assert.deepEqual(await ok('GET', `tables/${id}/profile/latest`), { uuid, createdAt, ...profile })
  })

  await t.test('C52: a CSV preview of many columns needs to be asked for', async () => {
    const { bucket, call, refused, table } = await project('C52')
    const names = Array.from({ length: 130 }, (_, i) => `c${i}`)
    const id = await table(await bucket(), 'wide', `${names.join(',')}\n${names.map(() => 'x').join(',')}\n`)
    await refused(['GET', `tables/${id}/data-preview`], 400, { code: 'storage.maxNumberOfColumnsExceed' })
    for (const query of ['format=json', 'columns=c0,c129', 'maxColumns=130'])
      assert.equal((await call('GET', `tables/${id}/data-preview?${query}`)).status, 200, query)
  })
})
