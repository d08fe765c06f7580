// Conditions of flows (spec platform 2.11): read once, with every mistake named by its path; evaluated as often as needed, without side
// effects. A task or phase that has not ended is not there: its value is null.

import { compile, search } from '@jmespath-community/jmespath'
import { PlatformError } from '../../../kit/errors.ts'
import { formatPhpDate } from './php-date.ts'
import type { Report } from './problems.ts'

type Compare = 'EQUALS' | 'NOT_EQUALS' | 'GREATER_THAN' | 'LESS_THAN' | 'INCLUDES' | 'CONTAINS'
type OverTasks = 'ALL_TASKS_IN_PHASE' | 'ANY_TASKS_IN_PHASE' | 'ANY_TASKS_IN_ANY_PHASE'

export type Condition =
  | { readonly type: 'const'; readonly value: unknown }
  | { readonly type: 'task'; readonly task: string; readonly value: string }
  | { readonly type: 'phase'; readonly phase: string; readonly value: 'phaseId' | 'status' }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'array'; readonly operands: readonly Condition[] }
  | { readonly type: 'function'; readonly name: 'COUNT' | 'DATE'; readonly operand: Condition }
  | { readonly type: 'logic'; readonly operator: 'AND' | 'OR'; readonly operands: readonly Condition[] }
  | { readonly type: 'compare'; readonly operator: Compare; readonly left: Condition; readonly right: Condition }
  | { readonly type: 'tasks'; readonly operator: OverTasks; readonly phase: string | null; readonly operand: Condition }
  | { readonly type: 'continueOnFailure'; readonly phase: string; readonly tasks: readonly string[] }

const COMPARE: readonly string[] = ['EQUALS', 'NOT_EQUALS', 'GREATER_THAN', 'LESS_THAN', 'INCLUDES', 'CONTAINS']
const OVER_TASKS: readonly string[] = ['ALL_TASKS_IN_PHASE', 'ANY_TASKS_IN_PHASE', 'ANY_TASKS_IN_ANY_PHASE']
const OPERATORS = ['AND', 'OR', ...COMPARE, ...OVER_TASKS, 'CONTINUE_ON_FAILURE']
const KINDS = ['const', 'task', 'phase', 'variable', 'operator', 'function', 'array']
const EVERY_TASK = '*'
const LONGEST_PATH = 1_000
const DEEPEST = 50

/** Ids a condition may name. */
export interface KnownIds {
  readonly phases: ReadonlySet<string>
  readonly tasks: ReadonlySet<string>
}

/** Undefined when something was reported. */
export function readCondition(given: unknown, path: string, known: KnownIds, report: Report, depth = 0): Condition | undefined {
  const fail = (message: string, at = path): undefined => report('error', at, message)
  if (depth > DEEPEST) return fail(`Conditions are at most ${DEEPEST} levels deep.`)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return fail('A condition is an object with a "type".')
  const node = given as Readonly<Record<string, unknown>> // checked above
  const below = (value: unknown, at: string) => readCondition(value, at, known, report, depth + 1)
  const operands = (min: number, max: number): readonly Condition[] | undefined => {
    const list = node.operands
    const wanted = min === max ? `${min}` : `${min} or more`
    if (!Array.isArray(list) || list.length < min || list.length > max)
      return fail(`This needs a list of ${wanted} operand${wanted === '1' ? '' : 's'}.`, `${path}.operands`)
    const read = list.map((one, at) => below(one, `${path}.operands[${at}]`))
    return read.every((one) => one !== undefined) ? read : undefined
  }
  const phaseOf = (): string | undefined => {
    const id = idText(node.phase)
    if (id !== undefined && known.phases.has(id)) return id
    return fail(`The phase ${shown(node.phase)} does not exist.`, `${path}.phase`)
  }

  switch (node.type) {
    case 'const':
    case 'constant':
      return 'value' in node ? { type: 'const', value: node.value } : fail('A constant needs a "value".')
    case 'variable':
      return readVariable()
    case 'phase':
      return readPhase()
    case 'task':
      return readTask()
    case 'array': {
      const list = operands(0, Number.POSITIVE_INFINITY)
      return list && { type: 'array', operands: list }
    }
    case 'function':
      return readFunction()
    case 'operator':
      return readOperator()
    default:
      return fail(`The type ${shown(node.type)} does not exist: use one of ${KINDS.join(', ')}.`, `${path}.type`)
  }

  function readVariable(): Condition | undefined {
    const name = node.value ?? node.name
    if (typeof name !== 'string' || name === '') return fail('A variable is named by "value".', `${path}.value`)
    return { type: 'variable', name }
  }

  function readPhase(): Condition | undefined {
    const phase = phaseOf()
    const value = node.value ?? 'status'
    if (value !== 'phaseId' && value !== 'status')
      return fail('A condition on a phase uses "phaseId" or "status".', `${path}.value`)
    return phase === undefined ? undefined : { type: 'phase', phase, value }
  }

  function readTask(): Condition | undefined {
    const task = idText(node.task)
    const value = node.value ?? 'status'
    if (task === undefined || (task !== EVERY_TASK && !known.tasks.has(task)))
      return fail(`The task ${shown(node.task)} does not exist.`, `${path}.task`)
    if (typeof value !== 'string') return fail('The value of a task is named by a path in a text.', `${path}.value`)
    const problem = pathProblem(value)
    return problem === undefined ? { type: 'task', task, value } : fail(problem, `${path}.value`)
  }

  function readFunction(): Condition | undefined {
    const name = node.function ?? node.name
    if (name !== 'COUNT' && name !== 'DATE')
      return fail(`The function ${shown(name)} does not exist: use COUNT or DATE.`, `${path}.function`)
    const operand = operands(1, 1)?.[0]
    return operand && { type: 'function', name, operand }
  }

  function readOperator(): Condition | undefined {
    const { operator } = node
    if (operator === 'AND' || operator === 'OR') {
      const list = operands(1, Number.POSITIVE_INFINITY)
      return list && { type: 'logic', operator, operands: list }
    }
    if (operator === 'CONTINUE_ON_FAILURE') {
      const phase = phaseOf()
      const tasks = Array.isArray(node.tasks) ? node.tasks.map(idText) : undefined
      if (!tasks?.every((id) => id !== undefined)) return fail('"tasks" is required: a list of ids.', `${path}.tasks`)
      return phase === undefined ? undefined : { type: 'continueOnFailure', phase, tasks }
    }
    if (typeof operator === 'string' && OVER_TASKS.includes(operator)) {
      const phase = operator === 'ANY_TASKS_IN_ANY_PHASE' ? null : phaseOf()
      const operand = operands(1, 1)?.[0]
      if (phase === undefined || !operand) return undefined
      return { type: 'tasks', operator: operator as OverTasks, phase, operand } // of the list above
    }
    if (typeof operator === 'string' && COMPARE.includes(operator)) {
      const [left, right] = operands(2, 2) ?? []
      return left && right && { type: 'compare', operator: operator as Compare, left, right } // of the list above
    }
    return fail(`The operator ${shown(operator)} does not exist: use one of ${OPERATORS.join(', ')}.`, `${path}.operator`)
  }
}

export const idText = (id: unknown): string | undefined =>
  (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined

export const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 60)

function pathProblem(path: string): string | undefined {
  if (path.length > LONGEST_PATH) return `A path has at most ${LONGEST_PATH} characters.`
  try {
    compile(path)
    return undefined
  } catch (error) {
    return `This is not a path or JMESPath expression: ${error instanceof Error ? error.message.slice(0, 200) : ''}`
  }
}

/** A task that has ended, as conditions see it. */
export interface TaskView {
  readonly taskId: string
  readonly phaseId: string
  readonly status: string
  readonly job: Readonly<Record<string, unknown>>
}

export interface Facts {
  /** Tasks that have ended, each with its last end. */
  readonly tasks: readonly TaskView[]
  /** Phases that have ended, each with its last end. */
  readonly phases: ReadonlyMap<string, string>
  readonly variables: Readonly<Record<string, unknown>>
  readonly now: Date
}

/** `one` is the task that `*` means inside an operator over tasks. */
export function evaluate(condition: Condition, facts: Facts, one?: TaskView): unknown {
  const value = (of: Condition) => evaluate(of, facts, one)
  switch (condition.type) {
    case 'const':
      return condition.value
    case 'variable':
      return Object.hasOwn(facts.variables, condition.name) ? facts.variables[condition.name] : null
    case 'phase':
      return facts.phases.has(condition.phase)
        ? condition.value === 'phaseId'
          ? condition.phase
          : facts.phases.get(condition.phase)
        : null
    case 'task': {
      if (condition.task !== EVERY_TASK) return valueAt(taskOf(condition.task, facts), condition.value)
      return one ? valueAt(one, condition.value) : facts.tasks.map((task) => valueAt(task, condition.value))
    }
    case 'array':
      return condition.operands.map(value)
    case 'function':
      return condition.name === 'DATE'
        ? formatPhpDate(String(value(condition.operand)), facts.now)
        : count(value(condition.operand))
    case 'logic':
      return condition.operator === 'AND'
        ? condition.operands.every((operand) => isTrue(value(operand)))
        : condition.operands.some((operand) => isTrue(value(operand)))
    case 'compare':
      return compare(condition.operator, value(condition.left), value(condition.right))
    case 'tasks': {
      const among = facts.tasks.filter(({ phaseId }) => condition.phase === null || phaseId === condition.phase)
      const holds = (task: TaskView) => isTrue(evaluate(condition.operand, facts, task))
      return condition.operator === 'ALL_TASKS_IN_PHASE' ? among.length > 0 && among.every(holds) : among.some(holds)
    }
    case 'continueOnFailure':
      return facts.tasks
        .filter(({ phaseId, status }) => phaseId === condition.phase && isErrorStatus(status))
        .every(({ taskId }) => condition.tasks.includes(taskId))
  }
}

/** Only `true` is true: a condition that yields a text or a number decides nothing. */
export const isTrue = (value: unknown): boolean => value === true

const taskOf = (id: string, { tasks }: Facts): TaskView | undefined => tasks.find(({ taskId }) => taskId === id)

function valueAt(task: TaskView | undefined, path: string): unknown {
  if (task === undefined) return null
  try {
    return search(task as unknown as Parameters<typeof search>[0], path) ?? null // plain JSON
  } catch (error) {
    throw incomparable(`"${path}" of task "${task.taskId}" has no value: ${error instanceof Error ? error.message : ''}`)
  }
}

function count(value: unknown): number {
  if (Array.isArray(value)) return value.length
  throw incomparable(`COUNT needs a list and got ${shown(value)}`)
}

const incomparable = (reason: string) => new PlatformError('flows.conditionFailed', { reason })

const isErrorStatus = (status: unknown): boolean =>
  status === 'error' || status === 'user_error' || status === 'application_error'

/** A number and the text of a number are the same value: variables are texts. `error` matches every kind of error. */
function isEqual(left: unknown, right: unknown): boolean {
  if ((left === 'error' && isErrorStatus(right)) || (right === 'error' && isErrorStatus(left))) return true
  if (typeof left !== typeof right) {
    const [a, b] = [numberOf(left), numberOf(right)]
    return a !== undefined && a === b
  }
  return typeof left === 'object' ? JSON.stringify(left) === JSON.stringify(right) : left === right
}

const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : undefined
}

function compare(operator: Compare, left: unknown, right: unknown): boolean {
  switch (operator) {
    case 'EQUALS':
      return isEqual(left, right)
    case 'NOT_EQUALS':
      return !isEqual(left, right)
    case 'GREATER_THAN':
      return order(left, right, 'GREATER_THAN') > 0
    case 'LESS_THAN':
      return order(left, right, 'LESS_THAN') < 0
    case 'INCLUDES':
      if (Array.isArray(left)) return left.some((item) => isEqual(item, right))
      if (Array.isArray(right)) return right.some((item) => isEqual(item, left))
      if (left === null || right === null) return false
      throw incomparable(`INCLUDES needs a list and got ${shown(left)} and ${shown(right)}`)
    case 'CONTAINS':
      if (left === null || right === null) return false
      if (Array.isArray(left)) return left.some((item) => isEqual(item, right))
      if (typeof left === 'object' || typeof right === 'object')
        throw incomparable(`CONTAINS needs two texts and got ${shown(left)} and ${shown(right)}`)
      return String(left).includes(String(right))
  }
}

/** Null, a value that is not there, is neither greater nor less than anything. */
function order(left: unknown, right: unknown, operator: string): number {
  if (left === null || right === null || left === undefined || right === undefined) return 0
  const [a, b] = [numberOf(left), numberOf(right)]
  if (a !== undefined && b !== undefined) return a - b
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0
  throw incomparable(`${operator} cannot compare ${shown(left)} with ${shown(right)}`)
}
