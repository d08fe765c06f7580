import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskedArguments } from './masked.ts'

test('arguments are kept without secrets, and short', () => {
  const masked = maskedArguments({
    sql: `SELECT 'x${'y'.repeat(5000)}'`,
    content: { parameters: { '#key': 'abc', apiKey: 'abc', url: 'https://ann:abc@example.com/', deep: [{ password: 'abc' }] } },
    set: { '/parameters/#token': 'abc' },
    curl: 'curl -H "Authorization: Bearer abc" https://example.com',
  })
  assert.doesNotMatch(masked, /abc/)
  assert.match(masked, /https:\/\/ann:\(secret\)@example\.com/)
  assert.ok(masked.length < 3_100)
  assert.equal(maskedArguments(undefined), 'null')
})
