import assert from 'node:assert/strict'
import test from 'node:test'
import {
  addPhase,
  addTask,
  conditionText,
  isChain,
  movePhase,
  moveTask,
  placeOfProblem,
  readFlow,
  removePhase,
  tasksFrom,
} from './flow-document.ts'

const flow = 'keboola.flow'
const NEW = { name: 'Orders', componentId: 'c', configId: '1' }

test('phases and tasks are added in a row, and read as columns', () => {
  let text = '{"other":1.0}'
  for (let count = 0; count < 3; count++) text = addPhase(text, flow)
  text = addTask(text, 'phase-2', NEW)
  const { phases, lines } = readFlow(JSON.parse(text), flow)
  assert.deepEqual(
    phases.map(({ id, layer, tasks }) => [id, layer, tasks.length]),
    [
      ['phase-1', 0, 0],
      ['phase-2', 1, 1],
      ['phase-3', 2, 0],
    ],
  )
  assert.deepEqual(
    lines.map(({ from, to }) => `${from} ${to}`),
    ['phase-1 phase-2', 'phase-2 phase-3'],
  )
  assert.match(text, /"other": ?1\.0/)
})

test('a phase that is taken away leaves its neighbours joined, in both formats', () => {
  for (const component of [flow, 'keboola.orchestrator']) {
    let text = '{}'
    for (let count = 0; count < 3; count++) text = addPhase(text, component)
    text = removePhase(addTask(text, 'phase-2', NEW), component, 'phase-2')
    const { phases, lines } = readFlow(JSON.parse(text), component)
    assert.deepEqual(
      phases.map(({ id }) => id),
      ['phase-1', 'phase-3'],
    )
    assert.deepEqual(
      lines.map(({ from, to }) => `${from} ${to}`),
      ['phase-1 phase-3'],
    )
    assert.deepEqual((JSON.parse(text) as { tasks: unknown[] }).tasks, [])
  }
})

test('conditions are sentences', () => {
  const status = { type: 'task', task: 'orders', value: 'status' }
  const is = { type: 'operator', operator: 'EQUALS', operands: [status, { type: 'const', value: 'success' }] }
  assert.equal(conditionText(is), 'the status of orders is success')
  assert.equal(
    conditionText({ type: 'operator', operator: 'OR', operands: [is, is] }),
    'the status of orders is success or the status of orders is success',
  )
  assert.equal(
    conditionText({ type: 'operator', operator: 'ANY_TASKS_IN_PHASE', phase: 'a', operands: [is] }),
    'for any task of a: the status of orders is success',
  )
  assert.equal(conditionText(undefined), '')
})

test('a place that the server names belongs to a phase or a task', () => {
  assert.deepEqual(placeOfProblem('tasks[2].task.configId'), { kind: 'task', index: 2 })
  assert.equal(placeOfProblem('timeLimitSeconds'), undefined)
})

test('tasks and phases are put into another order, and the chain is joined again', () => {
  for (const component of [flow, 'keboola.orchestrator']) {
    let text = '{"phases":[],"kept":1.50}'
    for (let count = 0; count < 3; count++) text = addPhase(text, component)
    for (const name of ['a', 'b', 'c']) text = addTask(text, 'phase-1', { ...NEW, name })
    const tasksOf = () => readFlow(JSON.parse(text), component).phases.map(({ tasks }) => tasks.map(({ name }) => name).join(''))
    text = moveTask(text, component, 2, 'phase-1', 0)
    assert.deepEqual(tasksOf(), ['cab', '', ''])
    text = moveTask(text, component, 0, 'phase-3')
    assert.deepEqual(tasksOf(), ['ab', '', 'c'])
    text = movePhase(text, component, 2, 0)
    const moved = readFlow(JSON.parse(text), component)
    assert.deepEqual(
      moved.phases.map(({ id, layer }) => `${id} ${layer}`),
      ['phase-3 0', 'phase-1 1', 'phase-2 2'],
    )
    assert.ok(isChain(moved))
    assert.match(text, /"kept": ?1\.50/)
  }
})

test('a run from a task has the task and all that can follow its phase, in both formats', () => {
  for (const component of [flow, 'keboola.orchestrator']) {
    let text = '{}'
    for (let count = 0; count < 3; count++) text = addPhase(text, component)
    for (const phase of ['phase-1', 'phase-2', 'phase-2', 'phase-3']) text = addTask(text, phase, NEW)
    const read = readFlow(JSON.parse(text), component)
    const [first, second, beside, last] = read.phases.flatMap(({ tasks }) => tasks)
    assert.deepEqual(
      tasksFrom(read, first!),
      [first, second, beside, last].map((task) => task!.id),
    )
    assert.deepEqual(tasksFrom(read, second!), [second!.id, last!.id])
  }
  const loop = { phases: [{ id: 'a', next: [{ goto: 'a' }] }], tasks: [{ id: 't', phase: 'a' }] }
  const read = readFlow(loop, flow)
  assert.deepEqual(tasksFrom(read, read.phases[0]!.tasks[0]!), ['t'])
})
