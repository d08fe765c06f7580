import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../../../../../tests/support/cpu-time.ts'
import { ciphersIn, hostsIn, outgoingIn, sentValuesIn } from './outgoing.ts'

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

test('addresses are read as programs read them, not only as they are usually written', () => {
  for (const [address, host] of [
    ['https:evil.example/x', 'evil.example'],
    ['https:/evil.example/x', 'evil.example'],
    ['https:\\\\evil.example\\x', 'evil.example'],
    ['ht\ntps:/\t/evil.example', 'evil.example'],
    ['\0\t https:evil.example', 'evil.example'],
    ['//evil.example/x', 'evil.example'],
    ['\\\\evil.example/x', 'evil.example'],
    ['https://known.example\t.evil.example/', 'known.example.evil.example'],
    ["https://known.example'.evil.example/", "known.example'.evil.example"],
    ['https://known.example:1)@evil.example/', 'evil.example'],
    ['https://known.example"@evil.example/', 'evil.example'],
    [`https:${'\t'.repeat(5_000)}evil.example`, 'evil.example'],
  ] as const)
    assert.ok(outgoingIn(JSON.stringify({ parameters: { at: address } })).includes(host), JSON.stringify(address))
  assert.deepEqual(outgoingIn(JSON.stringify({ script: "fetch('https:evil.example/x')\nlet a = { b: 'c' }" })), ['evil.example'])
  for (const none of ['/v1/orders', 'orders', 'note: a text', 'C:\\data', 'in.c-main.orders', '{{ id }}/x'])
    assert.deepEqual(outgoingIn(JSON.stringify({ path: none })), [], none)
})

test('hosts that are computed, named without a scheme or known by another name are found', () => {
  const found = (value: object) => outgoingIn(JSON.stringify(value))
  assert.deepEqual(found({ api: { baseUrl: { function: 'concat', args: ['https://', 'evil.example'] } } }), [
    'computed by {"function":"concat","args":["https://","evil.example"]}',
  ])
  assert.deepEqual(found({ url_base: "https://{{ config['a'] }}.x.example/v1" }), ["{{ config['a'] }}.x.example"])
  assert.deepEqual(found({ manifest: `url_base: "{{ config['a'] }}/v1"` }), ["{{ config['a'] }}"])
  assert.deepEqual(
    found({ parameters: { config: { shop: 'evil.example/x', outputBucket: 'in.c-shop', since: '2026.01.01' } } }),
    ['evil.example'],
  )
  assert.deepEqual(found({ parameters: { target: { type: 's3', bucket: 'evil-bucket' } } }), ['evil-bucket'])
  assert.deepEqual(found({ parameters: { channel: { type: 'slack', channelId: 'C0EVIL' } } }), ['c0evil'])
  assert.deepEqual(found({ ssh: { sshHost: 'evil.example' } }), ['evil.example'])
  for (const mail of ['thief@évil.example', '"a b"@evil.example', 'thief@[192.0.2.1]', 'thief@evil。example'])
    assert.deepEqual(found({ to: mail }), [mail])
})

test('encrypted values are found, also behind escapes', () => {
  const cipher = 'KBC::ProjectSecure::AbC+/=_-1'
  for (const text of [
    `{"#url":"${cipher}"}`,
    JSON.stringify({ c: `{"#url":"${cipher}"}` }),
    `{"#url":"KBC\u003a\u003aProjectSecure::AbC+/=_-1"}`,
  ])
    assert.deepEqual(ciphersIn(text), [cipher], text)
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
    const text = part.repeat((1 << 20) / part.length)
    outgoingIn(text)
    hostsIn(JSON.stringify({ text }))
    sentValuesIn(JSON.stringify({ url: text, text }))
  }
  const { user } = process.cpuUsage(before)
  assert.ok(user < 20e6, `${user / 1e6} s`) // the square of one of them takes minutes
})

test('computed addresses inside each other are read once', () => {
  const text = JSON.stringify('a '.repeat(50_000))
  const nested = (count: number) => `${'{"url":'.repeat(count)}${text}${'}'.repeat(count)}`
  const [few, many] = [nested(2), nested(400)]
  assert.ok(cpuMs(() => outgoingIn(many)) < 20 * cpuMs(() => outgoingIn(few)))
})

test('computed addresses that differ far behind are different', () => {
  const computed = (host: string) => JSON.stringify({ url: { function: 'concat', args: ['x'.repeat(3_000), host] } })
  assert.notDeepEqual(outgoingIn(computed('known')), outgoingIn(computed('other')))
})
