import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outgoingIn } from './outgoing.ts'

test('hosts and mail addresses are found in addresses, settings of servers and texts', () => {
  const text = '{"a":"https:\\/\\/user:pw@API.example.com:8443/x","host":"db.example.org","to":"Ann <ann.b@mail.example>, x@y"}'
  assert.deepEqual(outgoingIn(text), ['api.example.com', 'db.example.org', 'ann.b@mail.example'])
  assert.deepEqual(outgoingIn(`${' '.repeat(3 << 20)}ftp://late.example/`), ['late.example'])
})

test('the endpoint of an API is a path, that of a store a host', () => {
  const endpoints = ['customers', 'v1/orders', 's3.example.com', 'minio:9000', 'https://store.example/b'].map((endpoint) => ({
    endpoint,
  }))
  assert.deepEqual(outgoingIn(JSON.stringify(endpoints)), ['store.example', 's3.example.com', 'minio'])
})

test('long texts are read once', () => {
  const before = process.cpuUsage()
  for (const part of ['x', 'a.', '@a', '"host"', 'a@', '://', ':/', '@a.', '"endpoint":"a.'])
    outgoingIn(part.repeat((5 << 20) / part.length))
  const { user } = process.cpuUsage(before)
  assert.ok(user < 20e6, `${user / 1e6} s`) // the square of one of them takes hours
})
