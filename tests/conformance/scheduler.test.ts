// Schedules over HTTP, as spec platform 3.1 describes it: a configuration from form fields, activation with a master token, the list, the run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestStack, type TestStack } from '../support/test-stack.ts'

interface ScheduleAnswer {
  readonly id: string
  readonly tokenId: string
  readonly configurationId: string
  readonly configurationVersionId: string
  readonly schedule: Record<string, unknown>
  readonly target: Record<string, unknown>
  readonly executions: { jobId: string | null; executionTime: string; status: string; reason: string | null }[]
  readonly nextExecutionTime: string | null
  readonly stoppedReason: string | null
}

const TARGET = 'platform.ex-http'

async function setUp(t: Parameters<typeof startTestStack>[0]) {
  let now = new Date('2026-05-01T12:00:30Z')
  const stack = await startTestStack(t, { clock: { now: () => now } })
  const ok = async (method: string, path: string, options: Parameters<TestStack['request']>[2] = {}) => {
    const answer = await stack.request(method, path, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const newTarget = async (rows: readonly string[] = []) => {
    const { id } = (
      await ok('POST', `/v2/storage/components/${TARGET}/configs`, { json: { name: 'target', configuration: {} } })
    ).json<{ id: string }>()
    for (const rowId of rows)
      await ok('POST', `/v2/storage/components/${TARGET}/configs/${id}/rows`, { json: { rowId, name: rowId } })
    return id
  }
  const newSchedule = async (configuration: unknown, component = 'platform.scheduler') => {
    const form = new FormData()
    form.set('name', 'nightly')
    form.set('configuration', typeof configuration === 'string' ? configuration : JSON.stringify(configuration))
    return (await ok('POST', `/v2/storage/components/${component}/configs/`, { body: form })).json<{
      id: string
      isDisabled: boolean
    }>().id
  }
  const activate = (configurationId: string, token?: string) =>
    stack.request('POST', '/scheduler/schedules', { json: { configurationId }, ...(token && { token }) })
  const list = async (query = '') => (await ok('GET', `/scheduler/schedules${query}`)).json<ScheduleAnswer[]>()
  return {
    ...stack,
    ok,
    newTarget,
    newSchedule,
    activate,
    list,
    at: async (time: string) => {
      now = new Date(time)
      await stack.platform.scheduler.loop.tick(now)
    },
  }
}

const every5 = (configurationId: string, target = {}) => ({
  schedule: { cronTab: '*/5 * * * *', timezone: 'UTC', state: 'enabled' },
  target: { componentId: TARGET, configurationId, mode: 'run', ...target },
})

test('a schedule configuration does nothing until it is activated, then fires and is listed with every field', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget()
  const id = await s.newSchedule(every5(target), 'keboola.scheduler')
  await s.at('2026-05-01T12:05:00Z')
  assert.deepEqual(await s.list(), [])
  const activated = await s.activate(id)
  assert.equal(activated.status, 201)
  const [schedule] = await s.list()
  assert.deepEqual(activated.json(), schedule)
  assert.equal(schedule?.configurationId, id)
  assert.equal(schedule?.configurationVersionId, '1')
  assert.match(schedule?.id ?? '', /^\d+$/)
  assert.match(schedule?.tokenId ?? '', /^\d+$/)
  assert.deepEqual(schedule?.schedule, { cronTab: '*/5 * * * *', timezone: 'UTC', state: 'enabled' })
  assert.deepEqual(schedule?.target, {
    componentId: TARGET,
    configurationId: target,
    configurationRowIds: [],
    mode: 'run',
    tag: '',
  })
  assert.deepEqual(schedule?.executions, [])

  await s.at('2026-05-01T12:10:00Z')
  const [fired] = await s.list()
  assert.equal(fired?.executions.length, 1)
  const { jobId, executionTime } = fired!.executions[0]!
  assert.equal(executionTime, '2026-05-01T12:10:00+0000')
  const job = (await s.ok('GET', `/queue/jobs/${jobId}`)).json<{ token: { id: string }; config: string; component: string }>()
  assert.equal(job.token.id, fired?.tokenId)
  assert.equal(job.config, target)
})

test('activation needs a master token', async (t) => {
  const s = await setUp(t)
  const id = await s.newSchedule(every5(await s.newTarget()))
  const { token } = (await s.ok('POST', '/v2/storage/tokens', { json: { canManageBuckets: true } })).json<{ token: string }>()
  const refused = await s.activate(id, token)
  assert.equal(refused.status, 403)
  assert.match(String(refused.json().error), /master token/)
})

test('only the named rows run', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget(['a', 'b', 'c'])
  await s.activate(await s.newSchedule(every5(target, { configurationRowIds: ['c', 'a'], tag: 'v1' })))
  await s.at('2026-05-01T12:05:00Z')
  const [schedule] = await s.list()
  assert.deepEqual(schedule?.target.configurationRowIds, ['c', 'a'])
  const job = (await s.ok('GET', `/queue/jobs/${schedule?.executions[0]?.jobId}`)).json<{ configRowIds: string[] }>()
  assert.deepEqual(job.configRowIds, ['c', 'a'])
})

test('activating again reloads the current version into the same schedule; disabled keeps it quiet', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget()
  const id = await s.newSchedule(every5(target))
  const first = (await s.activate(id)).json<ScheduleAnswer>()
  const quiet = { ...every5(target), schedule: { cronTab: '0 1 * * *', timezone: 'Europe/Prague', state: 'disabled' } }
  await s.ok('PUT', `/v2/storage/components/platform.scheduler/configs/${id}`, { json: { configuration: quiet } })
  await s.at('2026-05-01T12:05:00Z')
  assert.equal((await s.list())[0]?.executions.length, 1)
  const second = (await s.activate(id)).json<ScheduleAnswer>()
  assert.equal(second.id, first.id)
  assert.equal(second.tokenId, first.tokenId)
  assert.equal(second.configurationVersionId, '2')
  assert.equal(second.schedule.state, 'disabled')
  assert.equal(second.nextExecutionTime, null)
  await s.at('2026-05-03T00:00:00Z')
  assert.equal((await s.list())[0]?.executions.length, 1)
})

test('a disabled configuration does not fire, and the schedule says why', async (t) => {
  const s = await setUp(t)
  const id = await s.newSchedule(every5(await s.newTarget()))
  const path = `/v2/storage/components/platform.scheduler/configs/${id}`
  await s.ok('PUT', path, { json: { isDisabled: true } })
  const quiet = (await s.activate(id)).json<ScheduleAnswer>()
  assert.equal(quiet.nextExecutionTime, null)
  assert.match(quiet.stoppedReason ?? '', /disabled/)
  await s.ok('PUT', path, { json: { isDisabled: false } })
  const active = (await s.activate(id)).json<ScheduleAnswer>()
  assert.equal(active.nextExecutionTime, '2026-05-01T12:05:00+0000')
  assert.equal(active.stoppedReason, null)
})

test('a version that is asked for is the one that is activated', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget()
  const id = await s.newSchedule(every5(target))
  const daily = { ...every5(target), schedule: { cronTab: '0 6 * * *', timezone: 'UTC', state: 'enabled' } }
  await s.ok('PUT', `/v2/storage/components/platform.scheduler/configs/${id}`, { json: { configuration: daily } })
  const activateVersion = (configurationVersionId: unknown) =>
    s.request('POST', '/scheduler/schedules', { json: { configurationId: id, configurationVersionId } })
  for (const [version, active, cronTab] of [
    ['1', '1', '*/5 * * * *'],
    [2, '2', '0 6 * * *'],
    ['1', '1', '*/5 * * * *'],
    [null, '2', '0 6 * * *'],
    ['', '2', '0 6 * * *'],
  ]) {
    const activated = await activateVersion(version)
    assert.equal(activated.status, 201, activated.text)
    assert.equal(activated.json<ScheduleAnswer>().configurationVersionId, active)
    assert.equal(activated.json<ScheduleAnswer>().schedule.cronTab, cronTab)
  }
  assert.equal((await s.list()).length, 1)
  assert.equal((await activateVersion('3')).status, 404)
  assert.match(String((await activateVersion('3')).json().error), /Version 3 of the configuration/)
  for (const nonsense of ['latest', '-1', '0', '1.5', '99999999999999999999'])
    assert.equal((await activateVersion(nonsense)).status, 400, nonsense)
})

test('several schedules may run one configuration, and the list can be narrowed to a target', async (t) => {
  const s = await setUp(t)
  const [a, b] = [await s.newTarget(), await s.newTarget()]
  for (const target of [a, a, b]) await s.activate(await s.newSchedule(every5(target)))
  assert.equal((await s.list()).length, 3)
  assert.equal((await s.list(`?componentId=${TARGET}&configurationId=${a}`)).length, 2)
  assert.equal((await s.list('?componentId=other')).length, 0)
  await s.activate(await s.newSchedule(every5(b, { componentId: 'keboola.ex-generic-v2' })))
  for (const name of [TARGET, 'keboola.ex-generic-v2']) assert.equal((await s.list(`?componentId=${name}`)).length, 4, name)
})

test('a deleted target or configuration stops the schedule with a reason and an event', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget()
  await s.activate(await s.newSchedule(every5(target)))
  await s.ok('DELETE', `/v2/storage/components/${TARGET}/configs/${target}`)
  await s.at('2026-05-01T12:05:00Z')
  const [schedule] = await s.list()
  assert.match(schedule?.stoppedReason ?? '', /was deleted/)
  assert.equal(schedule?.nextExecutionTime, null)
  const events = (await s.ok('GET', '/v2/storage/events?component=scheduler')).json<{ event: string; type: string }[]>()
  assert.ok(events.some((event) => event.event === 'scheduler.scheduleStopped' && event.type === 'warn'))
})

test('a schedule ends by its id or by its configuration, and its token with it', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget()
  const [one, two] = [await s.newSchedule(every5(target)), await s.newSchedule(every5(target))]
  const first = (await s.activate(one)).json<ScheduleAnswer>()
  await s.activate(two)
  await s.ok('POST', `/scheduler/schedules/${first.id}/refreshToken`)
  assert.equal((await s.ok('DELETE', `/scheduler/schedules/${first.id}`)).status, 204)
  assert.equal((await s.request('GET', `/v2/storage/tokens/${first.tokenId}`)).status, 404)
  assert.equal((await s.ok('DELETE', `/scheduler/configurations/${two}`)).status, 204)
  assert.equal((await s.request('DELETE', `/scheduler/configurations/${two}`)).status, 404)
  assert.equal((await s.request('GET', `/scheduler/schedules/${first.id}`)).status, 404)
  assert.deepEqual(await s.list(), [])
})

test('a schedule of another project is not touched, also when its configuration has the same id', async (t) => {
  const s = await setUp(t)
  const other = await s.newProject()
  const activate = async (token: string) => {
    const target = { name: 'target', configurationId: 'same', configuration: {} }
    await s.ok('POST', `/v2/storage/components/${TARGET}/configs`, { token, json: target })
    const schedule = { name: 'nightly', configurationId: 'same', configuration: every5('same') }
    await s.ok('POST', '/v2/storage/components/platform.scheduler/configs', { token, json: schedule })
    return (await s.ok('POST', '/scheduler/schedules', { token, json: { configurationId: 'same' } })).json<ScheduleAnswer>()
  }
  const theirs = await activate(other.masterToken)
  const asOther = { token: other.masterToken }
  assert.equal((await s.request('DELETE', '/scheduler/configurations/same')).status, 404, 'it has none yet')
  const mine = await activate(s.masterToken)
  assert.notEqual(mine.id, theirs.id)
  assert.equal((await s.ok('DELETE', '/scheduler/configurations/same')).status, 204)
  assert.deepEqual(await s.list('?configurationId=same'), [])
  const left = (await s.ok('GET', '/scheduler/schedules', asOther)).json<ScheduleAnswer[]>()
  assert.deepEqual(
    left.map(({ id }) => id),
    [theirs.id],
  )
})

test('the preview shows what will fire, with marks where the clock jumps', async (t) => {
  const s = await setUp(t)
  await s.at('2026-10-24T12:00:00Z')
  const preview = (
    await s.ok('POST', '/scheduler/preview', { json: { cronTab: '30 2 * * *', timezone: 'Europe/Prague', count: 2 } })
  ).json()
  assert.deepEqual(preview, [
    { executionTime: '2026-10-25T00:30:00+0000', dst: 'first of two' },
    { executionTime: '2026-10-26T01:30:00+0000', dst: null },
  ])
  const target = await s.newTarget()
  const schedule = { cronTab: '30 2 * * *', timezone: 'Europe/Prague', state: 'enabled' }
  const { id } = (await s.activate(await s.newSchedule({ ...every5(target), schedule }))).json<ScheduleAnswer>()
  assert.deepEqual((await s.ok('GET', `/scheduler/schedules/${id}/next?count=2`)).json(), preview)
  await s.at('2026-10-25T00:30:00Z')
  await s.at('2026-10-25T01:30:00Z')
  assert.equal((await s.list())[0]?.executions.length, 1)
})

test('what cannot be a schedule is refused with the field and the reason', async (t) => {
  const s = await setUp(t)
  const target = await s.newTarget(['r'])
  const base = every5(target)
  const cases: [unknown, RegExp][] = [
    [{ ...base, schedule: { ...base.schedule, cronTab: '61 * * * *' } }, /cronTab.*61/],
    [{ ...base, schedule: { ...base.schedule, cronTab: '0 0 31 2 *' } }, /never comes true/],
    [{ ...base, schedule: { ...base.schedule, cronTab: '*/90 * * * *' } }, /larger than the field/],
    [{ ...base, schedule: { ...base.schedule, timezone: 'Mars/Olympus' } }, /timezone.*Mars/],
    [{ ...base, schedule: { ...base.schedule, state: 'paused' } }, /state.*paused/],
    [{ ...base, schedule: 'often' }, /schedule/],
    [{ schedule: base.schedule }, /target/],
    [every5('424242'), /target\.configurationId/],
    [every5(target, { componentId: 'none.such' }), /target/],
    [every5(target, { configurationRowIds: ['nope'] }), /row nope/],
    [every5(target, { configurationRowIds: 'r' }), /configurationRowIds/],
    [every5(target, { mode: 'walk' }), /mode.*walk/],
    [{ ...base, policy: { missed: 'maybe' } }, /policy\.missed/],
    [{ ...base, policy: { graceMinutes: -1 } }, /graceMinutes/],
    [{}, /schedule/],
  ]
  for (const [configuration, reason] of cases) {
    const refused = await s.activate(await s.newSchedule(configuration))
    assert.equal(refused.status, 400, `${JSON.stringify(configuration)}: ${refused.text}`)
    assert.match(String(refused.json().error), reason)
    assert.equal(refused.json().code, 400)
  }
  assert.equal((await s.activate('424242')).status, 404)
  assert.equal((await s.activate(target)).status, 404) // a configuration of another component
  assert.equal((await s.request('POST', '/scheduler/schedules', { json: {} })).status, 400)
  assert.equal((await s.request('POST', '/scheduler/preview', { json: { cronTab: 'x' } })).status, 400)
  assert.equal((await s.request('GET', '/scheduler/schedules/x')).status, 404)
  const other = await s.newProject()
  const mine = (await s.activate(await s.newSchedule(base))).json<ScheduleAnswer>()
  for (const path of [`/scheduler/schedules/${mine.id}`, `/scheduler/schedules/${mine.id}/next`])
    assert.equal((await s.request('GET', path, { token: other.masterToken })).status, 404)
})

test('schedules are listed by page, by what runs soonest and by their targets, and counted, as far as a token sees them', async (t) => {
  const s = await setUp(t)
  const others = '/v2/storage/components/keboola.flow/configs'
  const flow = { configurationId: 'flow', name: 'flow', configuration: { phases: [], tasks: [] } }
  await s.ok('POST', others, { json: flow })
  const http = await s.newTarget()
  const scheduled = async (cronTab: string, componentId: string, configurationId: string, state = 'enabled') => {
    const target = { componentId, configurationId, mode: 'run' }
    const id = await s.newSchedule({ schedule: { cronTab, timezone: 'UTC', state }, target })
    assert.equal((await s.activate(id)).status, 201)
    return id
  }
  const late = await scheduled('0 20 * * *', TARGET, http)
  const soon = await scheduled('0 13 * * *', 'keboola.flow', 'flow')
  const paused = await scheduled('0 14 * * *', TARGET, http, 'disabled')
  const ids = async (query: string) => (await s.list(query)).map(({ configurationId }) => configurationId)
  assert.deepEqual(await ids(''), [late, soon, paused])
  assert.deepEqual(await ids('?limit=2'), [late, soon])
  assert.deepEqual(await ids('?limit=2&offset=2'), [paused])
  assert.deepEqual(await ids('?offset=1'), [soon, paused])
  assert.deepEqual(await ids('?sort=next'), [soon, late])
  assert.deepEqual(await ids('?sort=next&limit=1'), [soon])
  assert.deepEqual(await ids('?configurationIds[]=flow&configurationIds[]=other'), [soon])
  assert.equal((await s.request('GET', '/scheduler/schedules?limit=1001')).status, 400)
  const totals = async (token?: string) => (await s.ok('GET', '/scheduler/totals', token ? { token } : {})).json<object>()
  assert.deepEqual(await totals(), { schedules: 3, stopped: 0 })

  const tokenFor = async (componentAccess: readonly string[]) =>
    (await s.ok('POST', '/v2/storage/tokens', { json: { description: 'x', componentAccess } })).json<{ token: string }>().token
  const ofFlows = await tokenFor(['keboola.flow'])
  const seen = (await s.ok('GET', '/scheduler/schedules?limit=1', { token: ofFlows })).json<ScheduleAnswer[]>()
  assert.deepEqual(
    seen.map(({ configurationId }) => configurationId),
    [soon],
    'a page has only what the token sees',
  )
  assert.deepEqual(await totals(ofFlows), { schedules: 1, stopped: 0 })
  const ofOthers = await tokenFor(['keboola.duckdb-transformation'])
  assert.deepEqual((await s.ok('GET', '/scheduler/schedules', { token: ofOthers })).json<unknown>(), [])

  await s.ok('DELETE', `${others}/flow`)
  await s.at('2026-05-01T13:00:01Z')
  assert.deepEqual(await totals(), { schedules: 3, stopped: 1 })
})
