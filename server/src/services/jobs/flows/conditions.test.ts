import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { PlatformError } from '../../../kit/errors.ts'
import { type Condition, evaluate, type Facts, readCondition } from './conditions.ts'
import { formatPhpDate } from './php-date.ts'
import { createReport, type Problem } from './problems.ts'

const KNOWN = { phases: new Set(['p', 'q']), tasks: new Set(['t', 'u', 'v']) }
const FACTS: Facts = {
  tasks: [
    {
      taskId: 't',
      phaseId: 'p',
      status: 'success',
      job: { status: 'success', durationSeconds: 5, result: { output: { tables: [{ id: 'x' }] } } },
    },
    { taskId: 'u', phaseId: 'p', status: 'user_error', job: { status: 'error', result: { message: 'no such table' } } },
  ],
  phases: new Map([['p', 'error']]),
  variables: { n: '10', list: ['a', 'b'] },
  now: new Date('2026-03-01T05:06:07.089Z'),
}

function read(given: unknown): Condition {
  const problems: Problem[] = []
  const condition = readCondition(given, 'c', KNOWN, createReport(problems))
  assert.deepEqual(problems, [])
  return condition!
}
const value = (given: unknown) => evaluate(read(given), FACTS)
const constant = (of: unknown) => ({ type: 'const', value: of })
const operator = (name: string, ...operands: unknown[]) => ({ type: 'operator', operator: name, operands })
const task = (id: string, path = 'status') => ({ type: 'task', task: id, value: path })
const call = (name: string, ...operands: unknown[]) => ({ type: 'function', function: name, operands })

test('values of tasks, phases and variables; what has not ended is null', () => {
  assert.equal(value(task('t')), 'success')
  assert.equal(value(task('t', 'job.durationSeconds')), 5)
  assert.equal(value(task('t', 'job.result.output.tables[0].id')), 'x')
  assert.equal(value(task('t', 'length(job.result.output.tables)')), 1)
  assert.equal(value(task('v')), null)
  assert.deepEqual(value(task('*')), ['success', 'user_error'])
  assert.equal(value({ type: 'phase', phase: 'p', value: 'status' }), 'error')
  assert.equal(value({ type: 'phase', phase: 'q', value: 'status' }), null)
  assert.equal(value({ type: 'variable', value: 'n' }), '10')
  assert.equal(value({ type: 'variable', value: 'toString' }), null)
})

test('operators', () => {
  const rows: [unknown, boolean][] = [
    [operator('EQUALS', task('t'), constant('success')), true],
    [operator('EQUALS', task('u'), constant('error')), true],
    [operator('EQUALS', task('u'), constant('user_error')), true],
    [operator('NOT_EQUALS', task('u'), constant('application_error')), true],
    [operator('EQUALS', { type: 'variable', value: 'n' }, constant(10)), true],
    [operator('EQUALS', constant('1e1'), constant('10')), false],
    [operator('EQUALS', constant(true), constant('true')), false],
    [operator('EQUALS', task('v'), constant('success')), false],
    [operator('EQUALS', constant([1, 2]), constant([1, 2])), true],
    [operator('GREATER_THAN', { type: 'variable', value: 'n' }, constant(9)), true],
    [operator('LESS_THAN', constant('a'), constant('b')), true],
    [operator('GREATER_THAN', task('v', 'job.durationSeconds'), constant(1)), false],
    [operator('INCLUDES', { type: 'array', operands: [constant('a'), constant(1)] }, constant('1')), true],
    [operator('INCLUDES', constant('b'), { type: 'variable', value: 'list' }), true],
    [operator('CONTAINS', task('u', 'job.result.message'), constant('table')), true],
    [operator('AND', constant(true), operator('OR', constant(false), constant(true))), true],
    [operator('AND', constant(true), constant('yes')), false],
    [{ ...operator('ALL_TASKS_IN_PHASE', operator('EQUALS', task('*'), constant('success'))), phase: 'p' }, false],
    [{ ...operator('ANY_TASKS_IN_PHASE', operator('EQUALS', task('*'), constant('error'))), phase: 'p' }, true],
    [{ ...operator('ALL_TASKS_IN_PHASE', constant(true)), phase: 'q' }, false],
    [operator('ANY_TASKS_IN_ANY_PHASE', operator('EQUALS', task('*'), constant('success'))), true],
    [{ type: 'operator', operator: 'CONTINUE_ON_FAILURE', phase: 'p', tasks: ['u'] }, true],
    [{ type: 'operator', operator: 'CONTINUE_ON_FAILURE', phase: 'p', tasks: ['t'] }, false],
  ]
  for (const [given, expected] of rows) assert.equal(value(given), expected, JSON.stringify(given))
})

test('functions', () => {
  assert.equal(value(call('COUNT', task('*'))), 2)
  assert.equal(value(call('DATE', constant('Y-m-d'))), '2026-03-01')
})

test('what cannot be compared is refused with a sentence', () => {
  for (const given of [
    operator('GREATER_THAN', constant('abc'), constant(5)),
    operator('LESS_THAN', constant([1]), constant(2)),
    operator('INCLUDES', constant('a'), constant('b')),
    operator('CONTAINS', constant({}), constant('a')),
    call('COUNT', constant('abc')),
    task('t', 'abs(status)'),
  ])
    assert.throws(
      () => value(given),
      (error) => error instanceof PlatformError && error.code === 'flows.conditionFailed',
      JSON.stringify(given),
    )
})

test('mistakes are named with their paths, all at once', () => {
  const problems: Problem[] = []
  const given = operator(
    'AND',
    { type: 'const' },
    { type: 'nope' },
    task('w'),
    { type: 'phase', phase: 'z' },
    operator('EQUALS', constant(1)),
    {
      ...operator('XOR'),
    },
    task('t', 'a[['),
    call('SUM', constant(1)),
    5,
  )
  assert.equal(readCondition(given, 'next[0].condition', KNOWN, createReport(problems)), undefined)
  assert.deepEqual(
    problems.map(({ path }) => path.replace('next[0].condition.operands', '')),
    ['[0]', '[1].type', '[2].task', '[3].phase', '[4].operands', '[5].operator', '[6].value', '[7].function', '[8]'],
  )
})

test('reading any JSON as a condition reports or reads, and never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('operator', 'function', 'task', 'array', 'phase', 'const'), (noise, type) => {
      const problems: Problem[] = []
      const read = readCondition(
        { type, operator: 'AND', operands: [noise], ...(noise as object) },
        'c',
        KNOWN,
        createReport(problems),
      )
      assert.equal(read === undefined, problems.length > 0)
    }),
  )
})

test('dates in the letters of PHP', () => {
  const rows: [string, string][] = [
    ['D, d M Y H:i:s', 'Sun, 01 Mar 2026 05:06:07'],
    ['N jS z t L W o', '7 1st 59 31 0 09 2026'],
    ['g:i a, \\Y', '5:06 am, Y'],
    ['c', '2026-03-01T05:06:07+00:00'],
    ['U v', '1772341567 089'],
  ]
  for (const [format, expected] of rows) assert.equal(formatPhpDate(format, FACTS.now), expected, format)
  assert.equal(formatPhpDate('W o', new Date('2027-01-01T00:00:00Z')), '53 2026')
})
