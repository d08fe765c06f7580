import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.ts'
import { createSecrets } from './secrets.ts'

function startLog() {
  const secrets = createSecrets()
  const lines: string[] = []
  const log = createLog({ level: 'debug', secrets, write: (line) => lines.push(line) })
  return { log, secrets, text: () => lines.join(''), last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

const SECRET = 'pa"ss\\wörd! & /(more*)+than?that'
const disguises: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'inside a sentence': (secret) => `login with ${secret} failed`,
  'URL-encoded': encodeURIComponent,
  'URL-encoded by RFC 3986': (secret) =>
    encodeURIComponent(secret).replace('!', '%21').replace('(', '%28').replace(')', '%29').replace('*', '%2A'),
  'as a form field': (secret) => new URLSearchParams({ q: secret }).toString(),
  'inside JSON': (secret) => JSON.stringify({ inner: secret }),
  'inside JSON inside JSON': (secret) => JSON.stringify(JSON.stringify({ inner: secret })),
  'in base64': (secret) => Buffer.from(secret).toString('base64'),
  'in base64 after one byte': (secret) => Buffer.from(`a${secret}b`).toString('base64'),
  'in base64 after two bytes': (secret) => Buffer.from(`ab${secret}`).toString('base64'),
  'in base64url': (secret) => Buffer.from(`user:${secret}`).toString('base64url'),
  'in hexadecimal': (secret) => Buffer.from(secret).toString('hex'),
}

for (const [name, disguise] of Object.entries(disguises))
  test(`a secret ${name} is masked in every part of a line`, () => {
    const { log, secrets, text, last } = startLog()
    const hidden = disguise(SECRET)
    const core = hidden.slice(3, -3)
    secrets.add(SECRET)
    log.info({ deep: { list: [hidden] }, err: new Error(hidden) }, hidden)
    log.child({ bound: hidden }).warn('child')
    assert.ok(!text().includes(core) && !text().includes(JSON.stringify(core).slice(1, -1)), text())
    assert.equal(last().msg, 'child')
  })

test('a line stays JSON when a secret looks like part of its grammar', () => {
  const { log, secrets, last } = startLog()
  secrets.add('","msg":"')
  secrets.add('nabcd')
  log.info({ a: 'x\nabcd' }, 'hello')
  assert.equal(last().msg, 'hello')
  assert.equal(last().a, 'x\nabcd')
})

test('a short secret is masked where it is the whole value, not inside words', () => {
  const { log, secrets, last } = startLog()
  secrets.add('abc')
  log.info({ whole: 'abc', word: 'abcde' }, 'the abc of logging')
  assert.deepEqual([last().whole, last().word, last().msg], ['***', 'abcde', 'the abc of logging'])
})

test('a secret that is a number is masked as a number too', () => {
  const { log, secrets, last } = startLog()
  secrets.add('8812345')
  log.info({ pin: 8812345, other: 88123456 }, 'x')
  assert.deepEqual([last().pin, last().other], ['***', 88123456])
})

test('a forgotten secret is shown again, one that was added twice not yet', () => {
  const { log, secrets, last } = startLog()
  const forget = secrets.add('temporary-secret')
  const forgetAgain = secrets.add('temporary-secret')
  forget()
  forget()
  log.info('temporary-secret')
  assert.equal(last().msg, '***')
  forgetAgain()
  log.info('temporary-secret')
  assert.equal(last().msg, 'temporary-secret')
})

test('values under secret names are masked, harmless names are left', () => {
  const { log, last } = startLog()
  log.info(
    {
      token: 'abc',
      nested: { '#password': 'x', Authorization: 'y', secretAccessKey: 'z', SessionToken: 's' },
      tokenId: 7,
      isMasterToken: true,
    },
    'x',
  )
  assert.deepEqual(last(), {
    level: 'info',
    time: last().time,
    token: '***',
    nested: { '#password': '***', Authorization: '***', secretAccessKey: '***', SessionToken: '***' },
    tokenId: 7,
    isMasterToken: true,
    msg: 'x',
  })
})

test('tokens, signatures and passwords are known by their shape', () => {
  const { log, text } = startLog()
  log.info('curl -H "X-StorageApi-Token: 1-2-canary" -H "Authorization: Bearer canary.canary"')
  log.info('postgres://user:canary@host/db')
  log.info('GET /x?a=1&X-Amz-Signature=canary&X-Amz-Security-Token=canary&token=canary')
  assert.ok(!text().includes('canary'), text())
  assert.ok(text().includes('a=1') && text().includes('host/db'))
})

test('a line without secrets is written as pino wrote it', () => {
  const { log, secrets, last } = startLog()
  secrets.add('something-else')
  log.info({ operation: 'files.get', status: 200 }, 'request')
  assert.equal(last().operation, 'files.get')
})

test('the line of a request is the line pino would have written', () => {
  const { log, last } = startLog()
  const request = {
    requestId: 'millrace-1',
    operation: 'files.get',
    method: 'GET',
    status: 200,
    durationMs: 1.2,
    projectId: 7,
    tokenId: 8,
  }
  log.info(request, 'request')
  const { time, ...byPino } = last()
  log.request({ ...request, durationMs: 1.2345 })
  const { time: ours, ...line } = last()
  assert.deepEqual(line, byPino)
  assert.ok(Math.abs(Date.parse(String(ours)) - Date.parse(String(time))) < 1000)
})

test('a request without a token has a line without ids, and a quieter level has none', () => {
  const { log, text, last } = startLog()
  log.request({ requestId: 'millrace-1', operation: 'index', method: 'GET', status: 200, durationMs: 0 })
  assert.ok(!('tokenId' in last()) && !('projectId' in last()))
  const before = text()
  log.level = 'warn'
  log.request({ requestId: 'millrace-2', operation: 'index', method: 'GET', status: 200, durationMs: 0 })
  assert.equal(text(), before)
})
