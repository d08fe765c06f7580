import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { type Job, shareShellStack } from '../../../../../tests/support/shell-stack.ts'

const startProject = shareShellStack({ roles: ['api', 'worker'] })

interface TriggerAnswer {
  readonly id: string
  readonly lastRun: string
  readonly [field: string]: unknown
}

const MINUTE_MS = 60_000

/** A stack whose triggers are fired by the test, with a component, a configuration of it and two tables. */
async function start() {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  const configurationId = await stack.configure('test.noop', {})
  const tables = tableClient(stack)
  const bucket = await tables.bucket()
  await tables.create(bucket, 'a', 'id\n1\n')
  await tables.create(bucket, 'b', 'id\n1\n')
  const tableIds = [`${bucket}.a`, `${bucket}.b`]
  const token = async (json: object) =>
    (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ id: string; token: string }>()
  const runner = await token({ description: 'runs triggers', canManageBuckets: true })
  const body = {
    runWithTokenId: Number(runner.id),
    component: 'test.noop',
    configurationId,
    coolDownPeriodMinutes: 5,
    tableIds,
  }
  const create = async (change: object = {}) => {
    const answer = await stack.request('POST', '/v2/storage/triggers', { json: { ...body, ...change } })
    assert.equal(answer.status, 201, answer.text)
    return answer.json<TriggerAnswer>()
  }
  const jobs = async () => (await stack.request('GET', '/queue/jobs')).json<Job[]>()
  const tick = (minutes: number) => stack.platform.scheduler.loop.tick(new Date(Date.now() + minutes * MINUTE_MS))
  const events = async (name: string) =>
    (await stack.request('GET', '/v2/storage/events'))
      .json<{ event: string; description: string }[]>()
      .filter(({ event }) => event === `storage.trigger${name}`)
  return { ...stack, tables, tableIds, runner, token, body, create, jobs, tick, events, configurationId }
}

test('a trigger is created, listed, filtered, changed with a form and deleted as clients do it', async () => {
  const { request, create, body, tableIds } = await start()
  const made = await create()
  const { id: creatorId } = (await request('GET', '/v2/storage/tokens/verify')).json<{ id: string }>()
  assert.deepEqual(
    { ...made, lastRun: '' },
    {
      id: made.id,
      runWithTokenId: body.runWithTokenId,
      component: 'test.noop',
      configurationId: body.configurationId,
      lastRun: '',
      coolDownPeriodMinutes: 5,
      creatorToken: { id: Number(creatorId), description: 'Master token of Test' },
      tables: tableIds.map((tableId) => ({ tableId })),
    },
  )
  assert.match(made.lastRun, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
  assert.deepEqual((await request('GET', `/v2/storage/triggers/${made.id}/`)).json(), made)
  const found = async (query: string) => (await request('GET', `/v2/storage/triggers/${query}`)).json<unknown[]>().length
  assert.deepEqual(
    [await found(''), await found('?component=test.noop'), await found('?component=other'), await found('?configurationId=9')],
    [1, 1, 0, 0],
  )
  const changed = await request('PUT', `/v2/storage/triggers/${made.id}`, {
    form: { coolDownPeriodMinutes: '20', 'tableIds[]': tableIds[0]! },
  })
  assert.deepEqual(changed.json(), { ...made, coolDownPeriodMinutes: 20, tables: [{ tableId: tableIds[0] }] })
  assert.equal((await request('DELETE', `/v2/storage/triggers/${made.id}`)).status, 204)
  assert.equal((await request('GET', `/v2/storage/triggers/${made.id}`)).status, 404)
})

test('it fires once when all tables were imported and the cool-down is over', async () => {
  const { create, jobs, tick, tables, tableIds, runner, events, wait, request } = await start()
  const made = await create()
  assert.equal(await tick(6), 0, 'the imports before it was made do not count')
  await tables.load(tableIds[0]!, 'id\n2\n')
  assert.equal(await tick(6), 0, 'one table is missing')
  await tables.load(tableIds[1]!, 'id\n2\n')
  assert.equal(await tick(4), 0, 'the cool-down is not over')
  assert.deepEqual(await Promise.all([tick(6), tick(6)]).then((counts) => counts.sort()), [0, 1], 'two nodes, one run')
  const [job] = await jobs()
  assert.equal((await wait(job!)).status, 'success')
  assert.equal((job!.token as { id: string }).id, runner.id)
  assert.equal(await tick(60), 0, 'nothing new')
  assert.equal((await jobs()).length, 1)
  assert.equal((await events('Fired')).length, 1)
  const after = (await request('GET', `/v2/storage/triggers/${made.id}`)).json<TriggerAnswer>()
  assert.ok(after.lastRun > made.lastRun)

  for (const tableId of tableIds) await tables.load(tableId, 'id\n3\n')
  assert.equal(await tick(8), 0, 'the cool-down counts from the last run')
  assert.equal(await tick(12), 1)
  assert.equal((await jobs()).length, 2)
})

test('a run that is not possible leaves an event with the reason and waits for the next imports', async () => {
  const { create, jobs, tick, tables, tableIds, events } = await start()
  await create({ configurationId: 'nowhere', tableIds: [tableIds[0]] })
  await tables.load(tableIds[0]!, 'id\n2\n')
  assert.equal(await tick(6), 0)
  const [event] = await events('Failed')
  assert.match(event!.description, /nowhere/)
  assert.equal(await tick(60), 0)
  assert.equal((await events('Failed')).length, 1)
  assert.deepEqual(await jobs(), [])
})

test('a table that was dropped keeps its trigger quiet', async () => {
  const { create, request, tick, tables, tableIds } = await start()
  await create()
  await tables.load(tableIds[0]!, 'id\n2\n')
  await request('DELETE', `/v2/storage/tables/${tableIds[1]}`)
  assert.equal(await tick(6), 0)
})

test('a token that a trigger runs with cannot be deleted', async () => {
  const { create, request, runner } = await start()
  const { id } = await create()
  const refused = await request('DELETE', `/v2/storage/tokens/${runner.id}`)
  assert.equal(refused.status, 400)
  assert.equal(refused.json<{ code: string }>().code, 'storage.tokens.cannotDeleteDueToOrchestration')
  await request('DELETE', `/v2/storage/triggers/${id}`)
  assert.equal((await request('DELETE', `/v2/storage/tokens/${runner.id}`)).status, 204)
})

test('a trigger and its token may name one component by different names', async () => {
  const { create, token } = await start()
  const { id } = await token({ description: 'one component', componentAccess: ['platform.ex-http'] })
  await create({ runWithTokenId: Number(id), component: 'keboola.ex-generic-v2' })
})

test('a token lends no rights that it does not have', async () => {
  const { request, token, body, create, tableIds, runner } = await start()
  const bucketPermissions = { [tableIds[0]!.split('.').slice(0, 2).join('.')]: 'write' }
  const weak = await token({ description: 'weak', bucketPermissions, componentAccess: ['test.noop'] })
  const weaker = await token({ description: 'weaker', bucketPermissions, componentAccess: ['test.noop'] })
  const post = (runWithTokenId: number) =>
    request('POST', '/v2/storage/triggers', { token: weak.token, json: { ...body, runWithTokenId } })
  const refused = await post(Number(runner.id))
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /has rights that your token does not have\. Set runWithTokenId to your own token/)
  for (const { id } of [weak, weaker]) assert.equal((await post(Number(id))).status, 201)
  const { id } = await create()
  const changed = await request('PUT', `/v2/storage/triggers/${id}`, { token: weak.token, json: { coolDownPeriodMinutes: 1 } })
  assert.equal(changed.status, 400, 'what runs with more rights is not changed with fewer')
})

test('bad requests are refused with a reason', async () => {
  const { request, body, token, runner, newProject, create } = await start()
  const expiring = await token({ description: 'expires', expiresIn: 3600, canManageBuckets: true })
  for (const [change, status, text] of [
    [{ coolDownPeriodMinutes: 0 }, 400, /^Minimal cool down period is 1 minute$/],
    [{ coolDownPeriodMinutes: 1e9 }, 400, /at most/],
    [{ runWithTokenId: 999 }, 400, /^Token with id "999" was not found\.$/],
    [{ runWithTokenId: Number(expiring.id) }, 400, /^The 'runByToken' has expiration set\. Use token without expiration\.$/],
    [{ tableIds: [] }, 400, /at least one table/],
    [{ tableIds: ['in.c-none.at-all'] }, 404, /in\.c-none/],
    [{ tableIds: 'x' }, 400, /tableIds/],
    [{ component: '' }, 400, /component/],
    [{ configurationId: undefined }, 400, /configurationId/],
  ] as const) {
    const answer = await request('POST', '/v2/storage/triggers', { json: { ...body, ...change } })
    assert.equal(answer.status, status, `${JSON.stringify(change)}: ${answer.text}`)
    assert.match(answer.json<{ error: string }>().error, text)
  }
  for (const id of ['0', '99999999999999999', 'x', '-1'])
    assert.equal((await request('GET', `/v2/storage/triggers/${id}`)).status, 404, id)
  const { id } = await create()
  const other = await newProject()
  for (const method of ['GET', 'PUT', 'DELETE'])
    assert.equal((await request(method, `/v2/storage/triggers/${id}`, { token: other.masterToken })).status, 404)
  const asRunner = await request('POST', '/v2/storage/triggers', { token: runner.token, json: { ...body, runWithTokenId: 1 } })
  assert.equal(asRunner.status, 400, 'only admins lend the token of an admin')
  assert.equal((await request('GET', '/v2/storage/branch/default/triggers')).status, 501)
})
