// Commits by a writer that implements only the format: what it wrote is published or refused as a whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeleteObjectCommand, DeleteObjectsCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { IcebergRestCatalog } from 'iceberg-js'
import { icebergReader, type Loaded, s3Of } from '../../../../../tests/support/clients/iceberg-reader.ts'
import { type DataFile, exact, icebergWriter, type SnapshotOptions } from '../../../../../tests/support/clients/iceberg-writer.ts'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { BUCKET, startS3 } from '../../../../../tests/support/servers/start-s3.ts'
import { type Answer, shareTestStack, startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { parseExactly } from '../../../kit/text/exact-json.ts'

const startProject = shareTestStack()
const VENDED = { 'x-iceberg-access-delegation': 'vended-credentials' }
const addressOf = ({ projectId }: TestStack, name: string) => `/iceberg/v1/${projectId}/namespaces/in.c-main/tables/${name}`

async function load(stack: TestStack, name: string, token?: string): Promise<Loaded> {
  const answer = await stack.request('GET', addressOf(stack, name), { headers: VENDED, ...(token && { token }) })
  assert.equal(answer.status, 200, answer.text)
  return parseExactly(answer.text) as Loaded // the wire format
}

const send = (stack: TestStack, path: string, body: string, token?: string): Promise<Answer> =>
  stack.request('POST', path, { body, headers: { 'content-type': 'application/json', ...VENDED }, ...(token && { token }) })

const commit = (stack: TestStack, name: string, body: string, token?: string) => send(stack, addressOf(stack, name), body, token)

const keptOf = async (loaded: Loaded) => icebergReader(loaded).manifests()

/** A file of rows `(id, v)`, added to what is there. */
async function append(stack: TestStack, name: string, values: string, options: SnapshotOptions = {}) {
  const loaded = await load(stack, name)
  const writer = icebergWriter(loaded)
  const file = await writer.dataFile(`SELECT * FROM (VALUES ${values}) t(id, v)`)
  const made = await writer.snapshot([file], { kept: await keptOf(loaded), ...options })
  const body = writer.commitOf(made)
  return { body, id: made.id, file, answer: await commit(stack, name, body) }
}

const refusal = ({ status, text }: Answer) => {
  const { error } = JSON.parse(text) as { error: { message: string; type: string } }
  return { status, type: error.type, message: error.message }
}

async function plain(stack: TestStack, fields: Record<string, unknown> = {}) {
  const client = tableClient(stack)
  await client.bucket()
  await client.create('in.c-main', 't', 'id,v\n1,a\n2,b\n', fields)
  return client
}

test('an appended file is rows of the table, with a 63-bit id, the events of a load and a load time; the same commit again is one commit', async () => {
  const stack = await startProject()
  const { rows, detail, exported } = await plain(stack)
  const before = Date.now()
  const { answer, id, body } = await append(stack, 't', `('3', 'c'), ('4', 'd')`, { id: 8317624359874612345n })
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.text, /"current-snapshot-id":8317624359874612345[,}]/)
  const expected = [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
    ['4', 'd'],
  ]
  assert.deepEqual(await rows('in.c-main.t'), expected)
  const again = await load(stack, 't')
  assert.equal(again.metadata['current-snapshot-id'], id)
  assert.deepEqual(await icebergReader(again).rows(), expected)
  assert.equal((await commit(stack, 't', body)).status, 200)
  assert.equal((await rows('in.c-main.t')).length, 4)
  assert.equal((await load(stack, 't')).metadata.snapshots.length, again.metadata.snapshots.length)

  const since = await exported('in.c-main.t', { changedSince: new Date(before - 1000).toISOString(), columns: ['id'] })
  assert.ok(since.includes('"3"') && since.includes('"4"'), since)
  const later = await exported('in.c-main.t', { changedSince: new Date(Date.now() + 60_000).toISOString() })
  assert.equal(later, '')
  assert.equal((await detail('in.c-main.t')).rowsCount, 4)
  const events = (await stack.request('GET', '/v2/storage/tables/in.c-main.t/events')).json<
    { event: string; params: object; results: object }[]
  >()
  const done = events.find(
    ({ event, params }) => event === 'storage.tableImportDone' && JSON.stringify(params).includes('iceberg'),
  )
  assert.deepEqual(done?.results, { rowsInFile: 2, rowsWritten: 2, rowsReplaced: 0, rowsUnchanged: 0, rowsDuplicate: 0 })
  const jobs = (await stack.request('GET', '/v2/storage/jobs')).json<{ operationName: string; status: string }[]>()
  assert.equal(jobs.filter(({ operationName, status }) => operationName === 'tableCommit' && status === 'success').length, 1)
})

test('a commit over a state that is not the current one answers 409 and changes nothing; of two at once one is published', async () => {
  const stack = await startProject()
  const { rows, load: loadCsv } = await plain(stack)
  const stale = await load(stack, 't')
  await loadCsv('in.c-main.t', 'id,v\n3,c\n', { incremental: true })
  const late = icebergWriter(stale)
  const file = await late.dataFile(`SELECT '9' AS id, 'z' AS v`)
  const answer = await commit(stack, 't', late.commitOf(await late.snapshot([file], { kept: await keptOf(stale) })))
  assert.deepEqual([refusal(answer).status, refusal(answer).type], [409, 'CommitFailedException'])
  assert.equal((await rows('in.c-main.t')).length, 3)

  const fresh = await load(stack, 't')
  const bodies = await Promise.all(
    ['x', 'y'].map(async (v) => {
      const writer = icebergWriter(fresh)
      const one = await writer.dataFile(`SELECT '${v}' AS id, '${v}' AS v`)
      return writer.commitOf(await writer.snapshot([one], { kept: await keptOf(fresh) }))
    }),
  )
  const answers = await Promise.all(bodies.map((body) => commit(stack, 't', body)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  assert.equal((await rows('in.c-main.t')).length, 4)
  const parentless = bodies[0]!
    .replace(/"parent-snapshot-id":\d+,/, '')
    .replace(/\{"type":"assert-ref-snapshot-id"[^}]*\}/, '{"type":"assert-default-spec-id","default-spec-id":0}')
  assert.equal((await commit(stack, 't', parentless)).status, 409)
})

test('13: manifests whose types are objects are read, as DuckDB writes them', async () => {
  const stack = await startProject()
  const { rows } = await plain(stack)
  const { answer } = await append(stack, 't', `('3', 'c')`, { id: 8317624359874612345n, typesAsObjects: true })
  assert.equal(answer.status, 200, answer.text)
  assert.equal((await rows('in.c-main.t')).length, 3)
})

test('14: keys of a writer delete what it put into its folder, and nothing else', async () => {
  const stack = await startProject()
  await plain(stack)
  const loaded = await load(stack, 't')
  const { config } = loaded
  const writer = icebergWriter(loaded)
  const files = [await writer.dataFile(`SELECT '3' AS id, 'c' AS v`), await writer.dataFile(`SELECT '4' AS id, 'd' AS v`)]
  const keyOf = (path: string) => new URL(path).pathname.slice(1)
  const [first = '', second = ''] = files.map(({ path }) => keyOf(path))
  const [own = ''] = (await icebergReader(loaded).entries()).map((entry) => keyOf(entry.data_file.file_path))
  const Bucket = new URL(files[0]?.path ?? '').hostname
  const s3 = s3Of(config)
  const deleteOne = (Key: string) => s3.send(new DeleteObjectCommand({ Bucket, Key }))
  const isThere = (Key: string) =>
    s3.send(new HeadObjectCommand({ Bucket, Key })).then(
      () => true,
      () => false,
    )
  await deleteOne(first)
  assert.equal(await isThere(first), false)
  await assert.rejects(deleteOne(own), { name: 'AccessDenied' })
  const Objects = [second, own].map((Key) => ({ Key }))
  const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  assert.deepEqual(
    [Deleted?.map(({ Key }) => Key), Errors?.map(({ Key, Code }) => [Key, Code])],
    [[second], [[own, 'AccessDenied']]],
  )
  assert.deepEqual([await isThere(second), await isThere(own)], [false, true])
  const reads = await stack.request('POST', '/v2/storage/tokens', { json: { bucketPermissions: { 'in.c-main': 'read' } } })
  const reader = s3Of((await load(stack, 't', reads.json<{ token: string }>().token)).config)
  await assert.rejects(reader.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } })), { name: 'AccessDenied' })
})

test('14: files that the stack rewrote in between are no conflict, neither for an append nor for a commit that removes files', async () => {
  const stack = await startProject()
  const { rows, load: loadCsv } = await plain(stack)
  await loadCsv('in.c-main.t', 'id,v\n3,c\n', { incremental: true })
  const prepared = async (options: SnapshotOptions) => {
    const loaded = await load(stack, 't')
    const writer = icebergWriter(loaded)
    const file = await writer.dataFile(`SELECT '9' AS id, 'z' AS v`)
    const kept = await keptOf(loaded)
    return writer.commitOf(await writer.snapshot([file], { kept, ...options }))
  }
  const optimize = async () => {
    const { id } = (await stack.request('POST', '/v2/storage/tables/in.c-main.t/optimize')).json<{ id: number }>()
    await until('the table is optimized', async () =>
      (await stack.request('GET', `/v2/storage/jobs/${id}`)).text.includes('"status":"success"'),
    )
  }
  const appends = await prepared({})
  await optimize()
  assert.equal((await commit(stack, 't', appends)).status, 200)
  assert.equal((await rows('in.c-main.t')).length, 4)
  const after = await load(stack, 't')
  assert.equal((await icebergReader(after).entries()).length, 2, 'the rewritten file stays, with the added one')

  const replaces = await prepared({ kept: [] })
  await optimize()
  assert.equal((await commit(stack, 't', replaces)).status, 200)
  assert.deepEqual(await rows('in.c-main.t'), [['9', 'z']])

  const late = await prepared({})
  await optimize()
  await loadCsv('in.c-main.t', 'id,v\n4,d\n', { incremental: true })
  assert.equal((await commit(stack, 't', late)).status, 409)
})

test('files that a snapshot leaves out leave the table: overwrite, delete of a whole file, several snapshots in one commit', async () => {
  const stack = await startProject()
  const { rows } = await plain(stack)
  assert.equal((await append(stack, 't', `('3', 'c')`)).answer.status, 200)
  assert.equal((await append(stack, 't', `('7', 'x'), ('8', 'y')`, { kept: [] })).answer.status, 200)
  assert.deepEqual(await rows('in.c-main.t'), [
    ['7', 'x'],
    ['8', 'y'],
  ])
  const loaded = await load(stack, 't')
  const writer = icebergWriter(loaded)
  const empty = await writer.snapshot([])
  const file = await writer.dataFile(`SELECT '5' AS id, 'w' AS v`)
  const second = await writer.snapshot([file])
  const both = parseExactly(writer.commitOf(empty)) as { requirements: object[]; updates: Record<string, unknown>[] }
  const more = parseExactly(writer.commitOf(second)) as typeof both
  Object.assign(more.updates[0]?.snapshot as object, { 'parent-snapshot-id': empty.id })
  const answer = await commit(stack, 't', exact({ ...both, updates: [...both.updates, ...more.updates] }))
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(await rows('in.c-main.t'), [['5', 'w']])
  const last = await load(stack, 't')
  const nothing = icebergWriter(last)
  assert.equal((await commit(stack, 't', nothing.commitOf(await nothing.snapshot([])))).status, 200)
  assert.deepEqual(await rows('in.c-main.t'), [])
  const events = (await stack.request('GET', '/v2/storage/tables/in.c-main.t/events')).json<{ event: string; params: object }[]>()
  assert.deepEqual(events.find(({ event }) => event === 'storage.tableRowsDeleted')?.params, { deletedRows: 1 })
})

test('a commit that would break the primary key is refused with the key; replacing the row is fine', async () => {
  const stack = await startProject()
  const { rows } = await plain(stack, { primaryKey: 'id' })
  const { answer } = await append(stack, 't', `('2', 'again')`)
  assert.deepEqual([refusal(answer).status, refusal(answer).type], [400, 'BadRequestException'])
  assert.match(refusal(answer).message, /same primary key "id": "2"/)
  assert.equal((await rows('in.c-main.t')).length, 2)
  assert.equal((await append(stack, 't', `('1', 'a'), ('2', 'again')`, { kept: [] })).answer.status, 200)
  assert.deepEqual(await rows('in.c-main.t'), [
    ['1', 'a'],
    ['2', 'again'],
  ])
})

test('forged manifests are refused with the reason, and nothing is published', async () => {
  const stack = await startProject()
  const other = await startProject()
  const { rows, create } = await plain(stack)
  await create('in.c-main', 'u', 'id,v\n1,secret\n')
  const { bucket, create: createThere } = tableClient(other)
  await bucket()
  await createThere('in.c-main', 't', 'id,v\n1,theirs\n')
  const loaded = await load(stack, 't')
  const writer = icebergWriter(loaded)
  const good = await writer.dataFile(`SELECT '3' AS id, 'c' AS v`)
  const pathsOf = async (of: TestStack, name: string): Promise<string[]> =>
    (await icebergReader(await load(of, name)).entries()).map(({ data_file: file }) => file.file_path)
  const [elsewhere = ''] = await pathsOf(stack, 'u')
  const [foreign = ''] = await pathsOf(other, 't')
  const [own = ''] = await pathsOf(stack, 't')
  const text = await writer.dataFile(`SELECT '3' AS id, 'c' AS v`)
  await writer.put(text.path, Buffer.from('this is not a Parquet file'))
  const cases: readonly [reason: RegExp, file: DataFile, options?: SnapshotOptions][] = [
    [/has 1 rows, but its manifest has 2/, { ...good, rows: 2 }],
    [/bytes, but its manifest has 7/, { ...good, bytes: 7 }],
    [/is not there/, { ...good, path: `${writer.dataPath}/none.parquet` }],
    [/is not below/, { ...good, path: elsewhere }],
    [/is not below/, { ...good, path: foreign }],
    [/is not below/, { ...good, path: 's3://elsewhere/file.parquet' }],
    [/is not below/, { ...good, path: '/etc/passwd' }],
    [/is not a file of the current state/, { ...good, status: 0 }],
    [/is a delete file/, { ...good, content: 1 }],
    [/is encrypted/, { ...good, keyMetadata: Buffer.from('key') }],
    [/made of Parquet files/, { ...good, format: 'ORC' }],
    [/has partitions/, good, { partitionSpec: 1 }],
    [/has a partition/, good, { partition: true }],
    [/lists the file .* twice/, { ...good, path: own, status: 0 }],
    [/cannot be read as a Parquet file/, { ...text, bytes: 26 }],
    [/field id 77 \("v"\), which is not one/, await writer.dataFile(`SELECT '3' AS id, 'c' AS v`, { id: 2, v: 77 })],
    [/no field id for the column "v"/, await writer.dataFile(`SELECT '3' AS id, 'c' AS v`, { id: 2 })],
    [/lacks the field id 3/, await writer.dataFile(`SELECT '3' AS id`, { id: 2 })],
    [
      /has the field id 1 \("_timestamp"\)/,
      await writer.dataFile(`SELECT '3' AS id, 'c' AS v, now() AS "_timestamp"`, { id: 2, v: 3, _timestamp: 1 }),
    ],
    [/keeps it as VARCHAR/, await writer.dataFile(`SELECT 3::BIGINT AS id, 'c' AS v`)],
    [/1 nulls in "v", which takes none/, await writer.dataFile(`SELECT '3' AS id, NULL::VARCHAR AS v`)],
    [/nested column "v"/, await writer.dataFile(`SELECT '3' AS id, ['c'] AS v`, { id: 2 })],
  ]
  const kept = await keptOf(loaded)
  for (const [reason, file, options] of cases) {
    const answer = await commit(stack, 't', writer.commitOf(await writer.snapshot([file], { kept, ...options })))
    assert.equal(answer.status, 400, `${reason}: ${answer.text}`)
    assert.match(refusal(answer).message, reason)
  }
  const { id, list } = await writer.snapshot([good], { kept })
  const broken: readonly [RegExp, string][] = [
    [/manifest list .* is not below/, writer.commitOf({ id, list: elsewhere })],
    [/is not there/, writer.commitOf({ id, list: `${writer.metadataPath}/none.avro` })],
    [/cannot be read/, writer.commitOf({ id, list: good.path })],
    [/"remove-snapshots" is not part/, writer.commitOf({ id, list }, [{ action: 'remove-snapshots', 'snapshot-ids': [1] }])],
    [/only allowed when a table is created/, writer.commitOf({ id, list }, [{ action: 'set-properties', updates: { a: 'b' } }])],
    [/no partitions/, writer.commitOf({ id, list }, [{ action: 'add-spec', spec: { fields: [{ name: 'v' }] } }])],
    [/at most 63 bits/, writer.commitOf({ id: 2n ** 63n, list })],
    [/does not set main/, writer.commitOf({ id, list }).replace(/,\{"action":"set-snapshot-ref"[^}]*\}/, '')],
    [/only the branch main/, writer.commitOf({ id, list }).replace('"ref-name":"main"', '"ref-name":"audit"')],
    [/requirement "assert-luck"/, writer.commitOf({ id, list }).replace('assert-table-uuid', 'assert-luck')],
  ]
  for (const [reason, body] of broken) {
    const answer = await commit(stack, 't', body)
    assert.equal(answer.status, 400, `${reason}: ${answer.text}`)
    assert.match(refusal(answer).message, reason)
  }
  assert.deepEqual(await rows('in.c-main.t'), [
    ['1', 'a'],
    ['2', 'b'],
  ])
  assert.equal((await load(stack, 't')).metadata['current-snapshot-id'], loaded.metadata['current-snapshot-id'])
})

test('a file that stays keeps its delete file', async () => {
  const stack = await startProject()
  const { bucket, create, load: loadCsv, rows } = tableClient(stack)
  await bucket()
  // So many that one deleted row is not worth a compaction, which would come in between.
  const twenty = Array.from({ length: 20 }, (_, i) => `${i},a\n`).join('')
  await create('in.c-main', 't', `id,v\n${twenty}`, { primaryKey: 'id' })
  await loadCsv('in.c-main.t', 'id,v\n2,B\n', { incremental: true })
  const loaded = await load(stack, 't')
  const writer = icebergWriter(loaded)
  const withoutDeletes = (await keptOf(loaded)).filter(({ content }) => content === 0)
  const answer = await commit(stack, 't', writer.commitOf(await writer.snapshot([], { kept: withoutDeletes })))
  assert.match(refusal(answer).message, /leaves out its delete file/)
  assert.equal((await append(stack, 't', `('30', 'c')`)).answer.status, 200)
  const after = await rows('in.c-main.t')
  assert.equal(after.length, 21)
  assert.deepEqual(after.filter(([id]) => id === '2' || id === '30').sort(), [
    ['2', 'B'],
    ['30', 'c'],
  ])
  assert.deepEqual(await icebergReader(await load(stack, 't')).rows(), after.sort())
})

test('a column is added, alone and together with rows; nothing else of a schema changes from outside', async () => {
  const stack = await startProject()
  const { rows, detail } = await plain(stack)
  const schemaCommit = async (change: (fields: { id: number; name: string; type: string }[]) => object[]) => {
    const { metadata } = await load(stack, 't')
    const current = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id'])
    const fields = change(structuredClone(current?.fields ?? []) as { id: number; name: string; type: string }[])
    const last = Math.max(...(current?.fields ?? []).map(({ id }) => id))
    return exact({
      requirements: [
        { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': last },
        { type: 'assert-current-schema-id', 'current-schema-id': metadata['current-schema-id'] },
      ],
      updates: [
        { action: 'add-schema', schema: { type: 'struct', fields } },
        { action: 'set-current-schema', 'schema-id': -1 },
      ],
    })
  }
  const added = await schemaCommit((fields) => [...fields, { id: 4, name: 'note', type: 'string', required: false }])
  assert.equal((await commit(stack, 't', added)).status, 200)
  assert.equal((await commit(stack, 't', added)).status, 200) // the same commit again
  assert.deepEqual((await detail('in.c-main.t')).columns, ['id', 'v', 'note'])
  assert.deepEqual(await rows('in.c-main.t'), [
    ['1', 'a', ''],
    ['2', 'b', ''],
  ])
  const cases: readonly [RegExp, Parameters<typeof schemaCommit>[0]][] = [
    [/drops the column "v"/, (fields) => fields.filter(({ name }) => name !== 'v')],
    [/renames the column "v"/, (fields) => fields.map((field) => (field.name === 'v' ? { ...field, name: 'w' } : field))],
    [/changes the type/, (fields) => fields.map((field) => (field.name === 'v' ? { ...field, type: 'long' } : field))],
    [/order of the columns/, (fields) => fields.toReversed()],
    [/field id 9; the next one is 5/, (fields) => [...fields, { id: 9, name: 'x', type: 'string' }]],
    [/is required/, (fields) => [...fields, { id: 5, name: 'x', type: 'string', required: true }]],
    [/has no types/, (fields) => [...fields, { id: 5, name: 'x', type: 'long' }]],
    [/has the type nested/, (fields) => [...fields, { id: 5, name: 'x', type: { type: 'list' } }]],
    [/a column of that name already exists/, (fields) => [...fields, { id: 5, name: 'NOTE', type: 'string' }]],
  ]
  for (const [reason, change] of cases) {
    const answer = await commit(stack, 't', await schemaCommit(change))
    assert.equal(answer.status, 400, `${reason}: ${answer.text}`)
    assert.match(refusal(answer).message, reason)
  }
  const loaded = await load(stack, 't')
  const writer = icebergWriter(loaded)
  const file = await writer.dataFile(`SELECT '3' AS id, 'c' AS v, 'n' AS note, 'x' AS extra`, { id: 2, v: 3, note: 4, extra: 5 })
  const fields = ['id', 'v', 'note', 'extra'].map((name, i) => ({ id: 2 + i, name, type: 'string', required: false }))
  const both = writer.commitOf(await writer.snapshot([file], { kept: await keptOf(loaded) }), [
    { action: 'add-schema', schema: { type: 'struct', 'schema-id': 7, fields } },
    { action: 'set-current-schema', 'schema-id': 7 },
  ])
  assert.equal((await commit(stack, 't', both)).status, 200)
  assert.deepEqual((await rows('in.c-main.t')).at(-1), ['3', 'c', 'n', 'x'])
  assert.deepEqual((await icebergReader(await load(stack, 't')).rows())[0], ['1', 'a', '', ''])
})

test('tables are made, at once or with their first rows, and dropped, by iceberg-js and by the wire', async () => {
  const stack = await startProject()
  const { bucket, rows, detail } = tableClient(stack)
  await bucket()
  const catalog = new IcebergRestCatalog({
    baseUrl: `${stack.url}/iceberg`,
    warehouse: '',
    auth: { type: 'bearer', token: stack.masterToken },
  })
  const namespace = { namespace: ['in', 'c-main'] }
  const fields = [
    { id: 0, name: 'n', type: 'int' as const, required: false },
    { id: 1, name: 'price', type: 'decimal(18,4)' as const, required: false },
  ]
  const schema = { type: 'struct' as const, 'schema-id': 0, fields }
  await catalog.createTable(namespace, { name: 'made', schema })
  assert.equal((await detail('in.c-main.made')).isTyped, true)
  await assert.rejects(catalog.createTable(namespace, { name: 'made', schema }), {
    status: 409,
    icebergType: 'AlreadyExistsException',
  })
  const space = `/iceberg/v1/${stack.projectId}/namespaces/in.c-main/tables`
  const bad: readonly [RegExp, object][] = [
    [/has the type timestamptz.*timestamp_ntz/, { name: 'x', schema: { fields: [{ id: 1, name: 'at', type: 'timestamptz' }] } }],
    [/no partitions/, { name: 'x', schema, 'partition-spec': { fields: [{ name: 'n' }] } }],
    [/no sort order/, { name: 'x', schema, 'write-order': { fields: [{ 'source-id': 1 }] } }],
    [/Leave the location out/, { name: 'x', schema, location: 's3://elsewhere/x' }],
    [/no fields/, { name: 'x', schema: { fields: [] } }],
    [/other than letters, digits/, { name: 'x', schema: { fields: [{ id: 1, name: 'a b', type: 'string' }] } }],
  ]
  for (const [reason, body] of bad) {
    const answer = await send(stack, space, JSON.stringify(body))
    assert.equal(answer.status, 400, `${reason}: ${answer.text}`)
    assert.match(refusal(answer).message, reason)
  }
  const missing = await send(stack, space.replace('c-main', 'c-none'), JSON.stringify({ name: 'x', schema }))
  assert.deepEqual([missing.status, refusal(missing).type], [404, 'NoSuchNamespaceException'])

  const staged = parseExactly(
    (await send(stack, space, JSON.stringify({ name: 'ctas', schema, 'stage-create': true }))).text,
  ) as Loaded
  assert.equal(await catalog.tableExists({ ...namespace, name: 'ctas' }), false)
  const writer = icebergWriter(staged)
  const file = await writer.dataFile('SELECT 1::BIGINT AS n, 2.5::DECIMAL(18,4) AS price')
  const made = await writer.snapshot([file])
  const creation = (location: string) => {
    const body = parseExactly(writer.commitOf(made)) as { updates: object[] }
    const [currentSchema] = staged.metadata.schemas
    return exact({
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: staged.metadata['table-uuid'] },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'add-schema', schema: currentSchema },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'set-location', location },
        { action: 'set-properties', updates: { owner: 'ann' } },
        ...body.updates,
      ],
    })
  }
  const foreign = await commit(stack, 'ctas', creation(staged.metadata.location.replace(/tables\/\d+/, 'tables/999')))
  assert.match(refusal(foreign).message, /location is not one that this catalogue gave/)
  const body = creation(staged.metadata.location)
  const done = await commit(stack, 'ctas', body)
  assert.equal(done.status, 200, done.text)
  assert.equal((await load(stack, 'ctas')).metadata['table-uuid'], staged.metadata['table-uuid'])
  assert.deepEqual(await rows('in.c-main.ctas'), [['1', '2.5000']])
  assert.equal((await commit(stack, 'ctas', body)).status, 200) // the same commit again
  const second = await commit(stack, 'ctas', body.replace('ann', 'bob'))
  assert.deepEqual([second.status, refusal(second).type], [409, 'AlreadyExistsException'])

  await catalog.dropTable({ ...namespace, name: 'ctas' })
  assert.equal(await catalog.tableExists({ ...namespace, name: 'ctas' }), false)
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.ctas')).status, 404)
})

test('keys write into the folder for writers and nowhere else, and only for who may write the table', async () => {
  const stack = await startProject()
  const { rows } = await plain(stack)
  const token = async (permission: string) => {
    const json = { description: permission, bucketPermissions: { 'in.c-main': permission } }
    return (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token
  }
  const [reading, writing] = [await token('read'), await token('write')]
  const loaded = await load(stack, 't', writing)
  const writer = icebergWriter(loaded)
  const file = await writer.dataFile(`SELECT '3' AS id, 'c' AS v`)
  const [own] = await icebergReader(loaded).entries()
  const denied = { name: 'AccessDenied' }
  await assert.rejects(writer.put(own!.data_file.file_path, Buffer.from('x')), denied)
  await assert.rejects(writer.put(`${loaded.metadata.location}/metadata/x.avro`, Buffer.from('x')), denied)
  await assert.rejects(writer.put(loaded['metadata-location'], Buffer.from('x')), denied)
  const body = writer.commitOf(await writer.snapshot([file], { kept: await keptOf(loaded) }))
  const reader = icebergWriter(await load(stack, 't', reading))
  await assert.rejects(reader.dataFile(`SELECT '3' AS id, 'c' AS v`), denied)
  assert.equal((await commit(stack, 't', body, reading)).status, 403)
  const address = addressOf(stack, 't')
  assert.equal((await stack.request('DELETE', address, { token: reading })).status, 403)
  assert.equal((await commit(stack, 't', body, writing)).status, 200)
  // What was published cannot be changed any more by who wrote it.
  await writer.put(file.path, Buffer.from('something else'))
  assert.deepEqual((await rows('in.c-main.t')).at(-1), ['3', 'c'])
})

test('files of writers are swept a day or two after nobody has published them; what was published stays', async () => {
  const stack = await startProject()
  const { rows } = await plain(stack)
  const writer = icebergWriter(await load(stack, 't'))
  const orphan = await writer.dataFile(`SELECT '3' AS id, 'c' AS v`)
  assert.equal((await append(stack, 't', `('4', 'd')`)).answer.status, 200)
  const {
    tables,
    objects: { store: objects },
  } = stack.platform
  const key = new URL(orphan.path).pathname.slice(1)
  const HOUR_MS = 3_600_000
  const sweepAt = (hours: number) => tables.loop.sweep(new Date(Date.now() + hours * HOUR_MS))
  await sweepAt(2)
  await sweepAt(23)
  assert.ok(await objects.head(key))
  await sweepAt(25)
  assert.ok(await objects.head(key), 'keys that were given by then may still read it')
  await sweepAt(50) // a project without changes is looked at once a day
  await sweepAt(52)
  assert.equal(await objects.head(key), undefined)
  assert.equal((await rows('in.c-main.t')).length, 3)
})

test('with an external S3 writers get keys of that store, for their folder alone, and what they commit lies there', async (t) => {
  const s3 = await startS3() // our own service, in the role of somebody else's
  const stack = await startTestStack(t, { externalS3: { endpoint: s3.endpoint, ...s3.sessions.root, roleArn: undefined } })
  t.after(s3.close)
  const { rows } = await plain(stack, { primaryKey: 'id' })
  const loaded = await load(stack, 't')
  assert.equal(loaded.config['s3.endpoint'], s3.endpoint)
  const client = s3.client({
    accessKeyId: loaded.config['s3.access-key-id']!,
    secretAccessKey: loaded.config['s3.secret-access-key']!,
    sessionToken: loaded.config['s3.session-token']!,
  })
  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }))
  for (const key of ['elsewhere', `tables/${stack.projectId}/1/own.parquet`])
    await assert.rejects(put(key), { name: 'AccessDenied' }, key)

  const { answer } = await append(stack, 't', `('3', 'c')`)
  assert.equal(answer.status, 200, answer.text)
  const expected = [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ]
  assert.deepEqual(await rows('in.c-main.t'), expected)
  assert.deepEqual(await icebergReader(await load(stack, 't')).rows(), expected)
  const { objects } = await s3.store.list({ prefix: `tables/${stack.projectId}/` })
  assert.equal(objects.filter(({ key }) => key.endsWith('.parquet') && !key.includes('/staged/')).length, 2)
  const twice = await append(stack, 't', `('3', 'again')`)
  assert.match(refusal(twice.answer).message, /same primary key "id": "3"/)
  assert.deepEqual(await rows('in.c-main.t'), expected)
})
