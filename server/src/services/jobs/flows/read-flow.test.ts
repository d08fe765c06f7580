import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { MAX_TASKS, readFlow } from './read-flow.ts'

const job = { type: 'job', componentId: 'c', configId: '1' }
const errorsOf = (configuration: unknown, format: 'flow' | 'orchestrator') =>
  readFlow(configuration, format)
    .problems.filter(({ level }) => level !== 'warning')
    .map(({ path }) => path)

test('all mistakes of an orchestration are named at once, each with its path', () => {
  const paths = errorsOf(
    {
      phases: [
        { id: 1, dependsOn: [2] },
        { id: 2, dependsOn: [1, 9] },
        { id: 3 },
        { name: 'no id' },
        { id: 3, behavior: { onError: 'panic' } },
      ],
      tasks: [
        { id: 1, phase: 7, task: job },
        { id: 2, phase: 1, task: { type: 'job' } },
        { id: 3, phase: 1, task: { type: 'job', componentId: 'c' } },
        { id: 4, phase: 1 },
        { id: 5, phase: 1, task: { type: 'dance' } },
        { id: 6, phase: 1, task: { ...job, mode: 'fast' } },
      ],
    },
    'orchestrator',
  )
  assert.deepEqual(paths.sort(), [
    'phases[0].dependsOn',
    'phases[1].dependsOn',
    'phases[1].dependsOn[1]',
    'phases[3].id',
    'phases[4].behavior.onError',
    'phases[4].id',
    'tasks[0].phase',
    'tasks[1].task.componentId',
    'tasks[2].task.configId',
    'tasks[3].task',
    'tasks[4].task.type',
    'tasks[5].task.mode',
  ])
})

test('all mistakes of a flow are named at once; a phase that is never reached is a warning', () => {
  const { problems } = readFlow(
    {
      timeLimitSeconds: -1,
      phases: [
        { id: 'a', next: [{ goto: 'z' }, { condition: { type: 'const', value: true }, goto: null }] },
        {
          id: 'b',
          retry: { strategy: 'exponential', strategyParams: { maxRetries: -1, delay: 'soon' }, retryOn: [{ type: 'any' }] },
        },
      ],
      tasks: [
        { id: 'v', phase: 'a', task: { type: 'variable', name: 'x' } },
        { id: 'n', phase: 'a', task: { type: 'notification', recipients: [{ channel: 'pigeon' }, { channel: 'email' }] } },
      ],
    },
    'flow',
  )
  assert.deepEqual(problems.map(({ level, path }) => `${level} ${path}`).sort(), [
    'error phases[0].next',
    'error phases[0].next[0].goto',
    'error phases[1].retry.retryOn[0].type',
    'error phases[1].retry.strategy',
    'error phases[1].retry.strategyParams.delay',
    'error phases[1].retry.strategyParams.maxRetries',
    'error tasks[0].task.value',
    'error tasks[1].task.recipients[0].channel',
    'error tasks[1].task.recipients[1].address',
    'error timeLimitSeconds',
    'warning phases[0]',
    'warning phases[1]',
    'warning phases[1]',
  ])
})

test('what the public formats allow is read: numbers as ids, the older members of a task, an empty configuration', () => {
  for (const empty of [{}, { phases: [], tasks: [] }, { phases: null }]) assert.deepEqual(errorsOf(empty, 'orchestrator'), [])
  const { plan, problems } = readFlow(
    {
      phases: [{ id: 1, name: 'one', dependsOn: [], description: 'd', color: 'red' }],
      tasks: [
        {
          id: 7,
          name: 'old',
          phase: '1',
          continueOnFailure: false,
          enabled: true,
          task: { mode: 'run' },
          actionParameters: { componentId: 'c', configId: 5 },
        },
        {
          id: 8,
          name: 'empty php map',
          phase: 1,
          task: { mode: 'run', componentId: 'c', configData: [], variableValuesData: { values: [] } },
        },
      ],
    },
    'orchestrator',
  )
  assert.deepEqual(problems, [])
  const [old, php] = plan.phases[0]!.tasks
  assert.deepEqual(old!.work, { type: 'job', component: 'c', config: '5', mode: 'run', variableValues: [], delayMs: 0 })
  assert.equal((php!.work as { configData?: string }).configData, '{}')
})

test('too many tasks are refused with the limit named', () => {
  const tasks = Array.from({ length: 10_000 }, (_, id) => ({ id, phase: 1, task: job }))
  const [problem] = readFlow({ phases: [{ id: 1 }], tasks }, 'orchestrator').problems
  assert.match(problem!.message, new RegExp(`at most ${MAX_TASKS} tasks; this one has 10000`))
})

test('any JSON is read or refused, and never throws', () => {
  const anyNode = fc.dictionary(
    fc.constantFrom('id', 'phase', 'task', 'next', 'dependsOn', 'retry', 'behavior', 'goto', 'condition'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(anyNode, fc.jsonValue())), fc.array(fc.oneof(anyNode, fc.jsonValue())), (phases, tasks) => {
      for (const format of ['flow', 'orchestrator'] as const) readFlow({ phases, tasks }, format)
    }),
  )
})
