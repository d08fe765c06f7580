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

test('any other line is information, as it stands', () => {
  for (const line of ['hello', 'WARNING: no time', '[x] ERROR: no date', '[2026-11-16T00:01:16Z] LOUD: no level', ''])
    assert.deepEqual(eventOfLine(line), { level: 'info', message: line })
})
