// A flow as people draw it: phases in columns, tasks in phases, lines between. Read from either public format, changed in its text. Pure.

import { isRecord, type Path, parsed, pretty, setAt, sliceAt, spliceAt, valueIn } from '../document/json-text.ts'

export interface FlowTask {
  readonly id: string
  readonly name: string
  /** Its place in the list of tasks. */
  readonly index: number
  readonly isEnabled: boolean
  readonly type: string
  readonly componentId: string
  readonly configId: string
}

export interface FlowPhase {
  readonly id: string
  readonly name: string
  readonly index: number
  /** Which column it stands in. */
  readonly layer: number
  readonly tasks: readonly FlowTask[]
}

export interface FlowLine {
  readonly from: string
  readonly to: string
  /** When it is followed; empty: always. */
  readonly condition: string
}

export interface Flow {
  readonly phases: readonly FlowPhase[]
  readonly lines: readonly FlowLine[]
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
const listAt = (document: unknown, key: string): readonly unknown[] => {
  const value = valueIn(document, [key])
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** Orchestrators list which phases come before; flows list which follow. */
export const isOrchestrator = (componentId: string): boolean => componentId === 'keboola.orchestrator'

export function readFlow(document: unknown, componentId: string): Flow {
  const phases = listAt(document, 'phases')
  const tasks = listAt(document, 'tasks').map(readTask)
  const idOf = (phase: unknown) => text(valueIn(phase, ['id']))
  const names: Names = new Map([
    ...phases.map((phase) => [idOf(phase), text(valueIn(phase, ['name'])) || idOf(phase)] as const),
    ...tasks.map(({ id, name }) => [id, name] as const),
  ])
  const lines = phases.flatMap((phase) => (isOrchestrator(componentId) ? linesBefore(phase) : linesAfter(phase, names)))
  const layers = layersOf(phases.map(idOf), lines)
  return {
    lines,
    phases: phases.map((phase, index) => ({
      id: idOf(phase),
      name: text(valueIn(phase, ['name'])) || idOf(phase),
      index,
      layer: layers.get(idOf(phase)) ?? 0,
      tasks: tasks.filter(({ phaseId }) => phaseId === idOf(phase)),
    })),
  }
}

function readTask(value: unknown, index: number): FlowTask & { readonly phaseId: string } {
  const at = (...path: Path) => text(valueIn(value, path))
  return {
    id: at('id'),
    name: at('name') || at('task', 'configId') || at('id'),
    index,
    phaseId: at('phase'),
    isEnabled: valueIn(value, ['enabled']) !== false,
    type: at('task', 'type') || 'job',
    componentId: at('task', 'componentId'),
    configId: at('task', 'configId'),
  }
}

const linesBefore = (phase: unknown): readonly FlowLine[] =>
  listAt(phase, 'dependsOn').map((before) => ({ from: text(before), to: text(valueIn(phase, ['id'])), condition: '' }))

const linesAfter = (phase: unknown, names: Names): readonly FlowLine[] =>
  listAt(phase, 'next')
    .filter((next) => valueIn(next, ['goto']) !== null && valueIn(next, ['goto']) !== undefined)
    .map((next) => ({
      from: text(valueIn(phase, ['id'])),
      to: text(valueIn(next, ['goto'])),
      condition: conditionText(valueIn(next, ['condition']), names),
    }))

/** The longest way from the beginning; lines that lead back count for nothing. */
function layersOf(ids: readonly string[], lines: readonly FlowLine[]): ReadonlyMap<string, number> {
  const order = new Map(ids.map((id, index) => [id, index]))
  const forward = lines.filter(({ from, to }) => (order.get(from) ?? 0) < (order.get(to) ?? 0))
  const layers = new Map<string, number>()
  for (const id of ids)
    layers.set(id, Math.max(0, ...forward.filter(({ to }) => to === id).map(({ from }) => (layers.get(from) ?? 0) + 1)))
  return layers
}

/** The task and every enabled task of the phases that can follow its own: what a run from here runs. */
export function tasksFrom({ phases, lines }: Flow, task: FlowTask): readonly string[] {
  const first = phases.find(({ tasks }) => tasks.includes(task))
  const next = Map.groupBy(lines, ({ from }) => from)
  const reached = new Set<string>()
  const waiting = [first?.id ?? '']
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
    for (const { to } of next.get(id) ?? [])
      if (!reached.has(to)) {
        reached.add(to)
        waiting.push(to)
      }
  const later = phases.filter(({ id }) => reached.has(id) && id !== first?.id).flatMap(({ tasks }) => tasks)
  return [task.id, ...later.filter(({ isEnabled }) => isEnabled).map(({ id }) => id)]
}

const COMPARED: Readonly<Record<string, string>> = {
  EQUALS: 'is',
  NOT_EQUALS: 'is not',
  GREATER_THAN: 'is greater than',
  LESS_THAN: 'is less than',
  INCLUDES: 'includes',
  CONTAINS: 'contains',
}

export type Names = ReadonlyMap<string, string>

/** Tasks and phases by id, as people call them. */
export const namesOf = ({ phases }: Flow): Names =>
  new Map(phases.flatMap(({ id, name, tasks }) => [[id, name] as const, ...tasks.map((task) => [task.id, task.name] as const)]))

/** Where the result of a task has the number of rows that it loaded. */
export const ROWS_LOADED = 'job.result.output.tables[0].importedRowsCount'
/** What dates are compared by: letters of PHP, and what they are to people. */
export const DATE_PARTS: Readonly<Record<string, string>> = {
  N: 'the day of the week (1 is Monday)',
  j: 'the day of the month',
  G: 'the hour, UTC',
}

function ofTask(value: string, whose: string): string {
  if (value === ROWS_LOADED) return `the number of rows that ${whose} loaded`
  return value === '' || value === 'status' ? `the status of ${whose}` : `${value} of ${whose}`
}

/** A condition as a sentence. */
export function conditionText(condition: unknown, names: Names = new Map()): string {
  if (condition === undefined || condition === null) return ''
  const at = (key: string) => text(valueIn(condition, [key]))
  const named = (key: string) => names.get(at(key)) ?? at(key)
  const operands = listAt(condition, 'operands')
  const told = (operand: unknown) => conditionText(operand, names)
  switch (at('type')) {
    case 'const':
    case 'constant':
      return typeof valueIn(condition, ['value']) === 'string' ? at('value') : JSON.stringify(valueIn(condition, ['value']))
    case 'task':
      return ofTask(at('value'), at('task') === '*' ? (names.get('*') ?? 'each task') : named('task'))
    case 'phase':
      return ofTask(at('value'), `phase ${named('phase')}`)
    case 'variable':
      return at('value')
    case 'function':
      return at('function') === 'COUNT'
        ? `number of ${operands.map(told).join(', ')}`
        : (DATE_PARTS[told(operands[0])] ?? `today as ${operands.map(told).join(', ')}`)
    case 'array':
      return operands.map(told).join(', ')
    default:
      return operatorText(at('operator'), named('phase'), operands, condition, names)
  }
}

function operatorText(operator: string, phase: string, operands: readonly unknown[], condition: unknown, names: Names): string {
  const told = (operand: unknown) => conditionText(operand, names)
  if (operator === 'AND' || operator === 'OR') return operands.map(told).join(operator === 'AND' ? ' and ' : ' or ')
  if (COMPARED[operator]) return `${told(operands[0])} ${COMPARED[operator]} ${told(operands[1])}`
  const tasks = {
    ALL_TASKS_IN_PHASE: `each task of ${phase}`,
    ANY_TASKS_IN_PHASE: `any task of ${phase}`,
    ANY_TASKS_IN_ANY_PHASE: 'any task',
  }[operator]
  if (tasks) {
    const inner = operands.map((operand) => conditionText(operand, new Map([...names, ['*', tasks]]))).join()
    return inner.includes(tasks) ? inner : `for ${tasks}: ${inner}`
  }
  if (operator === 'CONTINUE_ON_FAILURE') return `only ${listAt(condition, 'tasks').map(text).join(', ')} failed`
  return JSON.stringify(condition)
}

const freeId = (taken: readonly string[], prefix: string): string => {
  let number = taken.length + 1
  while (taken.includes(`${prefix}-${number}`)) number++
  return `${prefix}-${number}`
}

/** A new phase at the end, after the one that was last. */
export function addPhase(flowText: string, componentId: string): string {
  const { phases } = readFlow(parsed(flowText), componentId)
  const id = freeId(
    phases.map((phase) => phase.id),
    'phase',
  )
  const last = phases.at(-1)
  const phase = {
    id,
    name: `Phase ${phases.length + 1}`,
    ...(isOrchestrator(componentId) && last ? { dependsOn: [last.id] } : {}),
  }
  const added = setAt(flowText, ['phases', phases.length], phase)
  if (!last || isOrchestrator(componentId)) return added
  const next = valueIn(parsed(flowText), ['phases', last.index, 'next'])
  return Array.isArray(next) && next.length > 0
    ? added
    : setAt(added, ['phases', last.index, 'next'], [{ id: `to-${id}`, goto: id }])
}

export interface NewTask {
  readonly name: string
  readonly componentId: string
  readonly configId: string
}

export function addTask(flowText: string, phaseId: string, { name, componentId, configId }: NewTask): string {
  const tasks = listAt(parsed(flowText), 'tasks')
  const id = freeId(
    tasks.map((task) => text(valueIn(task, ['id']))),
    'task',
  )
  const task = { id, name, phase: phaseId, task: { type: 'job', mode: 'run', componentId, configId } }
  return setAt(flowText, ['tasks', tasks.length], task)
}

export const removeTask = (flowText: string, index: number): string => setAt(flowText, ['tasks', index], undefined)

/** Takes a phase away with its tasks; what led to it leads to what followed it. */
export function removePhase(flowText: string, componentId: string, phaseId: string): string {
  const { phases, lines } = readFlow(parsed(flowText), componentId)
  const phase = phases.find(({ id }) => id === phaseId)
  if (!phase) return flowText
  let result = phase.tasks
    .map(({ index }) => index)
    .toSorted((a, b) => b - a)
    .reduce(removeTask, flowText)
  const following = lines.filter(({ from }) => from === phaseId).map(({ to }) => to)
  const before = lines.filter(({ to }) => to === phaseId).map(({ from }) => from)
  for (const other of phases) {
    const path: Path = ['phases', other.index, isOrchestrator(componentId) ? 'dependsOn' : 'next']
    const list = valueIn(parsed(result), path)
    if (other.id === phaseId || !Array.isArray(list)) continue
    const kept = isOrchestrator(componentId)
      ? [...new Set(list.map(text).flatMap((id) => (id === phaseId ? before : [id])))]
      : list.flatMap((next: unknown) => {
          if (text(valueIn(next, ['goto'])) !== phaseId) return [next]
          return following[0] === undefined || !isRecord(next) ? [] : [{ ...next, goto: following[0] }]
        })
    if (JSON.stringify(kept) !== JSON.stringify(list)) result = setAt(result, path, kept.length === 0 ? undefined : kept)
  }
  return setAt(result, ['phases', phase.index], undefined)
}

/** Elements of a list in another order, each with the text it had. */
function reordered(flowText: string, path: Path, order: readonly number[]): string {
  const slices = order.map((index) => sliceAt(flowText, [...path, index]) ?? 'null')
  return pretty(spliceAt(flowText, path, `[${slices.join(',')}]`))
}

const moved = (count: number, from: number, to: number): readonly number[] => {
  const order = Array.from({ length: count }, (_, index) => index).filter((index) => index !== from)
  return order.toSpliced(to > from ? to - 1 : to, 0, from)
}

/** Puts a task into a phase, before another task or at its end. */
export function moveTask(flowText: string, componentId: string, index: number, phaseId: string, before?: number): string {
  const { phases } = readFlow(parsed(flowText), componentId)
  const phase = phases.find(({ id }) => id === phaseId)
  if (!phase) return flowText
  const id = valueIn(parsed(flowText), ['phases', phase.index, 'id'])
  const placed = setAt(flowText, ['tasks', index, 'phase'], id)
  const count = listAt(parsed(flowText), 'tasks').length
  const last = phase.tasks.filter((task) => task.index !== index).at(-1)
  const to = before ?? (last ? last.index + 1 : index)
  return to === index || to === index + 1 ? placed : reordered(placed, ['tasks'], moved(count, index, to))
}

/** True when every phase leads to the next one, always: then they can be put into another order. */
export function isChain({ phases, lines }: Flow): boolean {
  return (
    lines.length === phases.length - 1 &&
    lines.every(({ from, to, condition }) => {
      const at = phases.findIndex(({ id }) => id === from)
      return condition === '' && phases[at + 1]?.id === to
    })
  )
}

/** Moves a phase of a chain; the chain is joined again in the new order. */
export function movePhase(flowText: string, componentId: string, from: number, to: number): string {
  const flow = readFlow(parsed(flowText), componentId)
  if (!isChain(flow) || to < 0 || to > flow.phases.length) return flowText
  let result = reordered(flowText, ['phases'], moved(flow.phases.length, from, to))
  const document = parsed(result)
  const ids = listAt(document, 'phases').map((phase) => valueIn(phase, ['id']))
  for (const index of ids.keys()) {
    const near = isOrchestrator(componentId) ? ids[index - 1] : ids[index + 1]
    const joined = isOrchestrator(componentId) ? [near] : [{ id: `to-${text(near)}`, goto: near }]
    const member = isOrchestrator(componentId) ? 'dependsOn' : 'next'
    if (near !== undefined || valueIn(document, ['phases', index, member]) !== undefined)
      result = setAt(result, ['phases', index, member], near === undefined ? undefined : joined)
  }
  return result
}

/** `phases[0].next[1].goto`, as the server names places. */
export function placeOfProblem(path: string): { readonly kind: 'phase' | 'task'; readonly index: number } | undefined {
  const found = path.match(/^(phases|tasks)\[(\d+)\]/)
  return found ? { kind: found[1] === 'phases' ? 'phase' : 'task', index: Number(found[2]) } : undefined
}
