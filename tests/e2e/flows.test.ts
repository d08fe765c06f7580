// Flows over HTTP only: phases in order, failures that stop and failures that are tolerated, kill, what a running flow shows.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { type Job, shareShellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

interface FlowResult {
  readonly message: string
  readonly phases: readonly { id: string; name: string; status: string; startTime: string | null }[]
  readonly tasks: readonly {
    id: string
    phase: string
    status: string
    jobId: string | null
    component: string | null
    isKept?: boolean
    results: readonly { jobId: string | null; status: string; result: { message?: string } }[]
  }[]
}

const startProject = shareShellStack({ worker: { egressAllow: ['127.0.0.1'] } })

/** Tasks write their name to a file, so that order and number of their runs can be seen. */
async function flowStack() {
  const project = await startProject()
  const stack = { ...project, dataDir: mkdtempSync(join(project.dataDir, 'test-')) }
  const log = join(stack.dataDir, 'order.txt')
  writeFileSync(log, '')
  const parameter = (name: string) => `$(sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p' "$KBC_DATADIR/config.json")`
  await stack.add('test.note', `echo "${parameter('name')}" >> ${log}`)
  await stack.add('test.fail', `echo "${parameter('name')}" >> ${log}; echo "it broke" >&2; exit 1`)
  await stack.add('test.wait', `echo "${parameter('name')}" >> ${log}; while [ ! -e ${stack.dataDir}/go ]; do sleep 0.05; done`)
  const job = (name: string, component = 'test.note') => ({
    type: 'job',
    componentId: component,
    configData: { parameters: { name } },
  })
  const runConfig = async (component: string, config: string, more: object = {}): Promise<Job> => {
    const answer = await stack.request('POST', '/queue/jobs', { json: { component, config, ...more } })
    assert.equal(answer.status, 201, answer.text)
    return answer.json<Job>()
  }
  const get = async (id: string) => (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
  const ended = ({ id }: Job): Promise<Job> =>
    until(`flow ${id} ends`, async () => {
      const job = await get(id)
      return job.isFinished && job
    })
  const start = async (component: string, configuration: object, more: object = {}): Promise<Job> =>
    runConfig(component, await stack.configure(component, configuration), more)
  return {
    ...stack,
    job,
    get,
    ended,
    start,
    runConfig,
    run: async (component: string, configuration: object, more: object = {}) =>
      ended(await start(component, configuration, more)),
    ran: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
    go: () => writeFileSync(join(stack.dataDir, 'go'), ''),
    hasStarted: (name: string) => existsSync(log) && readFileSync(log, 'utf8').includes(`${name}\n`),
    resultOf: (job: Job) => job.result as unknown as FlowResult,
  }
}

const phase = (id: string | number, ...dependsOn: (string | number)[]) => ({ id, name: `phase ${id}`, dependsOn })
const statuses = ({ tasks }: FlowResult) => Object.fromEntries(tasks.map(({ id, status }) => [id, status]))

test('an orchestration runs its phases in the order of their dependencies and tells of every task', async () => {
  const { run, job, ran, resultOf, request } = await flowStack()
  const flow = await run('keboola.orchestrator', {
    phases: [phase(2, 1), phase(1), phase('3', 2)],
    tasks: [
      { id: 30, name: 'last', phase: 3, task: job('c') },
      { id: 10, name: 'first', phase: 1, task: job('a1') },
      { id: 11, name: 'first too', phase: '1', task: job('a2') },
      { id: 20, name: 'middle', phase: 2, task: job('b') },
      { id: 21, name: 'off', phase: 2, enabled: false, task: job('off') },
    ],
  })
  assert.equal(flow.status, 'success', JSON.stringify(flow.result))
  assert.equal(flow.type, 'orchestrationContainer')
  assert.deepEqual([...ran().slice(0, 2)].sort(), ['a1', 'a2'])
  assert.deepEqual(ran().slice(2), ['b', 'c'])
  const result = resultOf(flow)
  assert.deepEqual(statuses(result), { 10: 'success', 11: 'success', 20: 'success', 21: 'skipped', 30: 'success' })
  assert.deepEqual(
    result.phases.map(({ id, status }) => [id, status]),
    [
      ['2', 'success'],
      ['1', 'success'],
      ['3', 'success'],
    ],
  )
  const first = result.tasks.find(({ id }) => id === '10')!
  const child = (await request('GET', `/queue/jobs/${first.jobId}`)).json<Job>()
  assert.equal(child.orchestrationJobId, flow.id)
  assert.equal(child.orchestrationTaskId, '10')
  assert.equal(child.orchestrationPhaseId, '1')
  assert.equal(child.runId, `${flow.id}.${child.id}`)
  assert.equal(first.results[0]!.jobId, child.id)
})

test('a failed task stops what follows; one that may fail makes a warning', async () => {
  const { run, job, ran, resultOf } = await flowStack()
  const configuration = (continueOnFailure: boolean) => ({
    phases: [phase('a'), phase('b', 'a')],
    tasks: [
      { id: 'bad', name: 'bad', phase: 'a', continueOnFailure, task: job('bad', 'test.fail') },
      { id: 'good', name: 'good', phase: 'a', task: job('good') },
      { id: 'after', name: 'after', phase: 'b', task: job('after') },
    ],
  })
  const stopped = await run('platform.orchestrator', configuration(false))
  assert.equal(stopped.status, 'error')
  assert.match(stopped.error!.message, /Task "bad" of phase "phase a" failed: it broke/)
  assert.deepEqual(statuses(resultOf(stopped)), { bad: 'error', good: 'success', after: 'skipped' })
  assert.deepEqual([...ran()].sort(), ['bad', 'good'])
  const tolerated = await run('platform.orchestrator', configuration(true))
  assert.equal(tolerated.status, 'warning')
  assert.deepEqual(statuses(resultOf(tolerated)), { bad: 'warning', good: 'success', after: 'success' })
})

test('a running flow shows how far it is, and a kill ends its jobs and then itself', async () => {
  const { start, job, request, get, ended, hasStarted, resultOf } = await flowStack()
  const flow = await start('platform.orchestrator', {
    phases: [phase(1), phase(2, 1), phase(3, 2)],
    tasks: [
      { id: 1, name: 'one', phase: 1, task: job('one') },
      { id: 2, name: 'two', phase: 2, task: job('two', 'test.wait') },
      { id: 3, name: 'three', phase: 3, task: job('three') },
    ],
  })
  await until('the second task runs', () => hasStarted('two'))
  const running = resultOf(await get(flow.id))
  assert.deepEqual(statuses(running), { 1: 'success', 2: 'processing', 3: 'waiting' })
  assert.deepEqual(
    running.phases.map(({ status }) => status),
    ['success', 'processing', 'waiting'],
  )
  const killed = await request('POST', `/queue/jobs/${flow.id}/kill`)
  assert.equal(killed.json<Job>().desiredStatus, 'terminating')
  const end = await ended(flow)
  assert.equal(end.status, 'terminated')
  assert.deepEqual(statuses(resultOf(end)), { 1: 'success', 2: 'error', 3: 'skipped' })
  const child = await get(resultOf(end).tasks.find(({ id }) => id === '2')!.jobId!)
  assert.equal(child.status, 'terminated')
})

test('a flow follows conditions over results, tries again, and hands its variables to its jobs', async () => {
  const { run, job, ran, resultOf, add, dataDir, request, configure } = await flowStack()
  await add(
    'test.twice',
    `echo twice >> ${dataDir}/order.txt; [ -e ${dataDir}/again ] && exit 0; touch ${dataDir}/again; echo "busy now" >&2; exit 1`,
  )
  const variables = await configure(
    'keboola.variables',
    {
      variables: [
        { name: 'name', type: 'string' },
        { name: 'other', type: 'string' },
      ],
    },
    [
      {
        rowId: 'defaults',
        name: 'v',
        configuration: {
          values: [
            { name: 'name', value: 'default' },
            { name: 'other', value: 'o' },
          ],
        },
      },
    ],
  )
  const named = await configure('test.note', {
    variables_id: variables,
    variables_values_id: 'defaults',
    parameters: { name: '{{ name }} and {{ other }}' },
  })
  const status = { type: 'task', task: 'twice', value: 'status' }
  const flow = await run(
    'keboola.flow',
    {
      phases: [
        {
          id: 'a',
          name: 'a',
          next: [
            {
              id: 'n1',
              condition: { type: 'operator', operator: 'EQUALS', operands: [status, { type: 'const', value: 'success' }] },
              goto: 'good',
            },
            { id: 'n2', goto: 'bad' },
          ],
        },
        { id: 'bad', name: 'bad', next: [{ id: 'n3', goto: null }] },
        { id: 'good', name: 'good' },
      ],
      tasks: [
        {
          id: 'twice',
          name: 'twice',
          phase: 'a',
          enabled: true,
          task: {
            type: 'job',
            componentId: 'test.twice',
            configData: {},
            mode: 'run',
            retry: {
              strategy: 'linear',
              strategyParams: { maxRetries: 2, delay: 0 },
              retryOn: [{ type: 'errorMessageContains', value: 'busy' }],
            },
          },
        },
        { id: 'never', name: 'never', phase: 'bad', enabled: true, task: job('never') },
        {
          id: 'set',
          name: 'set',
          phase: 'good',
          task: { type: 'variable', name: 'name', source: { type: 'task', task: 'twice', value: 'job.status' } },
        },
        { id: 'named', name: 'named', phase: 'good', task: { type: 'job', componentId: 'test.note', configId: named } },
      ],
    },
    { variableValuesData: { values: [{ name: 'unused', value: 'x' }] } },
  )
  assert.equal(flow.status, 'success', JSON.stringify(flow.result))
  assert.deepEqual(ran(), ['twice', 'twice', 'success and o'])
  const result = resultOf(flow)
  assert.deepEqual(statuses(result), { twice: 'success', never: 'skipped', set: 'success', named: 'success' })
  assert.deepEqual(
    result.tasks.find(({ id }) => id === 'twice')!.results.map((one) => one.status),
    ['error', 'success'],
  )
  const events = (await request('GET', `/queue/jobs/${flow.id}/events`)).json<{ message: string }[]>()
  assert.deepEqual(
    events.map(({ message }) => message),
    [
      'Phase "a" started.',
      'Phase "a" ended with success.',
      'Phase "good" started.',
      'Phase "good" ended with success.',
      '3 tasks were processed.',
    ],
  )
})

test('chosen tasks run alone; a run again goes on from what failed and keeps the rest', async () => {
  const { run, job, ran, resultOf, ended, request, configure, runConfig, add, dataDir } = await flowStack()
  await add('test.mended', `echo mended >> ${dataDir}/order.txt; [ -e ${dataDir}/mended ]`)
  const configuration = {
    phases: [phase('a'), phase('b', 'a')],
    tasks: [
      { id: '1', name: 'one', phase: 'a', task: job('one') },
      { id: '2', name: 'two', phase: 'a', task: { type: 'job', componentId: 'test.mended', configData: {} } },
      { id: '3', name: 'three', phase: 'b', task: job('three') },
    ],
  }
  const config = await configure('platform.orchestrator', configuration)
  const only = await ended(await runConfig('keboola.orchestrator', config, { onlyOrchestrationTaskIds: ['1', '3'] }))
  assert.equal(only.status, 'success')
  assert.deepEqual(ran(), ['one', 'three'])
  const unknown = await request('POST', '/queue/jobs', {
    json: { component: 'keboola.orchestrator', config, onlyOrchestrationTaskIds: ['1', '9'] },
  })
  assert.equal(unknown.status, 400)
  assert.match(unknown.json<{ error: string }>().error, /Unknown tasks: 9/)

  const failed = await ended(await runConfig('keboola.orchestrator', config))
  assert.equal(failed.status, 'error')
  assert.deepEqual([...ran().slice(2)].sort(), ['mended', 'one'])
  writeFileSync(join(dataDir, 'mended'), '')
  const again = await request('POST', `/queue/jobs/${failed.id}/rerun`)
  assert.equal(again.status, 201, again.text)
  const mended = await ended(again.json<Job>())
  assert.equal(mended.status, 'success', JSON.stringify(mended.result))
  assert.equal(mended.previousJobId, failed.id)
  assert.deepEqual(ran().slice(4), ['mended', 'three'])
  const [one, two] = resultOf(mended).tasks
  assert.deepEqual([one!.isKept, two!.isKept], [true, undefined])
  assert.equal(one!.jobId, resultOf(failed).tasks[0]!.jobId)

  const whole = await ended((await request('POST', `/queue/jobs/${mended.id}/rerun`)).json<Job>())
  assert.equal(whole.status, 'success')
  assert.deepEqual([...ran().slice(6)].sort(), ['mended', 'one', 'three'])
  await run('platform.orchestrator', configuration)
})

test('a flow in a flow works, with its variables; one that contains itself is refused', async () => {
  const { run, job, ran, configure, request } = await flowStack()
  const inner = await configure('platform.flow', {
    phases: [{ id: 'a', name: 'a' }],
    tasks: [{ id: 'x', name: 'x', phase: 'a', task: job('inner') }],
  })
  const nest = (componentId: string, configId: string) => ({
    phases: [{ id: 'a', name: 'a' }],
    tasks: [{ id: 'x', name: 'x', phase: 'a', task: { type: 'job', componentId, configId } }],
  })
  const outer = await run('platform.orchestrator', nest('keboola.flow', inner))
  assert.equal(outer.status, 'success', JSON.stringify(outer.result))
  assert.deepEqual(ran(), ['inner'])

  const first = await configure('platform.orchestrator', nest('keboola.flow', inner))
  const changed = await request('PUT', `/v2/storage/components/platform.flow/configs/${inner}`, {
    json: { configuration: nest('keboola.orchestrator', first) },
  })
  const data = nest('keboola.orchestrator', first)
  const circle = {
    phases: data.phases,
    tasks: [{ ...data.tasks[0], task: { componentId: 'keboola.orchestrator', configData: data } }],
  }
  const inlined = await request('POST', '/queue/jobs', {
    json: { component: 'platform.flow', config: inner, configData: circle },
  })
  assert.equal(inlined.status, 400, inlined.text)
  assert.match(inlined.json<{ error: string }>().error, /contains itself: /)
  assert.equal(changed.status, 400, changed.text)
  assert.match(changed.json<{ error: string }>().error, /contains itself: flow .* > orchestrator .* > flow /)
})

test('a task that runs too long is ended; a task whose configuration is gone fails with a sentence', async () => {
  const { run, job, resultOf, add, configure, request, start, hasStarted, ended, go } = await flowStack()
  await add('test.forever', 'sleep 600')
  const limited = await run('platform.orchestrator', {
    phases: [phase(1)],
    tasks: [{ id: 1, name: 'slow', phase: 1, timeLimitSeconds: 1, task: job('slow', 'test.forever') }],
  })
  assert.equal(limited.status, 'error')
  assert.match(limited.error!.message, /Task "slow" of phase "phase 1" failed: It ran longer than its limit of 1 seconds/)
  const whole = await run('platform.orchestrator', {
    timeLimitSeconds: 1,
    phases: [phase(1)],
    tasks: [{ id: 1, name: 'slow', phase: 1, task: job('slow', 'test.forever') }],
  })
  assert.match(whole.error!.message, /The flow ran longer than its limit of 1 seconds/)

  const gone = await configure('test.note', {})
  const flow = await start('platform.orchestrator', {
    phases: [phase(1), phase(2, 1)],
    tasks: [
      { id: 1, name: 'wait', phase: 1, task: job('wait', 'test.wait') },
      { id: 2, name: 'gone', phase: 2, task: { componentId: 'test.note', configId: gone } },
    ],
  })
  await until('the first task runs', () => hasStarted('wait'))
  assert.equal((await request('DELETE', `/v2/storage/components/test.note/configs/${gone}`)).status, 204)
  go()
  const end = await ended(flow)
  assert.equal(end.status, 'error')
  assert.match(resultOf(end).tasks[1]!.results[0]!.result.message!, new RegExp(`${gone}.*not found`))
})

test('no more tasks of a flow run at once than its parallelism says', async () => {
  const { run, add, dataDir } = await flowStack()
  await add('test.alone', `mkdir ${dataDir}/alone || exit 1; sleep 0.2; rmdir ${dataDir}/alone`)
  const tasks = Array.from({ length: 4 }, (_, id) => ({
    id,
    name: `t${id}`,
    phase: 1,
    task: { componentId: 'test.alone', configData: {} },
  }))
  const flow = await run('platform.orchestrator', { phases: [phase(1)], tasks }, { parallelism: 1 })
  assert.equal(flow.status, 'success', JSON.stringify(flow.result))
})

test('a flow with mistakes is refused when it is saved, with all of them; what is only missing is told as a warning', async () => {
  const { request, job } = await flowStack()
  const save = (configuration: unknown) =>
    request('POST', '/v2/storage/components/keboola.flow/configs', { json: { name: 'f', configuration } })
  const bad = await save({
    phases: [{ id: 'a', next: [{ goto: 'nowhere' }] }, { id: 'a' }],
    tasks: [{ id: 1, phase: 'z', task: job('x') }],
  })
  assert.equal(bad.status, 400, bad.text)
  const { error, code } = bad.json<{ error: string; code: string }>()
  assert.equal(code, 'flows.invalid')
  for (const path of ['phases[0].next[0].goto', 'phases[1].id', 'tasks[0].phase']) assert.ok(error.includes(path), error)
  const tasks = Array.from({ length: 2_000 }, (_, id) => ({ id, phase: 'a', task: job('x') }))
  assert.match((await save({ phases: [{ id: 'a' }], tasks })).text, /at most 1000 tasks; this one has 2000/)
  for (const draft of [{}, { phases: [], tasks: [] }]) assert.equal((await save(draft)).status, 201)

  const missing = {
    phases: [{ id: 'a' }, { id: 'b' }],
    tasks: [{ id: 1, phase: 'a', task: { componentId: 'test.note', configId: 'gone' } }],
  }
  const saved = await save(missing)
  assert.equal(saved.status, 201, saved.text)
  const { id } = saved.json<{ id: string }>()
  const events = (await request('GET', '/v2/storage/events')).json<{ message: string; type: string; configurationId: string }[]>()
  const warnings = events.filter(({ type, configurationId }) => type === 'warn' && configurationId === id)
  assert.ok(warnings.some(({ message }) => message.includes('configuration "gone" of test.note does not exist')))

  const checked = await request('POST', '/queue/flows/validate', { json: { component: 'keboola.flow', configuration: missing } })
  assert.equal(checked.status, 200, checked.text)
  const { isValid, problems } = checked.json<{ isValid: boolean; problems: { path: string; level: string }[] }>()
  assert.equal(isValid, true)
  assert.deepEqual(problems.map(({ path }) => path).sort(), ['phases[1]', 'phases[1]', 'tasks[0].task.configId'])
})

test('a flow without phases is refused when it is run', async () => {
  const { request, configure } = await flowStack()
  const config = await configure('platform.flow', {})
  const answer = await request('POST', '/queue/jobs', { json: { component: 'platform.flow', config } })
  assert.equal(answer.status, 400)
  assert.match(answer.json<{ error: string }>().error, /It has no phase/)
})

test('a schedule starts a flow', async () => {
  const { request, configure, job, platform, ran } = await flowStack()
  const flow = await configure('keboola.orchestrator', {
    phases: [phase(1)],
    tasks: [{ id: 1, name: 'x', phase: 1, task: job('scheduled') }],
  })
  const schedule = await configure('keboola.scheduler', {
    schedule: { cronTab: '* * * * *', timezone: 'UTC', state: 'enabled' },
    target: { componentId: 'keboola.orchestrator', configurationId: flow, mode: 'run' },
  })
  assert.equal((await request('POST', '/scheduler/schedules', { json: { configurationId: schedule } })).status, 201)
  await platform.scheduler.loop.tick(new Date(Date.now() + 61_000))
  await until('the task of the flow ran', () => ran().includes('scheduled'))
})

test('secrets in the configuration of a task are stored encrypted and reach its component in clear', async () => {
  const { run, add, dataDir, request } = await flowStack()
  await add('test.secret', `grep -c "open-sesame-1" "$KBC_DATADIR/config.json" >> ${dataDir}/order.txt`)
  const flow = await run('platform.orchestrator', {
    phases: [phase(1)],
    tasks: [
      {
        id: 1,
        name: 's',
        phase: 1,
        task: { componentId: 'test.secret', configData: { parameters: { '#password': 'open-sesame-1' } } },
      },
    ],
  })
  assert.equal(flow.status, 'success', JSON.stringify(flow.result))
  assert.equal(readFileSync(join(dataDir, 'order.txt'), 'utf8'), '1\n')
  const stored = await request('GET', `/v2/storage/components/platform.orchestrator/configs/${flow.config}`)
  for (const text of [stored.text, JSON.stringify(flow)]) assert.ok(!text.includes('open-sesame-1'))
})

test('a task of type notification sends its message once', async (t) => {
  const received: string[] = []
  const receiver = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => {
      body += String(chunk)
    })
    req.on('end', () => {
      received.push(body)
      res.end()
    })
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  t.after(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const { run } = await flowStack()
  const flow = await run('platform.flow', {
    phases: [{ id: 'a', name: 'a' }],
    tasks: [
      {
        id: 'n',
        name: 'n',
        phase: 'a',
        task: { type: 'notification', title: 'Done', message: 'All is well', recipients: [{ channel: 'webhook', url }] },
      },
    ],
  })
  assert.equal(flow.status, 'success', JSON.stringify(flow.result))
  await until('the message arrives', () => received.length > 0)
  assert.equal(received.length, 1)
  assert.match(received[0]!, /All is well/)
})

test('a run again names a run of the same flow; the data folder of a flow is refused', async () => {
  const { run, job, request, configure } = await flowStack()
  const configuration = { phases: [phase(1)], tasks: [{ id: 1, name: 'x', phase: 1, task: job('x') }] }
  const first = await run('platform.orchestrator', configuration)
  const other = await run('platform.orchestrator', configuration, { previousJobId: first.id })
  assert.equal(other.status, 'error')
  assert.match(other.error!.message, new RegExp(`job ${first.id} is not a run of this flow`))
  const config = await configure('keboola.orchestrator', configuration)
  const input = await request('POST', '/syrup/docker/keboola.orchestrator/input', { json: { config } })
  assert.equal(input.status, 400, input.text)
  assert.match(input.text, /a flow has no data folder/)
})

test('a table that is imported starts a flow', async () => {
  const { request, configure, job, platform, ran } = await flowStack()
  const flow = await configure('keboola.flow', {
    phases: [{ id: 1 }],
    tasks: [{ id: 1, name: 'x', phase: 1, task: job('triggered') }],
  })
  const token = (await request('POST', '/v2/storage/tokens', { json: { description: 'runner', canManageBuckets: true } })).json<{
    id: string
  }>()
  await request('POST', '/v2/storage/buckets', { json: { name: 'watched', stage: 'in' } })
  const load = async (path: string, more: object) => {
    const answer = await request('POST', path, { json: { dataString: 'id\n1\n', ...more } })
    assert.ok(answer.status < 300, answer.text)
  }
  await load('/v2/storage/buckets/in.c-watched/tables', { name: 't' })
  const trigger = await request('POST', '/v2/storage/triggers', {
    json: {
      component: 'keboola.flow',
      configurationId: flow,
      runWithTokenId: token.id,
      coolDownPeriodMinutes: 1,
      tableIds: ['in.c-watched.t'],
    },
  })
  assert.equal(trigger.status, 201, trigger.text)
  await load('/v2/storage/tables/in.c-watched.t/import', {})
  await until('the task of the flow ran', async () => {
    await platform.scheduler.loop.tick(new Date(Date.now() + 61_000))
    return ran().includes('triggered')
  })
})
