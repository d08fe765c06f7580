// The wire by a client that others wrote (iceberg-js), manifests read back, rows by the rules of the format.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IcebergError, IcebergRestCatalog } from 'iceberg-js'
import { sql } from 'kysely'
import { icebergReader, type Loaded } from '../../../../../tests/support/clients/iceberg-reader.ts'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack, startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

const catalogOf = (stack: TestStack, token = stack.masterToken, warehouse = '') =>
  new IcebergRestCatalog({
    baseUrl: `${stack.url}/iceberg`,
    warehouse,
    auth: { type: 'bearer', token },
    accessDelegation: ['vended-credentials'],
  })

async function loaded(stack: TestStack, name: string, token?: string, bucket = ['in', 'c-main']): Promise<Loaded> {
  const found = await catalogOf(stack, token).loadTableResult({ namespace: bucket, name })
  return found as unknown as Loaded // the wire format; iceberg-js types it more narrowly
}

async function rowsOf(stack: TestStack, name: string, snapshot?: number | bigint): Promise<(string | null)[][]> {
  const reader = icebergReader(await loaded(stack, name))
  return reader.rows(snapshot).finally(reader.close)
}

async function refused(work: Promise<unknown>): Promise<{ status: number; type: string; message: string }> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof IcebergError, String(error))
    return { status: error.status, type: error.icebergType ?? '', message: error.message }
  }
  assert.fail('nothing was refused')
}

test('upserts, deletes, added, dropped and re-added columns are read by the rules of Iceberg as the API shows them', async () => {
  const stack = await startProject()
  const { bucket, create, load, rows, detail, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 'people', 'id,name,note\n1,a,x\n2,b,y\n3,c,z\n4,d,\n', { primaryKey: 'id' })
  await load('in.c-main.people', 'id,name,note\n2,B,y\n5,e,v\n', { incremental: true })
  assert.deepEqual(await rowsOf(stack, 'people'), (await rows('in.c-main.people')).sort())
  await succeed(await stack.request('DELETE', '/v2/storage/tables/in.c-main.people/columns/note'))
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.people/columns', { json: { name: 'note' } }))
  await load('in.c-main.people', 'id,name,note\n3,C,new\n', { incremental: true })
  await succeed(await stack.request('DELETE', '/v2/storage/tables/in.c-main.people/rows?whereColumn=id&whereValues[]=4'))
  const expected = (await rows('in.c-main.people')).sort()
  const { lastChangeDate } = await detail('in.c-main.people')
  assert.equal(expected.length, 4)
  assert.deepEqual(await rowsOf(stack, 'people'), expected)
  const { metadata } = await loaded(stack, 'people')
  const written = metadata['last-updated-ms']
  assert.equal(
    Math.floor(written / 1000),
    Date.parse(String(lastChangeDate)) / 1000,
    'files written anew have the time of their rows',
  )
  assert.deepEqual((await rows('in.c-main.people')).sort(), expected, 'writing files anew changes nothing for the API')
})

test('every state that is kept can be travelled to, and an append adds one manifest', async () => {
  const stack = await startProject()
  const { bucket, create, load } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id,v\n1,a\n2,b\n8,x\n9,y\n', { primaryKey: 'id' })
  await load('in.c-main.t', 'id,v\n2,B\n', { incremental: true })
  await load('in.c-main.t', 'id,v\n3,c\n', { incremental: true })
  const first = await loaded(stack, 't')
  assert.equal(first.metadata.snapshots.length, 3)
  const reader = icebergReader(first)
  const [one, two, three] = first.metadata.snapshots.map((snapshot) => snapshot['snapshot-id'])
  const values = async (id: number | bigint | undefined) => (await reader.rows(id)).map((row) => row.join('')).join(' ')
  assert.equal(await values(one), '1a 2b 8x 9y')
  assert.equal(await values(two), '1a 2B 8x 9y')
  assert.equal(await values(three), '1a 2B 3c 8x 9y')
  const before = await reader.manifests()
  await load('in.c-main.t', 'id,v\n4,d\n', { incremental: true })
  const second = await loaded(stack, 't')
  const after = await icebergReader(second).manifests()
  assert.deepEqual(
    after.slice(0, -1).map((manifest) => manifest.manifest_path),
    before.map((manifest) => manifest.manifest_path),
  )
  assert.deepEqual([after.at(-1)?.added_files_count, after.at(-1)?.existing_files_count], [1, 0])
  assert.equal(second.metadata.snapshots.length, 4)
  const sequences = second.metadata.snapshots.map((snapshot) => snapshot['sequence-number'])
  assert.deepEqual(
    sequences,
    sequences.toSorted((a, b) => a - b),
  )
  assert.equal(second.metadata['last-sequence-number'], sequences.at(-1))
  const places = second['storage-credentials'].map(({ prefix }) => prefix)
  assert.ok(places.includes(`${second.metadata.location}/`))
  for (const { data_file: file, sequence_number: sequence } of await icebergReader(second).entries()) {
    assert.ok(places.some((place) => file.file_path.startsWith(place)))
    assert.ok(sequence <= second.metadata['last-sequence-number'])
    assert.equal(file.content === 1, file.referenced_data_file !== null)
  }
  reader.close()
})

test('a table of a thousand files has one manifest, and a file more adds one', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const { parts } = stack.platform.tables
  const { rows } = await sql<{ id: number }>`select id from data_table where project_id = ${stack.projectId}`.execute(parts.db)
  const row = await parts.store.findByKey(Number(rows[0]?.id))
  const stored = await parts.store.findState(row?.snapshotId ?? 0)
  const [segment] = stored?.snapshot.segments ?? []
  assert.ok(row && stored && segment)
  const publish = (files: number) => {
    const segments = Array.from({ length: files }, (_, i) => ({
      ...segment,
      key: `tables/${row.projectId}/${row.key}/${i}.parquet`,
    }))
    return parts.inTransaction((trx) => parts.store.publish(trx, row, { ...stored.snapshot, segments }, parts.clock.now(), {}))
  }
  await publish(1000)
  const first = await icebergReader(await loaded(stack, 't')).manifests()
  assert.deepEqual(
    first.map((one) => one.added_files_count),
    [1000],
  )
  await publish(1001)
  const second = await icebergReader(await loaded(stack, 't')).manifests()
  assert.deepEqual(
    second.map((one) => one.added_files_count),
    [1000, 1],
  )
  assert.equal(second[0]?.manifest_path, first[0]?.manifest_path)
})

test('typed columns have the types of Iceberg, and nulls stay nulls', async () => {
  const stack = await startProject()
  const { bucket, load, succeed } = tableClient(stack)
  await bucket()
  const types = ['STRING', 'INTEGER', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP']
  const columns = [
    ...types.map((type) => ({ name: type.toLowerCase(), basetype: type })),
    { name: 'price', definition: { type: 'NUMERIC', length: '18,4' } },
  ]
  await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', { json: { name: 'typed', columns } }),
  )
  const csv =
    'string,integer,float,boolean,date,timestamp,price\nx,9007199254740993,1.5,true,1969-12-31,2026-01-02 03:04:05,1.2500\n,,,,,,\n'
  await load('in.c-main.typed', csv)
  const { metadata } = await loaded(stack, 'typed')
  const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id'])
  assert.deepEqual(
    schema?.fields.map(({ type }) => type),
    ['string', 'long', 'double', 'boolean', 'date', 'timestamp', 'decimal(18, 4)'],
  )
  assert.deepEqual(await rowsOf(stack, 'typed'), [
    Array.from({ length: 7 }, () => null),
    ['x', '9007199254740993', '1.5', 'true', '1969-12-31', '2026-01-02 03:04:05', '1.2500'],
  ])
})

test('namespaces are stages and buckets, in one piece or two, and names that are not there answer 404 in the shape of Iceberg', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await bucket('result', 'out')
  await create('in.c-main', 't', 'id\n1\n')
  const catalog = catalogOf(stack)
  assert.deepEqual(
    (await catalog.listNamespaces()).namespaces.map((one) => one.namespace),
    [['in'], ['out']],
  )
  const below = await catalog.listNamespaces({ parent: { namespace: ['in'] } })
  assert.deepEqual(
    below.namespaces.map((one) => one.namespace),
    [['in', 'c-main']],
  )
  const flat = catalogOf(stack, stack.masterToken, 'flat')
  assert.deepEqual(
    (await flat.listNamespaces()).namespaces.map((one) => one.namespace),
    [['in.c-main'], ['out.c-result']],
  )
  for (const namespace of [['in', 'c-main'], ['in.c-main']]) {
    assert.equal((await catalog.listTables({ namespace })).identifiers[0]?.name, 't')
    assert.equal((await flat.loadTable({ namespace, name: 't' })).name, undefined)
    assert.equal(await catalog.tableExists({ namespace, name: 't' }), true)
    assert.equal(await catalog.namespaceExists({ namespace }), true)
  }
  assert.equal(await catalog.tableExists({ namespace: ['in', 'c-main'], name: 'u' }), false)
  assert.equal(await catalog.namespaceExists({ namespace: ['in', 'c-other'] }), false)
  assert.deepEqual(
    [
      await refused(catalog.loadTable({ namespace: ['in', 'c-main'], name: 'u' })),
      await refused(catalog.listTables({ namespace: ['in', 'c-other'] })),
      await refused(catalogOf(stack, 'wrong').listNamespaces()),
      await refused(catalogOf(stack, stack.masterToken, '999').listNamespaces()),
      await refused(catalog.createNamespace({ namespace: ['in', 'c-new'] })),
    ].map(({ status, type }) => [status, type]),
    [
      [404, 'NoSuchTableException'],
      [404, 'NoSuchNamespaceException'],
      [401, 'NotAuthorizedException'],
      [404, 'NotFoundException'],
      [501, 'UnsupportedOperationException'],
    ],
  )
})

test('an alias of a whole table is another table with the same files; one that shows a part is not offered', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await bucket('views', 'out')
  await create('in.c-main', 't', 'id,v\n1,a\n2,b\n')
  const alias = (fields: object) => stack.request('POST', '/v2/storage/buckets/out.c-views/table-aliases', { json: fields })
  assert.equal((await alias({ name: 'whole', sourceTable: 'in.c-main.t' })).status, 201)
  const aliasFilter = { column: 'v', values: ['a'] }
  assert.equal((await alias({ name: 'filtered', sourceTable: 'in.c-main.t', aliasFilter })).status, 201)
  assert.equal((await alias({ name: 'narrow', sourceTable: 'in.c-main.t', aliasColumns: ['id'] })).status, 201)
  const { identifiers } = await catalogOf(stack).listTables({ namespace: ['out', 'c-views'] })
  assert.deepEqual(
    identifiers.map(({ name }) => name),
    ['whole'],
  )
  const [own, seen] = [await loaded(stack, 't'), await loaded(stack, 'whole', undefined, ['out', 'c-views'])]
  assert.notEqual(own.metadata['table-uuid'], seen.metadata['table-uuid'])
  assert.equal(own.metadata['current-snapshot-id'], seen.metadata['current-snapshot-id'])
  assert.equal((await icebergReader(seen).rows()).length, 2)
  const { status, message } = await refused(catalogOf(stack).loadTable({ namespace: ['out', 'c-views'], name: 'filtered' }))
  assert.equal(status, 404)
  assert.match(message, /shows a part of its table/)
})

test('keys read the files of the one table and nothing else; a token sees only buckets that it may read', async () => {
  const stack = await startProject()
  const other = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await bucket('secret')
  await create('in.c-main', 't', 'id\n1\n')
  await create('in.c-main', 'u', 'id\n2\n')
  await create('in.c-secret', 's', 'id\n3\n')
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'reader', bucketPermissions: { 'in.c-main': 'read' } },
  })
  const reader = made.json<{ token: string }>().token
  assert.deepEqual(
    (await catalogOf(stack, reader).listNamespaces({ parent: { namespace: ['in'] } })).namespaces.map((one) => one.namespace),
    [['in', 'c-main']],
  )
  const { status } = await refused(catalogOf(stack, reader).loadTable({ namespace: ['in', 'c-secret'], name: 's' }))
  assert.ok(status === 403 || status === 404, String(status))
  const foreign = await refused(catalogOf(other).loadTable({ namespace: ['in', 'c-main'], name: 't' }))
  assert.equal(foreign.status, 404)
  const path = `/iceberg/v1/${stack.projectId}/namespaces/in.c-main/tables/t`
  assert.equal((await other.request('GET', path)).status, 404)

  const mine = icebergReader(await loaded(stack, 't', reader))
  assert.deepEqual(await mine.rows(), [['1']])
  const theirs = [
    ...(await icebergReader(await loaded(stack, 'u')).entries()),
    ...(await icebergReader(await loaded(stack, 's', undefined, ['in', 'c-secret'])).entries()),
  ]
  assert.equal(theirs.length, 2)
  for (const { data_file: file } of theirs) await assert.rejects(mine.bytes(file.file_path), { name: 'AccessDenied' })
  const withoutKeys = (await stack.request('GET', path)).json<{ config: object }>()
  assert.deepEqual(withoutKeys.config, {})
})

test('keys end after an hour, and the catalogue gives fresh ones', async (t) => {
  let nowMs = Date.now()
  const stack = await startTestStack(t, { clock: { now: () => new Date(nowMs) } })
  const { bucket } = tableClient(stack)
  await bucket()
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { form: { name: 't', dataString: 'id\n1\n' } })
  assert.equal(made.status, 201, made.text)
  const first = await loaded(stack, 't')
  assert.equal((await icebergReader(first).entries()).length, 1)
  nowMs -= 3_601_000 // of the server: the SDK signs with the time of the client
  const early = await loaded(stack, 't')
  nowMs += 3_601_000
  await assert.rejects(icebergReader(early).entries(), { name: 'ExpiredToken' })
  const answer = await stack.request('GET', `/iceberg/v1/${stack.projectId}/namespaces/in.c-main/tables/t/credentials`)
  const [fresh] = answer.json<{ 'storage-credentials': { prefix: string; config: Record<string, string> }[] }>()[
    'storage-credentials'
  ]
  assert.ok(fresh)
  assert.ok(first['metadata-location'].startsWith(fresh.prefix))
  assert.equal(Number(fresh.config['s3.session-token-expires-at-ms']) > nowMs, true)
  assert.equal((await icebergReader({ ...early, config: fresh.config }).entries()).length, 1)
})

test('a branch has a prefix of its own', async () => {
  const stack = await startProject()
  const { bucket, create, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const job = await succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'feature' } }))
  const branch = String(job.results?.id)
  const config = await catalogOf(stack, stack.masterToken, branch).loadConfig()
  assert.equal(config.overrides.prefix, `${stack.projectId}-${branch}`)
  assert.equal(
    (await stack.request('POST', `/v2/storage/branch/${branch}/buckets`, { json: { name: 'own', stage: 'in' } })).status,
    201,
  )
  const inBranch = await catalogOf(stack, stack.masterToken, branch).listNamespaces({ parent: { namespace: ['in'] } })
  assert.ok(inBranch.namespaces.some((one) => one.namespace.join('.') === 'in.c-own'))
  const inDefault = await catalogOf(stack).listNamespaces({ parent: { namespace: ['in'] } })
  assert.deepEqual(
    inDefault.namespaces.map((one) => one.namespace.join('.')),
    ['in.c-main'],
  )
})

test('reports of readers are accepted, and a client secret that is a token becomes a bearer token', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const metrics = `/iceberg/v1/${stack.projectId}/namespaces/in%1Fc-main/tables/t/metrics`
  assert.equal((await stack.request('POST', metrics, { json: { 'report-type': 'scan-report' } })).status, 204)
  const token = (client_secret: string) =>
    stack.request('POST', '/iceberg/v1/oauth/tokens', { token: null, form: { grant_type: 'client_credentials', client_secret } })
  assert.equal((await token(stack.masterToken)).json<{ access_token: string }>().access_token, stack.masterToken)
  const wrong = await token('wrong')
  assert.deepEqual([wrong.status, wrong.json().error], [401, 'invalid_client'])
})
