// The schemas that the component descriptions publish and the reader that decides agree on examples of both formats.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { Compile } from 'typebox/schema'
import type { FlowFormat } from './flow-plan.ts'
import { readFlow } from './read-flow.ts'

const schemaOf = (format: FlowFormat) => {
  const file = new URL(`../../configuration/components/builtin/${format}.json`, import.meta.url)
  return Compile((JSON.parse(readFileSync(file, 'utf8')) as { configurationSchema: object }).configurationSchema)
}
const SCHEMAS = { flow: schemaOf('flow'), orchestrator: schemaOf('orchestrator') }

const job = { type: 'job', componentId: 'c', configId: '1' }
const withTask = (task: unknown, more: object = {}) => ({ phases: [{ id: 'p' }], tasks: [{ id: 1, phase: 'p', task, ...more }] })
const withCondition = (condition: unknown) => ({
  phases: [{ id: 'p', next: [{ condition, goto: 'p' }, { goto: null }] }],
  tasks: [{ id: 't', phase: 'p', task: job }],
})
const constant = { type: 'const', value: 1 }

const GOOD: readonly [FlowFormat, unknown][] = [
  ['orchestrator', {}],
  ['flow', { phases: [], tasks: [] }],
  ['orchestrator', { phases: [{ id: 1, dependsOn: [], behavior: { onError: 'warning' } }], tasks: [], timeLimitSeconds: 60 }],
  [
    'orchestrator',
    withTask({ componentId: 'c', configData: {}, mode: 'forceRun', delay: 5 }, { continueOnFailure: true, enabled: false }),
  ],
  [
    'flow',
    withTask({ ...job, retry: { strategyParams: { maxRetries: 0 }, retryOn: [{ type: 'errorMessageExact', value: 'x' }] } }),
  ],
  ['flow', withTask({ type: 'variable', name: 'v', source: { type: 'task', task: 1, value: 'job.id' } })],
  ['flow', withTask({ type: 'notification', title: 't', message: 'm', recipients: [{ channel: 'webhook', url: 'http://x' }] })],
  ['flow', withCondition(constant)],
  [
    'flow',
    withCondition({ type: 'operator', operator: 'EQUALS', operands: [{ type: 'task', task: 't', value: 'status' }, constant] }),
  ],
  ['flow', withCondition({ type: 'operator', operator: 'ALL_TASKS_IN_PHASE', phase: 'p', operands: [constant] })],
  ['flow', withCondition({ type: 'operator', operator: 'CONTINUE_ON_FAILURE', phase: 'p', tasks: ['t'] })],
  ['flow', withCondition({ type: 'function', function: 'COUNT', operands: [{ type: 'array', operands: [] }] })],
]

const BAD: readonly [FlowFormat, unknown][] = [
  ['orchestrator', { phases: 5 }],
  ['orchestrator', { phases: [{ name: 'no id' }] }],
  ['orchestrator', { phases: [{ id: 1, dependsOn: 'x' }] }],
  ['orchestrator', { phases: [{ id: 1, behavior: { onError: 'panic' } }] }],
  ['orchestrator', { timeLimitSeconds: -1 }],
  ['orchestrator', withTask({ type: 'job' })],
  ['flow', withTask({ type: 'job', componentId: 'c' })],
  ['flow', withTask({ type: 'dance' })],
  ['flow', withTask({ ...job, mode: 'fast' })],
  ['flow', withTask({ ...job, retry: { strategy: 'wild' } })],
  ['flow', withTask({ type: 'variable', name: 'v' })],
  ['flow', withTask({ type: 'notification', recipients: [] })],
  ['flow', withTask({ type: 'notification', recipients: [{ channel: 'email', url: 'http://x' }] })],
  ['flow', withCondition(5)],
  ['flow', withCondition({ type: 'const' })],
  ['flow', withCondition({ type: 'operator', operator: 'XOR', operands: [constant] })],
  ['flow', withCondition({ type: 'operator', operator: 'EQUALS', operands: [constant] })],
  ['flow', withCondition({ type: 'operator', operator: 'AND', operands: [] })],
  ['flow', withCondition({ type: 'function', function: 'SUM', operands: [constant] })],
]

test('reader and schema accept the same and refuse the same', () => {
  for (const [examples, isGood] of [
    [GOOD, true],
    [BAD, false],
  ] as const)
    for (const [format, configuration] of examples) {
      const { problems } = readFlow(configuration, format)
      assert.equal(
        problems.every(({ level }) => level === 'warning'),
        isGood,
        `reader, ${format}: ${JSON.stringify([configuration, problems])}`,
      )
      assert.equal(SCHEMAS[format].Check(configuration), isGood, `schema, ${format}: ${JSON.stringify(configuration)}`)
    }
})
