// What a link, an alias or a filter hides is hidden from every route, not only from the obvious ones.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type JobAnswer, type TableAnswer, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'

/** Project A shares in.c-main with project B, which links it as in.c-guest. */
async function linkedProjects(t: TestContext) {
  const stack = await startTestStack(t)
  const client = tableClient(stack)
  const { masterToken: token, projectId } = await stack.newProject('Guests')
  const guest = (method: string, path: string, json?: object) =>
    stack.request(method, `/v2/storage/${path}`, { token, ...(json && { json }) })
  await client.bucket()
  await client.create('in.c-main', 't', 'id,v\n1,a\n2,b\n')
  await client.succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/share-organization', { json: {} }))
  const link = { sourceProjectId: stack.projectId, sourceBucketId: 'in.c-main', name: 'guest', stage: 'in' }
  assert.equal((await guest('POST', 'buckets', link)).status, 201)
  return { stack, ...client, guest, guestProject: projectId }
}

test('a project that links a bucket changes nothing of its tables: no name, no metadata, no alias', async (t) => {
  const { stack, guest, succeed } = await linkedProjects(t)
  await stack.request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: { sourceTable: 'in.c-main.t', name: 'a' } })
  const own = await stack.request('POST', '/v2/storage/tables/in.c-main.t/metadata', {
    json: { provider: 'user', metadata: [{ key: 'k', value: 'ours' }] },
  })
  const [item] = own.json<{ metadata: { id: string }[] }>().metadata
  const item2 = { provider: 'guest', metadata: [{ key: 'k', value: 'theirs' }] }
  for (const [method, path, json] of [
    ['PUT', 'tables/in.c-guest.t', { displayName: 'taken' }],
    ['PUT', 'tables/in.c-guest.t?async=1', { displayName: 'taken' }],
    ['PUT', 'tables/in.c-guest.t/definition', { description: 'taken' }],
    ['POST', 'tables/in.c-guest.t/metadata', item2],
    ['DELETE', `tables/in.c-guest.t/metadata/${item?.id}`, undefined],
    ['POST', 'columns/in.c-guest.t.id/metadata', item2],
    ['POST', 'tables/in.c-guest.a/alias-filter', { column: 'id', values: ['1'] }],
    ['DELETE', 'tables/in.c-guest.a/alias-filter', undefined],
    ['DELETE', 'tables/in.c-guest.a/alias-columns-auto-sync', undefined],
    ['POST', 'tables/in.c-guest.t/columns', { name: 'x' }],
    ['DELETE', 'tables/in.c-guest.t/rows?allowTruncate=1', undefined],
    ['POST', 'tables/in.c-guest.t/snapshots', {}],
    ['DELETE', 'tables/in.c-guest.t', undefined],
  ] as const) {
    const answer = await guest(method, path, json)
    assert.equal(answer.status, 400, `${method} ${path}: ${answer.text}`)
  }
  const table = (await stack.request('GET', '/v2/storage/tables/in.c-main.t')).json<
    TableAnswer & { metadata: { provider: string }[]; columnMetadata: object }
  >()
  assert.deepEqual([table.displayName, table.metadata.map(({ provider }) => provider), table.columnMetadata], ['t', ['user'], {}])
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.t/export-async', { json: {} }))
})

test('an alias of a linked table ends with the link, whoever takes the link away', async (t) => {
  const { stack, guest, guestProject } = await linkedProjects(t)
  assert.equal((await guest('POST', 'buckets', { name: 'own' })).status, 201)
  const alias = () => guest('POST', 'buckets/in.c-own/table-aliases', { sourceTable: 'in.c-guest.t', name: 'kept' })
  const shown = () => guest('GET', 'tables/in.c-own.kept/data-preview')
  assert.equal((await alias()).status, 201)
  assert.equal((await shown()).text, '"id","v"\n"1","a"\n"2","b"\n')

  assert.equal((await guest('DELETE', 'buckets/in.c-guest')).json().code, 'storage.buckets.linkInUse')
  assert.equal((await guest('DELETE', 'buckets/in.c-guest?force=1')).status, 204)
  assert.equal((await shown()).status, 404, 'the alias went with the link')

  const link = { sourceProjectId: stack.projectId, sourceBucketId: 'in.c-main', name: 'guest', stage: 'in' }
  assert.equal((await guest('POST', 'buckets', link)).status, 201)
  assert.equal((await alias()).status, 201)
  assert.equal((await stack.request('DELETE', `/v2/storage/buckets/in.c-main/links/${guestProject}`)).status, 204)
  assert.equal((await shown()).status, 404)
  assert.deepEqual((await guest('GET', 'tables')).json(), [])
})

test('what an alias hides stays hidden: from snapshots, time travel, profiles and searches', async (t) => {
  const stack = await startTestStack(t)
  const { bucket, create, finish, succeed } = tableClient(stack)
  await bucket('secret')
  await bucket('open')
  await create('in.c-secret', 'people', 'id,name,salary\n1,Ada,900\n2,Bob,100\n')
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-open/table-aliases', {
    json: {
      sourceTable: 'in.c-secret.people',
      name: 'people',
      aliasColumns: ['id', 'name'],
      aliasFilter: { column: 'id', values: ['2'] },
    },
  })
  assert.equal(made.status, 201, made.text)
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', { json: { bucketPermissions: { 'in.c-open': 'write' } } })
  ).json<{ token: string }>()
  const as = (method: string, path: string, json?: object) =>
    stack.request(method, `/v2/storage/${path}`, { token, ...(json && { json }) })
  assert.equal((await as('GET', 'tables/in.c-open.people/data-preview')).text, '"id","name"\n"2","Bob"\n')
  assert.equal((await as('GET', 'tables/in.c-open.people/data-preview?fulltextSearch=100')).text, '"id","name"\n')
  assert.equal((await as('POST', 'tables/in.c-open.people/snapshots', {})).json().code, 'storage.buckets.snapshotNotSupported')
  const back = await as('POST', 'buckets/in.c-open/tables-async', {
    name: 'copy',
    sourceTableId: 'in.c-open.people',
    timestamp: new Date().toISOString(),
  })
  assert.deepEqual([back.status, back.json().code], [400, 'storage.validation.timeTravelNotSupported'])
  const job = await succeed(await as('POST', 'tables/in.c-open.people/profile'), token)
  const profile = job.results as {
    profile: { rowCount: number }
    columns: { name: string; profile: { distinctCount: number } }[]
  }
  assert.deepEqual(
    [profile.profile.rowCount, profile.columns.map(({ name, profile: { distinctCount } }) => [name, distinctCount])],
    [
      1,
      [
        ['id', 1],
        ['name', 1],
      ],
    ],
  )
  const all = await finish(await as('POST', 'tables/in.c-open.people/export-async', { fulltextSearch: '900' }), token)
  assert.equal((all as JobAnswer).status, 'success')
})
