import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactInteger, parseExactly } from './exact-json.ts'

test('integers beyond 2^53 keep their digits both ways, and other numbers stay numbers', () => {
  const text = '{"id":8317624359874612345,"small":42,"negative":-9007199254740993,"half":0.5,"list":[9223372036854775807]}'
  const read = parseExactly(text) as Record<string, unknown>
  assert.deepEqual(read, {
    id: 8317624359874612345n,
    small: 42,
    negative: -9007199254740993n,
    half: 0.5,
    list: [9223372036854775807n],
  })
  assert.equal(
    JSON.stringify({ id: exactInteger('8317624359874612345'), n: exactInteger('42') }),
    '{"id":8317624359874612345,"n":42}',
  )
  assert.equal((parseExactly('{"x":1e300}') as { x: number }).x, 1e300)
})
