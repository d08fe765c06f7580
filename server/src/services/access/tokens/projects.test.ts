// The life of a project: created, renamed, paused, deleted, brought back, gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { freshSqlite, migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { rowsOfProject } from '../../../../../tests/support/project-traces.ts'
import { type Job, shellStack } from '../../../../../tests/support/shell-stack.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

test('a stack admin creates and renames projects, and nobody else does', async (t) => {
  const stack = await startTestStack(t)
  const admin = await newStackAdmin(stack)
  const made = await admin.ok<{ id: number; name: string }>('POST', '/manage/organizations/1/projects', { name: 'Sales' })
  await admin.ok('PUT', `/manage/projects/${made.id}`, { name: 'Sales EU' })
  const list = await admin.ok<{ name: string }[]>('GET', '/manage/organizations/1/projects')
  assert.deepEqual(
    list.map(({ name }) => name),
    ['Test', 'Sales EU'],
  )
  const { token } = await admin.ok<{ token: string }>('POST', `/manage/projects/${made.id}/tokens`, { canManageBuckets: true })
  assert.equal((await stack.request('GET', '/v2/storage/buckets', { token })).status, 200)
  const member = await newMember(stack, admin, { projectId: made.id, role: 'admin' })
  for (const [method, path] of [
    ['POST', '/manage/organizations/1/projects'],
    ['PUT', `/manage/projects/${made.id}`],
    ['POST', `/manage/projects/${made.id}/disable`],
    ['DELETE', `/manage/projects/${made.id}`],
    ['GET', '/manage/users'],
  ] as const) {
    const answer = await member.call(method, path, method === 'GET' ? {} : { json: { name: 'x' } })
    assert.deepEqual([answer.status, answer.json().code], [403, 'people.adminNeeded'], `${method} ${path}`)
  }
  await admin.ok('POST', `/manage/projects/${made.id}/features`, { feature: 'early-access' })
  const { features } = await member.ok<{ features: string[] }>('GET', `/manage/projects/${made.id}`)
  assert.ok(features.includes('early-access'))
  const events = await admin.in(made.id).ok<{ event: string; token: { name: string } }[]>('GET', '/v2/storage/events?limit=100')
  const renamed = events.find(({ event }) => event === 'storage.projectRenamed')
  assert.equal(renamed?.token.name, 'root')
})

test('a manage token speaks for its person, and not about their account', async (t) => {
  const stack = await startTestStack(t)
  const admin = await newStackAdmin(stack)
  const { token, id } = await admin.ok<{ token: string; id: number }>('POST', '/account/manage-tokens', { description: 'script' })
  const call = (path: string, value = token) =>
    stack.request('GET', path, { token: null, headers: { 'x-kbc-manageapitoken': value } })
  assert.equal((await call('/manage/tokens/verify')).json<{ user: { email: string } }>().user.email, admin.email)
  assert.equal((await call('/account')).status, 401)
  assert.equal((await call('/manage/tokens/verify', 'wrong')).status, 401)
  assert.doesNotMatch((await admin.call('GET', '/account/manage-tokens')).text, new RegExp(token))
  await admin.ok('DELETE', `/account/manage-tokens/${id}`)
  assert.equal((await call('/manage/tokens/verify')).status, 401)
})

test('in a paused project nothing starts and nothing changes, and it is read', async (t) => {
  const stack = await shellStack(t)
  const admin = await newStackAdmin(stack)
  const { projectId } = stack
  await stack.add('test.echo', 'true')
  const config = await stack.configure('test.echo', {})
  await admin.ok('POST', `/manage/projects/${projectId}/disable`, { disableReason: 'the invoice is open' })
  for (const [method, path] of [
    ['POST', '/v2/storage/buckets'],
    ['POST', '/queue/jobs'],
    ['DELETE', `/v2/storage/components/test.echo/configs/${config}`],
  ] as const) {
    const answer = await stack.request(method, path, { json: { name: 'x', component: 'test.echo', config, mode: 'run' } })
    assert.equal(answer.status, 409, answer.text)
    assert.match(answer.json<{ error: string }>().error, /This project is paused \(the invoice is open\)/)
  }
  assert.equal((await stack.request('GET', '/v2/storage/buckets')).status, 200)
  const master = await stack.platform.tokens.masterActor(projectId)
  assert.equal(master.pausedReason, undefined, 'an actor of the platform itself')
  await admin.ok('POST', `/manage/projects/${projectId}/enable`)

  // A job that was queued before waits, states the reason, and runs afterwards.
  const { id } = (
    await stack.request('POST', '/queue/jobs', { json: { component: 'test.echo', config, mode: 'run', delay: '4' } })
  ).json<Job>()
  await admin.ok('POST', `/manage/projects/${projectId}/disable`)
  const job = async () => (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
  await until('the job says why it waits', async () => (await job()).waitingReason === 'Waiting: the project is paused.')
  await admin.ok('POST', `/manage/projects/${projectId}/enable`)
  await until('the job has ended', async () => (await job()).isFinished)
})

for (const [title, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', migratedPostgres],
] as const)
  test(`a deleted project can be brought back, and is gone after its grace time (${title})`, { timeout: 120_000 }, async (t) => {
    const { location, remove } = await fresh()
    t.after(remove)
    let now = Date.now()
    const stack = await startTestStack(t, {
      clock: { now: () => new Date(now) },
      ...('url' in location && { databaseUrl: location.url }),
    })
    const admin = await newStackAdmin(stack)
    const { projectId, masterToken: token } = await stack.newProject('Old')
    const member = await newMember(stack, admin, { projectId, role: 'admin' })
    await stack.request('POST', '/v2/storage/buckets', { json: { name: 'main' }, token })
    await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { form: { name: 't', dataString: 'id\n1\n' }, token })
    await stack.request('POST', '/v2/storage/components/platform.ex-http/configs', {
      json: { name: 'c', configuration: { '#p': 'x' } },
      token,
    })
    await stack.request('POST', '/vault/variables', { json: { key: 'k', value: 'v' }, token })
    await stack.request('GET', '/v2/storage/search?text=c', { token }) // which writes the words of the configuration
    const filled = Object.keys(await rowsOfProject(stack.platform.metadata.db, projectId))
    for (const table of ['project', 'token', 'data_table', 'configuration', 'event', 'vault_variable', 'configuration_words'])
      assert.ok(
        filled.some((one) => one.startsWith(`${table}.`)),
        table,
      )
    await admin.ok('DELETE', `/manage/projects/${projectId}?days=3`)
    assert.equal((await stack.request('GET', '/v2/storage/buckets', { token })).status, 401)
    assert.equal((await member.call('GET', '/v2/storage/buckets')).status, 403)
    assert.equal((await admin.ok<object[]>('GET', '/manage/deleted-projects')).length, 1)
    await admin.ok('DELETE', `/manage/deleted-projects/${projectId}`)
    assert.equal((await stack.request('GET', '/v2/storage/buckets', { token })).json<object[]>().length, 1)

    await admin.ok('DELETE', `/manage/projects/${projectId}?days=3`)
    now += 2 * 86_400_000
    await stack.platform.tokensApi.projectsLoop.tick()
    await admin.signIn()
    assert.equal((await admin.ok<object[]>('GET', '/manage/deleted-projects')).length, 1, 'one day is left')
    now += 86_400_001
    await stack.platform.tokensApi.projectsLoop.tick()
    await admin.signIn()
    assert.equal((await admin.ok<object[]>('GET', '/manage/deleted-projects')).length, 0)
    assert.deepEqual(await rowsOfProject(stack.platform.metadata.db, projectId), {})
    assert.equal((await stack.request('GET', '/v2/storage/buckets')).status, 200, 'the other project is as it was')
    assert.deepEqual((await member.call('GET', '/account')).status, 401, 'their session is over by then')
  })
