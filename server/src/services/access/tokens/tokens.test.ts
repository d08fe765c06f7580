import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { shareTestStack, startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

const masterId = async ({ request }: Pick<TestStack, 'request'>): Promise<string> =>
  (await request('GET', '/v2/storage/tokens/verify')).json<TokenAnswer>().id

interface TokenAnswer {
  readonly id: string
  readonly token?: string
  readonly description: string
  readonly bucketPermissions?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

test('verify shows the record of the master token and its project', async () => {
  const stack = await startProject()
  const answer = await stack.request('GET', '/v2/storage/tokens/verify')
  assert.equal(answer.status, 200)
  const token = answer.json<TokenAnswer & { owner: Record<string, unknown>; organization: { id: unknown } }>()
  assert.equal(token.isMasterToken, true)
  assert.equal(token.token, undefined)
  assert.equal(token.owner.id, stack.projectId)
  assert.equal(typeof token.organization.id, 'string')
  assert.match(String(token.created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
})

test('list and detail say when a token was last used, and a used one of another project is none of it', async () => {
  const { request, platform } = await startProject()
  const elsewhere = await startProject()
  const create = async (): Promise<TokenAnswer> => (await request('POST', '/v2/storage/tokens', { json: {} })).json()
  const [used, unused] = [await create(), await create()]
  const lastUsed = async ({ id }: TokenAnswer) => (await request('GET', `/v2/storage/tokens/${id}`)).json<TokenAnswer>().lastUsed
  await platform.tokensApi.lastUseLoop.tick()
  assert.equal(await lastUsed(used), null)
  await request('GET', '/v2/storage/tokens/verify', { token: used.token ?? '' })
  await elsewhere.request('GET', '/v2/storage/tokens/verify')
  await platform.tokensApi.lastUseLoop.tick()
  assert.match(String(await lastUsed(used)), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
  const list = (await request('GET', '/v2/storage/tokens')).json<readonly TokenAnswer[]>()
  assert.equal(list.find(({ id }) => id === unused.id)?.lastUsed, null)
  assert.equal(list.find(({ id }) => id === used.id)?.lastUsed, await lastUsed(used))
})

test('tokens are listed by page, by description and of users only, without the buckets of tokens that use all of them', async () => {
  const { request } = await startProject()
  await request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  const create = async (json: object): Promise<TokenAnswer> => (await request('POST', '/v2/storage/tokens', { json })).json()
  const reader = await create({ description: 'Reads orders', bucketPermissions: { 'in.c-main': 'read' } })
  const writer = await create({ description: 'Writes orders', canManageBuckets: true })
  const master = await masterId({ request })
  const list = async (query: string, token?: string) =>
    (await request('GET', `/v2/storage/tokens${query}`, token ? { token } : {})).json<TokenAnswer[]>()
  const ids = async (query: string, token?: string) => (await list(query, token)).map(({ id }) => id)
  assert.deepEqual(await ids(''), [master, reader.id, writer.id])
  assert.deepEqual(await ids('?limit=1&offset=1'), [reader.id])
  assert.deepEqual(await ids('?offset=2'), [writer.id])
  assert.deepEqual(await ids('?text=ORDERS&limit=1'), [reader.id])
  assert.deepEqual(await ids('?ofPeople=true'), [master])
  assert.deepEqual(await ids('?text=writes', reader.token), [reader.id], 'nothing but itself')
  assert.deepEqual(await ids('?offset=1', reader.token), [])
  assert.equal((await request('GET', '/v2/storage/tokens?limit=1001')).status, 400)

  const buckets = async (query: string) => (await list(query)).map(({ bucketPermissions }) => bucketPermissions)
  const all = { 'in.c-main': 'manage' }
  const given = { 'in.c-main': 'read' }
  assert.deepEqual(await buckets(''), [all, given, all])
  assert.deepEqual(await buckets('?onlyGivenBuckets=true'), [{}, given, {}])
  const verify = async (query: string, token?: string) =>
    (await request('GET', `/v2/storage/tokens/verify${query}`, token ? { token } : {})).json<TokenAnswer>()
  const whole = await verify('')
  assert.deepEqual(whole.bucketPermissions, all)
  assert.deepEqual(await verify('?onlyGivenBuckets=true'), { ...whole, bucketPermissions: {} })
  assert.deepEqual((await verify('?onlyGivenBuckets=true', reader.token)).bucketPermissions, given)
})

test('both spellings of the header and Authorization: Bearer are understood', async () => {
  const { request, masterToken } = await startProject()
  for (const headers of [
    { 'X-StorageApi-Token': masterToken },
    { 'X-StorageAPI-Token': masterToken },
    { 'X-StorageApi-Token': `Bearer ${masterToken}` },
    { Authorization: `Bearer ${masterToken}` },
  ]) {
    assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: null, headers })).status, 200)
  }
})

test('a missing token and a wrong one are told apart, a wrong one is never echoed', async () => {
  const { request } = await startProject()
  const missing = await request('GET', '/v2/storage/tokens', { token: null })
  assert.equal(missing.status, 401)
  assert.equal(missing.json().error, 'Access token must be set')
  const wrong = await request('GET', '/v2/storage/tokens', { token: '1-2-this-is-from-another-stack' })
  assert.equal(wrong.status, 401)
  assert.equal(wrong.json().error, 'Invalid access token')
  assert.equal(wrong.json().code, 'storage.tokenInvalid')
  assert.ok(!wrong.text.includes('another-stack'))
})

test('a created token shows its value once and opens the project', async () => {
  const { request } = await startProject()
  const created = await request('POST', '/v2/storage/tokens', { json: { description: 'reader' } })
  assert.equal(created.status, 201)
  const { id, token } = created.json<TokenAnswer>()
  assert.ok(token && token.length > 40)
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token })).json<TokenAnswer>().id, id)
  assert.equal((await request('GET', `/v2/storage/tokens/${id}`)).json<TokenAnswer>().token, undefined)
  const listed = (await request('GET', '/v2/storage/tokens')).json<TokenAnswer[]>()
  assert.deepEqual(
    listed.map((item) => [item.id, item.token]),
    [
      [await masterId({ request }), undefined],
      [id, undefined],
    ],
  )
})

test('forms with PHP brackets and text scalars make the same token as JSON', async () => {
  const { request } = await startProject()
  const body = 'description=form&canReadAllFileUploads=1&canPurgeTrash=True&expiresIn=60&componentAccess[]=a&componentAccess[]=b'
  const created = await request('POST', '/v2/storage/tokens/', {
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const token = created.json<TokenAnswer>()
  assert.equal(token.canReadAllFileUploads, true)
  assert.equal(token.canPurgeTrash, true)
  assert.deepEqual(token.componentAccess, ['a', 'b'])
  assert.notEqual(token.expires, null)
})

test('an expired token is refused like a wrong one', async (t) => {
  let now = new Date('2026-01-01T00:00:00Z')
  const { request } = await startTestStack(t, { clock: { now: () => now } })
  const { token } = (await request('POST', '/v2/storage/tokens', { json: { expiresIn: 10 } })).json<TokenAnswer>()
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: token! })).status, 200)
  now = new Date('2026-01-01T00:00:10Z')
  const refused = await request('GET', '/v2/storage/tokens/verify', { token: token! })
  assert.equal(refused.status, 401)
  assert.equal(refused.json().error, 'Invalid access token')
})

test('refresh replaces the value at once', async () => {
  const { request } = await startProject()
  const { id, token } = (await request('POST', '/v2/storage/tokens', { json: {} })).json<TokenAnswer>()
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: token! })).status, 200)
  const refreshed = (await request('POST', `/v2/storage/tokens/${id}/refresh`)).json<TokenAnswer>()
  assert.notEqual(refreshed.token, token)
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: token! })).status, 401)
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: refreshed.token! })).status, 200)
})

test('a deleted token stops working at once; the master token cannot be deleted', async () => {
  const { request } = await startProject()
  const { id, token } = (await request('POST', '/v2/storage/tokens', { json: {} })).json<TokenAnswer>()
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: token! })).status, 200)
  assert.equal((await request('DELETE', `/v2/storage/tokens/${id}`)).status, 204)
  assert.equal((await request('GET', '/v2/storage/tokens/verify', { token: token! })).status, 401)
  assert.equal((await request('DELETE', `/v2/storage/tokens/${await masterId({ request })}`)).status, 403)
  assert.equal((await request('GET', `/v2/storage/tokens/${id}`)).status, 404)
})

test('a token without canManageTokens sees itself only and may give nothing away', async () => {
  const { request } = await startProject()
  const { id, token } = (await request('POST', '/v2/storage/tokens', { json: { description: 'plain' } })).json<TokenAnswer>()
  const plain = { token: token! }
  assert.deepEqual(
    (await request('GET', '/v2/storage/tokens', plain)).json<TokenAnswer[]>().map((item) => item.id),
    [id],
  )
  assert.equal((await request('GET', '/v2/storage/tokens/1', plain)).status, 403)
  assert.equal((await request('POST', '/v2/storage/tokens', { ...plain, json: { canManageBuckets: true } })).status, 403)
  assert.equal((await request('PUT', `/v2/storage/tokens/${id}`, { ...plain, json: { canPurgeTrash: true } })).status, 403)
  const child = await request('POST', '/v2/storage/tokens', { ...plain, json: { expiresIn: 5 } })
  assert.equal(child.status, 201)
  assert.equal(child.json<TokenAnswer>().description, 'Created by plain')
})

test('a token manager cannot give what it does not have', async () => {
  const { request } = await startProject()
  const { token } = (await request('POST', '/v2/storage/tokens', { json: { canManageTokens: true } })).json<TokenAnswer>()
  assert.equal((await request('POST', '/v2/storage/tokens', { token: token!, json: { canPurgeTrash: true } })).status, 403)
  assert.equal((await request('POST', '/v2/storage/tokens', { token: token!, json: { componentAccess: ['x'] } })).status, 403)
  assert.equal((await request('POST', '/v2/storage/tokens', { token: token!, json: { canManageTokens: true } })).status, 201)
})

test('who may write a bucket may let others read or write it, who may read it lets others read it', async () => {
  const { request, masterToken } = await startProject()
  await request('POST', '/v2/storage/buckets', { json: { name: 'main', stage: 'in' } })
  const make = (permission: string, token: string) =>
    request('POST', '/v2/storage/tokens', {
      token,
      json: { canManageTokens: true, bucketPermissions: { 'in.c-main': permission } },
    })
  const holder = async (permission: string) => (await make(permission, masterToken)).json<TokenAnswer & { token: string }>().token
  const [writer, reader] = [await holder('write'), await holder('read')]
  for (const [token, permission, status] of [
    [writer, 'read', 201],
    [writer, 'write', 201],
    [reader, 'read', 201],
    [reader, 'write', 403],
  ] as const)
    assert.equal((await make(permission, token)).status, status, permission)
})

test('a token manager takes over no token that may more than itself, least of all the master token', async () => {
  const { request, masterToken } = await startProject()
  const make = async (json: unknown, token = masterToken) =>
    (await request('POST', '/v2/storage/tokens', { json, token })).json<TokenAnswer & { token: string }>()
  const manager = await make({ canManageTokens: true })
  const stronger = await make({ canManageTokens: true, canPurgeTrash: true })
  const equal = await make({ description: 'equal' })
  for (const id of [await masterId({ request }), stronger.id]) {
    assert.equal((await request('POST', `/v2/storage/tokens/${id}/refresh`, { token: manager.token })).status, 403)
    const renamed = await request('PUT', `/v2/storage/tokens/${id}`, { token: manager.token, json: { description: 'mine' } })
    assert.equal(renamed.status, 403)
    assert.equal((await request('DELETE', `/v2/storage/tokens/${id}`, { token: manager.token })).status, 403)
  }
  assert.equal((await request('POST', `/v2/storage/tokens/${equal.id}/refresh`, { token: manager.token })).status, 200)
  assert.equal((await request('POST', `/v2/storage/tokens/${manager.id}/refresh`, { token: manager.token })).status, 200)
  assert.equal((await request('POST', `/v2/storage/tokens/${stronger.id}/refresh`)).status, 200)
})

test("a token manager reads others' events only with the permission for it", async () => {
  const { request } = await startProject()
  const make = async (json: unknown) =>
    (await request('POST', '/v2/storage/tokens', { json })).json<TokenAnswer & { token: string }>()
  const manager = await make({ canManageTokens: true })
  const reader = await make({ canManageTokens: true, canReadAllProjectEvents: true })
  assert.equal(
    (await request('GET', `/v2/storage/tokens/${await masterId({ request })}/events`, { token: manager.token })).status,
    403,
  )
  assert.equal((await request('GET', `/v2/storage/tokens/${manager.id}/events`, { token: manager.token })).status, 200)
  assert.equal(
    (await request('GET', `/v2/storage/tokens/${await masterId({ request })}/events`, { token: reader.token })).status,
    200,
  )
})

test('a token can be renamed after a bucket it may read is gone', async () => {
  const { request } = await startProject()
  for (const name of ['kept', 'dropped']) await request('POST', '/v2/storage/buckets', { json: { name, stage: 'in' } })
  const bucketPermissions = { 'in.c-kept': 'read', 'in.c-dropped': 'read' }
  const { id } = (await request('POST', '/v2/storage/tokens', { json: { bucketPermissions } })).json<TokenAnswer>()
  assert.ok((await request('DELETE', '/v2/storage/buckets/in.c-dropped?force=1')).status < 300)
  const renamed = await request('PUT', `/v2/storage/tokens/${id}`, { json: { description: 'renamed' } })
  assert.equal(renamed.status, 200, renamed.text)
  assert.deepEqual(renamed.json<TokenAnswer>().bucketPermissions, { 'in.c-kept': 'read' })
})

test('an update changes what was sent and keeps the rest', async () => {
  const { request } = await startProject()
  const { id } = (
    await request('POST', '/v2/storage/tokens', { json: { description: 'a', canPurgeTrash: true, canManageBuckets: true } })
  ).json<TokenAnswer>()
  const updated = (
    await request('PUT', `/v2/storage/tokens/${id}`, { json: { canReadAllFileUploads: true, canManageBuckets: false } })
  ).json<TokenAnswer>()
  assert.equal(updated.description, 'a')
  assert.equal(updated.canPurgeTrash, true)
  assert.equal(updated.canReadAllFileUploads, true)
  assert.equal(updated.canManageBuckets, true)
})

test('bad requests are refused with the field and the reason', async () => {
  const { request } = await startProject()
  const cases: [unknown, number, string][] = [
    [{ expiresIn: 0 }, 400, 'storage.tokens.validation'],
    [{ expiresIn: 'soon' }, 400, 'storage.validation'],
    [{ expiresIn: 1e15 }, 400, 'storage.tokens.validation'],
    [{ bucketPermissions: { 'in.c-none': 'read' } }, 400, 'storage.tokens.invalidPermissions'],
    [{ bucketPermissions: { 'in.c-none': 'own' } }, 400, 'storage.tokens.invalidPermissions'],
    [{ description: 'x'.repeat(10_001) }, 400, 'storage.tokens.validation'],
    [{ canManageBuckets: 'maybe' }, 400, 'storage.validation'],
  ]
  for (const [json, status, code] of cases) {
    const answer = await request('POST', '/v2/storage/tokens', { json })
    assert.equal(answer.status, status, answer.text)
    assert.equal(answer.json().code, code)
  }
})

test('sharing a token by mail is refused for what is wrong with it first, then because there is no mail', async () => {
  const { request } = await startProject()
  const make = async (json: Record<string, unknown>, token?: string) =>
    (await request('POST', '/v2/storage/tokens', { json, ...(token && { token }) })).json<TokenAnswer>()
  const manager = await make({ canManageTokens: true })
  const [own, foreign] = [await make({}, manager.token), await make({})]
  const share = async (id: string, json: unknown = { recipientEmail: 'a@example.com', message: 'Hello' }) =>
    (await request('POST', `/v2/storage/tokens/${id}/share`, { json, token: manager.token! })).status
  assert.equal(await share(own.id, {}), 400)
  assert.equal(await share(await masterId({ request })), 400)
  assert.equal(await share(foreign.id), 403)
  assert.equal(await share('424242'), 404)
  assert.equal(await share(own.id), 501)
})

test('tokens of another project do not exist here', async () => {
  const { request, newProject } = await startProject()
  const other = await newProject()
  const { id } = (await request('POST', '/v2/storage/tokens', { json: {} })).json<TokenAnswer>()
  for (const [method, path] of [
    ['GET', `/v2/storage/tokens/${id}`],
    ['PUT', `/v2/storage/tokens/${id}`],
    ['DELETE', `/v2/storage/tokens/${id}`],
    ['POST', `/v2/storage/tokens/${id}/refresh`],
    ['GET', `/v2/storage/tokens/${id}/events`],
  ] as const) {
    assert.equal((await request(method, path, { token: other.masterToken })).status, 404, `${method} ${path}`)
  }
})

test('every change of a token has an event, and the token has its list of them', async () => {
  const { request } = await startProject()
  const { id, token } = (await request('POST', '/v2/storage/tokens', { json: { description: 'watched' } })).json<TokenAnswer>()
  await request('PUT', `/v2/storage/tokens/${id}`, { json: { description: 'renamed' } })
  await request('POST', `/v2/storage/tokens/${id}/refresh`)
  await request('DELETE', `/v2/storage/tokens/${id}`)
  const events = (await request('GET', '/v2/storage/events?sortOrder=asc')).json<{ event: string; objectId: string }[]>()
  assert.deepEqual(
    events.filter((event) => event.objectId === id && event.event !== 'storage.projectCreated').map((event) => event.event),
    ['storage.tokenCreated', 'storage.tokenUpdated', 'storage.tokenRefreshed', 'storage.tokenDeleted'],
  )
  const own = (await request('GET', `/v2/storage/tokens/${await masterId({ request })}/events?limit=2`)).json<unknown[]>()
  assert.equal(own.length, 2)
  assert.ok(token)
})

test('no file of the data folder holds a clear token value', async () => {
  const { request, dataDir, masterToken } = await startProject()
  const { token } = (await request('POST', '/v2/storage/tokens', { json: {} })).json<TokenAnswer>()
  for (const name of await readdir(dataDir, { recursive: true })) {
    const bytes = await readFile(join(dataDir, name)).catch(() => Buffer.alloc(0))
    for (const secret of [masterToken, token!]) assert.ok(!bytes.includes(secret), `${name} holds a token in clear`)
  }
})

test('verify answers at once what changed since it was asked last', async () => {
  const { request, newProject } = await startProject()
  const verify = async (token?: string) =>
    (await request('GET', '/v2/storage/tokens/verify', token ? { token } : {})).json<TokenAnswer & { owner: { id: number } }>()
  for (const name of ['one', 'two', 'three']) {
    await verify()
    await request('POST', '/v2/storage/buckets', { json: { stage: 'in', name } })
    assert.equal((await verify()).bucketPermissions?.[`in.c-${name}`], 'manage')
  }
  const { projectId, masterToken } = await newProject()
  assert.equal((await verify(masterToken)).owner.id, projectId)
  assert.notEqual((await verify()).owner.id, projectId)
})
