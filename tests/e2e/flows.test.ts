// Flows over HTTP only: phases in order, failures that stop and failures that are tolerated, kill, what a running flow shows.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Job, shellStack } from '../support/shell-stack.ts'
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

/** Tasks write their name to a file, so that order and number of their runs can be seen. */
export async function flowStack(t: TestContext) {
  const stack = await shellStack(t)
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

test('an orchestration runs its phases in the order of their dependencies and tells of every task', async (t) => {
  const { run, job, ran, resultOf, request } = await flowStack(t)
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

test('a failed task stops what follows; one that may fail makes a warning', async (t) => {
  const { run, job, ran, resultOf } = await flowStack(t)
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

test('a running flow shows how far it is, and a kill ends its jobs and then itself', async (t) => {
  const { start, job, request, get, ended, hasStarted, resultOf } = await flowStack(t)
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
