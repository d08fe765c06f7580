import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../../../tests/support/cpu-time.ts'
import { createLog } from './log.ts'
import { formEncode, rawEncode } from './percent.ts'
import { createRedactor } from './redaction.ts'

test('a secret is hidden in every form in which it may appear', () => {
  const redactor = createRedactor()
  const secret = 'p@ss/w"ö rd~+'
  redactor.add(secret)
  const body = JSON.stringify({ a: secret }).replaceAll('/', '\\/').replace(/ö/g, '\\u00f6')
  const forms = [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ a: secret }).toString().slice(2),
    JSON.stringify(secret),
    body,
    JSON.stringify(body),
    JSON.stringify(JSON.stringify({ a: secret })),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
  ]
  for (const form of forms) {
    const shown = redactor.redact(`before ${form} after`)
    assert.match(shown, /^before .*\*{5}.* after$/, form)
    assert.ok(!shown.includes('w"') && !shown.includes('w%22') && !shown.includes('w\\"'), shown)
  }
})

test('a secret is hidden in every style of percent-encoding', () => {
  const { add, redact } = createRedactor()
  const secret = "p!a~s's (w)*ord+%/ü"
  add(secret)
  for (const form of [
    encodeURIComponent(secret),
    rawEncode(secret),
    formEncode(secret),
    formEncode(secret).replaceAll('+', '%20'),
  ])
    assert.equal(redact(`?p=${form}&x`), '?p=*****&x')
})

test('the longer of two secrets is hidden whole, objects by their texts, and short values not at all', () => {
  const redactor = createRedactor()
  redactor.add('abc')
  redactor.add('abcdef')
  redactor.add({ token: 'tok-123456', expires_in: 3600, ok: true, list: ['nested-secret'] })
  redactor.add('x')
  assert.equal(redactor.redact('abcdef abc tok-123456 3600 true nested-secret x'), '***** ***** ***** 3600 true ***** x')
})

test('a key of several lines is hidden line by line too', () => {
  const redactor = createRedactor()
  redactor.add('-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAQEFAASCBKcwggSjAgEAAo\n-----END KEY-----\n')
  assert.equal(redactor.redact('at MIIEvQIBADANBgkqhkiG9w0 !'), 'at ***** !')
})

test('a log line is one line of printable text, whatever an API answers', () => {
  const lines: string[] = []
  const redactor = createRedactor()
  redactor.add('line one\nline two')
  const log = createLog({ debug: false, redactor, write: (line) => lines.push(line), now: () => new Date(0) })
  log.warning('forged\n[2020] INFO: all is well\u001b[2J\u2028', { body: 'line one\nline two' })
  log.debug('not shown')
  assert.deepEqual(lines, [
    '[1970-01-01T00:00:00.000Z] WARNING: forged\\n[2020] INFO: all is well\\u001b[2J\\u2028 {"body":"*****"}\n',
  ])
})

test('secrets that are made anew with each request cost neither memory nor time', () => {
  const token = (n: number) => `token-${n}-of-a-login`
  const run = (requests: number) => {
    const redactor = createRedactor()
    redactor.add('lasting-secret')
    for (let n = 0; n < requests; n++) {
      redactor.addPassing(token(n))
      assert.equal(redactor.redact(`GET /x?t=${token(n)}&k=lasting-secret`), 'GET /x?t=*****&k=*****')
    }
    return redactor
  }
  assert.equal(run(5000).redact(`${token(4500)} ${token(10)}`), `***** ${token(10)}`, 'the latest ones are known')
  assert.ok(cpuMs(() => run(10_000)) < 40 * cpuMs(() => run(1000)), 'a line takes longer the more secrets there were before it')
})

test('a secret that is used again and again is not forgotten', () => {
  const redactor = createRedactor()
  for (let n = 0; n < 3000; n++) {
    redactor.addPassing('used-with-every-request')
    redactor.addPassing(`signature-${n}-of-one`)
  }
  assert.equal(redactor.redact('used-with-every-request signature-2999-of-one'), '***** *****')
})
