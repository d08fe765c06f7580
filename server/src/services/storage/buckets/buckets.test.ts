import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { type JobAnswer, type TableAnswer, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

interface BucketAnswer {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly stage: string
  readonly tables: unknown
  readonly [field: string]: unknown
}

test('a bucket is created with its prefix, stage and display name, and shown with every field', async () => {
  const { request, url } = await startProject()
  const created = await request('POST', '/v2/storage/buckets', { json: { name: 'main', stage: 'in', description: 'all of it' } })
  assert.equal(created.status, 201)
  const bucket = created.json<BucketAnswer>()
  assert.deepEqual(
    [bucket.id, bucket.name, bucket.displayName, bucket.stage, bucket.tables, bucket.uri],
    ['in.c-main', 'c-main', 'main', 'in', `${url}/v2/storage/buckets/in.c-main/tables`, `${url}/v2/storage/buckets/in.c-main`],
  )
  const detail = (await request('GET', '/v2/storage/buckets/in.c-main/')).json<BucketAnswer>()
  assert.deepEqual([detail.tables, detail.attributes, detail.metadata, detail.sharing, detail.rowsCount], [[], [], [], null, 0])
  assert.match(String(detail.created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
  for (const field of [
    'idBranch',
    'isReadOnly',
    'isLinkedBucket',
    'backend',
    'path',
    'backendPath',
    'color',
    'owner',
    'linkedBy',
    'lastChangeDate',
  ])
    assert.ok(field in detail, field)
  const form = await request('POST', '/v2/storage/buckets', {
    form: { name: 'c-main', stage: 'out', displayName: 'shown', color: '#ff0000' },
  })
  assert.deepEqual([form.json<BucketAnswer>().id, form.json<BucketAnswer>().displayName], ['out.c-main', 'shown'])
  assert.equal((await request('GET', '/v2/storage/buckets')).json<BucketAnswer[]>().length, 2)
})

test('names that cannot be are refused with the texts clients know', async () => {
  const { request } = await startProject()
  const create = (json: object) => request('POST', '/v2/storage/buckets', { json })
  await create({ name: 'main' })
  for (const [json, code] of [
    [{}, 'storage.buckets.validation'],
    [{ name: 'bad name' }, 'storage.buckets.validation'],
    [{ name: 'a.b' }, 'storage.buckets.validation'],
    [{ name: '_a' }, 'storage.buckets.validation'],
    [{ name: 'x'.repeat(97) }, 'storage.buckets.validation'],
    [{ name: 'a', stage: 'middle' }, 'storage.buckets.validation'],
    [{ name: 'a', backend: 'oracle' }, 'storage.buckets.validation'],
    [{ name: 'a', displayName: 'no way!' }, 'storage.buckets.validation'],
    [{ name: 'main' }, 'storage.buckets.alreadyExists'],
    [{ name: 'other', displayName: 'main' }, 'storage.buckets.alreadyExists'],
  ] as const) {
    const answer = await create(json)
    assert.deepEqual([answer.status, answer.json().code], [400, code], JSON.stringify(json))
  }
  assert.equal(
    (await create({ name: 'other', displayName: 'main' })).json().error,
    'The display name "main" already exists in project.',
  )
  assert.match(
    String((await create({ name: 'a', displayName: 'X Y' })).json().error),
    /^Invalid data - displayName: 'X Y' contains not allowed/,
  )
  const missing = await request('GET', '/v2/storage/buckets/in.c-none')
  assert.deepEqual([missing.status, missing.json().code], [404, 'storage.buckets.notFound'])
})

test('twenty requests for one bucket at once make one bucket', async () => {
  const { request } = await startProject()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => request('POST', '/v2/storage/buckets', { json: { name: 'one' } })),
  )
  const statuses = answers.map((answer) => answer.status).sort()
  assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 400)])
})

test('a bucket is renamed and deleted at once or by a job; one with tables only by force', async () => {
  const stack = await startProject()
  const { bucket, create, succeed } = tableClient(stack)
  await bucket('a')
  await bucket('b')
  const put = (path: string, json: object) => stack.request('PUT', `/v2/storage/buckets/${path}`, { json })
  assert.equal((await put('in.c-a', { displayName: 'Shown' })).json().displayName, 'Shown')
  const job = await succeed(await put('in.c-a?async=1', { displayName: 'Later', color: 'red' }))
  assert.deepEqual([job.operationName, (job.results as BucketAnswer).displayName], ['bucketUpdate', 'Later'])
  assert.equal((await put('in.c-a', { displayName: 'b' })).json().code, 'storage.buckets.alreadyExists')
  await create('in.c-a', 't', 'id\n1\n')
  const refused = await stack.request('DELETE', '/v2/storage/buckets/in.c-a')
  assert.deepEqual([refused.status, refused.json().code], [400, 'buckets.deleteNotEmpty'])
  assert.match(String(refused.json().error), /There are 1 tables in the bucket/)
  const deleted = await succeed(await stack.request('DELETE', '/v2/storage/buckets/in.c-a?force=True&async=True'))
  assert.deepEqual([deleted.operationName, deleted.results], ['bucketDelete', null])
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-a.t')).json().code, 'storage.tables.notFound')
  assert.equal((await stack.request('DELETE', '/v2/storage/buckets/in.c-b')).status, 204)
  await bucket('a')
  await create('in.c-a', 't', 'id\n2\n')
})

test('metadata and events of a bucket', async () => {
  const stack = await startProject()
  await tableClient(stack).bucket()
  const path = '/v2/storage/buckets/in.c-main/metadata'
  const set = await stack.request('POST', path, {
    json: { provider: 'user', metadata: [{ key: 'KBC.description', value: 'Our data' }] },
  })
  assert.equal(set.status, 201)
  const [item] = set.json<{ id: string; key: string }[]>()
  assert.equal(typeof item?.id, 'string')
  const detail = (await stack.request('GET', '/v2/storage/buckets/in.c-main')).json<BucketAnswer>()
  assert.deepEqual([detail.description, detail.updated !== null], ['Our data', true])
  const listed = (await stack.request('GET', '/v2/storage/buckets?include=metadata')).json<{ metadata: unknown[] }[]>()
  assert.equal(listed[0]?.metadata.length, 1)
  assert.equal((await stack.request('DELETE', `${path}/${item?.id}`)).status, 204)
  const gone = (await stack.request('DELETE', `${path}/${item?.id}`)).json()
  assert.deepEqual(
    [gone.code, gone.error],
    ['storage.metadata.notFound', `Metadata "${item?.id}" not found for bucket "in.c-main".`],
  )
  const badKey = { provider: 'u', metadata: [{ key: 'a b', value: 'x' }] }
  assert.match(
    String((await stack.request('POST', path, { json: badKey })).json().error),
    /^Invalid Metadata Key \(metadata\[0\]\[key\]\)/,
  )
  assert.equal(
    (await stack.request('POST', path, { json: { provider: 'u', metadata: 'no' } })).json().code,
    'storage.metadata.invalidParameter',
  )
  const events = (await stack.request('GET', '/v2/storage/buckets/in.c-main/events')).json<{ event: string }[]>()
  assert.deepEqual(
    events.map(({ event }) => event),
    ['storage.bucketMetadataSet', 'storage.bucketCreated'],
  )
})

test('a shared bucket is linked by another project: its tables are there, current and read only', async () => {
  const stack = await startProject()
  const { bucket, create, load, succeed, upload } = tableClient(stack)
  const { masterToken: token, projectId } = await stack.newProject('Guests')
  const guest = (method: string, path: string, json?: object) =>
    stack.request(method, `/v2/storage/${path}`, { token, ...(json && { json }) })
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const link = { sourceProjectId: stack.projectId, sourceBucketId: 'in.c-main', name: 'guest', stage: 'in' }
  assert.equal((await guest('POST', 'buckets', link)).status, 404, 'what is not shared does not exist')
  assert.deepEqual((await guest('GET', 'shared-buckets')).json(), [])

  const shared = await succeed(
    await stack.request('POST', '/v2/storage/buckets/in.c-main/share-to-projects', { json: { targetProjectIds: [projectId] } }),
  )
  assert.equal((shared.results as BucketAnswer).sharing, 'specific-projects')
  const [offer] = (await guest('GET', 'shared-buckets')).json<
    { id: string; project: { id: number }; tables: { id: string }[] }[]
  >()
  assert.deepEqual(
    [offer?.id, offer?.project.id, offer?.tables.map(({ id }) => id)],
    ['in.c-main', stack.projectId, ['in.c-main.t']],
  )

  const linked = await guest('POST', 'buckets', link)
  assert.equal(linked.status, 201)
  assert.deepEqual(
    [linked.json().id, linked.json().isLinkedBucket, (linked.json().sourceBucket as { id: string }).id],
    ['in.c-guest', true, 'in.c-main'],
  )
  assert.equal((await guest('POST', 'buckets', { ...link, name: 'again' })).json().code, 'storage.buckets.alreadyLinked')
  const seen = (await guest('GET', 'tables/in.c-guest.t')).json<
    TableAnswer & { sourceTable: { id: string; project: { name: string } } }
  >()
  assert.deepEqual(
    [seen.rowsCount, seen.isAlias, seen.sourceTable.id, seen.sourceTable.project.name],
    [1, true, 'in.c-main.t', 'Test'],
  )
  await load('in.c-main.t', 'id\n2\n3\n')
  assert.equal((await guest('GET', 'tables/in.c-guest.t/data-preview')).text, '"id"\n"2"\n"3"\n')
  const exported = await guest('POST', 'tables/in.c-guest.t/export-async', {})
  assert.equal((await tableClient(stack).finish(exported, token)).status, 'success')
  const dataFileId = await upload('id\n9\n')
  assert.equal((await guest('POST', 'tables/in.c-guest.t/import-async', { dataFileId })).status, 400)
  assert.equal(
    (await guest('POST', 'buckets/in.c-guest/tables-async', { name: 'x', dataFileId })).json().code,
    'storage.buckets.readOnly',
  )
  assert.equal((await guest('DELETE', 'tables/in.c-guest.t')).json().code, 'storage.buckets.readOnly')

  assert.equal((await stack.request('DELETE', '/v2/storage/buckets/in.c-main/share')).json().code, 'storage.buckets.linked')
  assert.equal(
    (await stack.request('DELETE', '/v2/storage/buckets/in.c-main?force=1')).json().code,
    'storage.buckets.alreadyLinked',
  )
  assert.equal((await stack.request('DELETE', `/v2/storage/buckets/in.c-main/links/${projectId}`)).status, 204)
  assert.equal((await guest('GET', 'buckets/in.c-guest')).status, 404)
  const stopped = await succeed(await stack.request('DELETE', '/v2/storage/buckets/in.c-main/share'))
  assert.equal((stopped as JobAnswer).operationName, 'bucketRemoveShare')
  assert.deepEqual((await guest('GET', 'shared-buckets')).json(), [])
})

test('buckets of one id that several projects share and link are told apart', async () => {
  const [first, second] = [await startProject(), await startProject()]
  const [one, two] = [await startProject(), await startProject()]
  for (const [giver, id] of [
    [first, 1],
    [second, 2],
  ] as const) {
    const { bucket, create, succeed } = tableClient(giver)
    await bucket()
    await create('in.c-main', 't', `id\n${id}\n`)
    const json = { targetProjectIds: [one.projectId, two.projectId] }
    await succeed(await giver.request('POST', '/v2/storage/buckets/in.c-main/share-to-projects', { json }))
  }
  const link = { sourceProjectId: second.projectId, sourceBucketId: 'in.c-main', name: 'link', stage: 'in' }
  for (const taker of [one, two]) {
    assert.equal((await taker.request('POST', '/v2/storage/buckets', { json: link })).status, 201)
    assert.equal((await taker.request('GET', '/v2/storage/tables/in.c-link.t/data-preview')).text, '"id"\n"2"\n')
  }
  await tableClient(one).bucket('own')
  const alias = { sourceTable: 'in.c-link.t', name: 'alias' }
  assert.equal((await one.request('POST', '/v2/storage/buckets/in.c-own/table-aliases', { json: alias })).status, 201)
  assert.equal((await one.request('DELETE', '/v2/storage/buckets/in.c-link')).json().code, 'storage.buckets.linkInUse')

  assert.equal((await second.request('DELETE', `/v2/storage/buckets/in.c-main/links/${two.projectId}`)).status, 204)
  assert.equal((await two.request('GET', '/v2/storage/buckets/in.c-link')).status, 404)
  assert.equal((await one.request('GET', '/v2/storage/buckets/in.c-link')).status, 200)
})

test('in a branch reading falls through to the default branch, and what is written there stays there', async () => {
  const stack = await startProject()
  const { bucket, create, finish, upload, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const branch = (await succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } }))).results as {
    id: number
  }
  const at = (method: string, path: string, json?: object) =>
    stack.request(method, `/v2/storage/branch/${branch.id}/${path}`, json ? { json } : {})
  assert.equal((await at('GET', 'tables/in.c-main.t')).json<TableAnswer>().rowsCount, 1)
  const dataFileId = await upload('id\n7\n8\n')
  assert.equal(
    (await at('POST', 'tables/in.c-main.t/import-async', { dataFileId })).status,
    404,
    'production data is not the branch to change',
  )
  assert.equal((await at('POST', 'buckets', { name: 'main' })).status, 201)
  assert.equal((await finish(await at('POST', 'buckets/in.c-main/tables-async', { name: 't', dataFileId }))).status, 'success')
  assert.equal((await at('GET', 'tables/in.c-main.t')).json<TableAnswer>().rowsCount, 2)
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.t')).json<TableAnswer>().rowsCount, 1)
  assert.equal((await at('GET', 'buckets')).json<BucketAnswer[]>().length, 1)
  await succeed(await at('POST', 'tables/in.c-main.t/pull'))
  assert.equal((await at('GET', 'tables/in.c-main.t')).json<TableAnswer>().rowsCount, 1, 'pulled from the default branch')
  assert.equal((await stack.request('POST', '/v2/storage/branch/default/tables/in.c-main.t/pull')).status, 400)
  await succeed(await stack.request('DELETE', `/v2/storage/dev-branches/${branch.id}`))
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.t')).json<TableAnswer>().rowsCount, 1)
})

test('a permission ends with its bucket: a new one of the same name is not open to the old tokens', async () => {
  const stack = await startProject()
  const { bucket, create, succeed } = tableClient(stack)
  await bucket()
  await bucket('other')
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { bucketPermissions: { 'in.c-main': 'write', 'in.c-other': 'read' } },
  })
  const { id, token } = made.json<{ id: string; token: string }>()
  const seen = () => stack.request('GET', '/v2/storage/buckets/in.c-main', { token })
  assert.equal((await seen()).status, 200)
  await succeed(await stack.request('DELETE', '/v2/storage/buckets/in.c-main?async=1'))
  await bucket()
  await create('in.c-main', 'secret', 'id\n1\n')
  assert.equal((await seen()).status, 403)
  const { bucketPermissions } = (await stack.request('GET', `/v2/storage/tokens/${id}`)).json()
  assert.deepEqual(bucketPermissions, { 'in.c-other': 'read' })
})

test('a bucket gets an owner: somebody of the project, by id or by e-mail', async () => {
  const stack = await startProject()
  const { request, projectId } = stack
  await request('POST', '/v2/storage/buckets', { json: { name: 'main' } })
  const owner = (json?: object) => request(json ? 'POST' : 'GET', '/v2/storage/buckets/in.c-main/owner', json ? { json } : {})
  const none = await owner()
  assert.deepEqual([none.status, none.json().code], [404, 'storage.bucket.ownerNotFound'])
  const root = await newStackAdmin(stack, `root-${projectId}@example.com`)
  const ann = await newMember(stack, root, { projectId, role: 'viewer', email: `ann-${projectId}@example.com` })
  const { admin } = await ann.in(projectId).ok<{ admin: { id: number } }>('GET', '/v2/storage/tokens/verify')
  const shown = { id: admin.id, name: `ann-${projectId}`, email: ann.email }
  assert.deepEqual((await owner({ id: admin.id })).json(), shown)
  assert.deepEqual((await owner()).json(), shown)
  const detail = (await request('GET', '/v2/storage/buckets/in.c-main')).json()
  assert.deepEqual(detail.owner, shown)
  assert.notEqual(detail.updated, null)
  assert.deepEqual((await owner({ email: ann.email.toUpperCase() })).json(), shown)
  const token = await request('POST', '/v2/storage/tokens', { json: { description: `bob-${projectId}@example.com` } })
  const names = [{ id: 987_654 }, { id: Number(token.json().id) + 100_000 }, { email: `bob-${projectId}@example.com` }]
  for (const wrong of names) {
    const answer = await owner(wrong)
    assert.deepEqual([answer.status, answer.json().code], [404, 'storage.bucket.holderNotFound'])
  }
  assert.equal((await owner({})).status, 400)
  const asReader = await request('POST', '/v2/storage/buckets/in.c-main/owner', {
    json: { id: admin.id },
    token: String(token.json().token),
  })
  assert.equal(asReader.status, 403)
})

test('in a development branch buckets are not shared and aliases are not made', async () => {
  const stack = await startProject()
  const { bucket, create, succeed } = tableClient(stack)
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  const made = await succeed(await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } }))
  const prefix = `/v2/storage/branch/${(made.results as { id: number }).id}`
  await stack.request('POST', `${prefix}/buckets`, { json: { name: 'own' } })
  const share = await stack.request('POST', `${prefix}/buckets/in.c-own/share-organization`, { json: {} })
  assert.deepEqual([share.status, share.json().code], [400, 'storage.buckets.sharingInBranch'])
  const alias = await stack.request('POST', `${prefix}/buckets/in.c-own/table-aliases`, { json: { sourceTable: 'in.c-main.t' } })
  assert.deepEqual([alias.status, alias.json().code], [400, 'storage.buckets.invalidAlias'])
})

test('a bucket is always current: looking again is a job that changes nothing, refreshing is for external ones', async () => {
  const stack = await startProject()
  const { bucket, succeed } = tableClient(stack)
  await bucket()
  const path = '/v2/storage/branch/default/buckets/in.c-main'
  const looked = await succeed(await stack.request('POST', `${path}/refresh-tables-info`, { json: {} }))
  assert.equal(looked.operationName, 'bucketRefreshTablesInformation')
  assert.deepEqual((looked.results as { id: string; warnings: unknown[] }).warnings, [])
  for (const [method, route] of [
    ['PUT', 'refresh'],
    ['POST', 'scheduled-tasks/refresh'],
  ] as const) {
    const answer = await stack.request(method, `${path}/${route}`, { json: { cronExpression: '0 * * * *' } })
    assert.deepEqual([answer.status, answer.json().code], [400, 'storage.buckets.notExternal'])
  }
  assert.equal((await stack.request('DELETE', '/v2/storage/scheduled-tasks/1b1d97fc')).status, 404)
  assert.equal((await stack.request('POST', '/v2/storage/buckets/register', { json: { name: 'x' } })).status, 501)
  const [listed] = (await stack.request('GET', '/v2/storage/buckets?include=attributes')).json<BucketAnswer[]>()
  assert.deepEqual(listed?.attributes, [])
})
