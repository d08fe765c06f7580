// What real clients expect of the storage API, by number: part A. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type RequestOptions, send, startTestStack } from '../support/test-stack.ts'

interface EventAnswer {
  readonly id: number
  readonly event: string
  readonly message: string
  readonly type: string
  readonly [member: string]: unknown
}

test('corrections A', async (t) => {
  const stack = await startTestStack(t)
  /** A project of its own, and requests to /v2/storage with its master token. */
  async function project(name: string) {
    const { projectId, masterToken } = await stack.newProject(name)
    const call = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
      send(stack.url, method, `/v2/storage/${path}`, { token: masterToken, ...options })
    const ok = async (method: string, path: string, options: RequestOptions = {}): Promise<Answer> => {
      const answer = await call(method, path, options)
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
      return answer
    }
    const refused = async (method: string, path: string, options: RequestOptions, status: number, error: string | RegExp) => {
      const answer = await call(method, path, options)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
      const text = answer.json<{ error: string }>().error
      if (typeof error === 'string') assert.equal(text, error)
      else assert.match(text, error)
      return answer
    }
    const token = async (json: object) => (await ok('POST', 'tokens', { json })).json<{ id: string; token: string }>()
    const events = async (query = '', path = 'events') => (await ok('GET', `${path}?${query}`)).json<EventAnswer[]>()
    return { projectId, masterToken, call, ok, refused, token, events }
  }

  await t.test('A1: an event with all nine members, most of them null, is an event of type info', async () => {
    const { ok, events } = await project('A1')
    const members = { configurationId: null, runId: null, description: null, type: null, duration: null }
    const json = { component: 'dummy', message: 'dummy', ...members, params: [], results: [] }
    const made = await ok('POST', 'events', { json })
    assert.equal(made.status, 201)
    assert.deepEqual(Object.keys(made.json()).sort(), ['id', 'uuid'])
    const [event] = await events()
    assert.deepEqual([event?.type, event?.event, event?.params, event?.results], ['info', 'ext.dummy.', {}, {}])
    assert.deepEqual((await ok('POST', 'files/prepare', { json: { name: 'a', tags: null } })).json().tags, [])
  })

  await t.test(
    'A2: triggers belong to admins, to tokens that manage buckets, and to tokens with access to the component',
    async () => {
      const { ok, call, refused, token } = await project('A2')
      await ok('POST', 'buckets', { json: { name: 'a' } })
      await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id\n1\n' } })
      const runner = await token({ description: 'runs, may nothing' })
      const body = {
        runWithTokenId: Number(runner.id),
        component: 'keboola.orchestrator',
        configurationId: '123',
        coolDownPeriodMinutes: 10,
        tableIds: ['in.c-a.t'],
      }
      const privilege = (components: string) =>
        'Your token does not have sufficient privilege. Token is neither admin token nor does it have canManageBucket permission ' +
        `nor does it have access to component(s) "${components}".`
      const made = (await ok('POST', 'triggers', { json: body })).json<{ id: string }>()

      const reading = { bucketPermissions: { 'in.c-a': 'read' } }
      const stranger = (await token({ description: 'reads', ...reading })).token
      const orchestrates = (await token({ description: 'o', componentAccess: ['keboola.orchestrator'], ...reading })).token
      const other = (await token({ description: 'other', componentAccess: ['keboola.unknown'], ...reading })).token
      const manager = (await token({ description: 'manages', canManageBuckets: true })).token
      for (const [method, path, json] of [
        ['POST', 'triggers', body],
        ['PUT', `triggers/${made.id}`, { coolDownPeriodMinutes: 20 }],
        ['DELETE', `triggers/${made.id}`, undefined],
      ] as const) {
        await refused(method, path, { token: stranger, json }, 422, privilege('keboola.orchestrator'))
        await refused(method, path, { token: other, json }, 422, privilege('keboola.orchestrator'))
      }
      const move = { json: { component: 'keboola.unknown' } }
      await refused('PUT', `triggers/${made.id}`, { token: orchestrates, ...move }, 422, privilege('keboola.unknown'))
      await refused(
        'PUT',
        `triggers/${made.id}`,
        { token: stranger, ...move },
        422,
        privilege('keboola.unknown, keboola.orchestrator'),
      )
      await ok('PUT', `triggers/${made.id}`, { token: manager, ...move })

      const own = (await ok('POST', 'triggers', { token: orchestrates, json: body })).json<{ id: string }>()
      await ok('PUT', `triggers/${own.id}`, { token: orchestrates, json: { coolDownPeriodMinutes: 20 } })
      assert.equal((await call('DELETE', `triggers/${own.id}`, { token: orchestrates })).status, 204)
      assert.equal((await call('DELETE', `triggers/${made.id}`, { token: other })).status, 204)

      const verified = (await ok('GET', 'tokens/verify')).json<{ id: string }>()
      const asAdmin = { token: manager, json: { ...body, runWithTokenId: Number(verified.id) } }
      const adminsOnly = "The 'runByToken' cannot be admin's token when your main token is not admin's"
      await refused('POST', 'triggers', asAdmin, 400, adminsOnly)
    },
  )

  await t.test('A2: what is wrong with a trigger is said in the words that clients compare', async () => {
    const { ok, refused, token } = await project('A2 texts')
    await ok('POST', 'buckets', { json: { name: 'a' } })
    await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id\n1\n' } })
    const runner = await token({ description: 'runs' })
    const expiring = await token({ description: 'expires', expiresIn: 600 })
    const body = {
      runWithTokenId: Number(runner.id),
      component: 'orchestrator',
      configurationId: '123',
      coolDownPeriodMinutes: 1,
      tableIds: ['in.c-a.t'],
    }
    for (const name of ['component', 'configurationId', 'runWithTokenId', 'tableIds']) {
      const text = `Invalid parameters - ${name}: This field is missing.`
      await refused('POST', 'triggers', { json: { ...body, [name]: undefined } }, 400, text)
      await refused('POST', 'triggers', { json: { ...body, [name]: null } }, 400, text)
    }
    const tooShort = 'Minimal cool down period is 1 minute'
    await refused('POST', 'triggers', { json: { ...body, coolDownPeriodMinutes: undefined } }, 400, tooShort)
    await refused('POST', 'triggers', { json: { ...body, coolDownPeriodMinutes: 0 } }, 400, tooShort)
    const withExpiring = { json: { ...body, runWithTokenId: Number(expiring.id) } }
    await refused('POST', 'triggers', withExpiring, 400, "The 'runByToken' has expiration set. Use token without expiration.")
    await ok('POST', 'triggers', { json: body })
    const inUse =
      'Cannot delete token, because it\'s used for event trigger inside component "orchestrator" with configuration id "123"'
    await refused('DELETE', `tokens/${runner.id}`, {}, 400, inUse)
  })
})
