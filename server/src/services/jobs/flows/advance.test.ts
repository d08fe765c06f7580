import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { StepJob } from '../../../model/flow-ports.ts'
import { advance, type Decision, MAX_VISITS, startState } from './advance.ts'
import { type FlowFormat, type FlowPlan, onlyTasks } from './flow-plan.ts'
import { resultOf, succeededTasks } from './flow-result.ts'
import type { FlowState } from './flow-state.ts'
import { readFlow } from './read-flow.ts'

const planOf = (format: FlowFormat, configuration: object): FlowPlan => {
  const { plan, problems } = readFlow(configuration, format)
  assert.deepEqual(
    problems.filter(({ level }) => level === 'error'),
    [],
  )
  return JSON.parse(JSON.stringify(plan)) as FlowPlan // as it comes back from the store
}

interface Ending {
  readonly status: 'success' | 'warning' | 'error' | 'terminated'
  readonly message?: string
  readonly type?: 'user' | 'application'
}

/** Copies and comparisons of longer states would take most of the time. */
const CHECKED_VISITS = 20

/** Runs a plan as flows.ts does, with jobs that end as `endingOf` returns, one at a time in the order `pick` chooses. */
function simulate(
  plan: FlowPlan,
  endingOf: (taskId: string, run: number) => Ending,
  {
    pick = () => 0,
    state: first = startState(0, {}),
    tickMs = 1_000,
  }: { pick?: (open: number) => number; state?: FlowState; tickMs?: number } = {},
) {
  const jobs = new Map<number, StepJob>()
  const started: { taskId: string; phaseId: string; at: number; startAfter: number; jobId: number }[] = []
  const notified: string[] = []
  let state = first
  let now = 0
  let decision: Decision
  for (let steps = 0; ; steps++) {
    assert.ok(steps < 20_000, 'the flow never ends')
    decision = advance(plan, state, jobs, now)
    state = decision.state
    notified.push(...decision.notifications.map(({ title }) => title))
    for (const start of decision.starts) {
      const id = jobs.size + 1
      started.push({ taskId: start.taskId, phaseId: start.phaseId, at: now, startAfter: start.startAfter ?? now, jobId: id })
      jobs.set(id, {
        id,
        status: 'processing',
        isFinished: false,
        component: 'c',
        config: null,
        startedAt: now,
        endedAt: null,
        result: {},
        error: null,
      })
      state = filled(state, start.visit, start.task, id)
    }
    if (state.visits.length <= CHECKED_VISITS) {
      state = JSON.parse(JSON.stringify(state)) as FlowState // as it comes back from the store
      const again = advance(plan, state, jobs, now)
      assert.deepEqual([again.starts, again.kills, again.state], [[], [], state], 'the same facts decide nothing new')
    }
    if (decision.end) break
    for (const id of decision.kills) finish(id, { status: 'terminated' })
    const open = [...jobs.values()].filter(({ isFinished }) => !isFinished)
    now += tickMs
    if (decision.kills.length > 0) continue
    assert.ok(open.length > 0, 'a flow that has not ended waits for a job')
    const job = open[pick(open.length) % open.length]!
    const { taskId } = started.find(({ jobId }) => jobId === job.id)!
    finish(job.id, endingOf(taskId, started.filter((one) => one.taskId === taskId && one.jobId <= job.id).length))
  }
  return { end: decision.end!, state, jobs, started, notified, order: started.map(({ taskId }) => taskId) }

  function finish(id: number, { status, message = status, type = 'user' }: Ending): void {
    const error = status === 'error' ? { error: { type } } : {}
    jobs.set(id, { ...jobs.get(id)!, status, isFinished: true, endedAt: now, result: { message, ...error } })
  }
}

function filled(state: FlowState, at: number, index: number, jobId: number): FlowState {
  const visit = state.visits[at]!
  const run = visit.tasks[index]!
  const tasks = visit.tasks.with(index, { ...run, steps: run.steps.with(-1, { kind: 'job', jobId }) })
  return { ...state, visits: state.visits.with(at, { ...visit, tasks }) }
}

const job = { type: 'job', componentId: 'c', configId: '1' }
const task = (id: string, phase: string, more: object = {}, inner: object = {}) => ({
  id,
  name: id,
  phase,
  task: { ...job, ...inner },
  ...more,
})
const good = (): Ending => ({ status: 'success' })
const failing =
  (...ids: string[]) =>
  (id: string): Ending =>
    ids.includes(id) ? { status: 'error', message: `${id} broke` } : { status: 'success' }
const equals = (left: object, right: unknown) => ({
  type: 'operator',
  operator: 'EQUALS',
  operands: [left, { type: 'const', value: right }],
})

test('phases without dependencies start together, the others after all they depend on', () => {
  const plan = planOf('orchestrator', {
    phases: [{ id: 'a' }, { id: 'b' }, { id: 'c', dependsOn: ['a', 'b'] }],
    tasks: [task('1', 'a'), task('2', 'b'), task('3', 'c')],
  })
  const { order, end } = simulate(plan, good)
  assert.deepEqual(order, ['1', '2', '3'])
  assert.equal(end.status, 'success')
})

test('once a phase has failed no other starts; what runs is left to end', () => {
  const plan = planOf('orchestrator', {
    phases: [{ id: 'a' }, { id: 'b' }, { id: 'c', dependsOn: ['b'] }],
    tasks: [task('1', 'a'), task('2', 'b'), task('3', 'c')],
  })
  const { order, end } = simulate(plan, failing('1'))
  assert.deepEqual(order, ['1', '2'])
  assert.equal(end.status, 'error')
  assert.match(end.message, /Task "1" of phase "a" failed: 1 broke/)
})

test('a failure is tolerated by the task or by the behaviour of its phase', () => {
  const tasks = [task('2', 'b')]
  const phases = (behavior: object) => [
    { id: 'a', behavior },
    { id: 'b', dependsOn: ['a'] },
  ]
  const byTask = planOf('orchestrator', { phases: phases({}), tasks: [task('1', 'a', { continueOnFailure: true }), ...tasks] })
  const byPhase = planOf('orchestrator', { phases: phases({ onError: 'warning' }), tasks: [task('1', 'a'), ...tasks] })
  for (const plan of [byTask, byPhase]) {
    const { order, end } = simulate(plan, failing('1'))
    assert.deepEqual([order, end.status], [['1', '2'], 'warning'])
  }
})

test('a flow goes where the first true condition leads; a single way without one is not taken after a failure', () => {
  const status = { type: 'task', task: 't', value: 'status' }
  const plan = planOf('flow', {
    phases: [
      { id: 'a', next: [{ condition: equals(status, 'success'), goto: 'good' }, { goto: 'bad' }] },
      { id: 'good', next: [{ goto: 'last' }] },
      { id: 'bad', next: [{ goto: null }] },
      { id: 'last' },
    ],
    tasks: [task('t', 'a'), task('g', 'good'), task('b', 'bad'), task('l', 'last')],
  })
  assert.deepEqual(simulate(plan, good).order, ['t', 'g', 'l'])
  const handled = simulate(plan, failing('t'))
  assert.deepEqual([handled.order, handled.end.status], [['t', 'b'], 'warning'])
  const stopped = simulate(plan, failing('g'))
  assert.deepEqual([stopped.order, stopped.end.status], [['t', 'g'], 'error'])
})

test('a task is tried again as often as its rule says, after its delay, for the failures it names', () => {
  const retry = {
    strategy: 'linear',
    strategyParams: { maxRetries: 2, delay: 5 },
    retryOn: [{ type: 'errorMessageContains', value: 'busy' }],
  }
  const plan = planOf('flow', { phases: [{ id: 'a' }], tasks: [task('t', 'a', {}, { retry })] })
  const busy = (): Ending => ({ status: 'error', message: 'server busy' })
  const { started, end, state, jobs } = simulate(plan, busy)
  assert.equal(started.length, 3)
  assert.deepEqual(
    started.map(({ at, startAfter }) => startAfter - at),
    [0, 5_000, 5_000],
  )
  assert.equal(end.status, 'error')
  assert.equal(resultOf(plan, state, jobs, 0, true).tasks[0]!.results.length, 3)
  assert.equal(simulate(plan, (_, run) => (run < 2 ? busy() : good())).end.status, 'success')
  assert.equal(simulate(plan, () => ({ status: 'error', message: 'wrong password' })).started.length, 1)
})

test('a variable that cannot be computed fails its task, also with a rule for retries', () => {
  const source = { type: 'function', function: 'COUNT', operands: [{ type: 'const', value: 'abc' }] }
  const retry = { strategyParams: { maxRetries: 1, delay: 0 } }
  const tasks = [{ id: 'v', name: 'v', phase: 'a', task: { type: 'variable', name: 'n', source, retry } }]
  for (const phases of [[{ id: 'a' }], [{ id: 'a', retry }]]) {
    const { end, started } = simulate(planOf('flow', { phases, tasks }), good)
    assert.deepEqual([started, end.status], [[], 'error'])
    assert.match(end.message, /COUNT needs a list/)
  }
})

test('the retry of a phase runs its failed tasks again, not those that succeeded', () => {
  const retry = { strategyParams: { maxRetries: 1, delay: 0 } }
  const plan = planOf('flow', { phases: [{ id: 'a', retry }], tasks: [task('x', 'a'), task('y', 'a')] })
  const { order, end } = simulate(plan, (id, run) => (id === 'x' && run === 1 ? { status: 'error' } : good()))
  assert.deepEqual([order, end.status], [['x', 'y', 'x'], 'success'])
})

test('a loop visits its phase until the condition lets it go, and never for ever', () => {
  const loop = (condition: object) =>
    planOf('flow', { phases: [{ id: 'a', next: [{ condition, goto: 'a' }, { goto: null }] }], tasks: [task('t', 'a')] })
  const again = equals({ type: 'task', task: 't', value: 'job.result.message' }, 'again')
  const three = simulate(loop(again), (_, run) => ({ status: 'success', message: run < 3 ? 'again' : 'enough' }))
  assert.deepEqual([three.order.length, three.end.status], [3, 'success'])
  const ever = simulate(loop({ type: 'const', value: true }), good)
  assert.deepEqual([ever.order.length, ever.end.status], [MAX_VISITS, 'error'])
  assert.match(ever.end.message, /1000 phases/)
})

test('variables are set, computed from results, and reach the jobs that ask for them', () => {
  const plan = planOf('flow', {
    phases: [{ id: 'a', next: [{ goto: 'b' }] }, { id: 'b' }],
    tasks: [
      task('t', 'a'),
      {
        id: 'v',
        name: 'v',
        phase: 'b',
        task: { type: 'variable', name: 'said', source: { type: 'task', task: 't', value: 'job.result.message' } },
      },
      { id: 'w', name: 'w', phase: 'b', task: { type: 'variable', name: 'day', value: 'monday' } },
      task('all', 'b'),
      task('one', 'b', {}, { variableOverrides: ['day'] }),
    ],
  })
  const jobs = new Map<number, StepJob>()
  const first = advance(plan, startState(0, { given: 1 }), jobs, 0)
  jobs.set(1, {
    id: 1,
    status: 'success',
    isFinished: true,
    component: 'c',
    config: null,
    startedAt: 0,
    endedAt: 1,
    result: { message: 'hello' },
    error: null,
  })
  const second = advance(plan, filled(first.state, 0, 0, 1), jobs, 1)
  assert.deepEqual(second.state.variables, { given: 1, said: 'hello', day: 'monday' })
  assert.deepEqual(
    second.starts.map(({ taskId, variableOverrides }) => [taskId, variableOverrides]),
    [
      [
        'all',
        [
          { name: 'given', value: 1 },
          { name: 'said', value: 'hello' },
          { name: 'day', value: 'monday' },
        ],
      ],
      ['one', [{ name: 'day', value: 'monday' }]],
    ],
  )
})

test('notifications are handed over once, when their phase starts', () => {
  const recipients = [{ channel: 'email', address: 'a@b.c' }]
  const plan = planOf('flow', {
    phases: [{ id: 'a' }],
    tasks: [
      { id: 'n', name: 'n', phase: 'a', task: { type: 'notification', title: 'hi', message: 'm', recipients } },
      task('t', 'a'),
    ],
  })
  assert.deepEqual(simulate(plan, good).notified, ['hi'])
})

test('a condition that compares what cannot be compared ends the flow and says so', () => {
  const condition = {
    type: 'operator',
    operator: 'GREATER_THAN',
    operands: [
      { type: 'const', value: 'abc' },
      { type: 'const', value: 5 },
    ],
  }
  const plan = planOf('flow', {
    phases: [{ id: 'a', next: [{ condition, goto: 'a' }, { goto: null }] }],
    tasks: [task('t', 'a')],
  })
  const { end } = simulate(plan, good)
  assert.equal(end.status, 'error')
  assert.match(end.message, /cannot compare "abc" with 5/)
})

test('a task that runs too long is ended and has failed; a flow that does ends with everything in it', () => {
  const long = planOf('orchestrator', { phases: [{ id: 'a' }], tasks: [task('t', 'a', { timeLimitSeconds: 10 })] })
  const running = new Map<number, StepJob>()
  const begun = advance(long, startState(0, {}), running, 0)
  assert.equal(begun.wakeAt, 10_000)
  const state = filled(begun.state, 0, 0, 1)
  running.set(1, {
    id: 1,
    status: 'processing',
    isFinished: false,
    component: 'c',
    config: null,
    startedAt: 2_000,
    endedAt: null,
    result: {},
    error: null,
  })
  const early = advance(long, state, running, 10_000)
  assert.deepEqual([early.kills, early.wakeAt], [[], 12_000])
  const late = advance(long, state, running, 12_000)
  assert.deepEqual(late.kills, [1])
  running.set(1, { ...running.get(1)!, status: 'terminated', isFinished: true, endedAt: 12_500 })
  const { end } = advance(long, late.state, running, 12_500)
  assert.match(end!.message, /longer than its limit of 10 seconds/)

  const flow = planOf('orchestrator', {
    timeLimitSeconds: 5,
    phases: [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }],
    tasks: [task('t', 'a'), task('u', 'b')],
  })
  const over = simulate(flow, good, { tickMs: 6_000 })
  assert.deepEqual([over.order, over.end.status], [['t'], 'error'])
  assert.match(over.end.message, /The flow ran longer than its limit of 5 seconds/)
})

test('of a flow only chosen tasks run: conditions are ignored, nothing stops, the last phase decides', () => {
  const plan = planOf('flow', {
    phases: [{ id: 'a', next: [{ goto: null }] }, { id: 'b' }, { id: 'c' }],
    tasks: [task('1', 'a'), task('2', 'a'), task('3', 'b'), task('4', 'c')],
  })
  const { order, end } = simulate(onlyTasks(plan, ['1', '3', '4']), failing('1'))
  assert.deepEqual([order, end.status], [['1', '3', '4'], 'success'])
})

test('run again, a flow keeps what succeeded and goes on from what failed', () => {
  const plan = planOf('orchestrator', {
    phases: [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }],
    tasks: [task('1', 'a'), task('2', 'a'), task('3', 'b')],
  })
  const first = simulate(plan, failing('2'))
  const kept = succeededTasks(plan, first.state, first.jobs)
  assert.deepEqual(Object.keys(kept), ['1'])
  const second = simulate(plan, good, { state: startState(0, {}, kept) })
  assert.deepEqual([second.order, second.end.status], [['2', '3'], 'success'])
  assert.equal(resultOf(plan, second.state, second.jobs, 0, true).tasks[0]!.isKept, true)
})

const ids = ['a', 'b', 'c', 'd', 'e']
const anyEnding = fc.constantFrom<Ending>(
  { status: 'success' },
  { status: 'warning' },
  { status: 'error', message: 'x' },
  { status: 'terminated' },
)
const anyTasks = fc.array(
  fc.record({
    phase: fc.constantFrom(...ids),
    continueOnFailure: fc.boolean(),
    enabled: fc.boolean(),
    retries: fc.integer({ min: 0, max: 2 }),
  }),
  { maxLength: 10 },
)
const tasksOf = (given: readonly { phase: string; continueOnFailure: boolean; enabled: boolean; retries: number }[]) =>
  given.map(({ phase, continueOnFailure, enabled, retries }, at) =>
    task(`t${at}`, phase, { continueOnFailure, enabled }, { retry: { strategyParams: { maxRetries: retries, delay: 0 } } }),
  )
const RUNS = process.env.MILLRACE_LONG ? 5_000 : 300

test('any orchestration ends, starts each task once beside its retries, and each phase after those it depends on', () => {
  fc.assert(
    fc.property(
      fc.array(fc.subarray(ids), { minLength: 5, maxLength: 5 }),
      anyTasks,
      fc.array(anyEnding, { minLength: 10, maxLength: 10 }),
      fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
      (dependencies, given, endings, picks) => {
        const phases = ids.map((id, at) => ({ id, dependsOn: dependencies[at]!.filter((other) => ids.indexOf(other) < at) }))
        const plan = planOf('orchestrator', { phases, tasks: tasksOf(given) })
        let turn = 0
        const run = simulate(plan, (id) => endings[Number(id.slice(1))]!, { pick: () => picks[turn++ % picks.length]! })
        for (const [at, { enabled, retries }] of given.entries()) {
          const count = run.order.filter((id) => id === `t${at}`).length
          assert.ok(count <= (enabled ? retries + 1 : 0), `t${at} ran ${count} times`)
        }
        const visits = new Map(run.state.visits.map((visit) => [visit.phaseId, visit]))
        for (const { id, dependsOn } of phases)
          for (const other of dependsOn)
            assert.ok(
              !visits.has(id) || visits.get(other)!.endedAt! <= visits.get(id)!.startedAt,
              `${id} started before ${other} ended`,
            )
        const hasFailed = [...visits.values()].some(({ status }) => status === 'error')
        assert.equal(run.end.status === 'error', hasFailed)
        assert.equal(visits.size === ids.length || hasFailed, true)
      },
    ),
    { numRuns: RUNS },
  )
})

test('any flow with conditions ends, and phases follow each other along its ways', () => {
  const anyNext = fc.array(fc.record({ goto: fc.constantFrom(...ids, null), when: fc.constantFrom('success', 'error') }), {
    maxLength: 3,
  })
  fc.assert(
    fc.property(
      fc.array(anyNext, { minLength: 5, maxLength: 5 }),
      anyTasks,
      fc.array(anyEnding, { minLength: 10, maxLength: 10 }),
      fc.boolean(),
      (nexts, given, endings, isLast) => {
        const phases = ids.map((id, at) => ({
          id,
          next: [
            ...nexts[at]!.map(({ goto, when }) => ({
              goto,
              condition: equals({ type: 'phase', phase: id, value: 'status' }, when),
            })),
            { goto: isLast ? null : (ids[at + 1] ?? null) },
          ],
        }))
        const plan = planOf('flow', { phases, tasks: tasksOf(given) })
        const run = simulate(plan, (id) => endings[Number(id.slice(1))]!)
        const trail = run.state.visits.map(({ phaseId }) => phaseId)
        assert.equal(trail[0], 'a')
        for (const [at, from] of trail.slice(0, -1).entries())
          assert.ok(
            phases.find(({ id }) => id === from)!.next.some(({ goto }) => goto === trail[at + 1]),
            `${from} -> ${trail[at + 1]}`,
          )
        assert.ok(run.state.visits.every(({ endedAt }) => endedAt !== null))
      },
    ),
    { numRuns: Math.round(RUNS / 30) },
  )
})
