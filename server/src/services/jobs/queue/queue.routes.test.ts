import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import test from 'node:test'
import { sql } from 'kysely'
import { type Job, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareShellStack()

test('the run call starts a job that can be polled until it succeeds', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.echo', 'echo hello from the component')
  const config = await configure('test.echo', { parameters: { a: 1 } })
  const answer = await request('POST', '/queue/test.echo/run', { json: { config } })
  assert.equal(answer.status, 202, answer.text)
  const created = answer.json<Job>()
  assert.equal(created.status, 'waiting')
  const job = await wait(created)
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  assert.equal(job.isFinished, true)
  const events = (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string; type: string }[]>()
  assert.ok(events.some(({ message, type }) => message === 'hello from the component' && type === 'info'))
})

test('a job has every key clients insist on', async () => {
  const { add, configure, request } = await startProject()
  await add('test.echo', 'true')
  const config = await configure('test.echo', {})
  const answer = await request('POST', '/queue/jobs', { json: { component: 'test.echo', config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  const job = answer.json<Job>()
  const keys = `id runId parentRunId project token status desiredStatus mode component config configData configRowIds tag createdTime startTime
    endTime durationSeconds result usageData isFinished url branchId variableValuesId variableValuesData backend executor metrics behavior
    parallelism type orchestrationJobId orchestrationTaskId onlyOrchestrationTaskIds previousJobId`
  for (const key of keys.split(/\s+/)) assert.ok(key in job, key)
  assert.equal(job.status, 'created')
  assert.equal(job.parentRunId, '')
  assert.equal(job.runId, job.id)
  assert.match(String(job.createdTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
})

test('a failed job carries the last words of its component as error.message', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.fail', 'echo "the table is missing" >&2; exit 1')
  await add('test.crash', 'echo "secret stack trace" >&2; exit 2')
  const failed = await wait(
    (await request('POST', '/queue/test.fail/run', { json: { config: await configure('test.fail', {}) } })).json<Job>(),
  )
  assert.equal(failed.status, 'error')
  assert.deepEqual(failed.error, { message: 'the table is missing' })
  assert.equal(failed.result.error?.type, 'user')
  const crashed = await wait(
    (await request('POST', '/queue/test.crash/run', { json: { config: await configure('test.crash', {}) } })).json<Job>(),
  )
  assert.equal(crashed.result.error?.type, 'application')
  assert.match(crashed.error!.message, /exit code 2/)
})

test('config.json has the effective configuration of each row, in order, secrets in clear for the component alone', async () => {
  const { add, configure, request, wait } = await startProject()
  await add(
    'test.show',
    'cat "$KBC_DATADIR/config.json"; echo; echo "row $KBC_CONFIGROWID"; grep -o "sesame-[0-9]*" "$KBC_DATADIR/config.json" | rev',
  )
  const rows = [
    { rowId: 'one', name: 'one', configuration: JSON.stringify({ parameters: { b: 2 } }) },
    { rowId: 'two', name: 'two', configuration: JSON.stringify({ parameters: { a: 9 } }) },
    { rowId: 'three', name: 'three', isDisabled: 'true', configuration: '{}' },
  ]
  const config = await configure('test.show', { parameters: { a: 1, big: 1, '#password': 'sesame-12345' }, processors: {} }, rows)
  const job = await wait((await request('POST', '/queue/test.show/run', { json: { config } })).json<Job>())
  assert.equal(job.status, 'success', JSON.stringify(job))
  const said = (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>().map(({ message }) => message)
  const configs = said.filter((message) => message.startsWith('{'))
  assert.deepEqual(configs, [
    '{"parameters":{"a":1,"big":1,"#password":"[hidden]","b":2},"image_parameters":{},"action":"run"}',
    '{"parameters":{"a":9,"big":1,"#password":"[hidden]"},"image_parameters":{},"action":"run"}',
  ])
  assert.deepEqual(
    said.filter((message) => message.startsWith('row ')),
    ['row one', 'row two'],
  )
  // Written backwards by the component: it did have the clear value.
  assert.equal(said.filter((message) => message === '54321-emases').length, 2)
  assert.ok(said.some((message) => message.includes('disabled')))
  const named = await wait(
    (await request('POST', '/queue/test.show/run', { json: { config, configRowIds: ['three'] } })).json<Job>(),
  )
  assert.equal(named.status, 'success')
})

test('state is given back to the next run, per row, and an empty state is a first run', async () => {
  const { add, configure, request, wait } = await startProject()
  await add(
    'test.count',
    'cat "$KBC_DATADIR/in/state.json"; echo; printf \'{"n":12345678901234567890,"of":"%s"}\' "$KBC_CONFIGROWID" > "$KBC_DATADIR/out/state.json"',
  )
  const rows = ['x', 'y'].map((id) => ({ rowId: id, name: id, configuration: '{}' }))
  const config = await configure('test.count', {}, rows)
  const states = async (): Promise<string[]> => {
    const job = await wait((await request('POST', '/queue/test.count/run', { json: { config } })).json<Job>())
    assert.equal(job.status, 'success', JSON.stringify(job))
    const said = (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>()
    return said.map(({ message }) => message).filter((message) => message.startsWith('{'))
  }
  assert.deepEqual(await states(), ['{}', '{}'])
  assert.deepEqual(await states(), ['{"n":12345678901234567890,"of":"x"}', '{"n":12345678901234567890,"of":"y"}'])
  const cleared = await request('PUT', `/v2/storage/components/test.count/configs/${config}/rows/x/state`, {
    json: { state: {} },
  })
  assert.equal(cleared.status, 200, cleared.text)
  assert.deepEqual(await states(), ['{}', '{"n":12345678901234567890,"of":"y"}'])
})

test('a failing row ends the job; rows before it keep their state, rows after it do not run', async () => {
  const { add, configure, request, wait } = await startProject()
  await add(
    'test.second',
    'echo "ran $KBC_CONFIGROWID"; echo "{\\"done\\":1}" > "$KBC_DATADIR/out/state.json"; [ "$KBC_CONFIGROWID" != b ] || { echo bad >&2; exit 1; }',
  )
  const config = await configure(
    'test.second',
    {},
    ['a', 'b', 'c'].map((id) => ({ rowId: id, name: id, configuration: '{}' })),
  )
  const job = await wait((await request('POST', '/queue/test.second/run', { json: { config } })).json<Job>())
  assert.equal(job.status, 'error')
  const detail = (await request('GET', `/v2/storage/components/test.second/configs/${config}`)).json<{
    rows: { id: string; state: { component?: unknown } }[]
  }>()
  assert.deepEqual(
    detail.rows.map(({ id, state }) => [id, state.component]),
    [
      ['a', { done: 1 }],
      ['b', undefined],
      ['c', undefined],
    ],
  )
  const said = (await request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>().map(({ message }) => message)
  assert.deepEqual(
    said.filter((message) => message.startsWith('ran ')),
    ['ran a', 'ran b'],
  )
})

test('a running job is killed, with everything it started', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.sleep', 'echo started; sleep 600')
  const config = await configure('test.sleep', {})
  const job = (await request('POST', '/queue/test.sleep/run', { json: { config } })).json<Job>()
  const second = (await request('POST', '/queue/jobs', { json: { component: 'test.sleep', config } })).json<Job>()
  await until('the component has started', async () =>
    (await request('GET', `/queue/jobs/${job.id}/events`))
      .json<{ message: string }[]>()
      .some(({ message }) => message === 'started'),
  )
  const waiting = (await request('GET', `/queue/jobs/${second.id}`)).json<Job>()
  assert.equal(waiting.status, 'waiting')
  assert.match(waiting.waitingReason!, new RegExp(`job ${job.id}, which runs the same configuration`))
  assert.equal((await request('POST', `/queue/jobs/${second.id}/kill`)).json<Job>().status, 'cancelled')
  const killed = (await request('POST', `/queue/jobs/${job.id}/kill`)).json<Job>()
  assert.equal(killed.desiredStatus, 'terminating')
  assert.equal((await wait(job)).status, 'terminated')
  assert.equal((await request('POST', `/queue/jobs/${job.id}/kill`)).status, 400)
})

test('parallel rows run as jobs below a container', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.row', 'echo "ran $KBC_CONFIGROWID"')
  const config = await configure(
    'test.row',
    {},
    ['a', 'b', 'c'].map((id) => ({ rowId: id, name: id, configuration: '{}' })),
  )
  const container = (
    await request('POST', '/queue/jobs', { json: { component: 'test.row', config, parallelism: 'infinity' } })
  ).json<Job>()
  assert.equal(container.type, 'container')
  const ended = await wait(container)
  assert.equal(ended.status, 'success', JSON.stringify(ended.result))
  const children = (await request('GET', `/queue/search/jobs?parentRunId=${container.runId}`)).json<Job[]>()
  assert.deepEqual(children.map(({ configRowIds }) => configRowIds).sort(), [['a'], ['b'], ['c']])
})

test('a request that is sent again with its Idempotency-Key answers the same job; the key is good for nothing else', async () => {
  const { add, configure, request } = await startProject()
  await add('test.once', 'true')
  const [one, other] = [await configure('test.once', {}), await configure('test.once', {})]
  const headers = { 'idempotency-key': 'k-1' }
  const run = (config: string) => request('POST', '/queue/test.once/run', { json: { config }, headers })
  const { id } = (await run(one)).json<Job>()
  const again = await Promise.all([
    run(one),
    run(one),
    request('POST', '/queue/jobs', { json: { component: 'test.once', config: one }, headers }),
  ])
  assert.deepEqual(
    again.map((answer) => answer.json<Job>().id),
    [id, id, id],
  )
  const reused = await run(other)
  assert.equal(reused.status, 409)
  assert.match(reused.text, new RegExp(`already used for job ${id}`))
})

test('events of a job are streamed until it ends', async () => {
  const { add, configure, url, masterToken, request } = await startProject()
  await add('test.slow', 'for i in 1 2 3; do echo "step $i"; sleep 0.2; done')
  const config = await configure('test.slow', {})
  const job = (await request('POST', '/queue/test.slow/run', { json: { config } })).json<Job>()
  const response = await fetch(`${url}/queue/jobs/${job.id}/events`, {
    headers: { accept: 'text/event-stream', 'x-storageapi-token': masterToken },
  })
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const text = await response.text()
  const steps = [...text.matchAll(/"message":"(step \d)"/g)].map(([, step]) => step)
  assert.deepEqual(steps, ['step 1', 'step 2', 'step 3'])
  assert.match(text, /event: end\ndata: \{"id"/)
})

test('configData runs without a stored configuration, kept exactly, its secrets as ciphers', async () => {
  const { add, request, wait } = await startProject()
  await add('test.show', 'cat "$KBC_DATADIR/config.json"')
  const body = '{"configData":{"parameters":{"id":12345678901234567890,"#key":"canary-value"}}}'
  const created = (
    await request('POST', '/queue/test.show/run', { body, headers: { 'content-type': 'application/json' } })
  ).json<Job>()
  const job = await wait(created)
  assert.equal(job.status, 'success', JSON.stringify(job))
  const detail = (await request('GET', job.url)).text
  assert.ok(detail.includes('12345678901234567890'))
  assert.ok(!detail.includes('canary-value'))
  const said = (await request('GET', `/queue/jobs/${job.id}/events`)).text
  assert.ok(said.includes('12345678901234567890') && !said.includes('canary-value'))
})

test('processors run around the component, and the older addresses answer', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.table', 'printf "a,b\\n1,2\\n" > "$KBC_DATADIR/out/tables/t.csv"')
  const config = await configure('test.table', {
    processors: { after: [{ definition: { component: 'keboola.processor-skip-lines' }, parameters: { lines: 'many' } }] },
  })
  const created = (await request('POST', '/syrup/docker/test.table/run', { json: { config } })).json<Job>()
  assert.equal(created.status, 'waiting')
  const job = await wait(created)
  assert.equal(job.error?.message, 'The parameter "lines" must be a whole number from 0, not "many".')
})

test('sync actions answer what the component prints, within the actions it declares', async () => {
  const { add, request } = await startProject()
  await add(
    'test.act',
    'grep -q \'"action":"list"\' "$KBC_DATADIR/config.json" && echo \'{"tables":["a"]}\' || { echo "no such thing" >&2; exit 1; }',
    {
      synchronous_actions: ['list', 'other'],
    },
  )
  const run = (action: string) =>
    request('POST', '/sync-actions/actions', {
      json: { componentId: 'test.act', action, configData: { parameters: { '#p': 'hush' } } },
    })
  assert.deepEqual((await run('list')).json(), { tables: ['a'] })
  const failed = await run('other')
  assert.equal(failed.status, 400)
  assert.match(failed.text, /no such thing/)
  assert.match((await run('unknown')).text, /does not support the action \\"unknown\\"/)
  assert.deepEqual((await request('GET', '/sync-actions/actions?componentId=test.act')).json(), { actions: ['list', 'other'] })
  assert.deepEqual((await request('POST', '/docker-runner/docker/test.act/action/list', { json: { configData: {} } })).json(), {
    tables: ['a'],
  })
})

test('what is wrong with a job is told when it is created', async () => {
  const { add, configure, request, newProject } = await startProject()
  await add('test.echo', 'true')
  const config = await configure('test.echo', {})
  const create = async (json: object) => (await request('POST', '/queue/jobs', { json })).status
  assert.equal(await create({ component: 'nobody', config }), 400)
  assert.equal(await create({ component: 'test.echo', config: '77' }), 404)
  assert.equal(await create({ component: 'test.echo' }), 400)
  assert.equal(await create({ component: 'test.echo', config, colour: 'red' }), 400)
  assert.equal(await create({ component: 'test.echo', config, mode: 'walk' }), 400)
  assert.match(
    (await request('POST', '/queue/jobs', { json: { component: 'test.echo', config, mode: 'walk' } })).text,
    /This value should be one of run, forceRun, debug\./,
  )
  assert.equal(await create({ component: 'test.echo', config, backend: { type: { size: 1 } } }), 400)
  assert.equal(await create({ component: 'test.echo', config, onlyOrchestrationTaskIds: ['a', 'a'] }), 400)
  assert.equal(await create({ component: 'test.echo', config, variableValuesData: { values: [{ name: 'a', value: {} }] } }), 400)
  assert.equal(await create({ component: 'test.echo', config, parallelism: '101' }), 400)
  assert.equal(await create({ component: 'test.echo', config, configRowIds: ['no'] }), 400)
  assert.equal(await create({ component: 'test.echo', configData: 'no json' }), 400)
  assert.equal(
    await create({
      component: 'test.echo',
      config,
      variableValuesId: '1',
      variableValuesData: { values: [{ name: 'a', value: 'b' }] },
    }),
    400,
  )
  assert.equal((await request('GET', '/queue/jobs/99999')).status, 404)
  assert.equal((await request('GET', '/queue/jobs/abc')).status, 404)
  const job = (await request('POST', '/queue/jobs', { json: { component: 'test.echo', config } })).json<Job>()
  const { masterToken } = await newProject()
  assert.equal((await request('GET', `/queue/jobs/${job.id}`, { token: masterToken })).status, 404)
  assert.equal((await request('POST', `/queue/jobs/${job.id}/kill`, { token: masterToken })).status, 404)
})

test('a stream that is asked to go on after something that is no event is refused in words', async () => {
  const { add, configure, request, wait } = await startProject()
  await add('test.echo', 'true')
  const config = await configure('test.echo', {})
  const job = await wait((await request('POST', '/queue/test.echo/run', { json: { config } })).json<Job>())
  const answer = await request('GET', `/queue/jobs/${job.id}/events`, {
    headers: { accept: 'text/event-stream', 'last-event-id': 'abc' },
  })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /This is neither an id nor a uuid of an event/)
})

test('a branch that was deleted gets nothing more from jobs that ran or waited in it', async () => {
  const { add, configure, request, wait, dataDir, platform, projectId } = await startProject()
  const storageJob = async (method: string, path: string, json?: object) => {
    const { id } = (await request(method, `/v2/storage/${path}`, json ? { json } : {})).json<{ id: number }>()
    await platform.storageJobs.waitFor(projectId, id)
    return (await request('GET', `/v2/storage/jobs/${id}`)).json<{ status: string; results: { id: number } }>()
  }
  await add(
    'test.slow',
    `touch ${dataDir}/runs; until [ -e ${dataDir}/go ]; do sleep 0.05; done; printf 'a\\n1\\n' > "$KBC_DATADIR/out/tables/t.csv"`,
    { default_bucket: true },
    { type: 'extractor' },
  )
  const config = await configure('test.slow', {}, [{ name: 'one' }, { name: 'two' }])
  const branchId = (await storageJob('POST', 'dev-branches', { name: 'short-lived' })).results.id
  const create = async (json: object) =>
    (await request('POST', '/queue/jobs', { json: { component: 'test.slow', branchId, ...json } })).json<Job>()
  const runs = await create({ config })
  const waits = await create({ config, parallelism: '2' })
  const delayed = await create({ configData: {}, delay: 3600 })
  await until('the component runs', () => existsSync(`${dataDir}/runs`))
  assert.equal((await storageJob('DELETE', `dev-branches/${branchId}`)).status, 'success')
  await sql`update queue_job set start_after = 0 where id = ${Number(delayed.id)}`.execute(platform.metadata.db) // its time has come
  writeFileSync(`${dataDir}/go`, '')
  assert.match((await wait(runs)).error?.message ?? '', /Branch id:"\d+" was not found/)
  assert.match((await wait(waits)).error?.message ?? '', /no longer exists/)
  assert.match((await wait(delayed)).error?.message ?? '', /its branch \d+ no longer exists/)
  const again = await request('POST', `/queue/jobs/${delayed.id}/rerun`)
  assert.equal(again.status, 404)
  assert.match(again.text, /Branch \\"\d+\\" was not found/)
})
