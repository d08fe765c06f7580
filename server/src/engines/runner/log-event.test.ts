import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventOfLine } from './log-event.ts'

test('a line that states its time and level becomes an event of that level, with the message alone', () => {
  assert.deepEqual(eventOfLine("[2026-11-16T00:01:16.123Z] WARNING: datafield 'items' contains no data! {}"), {
    level: 'warning',
    message: "datafield 'items' contains no data!",
  })
  assert.deepEqual(eventOfLine('[2026-11-16 00:01:16] app.ERROR: it {broke} {"job":"users","page":2} []'), {
    level: 'error',
    message: 'it {broke}',
    fields: { job: 'users', page: 2 },
  })
  assert.deepEqual(
    eventOfLine('[2026-11-16T00:01:16Z] DEBUG: answered {"a":1} with {"x":{"y":1}}').message,
    'answered {"a":1} with',
  )
  assert.deepEqual(eventOfLine('[2026-11-16T00:01:16Z] INFO: half {"a":'), { level: 'info', message: 'half {"a":' })
})

test('so does a line of a Python logger', () => {
  for (const line of [
    '2026-11-16 03:47:29,477 WARNING odd - or not: yes',
    '2026-11-16 03:47:29,477 - root - WARNING - odd - or not: yes',
    '2026-11-16T03:47:29.477Z [WARNING] odd - or not: yes',
    '2026-11-16T03:47:29+01:00 WARN: odd - or not: yes',
  ])
    assert.deepEqual(eventOfLine(line), { level: 'warning', message: 'odd - or not: yes' }, line)
  assert.equal(eventOfLine('2026-11-16 03:47:29,477 CRITICAL down').level, 'critical')
})

test('any other line is information, as it stands', () => {
  for (const line of [
    'hello',
    'WARNING: no time',
    '[x] ERROR: no date',
    '[2026-11-16T00:01:16Z] LOUD: no level',
    '2026-11-16 ERROR x',
    '2026-11-16 00:01:16 was an ERROR x',
    '',
  ])
    assert.deepEqual(eventOfLine(line), { level: 'info', message: line })
})
