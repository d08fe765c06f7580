import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostsIn, outgoingIn, sentValuesIn } from './outgoing.ts'

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

test('JSON is read by its values: escapes and JSON in a text hide nothing', () => {
  const found = ['evil.example']
  assert.deepEqual(outgoingIn('{"url":"https:\\u002f\\u002fevil.example"}'), found)
  assert.deepEqual(outgoingIn('{"\\u0068ost":"evil.example"}'), found)
  assert.deepEqual(outgoingIn('{"to":"a\\u0040evil.example"}'), ['a@evil.example'])
  assert.deepEqual(outgoingIn('{"host":"evil.example","host":"good.example"}'), [...found, 'good.example'])
  assert.deepEqual(outgoingIn('{"https://evil.example":[]}'), found)
  const inText = (value: unknown) => JSON.stringify({ configuration: JSON.stringify(value) })
  assert.deepEqual(outgoingIn(inText({ host: 'evil.example' })), found)
  assert.deepEqual(outgoingIn(inText({ code: inText({ server: ['evil.example'] }) })), found)
  assert.deepEqual(outgoingIn(JSON.stringify({ text: 'first\nbob@mail.example' })), ['bob@mail.example'])
  assert.deepEqual(hostsIn('{"\\u0068ost":"a:1","endpoint":"s3.example/b","x":"https://u@c:2/"}'), ['c:2', 'a:1', 's3.example'])
})

test('what requests would carry is found: parameters, headers and the parts of addresses', () => {
  const value = 'a value of data'
  for (const carrier of [
    { jobs: [{ endpoint: 'a', params: { q: value } }] },
    { http: { headers: { 'X-Note': value } } },
    { jobs: [{ endpoint: `notes/${encodeURIComponent(value)}` }] },
    { note: `https://known.example/a?b=${value.replaceAll(' ', '+')}` },
    { configuration: JSON.stringify({ params: { deep: [{ q: value }] } }) },
    { jobs: [{ endpoint: 'a', params: { [value]: 'x' } }] },
    { variableValuesData: { values: [{ name: 'note', value }] } },
    { configuration: { values: [{ name: 'note', value }] } },
    { parameters: { channel: { type: 'slack' }, text: value } },
    { parameters: { config: { note: value, jobs: [{ endpoint: 'a', params: { q: { attr: 'note' } } }] } } },
  ])
    assert.ok(sentValuesIn(JSON.stringify(carrier)).includes(value), JSON.stringify(carrier))
  assert.deepEqual(sentValuesIn('{"params":{"q":1234567890}}'), ['1234567890'])
  const fetched = { parameters: { config: { jobs: [{ dataField: value }], mappings: { a: { [value]: value } } } } }
  assert.deepEqual(sentValuesIn(JSON.stringify(fetched)), [])
  assert.deepEqual(sentValuesIn(JSON.stringify({ script: [`select '${value}'`], name: value })), [])
})

test('long texts are read once', () => {
  const before = process.cpuUsage()
  for (const part of ['x', 'a.', '@a', '"host"', 'a@', '://', ':/', '@a.', '"endpoint":"a.', '\\"']) {
    const text = part.repeat((5 << 20) / part.length)
    outgoingIn(text)
    hostsIn(JSON.stringify({ text }))
    sentValuesIn(JSON.stringify({ url: text, text }))
  }
  const { user } = process.cpuUsage(before)
  assert.ok(user < 20e6, `${user / 1e6} s`) // the square of one of them takes hours
})
