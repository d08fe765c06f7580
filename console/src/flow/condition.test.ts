import assert from 'node:assert/strict'
import test from 'node:test'
import { readSentences, typedConstant, writeSentences } from './condition.ts'
import { conditionText } from './flow-document.ts'

const compare = (operator: string, left: object, value: unknown) => ({
  type: 'operator',
  operator,
  operands: [left, { type: 'const', value }],
})

const conditions = [
  compare('EQUALS', { type: 'task', task: 'orders', value: 'status' }, 'success'),
  compare('GREATER_THAN', { type: 'task', task: 'orders', value: 'job.result.output.tables[0].importedRowsCount' }, 0),
  {
    type: 'operator',
    operator: 'OR',
    operands: [
      compare('NOT_EQUALS', { type: 'phase', phase: 'extract', value: 'status' }, 'error'),
      compare('CONTAINS', { type: 'variable', value: 'mode' }, 'full'),
      compare('EQUALS', { type: 'function', function: 'DATE', operands: [{ type: 'const', value: 'N' }] }, '1'),
    ],
  },
  {
    type: 'operator',
    operator: 'ANY_TASKS_IN_PHASE',
    phase: 'extract',
    operands: [compare('EQUALS', { type: 'task', task: '*', value: 'status' }, 'error')],
  },
]

test('conditions are read as sentences and written as they were', () => {
  for (const condition of conditions) assert.deepEqual(writeSentences(readSentences(condition)!), condition)
})

test('a shape that sentences cannot say is left to JSON', () => {
  const nested = {
    type: 'operator',
    operator: 'AND',
    operands: [{ type: 'operator', operator: 'OR', operands: [conditions[0]] }],
  }
  const failure = { type: 'operator', operator: 'CONTINUE_ON_FAILURE', phase: 'a', tasks: ['b'] }
  for (const condition of [nested, failure, 'text', undefined]) assert.equal(readSentences(condition), undefined)
})

test('a condition is told with the names of tasks and phases', () => {
  const names = new Map([
    ['orders', 'Orders'],
    ['extract', 'Extract'],
  ])
  assert.equal(conditionText(conditions[0], names), 'the status of Orders is success')
  assert.equal(conditionText(conditions[1], names), 'the number of rows that Orders loaded is greater than 0')
  assert.equal(
    conditionText(conditions[2], names),
    'the status of phase Extract is not error or mode contains full or the day of the week (1 is Monday) is 1',
  )
  assert.equal(conditionText(conditions[3], names), 'the status of any task of Extract is error')
})

test('constants are typed by how they look', () => {
  assert.deepEqual(['5', 'true', 'five', ''].map(typedConstant), [5, true, 'five', ''])
})
