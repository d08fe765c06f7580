import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogLines, createLogView } from './log-lines.ts'

function logOf(count: number) {
  const lines = createLogLines()
  for (let n = 0; n < count; n++)
    lines.add({ id: n * 2, message: `Page ${n}`, type: n % 100 === 0 ? 'error' : 'info', createdMs: 1000 + n })
  return lines
}

test('lines come back as they were added, and are found by their id', () => {
  const lines = logOf(5000)
  assert.equal(lines.length(), 5000)
  assert.deepEqual(lines.at(4200), { id: 8400, message: 'Page 4200', type: 'error', atMs: 5200 })
  assert.equal(lines.indexOf(8402), 4201)
  assert.equal(lines.indexOf(0), 0)
  assert.deepEqual([lines.indexOf(8401), lines.indexOf(-2), lines.indexOf(10_000)], [-1, -1, -1])
})

test('a view counts the lines that fit as they come, whatever the case of letters', () => {
  const lines = logOf(1000)
  const whole = createLogView(lines, { levels: [], text: '' })
  assert.deepEqual([whole.count(1000), whole.lineAt(7), whole.placeOf(9)], [1000, 7, 9])
  const errors = createLogView(lines, { levels: ['error'], text: '' })
  assert.equal(errors.count(500), 5)
  assert.equal(errors.count(1000), 10, 'those that came since')
  assert.deepEqual([errors.lineAt(3), errors.placeOf(300), errors.placeOf(301)], [300, 3, -1])
  assert.equal(createLogView(lines, { levels: ['error'], text: 'page 90' }).count(1000), 1)
})
