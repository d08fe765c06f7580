import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

interface EventAnswer {
  readonly id: number | string
  readonly uuid: string
  readonly event: string
  readonly [field: string]: unknown
}

const report = async (stack: TestStack, json: Record<string, unknown>, token?: string) => {
  const answer = await stack.request('POST', '/v2/storage/events', {
    json: { component: 'c', message: 'm', ...json },
    ...(token && { token }),
  })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ id: string; uuid: string }>()
}
const list = async (stack: TestStack, query: string, token?: string) =>
  (await stack.request('GET', `/v2/storage/events?${query}`, token === undefined ? {} : { token })).json<EventAnswer[]>()

test('a reported event comes back whole, by id and by uuid, with empty maps as {}', async () => {
  const stack = await startProject()
  const { id, uuid } = await report(stack, {
    type: 'warn',
    configurationId: '7',
    description: 'd',
    params: [],
    duration: 1.5,
    runId: '5.6',
  })
  const byId = (await stack.request('GET', `/v2/storage/events/${id}`)).json<EventAnswer>()
  const byUuid = (await stack.request('GET', `/v2/storage/events/${uuid}`)).json<EventAnswer>()
  assert.deepEqual(byId, byUuid)
  assert.equal(byId.event, 'ext.c.7')
  assert.equal(byId.runId, '5.6')
  assert.deepEqual([byId.params, byId.results, byId.performance], [{}, {}, { duration: 1.5 }])
  assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
})

test('lists are newest first and can be narrowed', async () => {
  const stack = await startProject()
  const a = await report(stack, { component: 'a', runId: '1', message: 'Alpha went' })
  const b = await report(stack, { component: 'b', runId: '1.2', message: 'beta 100% done' })
  const c = await report(stack, { component: 'a', runId: '12', configurationId: 'x' })
  const ids = (events: EventAnswer[]) => events.filter((event) => event.event.startsWith('ext.')).map((event) => String(event.id))
  assert.deepEqual(ids(await list(stack, 'limit=10')), [c.id, b.id, a.id])
  assert.deepEqual(ids(await list(stack, 'sortOrder=asc')), [a.id, b.id, c.id])
  assert.deepEqual(ids(await list(stack, 'component=a')), [c.id, a.id])
  assert.deepEqual(ids(await list(stack, 'runId=1')), [b.id, a.id])
  assert.deepEqual(ids(await list(stack, 'configurationId=x')), [c.id])
  assert.deepEqual(ids(await list(stack, `sinceId=${a.id}`)), [c.id, b.id])
  assert.deepEqual(ids(await list(stack, `maxId=${c.uuid}`)), [b.id, a.id])
  assert.deepEqual(ids(await list(stack, 'limit=1&offset=1')), [b.id])
  assert.deepEqual(ids(await list(stack, 'q=alpha')), [a.id])
  assert.deepEqual(ids(await list(stack, `q=${encodeURIComponent('component:a AND configurationId:x')}`)), [c.id])
  assert.deepEqual(ids(await list(stack, `q=${encodeURIComponent('"100%"')}`)), [b.id])
  assert.deepEqual(ids(await list(stack, `q=${encodeURIComponent('"1_0%"')}`)), [])
})

test('G9: q finds by patterns, and by phrases as clients write them', async () => {
  const stack = await startProject()
  const tool = await report(stack, { component: 'keboola.mcp-server-tool', message: 'MCP tool "get_jobs" call succeeded.' })
  const other = await report(stack, { component: 'acme.other', message: 'An MCP_tool of another kind' })
  const found = async (q: string) =>
    (await list(stack, `q=${encodeURIComponent(q)}`))
      .filter((event) => event.event.startsWith('ext.'))
      .map((event) => String(event.id))
  assert.deepEqual(await found('message:MCP*'), [other.id, tool.id])
  assert.deepEqual(await found('message:mcp*call'), [tool.id])
  assert.deepEqual(await found('message:"MCP tool "get_jobs" call*"'), [tool.id])
  assert.deepEqual(await found('message:"MCP tool "get_flows" call*"'), [])
  assert.deepEqual(await found(String.raw`message:"MCP tool \"get_jobs\" call*"`), [tool.id])
  assert.deepEqual(await found(String.raw`message:"MCP tool \"get_flows\" call*"`), [])
  assert.deepEqual(await found('component:keboola.*-tool'), [tool.id])
  assert.deepEqual(await found('component:"keboola.*"'), [], 'quotes mean the text itself')
  assert.deepEqual(await found('event:ext.acme* another'), [other.id])
  assert.deepEqual(await found('MCP* NOT component:acme.*'), [tool.id])
  assert.deepEqual(await found('message:MCP* AND NOT "another kind"'), [tool.id])
  assert.deepEqual(await found('message:MCP* NOT objectId:x'), [other.id, tool.id], 'also where there is no object')
  const open = await stack.request('GET', '/v2/storage/events?q=MCP%20NOT')
  assert.deepEqual([open.status, /missing after NOT/.test(open.text)], [400, true])
  const many = await stack.request('GET', `/v2/storage/events?q=${encodeURIComponent(`message:a${'*a'.repeat(30)}`)}`)
  assert.equal(many.status, 400)
  assert.match(many.json<{ error: string }>().error, /a word has more than 4 \*/)
})

test('a plain token sees its own events, one with canReadAllProjectEvents sees all', async () => {
  const stack = await startProject()
  const make = async (json: Record<string, unknown>) =>
    (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token
  const plain = await make({})
  const reader = await make({ canReadAllProjectEvents: true })
  const own = await report(stack, {}, plain)
  const master = await report(stack, {})
  assert.deepEqual(
    (await list(stack, '', plain)).map((event) => String(event.id)),
    [own.id],
  )
  assert.ok((await list(stack, '', reader)).length >= 4)
  assert.equal((await stack.request('GET', `/v2/storage/events/${master.id}`, { token: plain })).status, 403)
  const other = await stack.newProject()
  assert.equal((await stack.request('GET', `/v2/storage/events/${master.id}`, { token: other.masterToken })).status, 404)
})

test('what is no event is refused', async () => {
  const stack = await startProject()
  const cases: [unknown, string][] = [
    [{ message: 'm' }, 'storage.event.schemaValidationFailed'],
    [{ component: 'c' }, 'storage.event.schemaValidationFailed'],
    [{ component: 'c', message: 'm', type: 'fatal' }, 'storage.event.schemaValidationFailed'],
    [{ component: 'c', message: 'm', params: '{' }, 'validation.failed'],
    [{ component: 'c', message: 'm', params: [1] }, 'validation.failed'],
    [{ component: 'c', message: 'x'.repeat(200_001) }, 'requestTooLarge'],
  ]
  for (const [json, code] of cases) {
    const answer = await stack.request('POST', '/v2/storage/events', { json })
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json().code, code)
  }
})

test('what is no id of an event is refused, and an event that is not there is not found', async () => {
  const { request } = await startProject()
  const nobody = '01890a5d-ac96-774b-bcce-b302099a8057'
  for (const path of ['/nonsense', '/1x', '?sinceId=x', '?maxId=-1']) {
    const answer = await request('GET', `/v2/storage/events${path}`)
    assert.equal(answer.status, 400, path)
    assert.equal(answer.json().code, 'storage.validation')
  }
  for (const id of ['424242', '99999999999999999999', nobody])
    assert.equal((await request('GET', `/v2/storage/events/${id}`)).status, 404, id)
  assert.equal((await request('GET', `/v2/storage/events?sinceId=${nobody}`)).status, 200, 'it may be of another project')
  assert.deepEqual((await request('GET', '/v2/storage/events?sinceId=99999999999999999999')).json(), [])
})

test('tickets rise and never repeat, also when asked for at once', async () => {
  const { request } = await startProject()
  const answers = await Promise.all(Array.from({ length: 20 }, () => request('POST', '/v2/storage/tickets')))
  const ids = answers.map((answer) => Number(answer.json().id))
  assert.equal(new Set(ids).size, 20)
  assert.ok(Number((await request('POST', '/v2/storage/tickets')).json().id) > Math.max(...ids))
})
