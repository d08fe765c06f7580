import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRefusedCalls } from './refused-calls.ts'

test('of refused calls of a token and a tool ten a minute have an event, and the others one together', () => {
  let now = 0
  let events: string[] = []
  const calls = createRefusedCalls<string>({
    clock: { now: () => new Date(now) },
    record: (caller, tool, args, again) => events.push(`${caller} ${tool} ${args} +${again}`),
    knownTools: new Set(['query', 'find']),
  })
  const recorded = () => {
    const found = events
    events = []
    return found
  }
  for (let n = 0; n < 1000; n++) calls.note(1, 'one', 'query', String(n))
  assert.deepEqual(
    recorded(),
    Array.from({ length: 10 }, (_, n) => `one query ${n} +0`),
  )
  calls.note(2, 'two', 'query', 'a')
  calls.note(1, 'one', 'find', 'b')
  assert.deepEqual(recorded(), ['two query a +0', 'one find b +0'], 'each token and each tool by itself')
  for (let n = 0; n < 1000; n++) calls.note(1, 'one', `invented ${n}`, String(n))
  assert.equal(recorded().length, 10, 'tools that do not exist are one')
  now = 59_999
  calls.flush()
  assert.deepEqual(recorded(), [])
  now = 60_000
  calls.flush()
  assert.deepEqual(recorded(), ['one query 999 +989', 'one invented 0 999 +989'])
  for (let n = 0; n < 12; n++) calls.note(1, 'one', 'query', 'later')
  assert.equal(recorded().length, 10, 'the next minute')
  now = 120_000
  calls.note(1, 'one', 'query', 'last')
  assert.deepEqual(recorded(), ['one query later +1', 'one query last +0'])
  for (let n = 0; n < 10; n++) calls.note(1, 'one', 'query', 'stop')
  recorded()
  calls.flush(true)
  assert.deepEqual(recorded(), ['one query stop +0'], 'nothing is lost by a stop')
})
