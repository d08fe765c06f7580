// A condition of a flow as sentences that people can change: "the status of Orders is success, and the rows of Orders are greater than 0". Pure.

import { isRecord, parsed } from '../document/json-text.ts'

export interface Subject {
  readonly kind: 'task' | 'phase' | 'variable' | 'allTasks' | 'anyTask' | 'date'
  /** Id of the task or phase, name of the variable, format of the date. */
  readonly id: string
  /** What of a task: `status`, or a path such as `job.result.output.tables[0].importedRowsCount`. */
  readonly value: string
}

export interface Sentence {
  readonly subject: Subject
  readonly operator: string
  readonly value: unknown
}

export interface Sentences {
  readonly join: 'AND' | 'OR'
  readonly list: readonly Sentence[]
}

export const OPERATORS: readonly (readonly [string, string])[] = [
  ['EQUALS', 'is'],
  ['NOT_EQUALS', 'is not'],
  ['GREATER_THAN', 'is greater than'],
  ['LESS_THAN', 'is less than'],
  ['CONTAINS', 'contains'],
]

export const STATUSES: readonly (readonly [string, string])[] = [
  ['success', 'success'],
  ['warning', 'warning'],
  ['error', 'any failure'],
  ['user_error', 'failure of the configuration or the data'],
  ['application_error', 'failure of the component'],
]

/** Undefined: a shape that only JSON can show. */
export function readSentences(condition: unknown): Sentences | undefined {
  if (!isRecord(condition)) return undefined
  const { operator, operands } = condition
  if ((operator === 'AND' || operator === 'OR') && Array.isArray(operands)) {
    const list = operands.map(readSentence)
    return list.length > 0 && list.every((one) => one !== undefined) ? { join: operator, list } : undefined
  }
  const one = readSentence(condition)
  return one && { join: 'AND', list: [one] }
}

function readSentence(node: unknown): Sentence | undefined {
  if (!isRecord(node) || !Array.isArray(node.operands)) return undefined
  const operator = String(node.operator)
  if (operator === 'ALL_TASKS_IN_PHASE' || operator === 'ANY_TASKS_IN_PHASE') {
    const inner = readSentence(node.operands[0])
    const isEach = inner?.subject.kind === 'task' && inner.subject.id === '*'
    if (!isEach || node.operands.length !== 1 || typeof node.phase !== 'string') return undefined
    const kind = operator === 'ALL_TASKS_IN_PHASE' ? 'allTasks' : 'anyTask'
    return { ...inner, subject: { kind, id: node.phase, value: inner.subject.value } }
  }
  const [left, right] = node.operands as readonly unknown[]
  const subject = readSubject(left)
  const isKnown = OPERATORS.some(([name]) => name === operator) && node.operands.length === 2
  if (!subject || !isKnown || !isRecord(right) || !['const', 'constant'].includes(String(right.type))) return undefined
  return { subject, operator, value: right.value }
}

function readSubject(node: unknown): Subject | undefined {
  if (!isRecord(node)) return undefined
  if (node.type === 'task' && typeof node.task === 'string')
    return { kind: 'task', id: node.task, value: typeof node.value === 'string' ? node.value : 'status' }
  if (node.type === 'phase' && typeof node.phase === 'string' && node.value === 'status')
    return { kind: 'phase', id: node.phase, value: 'status' }
  if (node.type === 'variable' && typeof node.value === 'string') return { kind: 'variable', id: node.value, value: '' }
  const format = Array.isArray(node.operands) ? (node.operands[0] as unknown) : undefined
  if (node.type === 'function' && node.function === 'DATE' && isRecord(format) && typeof format.value === 'string')
    return { kind: 'date', id: format.value, value: '' }
  return undefined
}

export function writeSentences({ join, list }: Sentences): unknown {
  const nodes = list.map(writeSentence)
  return nodes.length === 1 ? nodes[0] : { type: 'operator', operator: join, operands: nodes }
}

function writeSentence({ subject, operator, value }: Sentence): unknown {
  const compare = (left: unknown) => ({ type: 'operator', operator, operands: [left, { type: 'const', value }] })
  switch (subject.kind) {
    case 'task':
      return compare({ type: 'task', task: subject.id, value: subject.value })
    case 'phase':
      return compare({ type: 'phase', phase: subject.id, value: 'status' })
    case 'variable':
      return compare({ type: 'variable', value: subject.id })
    case 'date':
      return compare({ type: 'function', function: 'DATE', operands: [{ type: 'const', value: subject.id }] })
    default:
      return {
        type: 'operator',
        operator: subject.kind === 'allTasks' ? 'ALL_TASKS_IN_PHASE' : 'ANY_TASKS_IN_PHASE',
        phase: subject.id,
        operands: [compare({ type: 'task', task: '*', value: subject.value })],
      }
  }
}

/** Numbers and truth values are what they look like. */
export function typedConstant(text: string): unknown {
  const value = parsed(text)
  return typeof value === 'number' || typeof value === 'boolean' ? value : text
}
