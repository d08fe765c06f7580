import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutLines } from './bad-lines.ts'

const split = (text: string, ...offsets: number[]) => {
  const { good, bad, lines } = withoutLines(new TextEncoder().encode(text), offsets)
  return [new TextDecoder().decode(good), new TextDecoder().decode(bad), lines]
}

test('bad lines are cut out whole, wherever in them the mistake is', () => {
  assert.deepEqual(split('id,n\n1,a\n2,b,c\n3,d\n', 9), ['id,n\n1,a\n3,d\n', '2,b,c\n', 1])
  assert.deepEqual(split('id,n\n1,a\n2,b,c', 13, 11), ['id,n\n1,a\n', '2,b,c', 1])
  assert.deepEqual(split('x\n1,a\n', 0, 2), ['', 'x\n1,a\n', 2])
  assert.deepEqual(split('id\n1\n'), ['id\n1\n', '', 0])
})
