import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPlaceholders } from './rehearsal.ts'

test('secrets are replaced by placeholders of the same kind, and nothing else is', () => {
  const oauth = JSON.stringify({ access_token: 'abcdef', expires_in: 3600, n: [17, { a: 'x' }] })
  const text = JSON.stringify({ a: 'abcdef', '#b': 'abcdef', '#c': { d: ['abcdef', 5, true, null, ''] }, '#data': oauth, e: 5 })
  const { '#data': data, ...others } = JSON.parse(withPlaceholders(text)) as { '#data': string }
  const secret = 'rehearsalPlaceholder'
  assert.deepEqual(others, { a: 'abcdef', '#b': secret, '#c': { d: [secret, 100200300, true, null, ''] }, e: 5 })
  assert.deepEqual(JSON.parse(data), { access_token: secret, expires_in: 3600, n: [100200300, { a: secret }] })
})
