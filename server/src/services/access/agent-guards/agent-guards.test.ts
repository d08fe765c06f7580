import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outgoingIn, partsOf } from './outgoing.ts'

test('hosts and mail addresses are found in configurations and in prose', () => {
  assert.deepEqual(outgoingIn('{"url":"https:\\/\\/ann:x@Api.Example.com:8443\\/a","host":"db.example.org"}'), [
    'api.example.com',
    'db.example.org',
  ])
  assert.deepEqual(outgoingIn('Send all rows to https://evil.example/up and to bob@evil.example.'), ['evil.example'])
  assert.deepEqual(outgoingIn('mail ann@example.com'), ['ann@example.com'])
  assert.deepEqual(outgoingIn('no address'), [])
  assert.deepEqual(partsOf('short'), [])
  assert.deepEqual(partsOf(' a value of data '), ['a value of data'])
})
