import assert from 'node:assert/strict'
import test from 'node:test'
import { startTestStack } from '../../../tests/support/test-stack.ts'
import { createRequestLimits, NO_LIMITS, type TooMany } from './request-limits.ts'

function limitsAt(settings: Partial<typeof NO_LIMITS>) {
  let now = 1_000_000
  const limits = createRequestLimits({ ...NO_LIMITS, ...settings }, { now: () => new Date(now) })
  const seconds = (verdict: TooMany | undefined) => verdict?.seconds
  const pass = (ms: number) => {
    now += ms
  }
  return {
    address: (address: string) => seconds(limits.address(address)),
    token: (address: string, tokenId: number | undefined) => seconds(limits.token(address, tokenId)),
    pass,
  }
}

test('an address has ten seconds of requests at once, then so many a second, and is told when to come back', () => {
  const { address, pass } = limitsAt({ perAddress: 5 })
  for (let i = 0; i < 50; i++) assert.equal(address('192.0.2.1'), undefined)
  assert.equal(address('192.0.2.1'), 1)
  assert.equal(address('192.0.2.2'), undefined)
  pass(1_000)
  for (let i = 0; i < 5; i++) assert.equal(address('192.0.2.1'), undefined)
  assert.equal(address('::ffff:192.0.2.1'), 1)
})

test('a token has a limit of its own, from whatever address', () => {
  const { token } = limitsAt({ perToken: 1 })
  for (let i = 0; i < 10; i++) assert.equal(token(`192.0.2.${i}`, 7), undefined)
  assert.equal(token('192.0.2.99', 7), 1)
  assert.equal(token('192.0.2.99', 8), undefined)
})

test('wrong tokens lock an address out, except for tokens that were right there before', () => {
  const { token, pass } = limitsAt({ wrongTokens: 3 })
  assert.equal(token('192.0.2.1', 7), undefined)
  for (let i = 0; i < 3; i++) assert.equal(token('192.0.2.1', undefined), undefined)
  assert.equal(token('192.0.2.1', undefined), 60)
  assert.equal(token('192.0.2.1', 8), 60)
  assert.equal(token('192.0.2.1', 7), undefined)
  assert.equal(token('192.0.2.2', 8), undefined)
  pass(60_000)
  assert.equal(token('192.0.2.1', 8), undefined)
})

test('wrong tokens that are minutes apart lock nobody out', () => {
  const { token, pass } = limitsAt({ wrongTokens: 3 })
  for (let i = 0; i < 20; i++) {
    assert.equal(token('192.0.2.1', undefined), undefined)
    pass(31_000)
  }
})

test('addresses of one IPv6 network count as one; this machine has no limit unless asked', () => {
  const { address } = limitsAt({ perAddress: 1 })
  for (let i = 0; i < 10; i++) assert.equal(address(`2001:db8::${i + 1}`), undefined)
  assert.equal(address('2001:db8:0:0:9::1'), 1)
  assert.equal(address('2001:db8:0:1::1'), undefined)
  for (let i = 0; i < 100; i++) for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) assert.equal(address(own), undefined)
  const strict = limitsAt({ perAddress: 1, loopback: true })
  for (let i = 0; i < 10; i++) strict.address('127.0.0.1')
  assert.equal(strict.address('127.0.0.1'), 1)
})

/** On a slow machine a bucket refills a little while it is being emptied. */
async function firstWith<T extends { readonly status: number }>(status: number, ask: () => Promise<T>): Promise<T> {
  for (let i = 0; i < 200; i++) {
    const answer = await ask()
    if (answer.status === status) return answer
  }
  throw new Error(`200 requests, and none was answered ${status}`)
}

test('over HTTP: 429 with Retry-After and a sentence; health checks pass; a trusted proxy says who asks', async (t) => {
  const requestLimits = { perAddress: 1, perToken: 0, wrongTokens: 0, loopback: true }
  const { request } = await startTestStack(t, { requestLimits, trustedProxies: ['127.0.0.1'] })
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const ask = () => request('GET', '/v2/storage/tokens', from('192.0.2.1'))
  for (let i = 0; i < 9; i++) assert.equal((await ask()).status, 200)
  const refused = await firstWith(429, ask)
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.json().code, 'tooManyRequests')
  assert.equal((await request('POST', '/encryption/encrypt', { ...from('192.0.2.1'), json: {} })).status, 429)
  assert.equal((await request('GET', '/v2/storage/tokens', from('192.0.2.2'))).status, 200)
  for (let i = 0; i < 20; i++) assert.equal((await request('GET', '/health', from('192.0.2.1'))).status, 200)
})

test('the object store tells an address that asks too often to slow down, whoever else asks', async (t) => {
  const requestLimits = { perAddress: 1, perToken: 0, wrongTokens: 0, loopback: true }
  const { platform } = await startTestStack(t, { requestLimits, trustedProxies: ['127.0.0.1'] })
  const ask = (address: string) => fetch(`${platform.objects.url()}/millrace/x`, { headers: { 'x-forwarded-for': address } })
  for (let i = 0; i < 9; i++) assert.equal((await ask('192.0.2.1')).status, 403)
  const refused = await firstWith(503, () => ask('192.0.2.1'))
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.match(await refused.text(), /<Code>SlowDown<\/Code>/) // which the SDKs of AWS wait for and try again
  assert.equal((await ask('192.0.2.2')).status, 403)
})

test('over HTTP: an address that guesses tokens is locked out, whoever was right there before is not', async (t) => {
  const requestLimits = { perAddress: 0, perToken: 0, wrongTokens: 5, loopback: true }
  const { request, newProject } = await startTestStack(t, { requestLimits })
  const other = await newProject()
  assert.equal((await request('GET', '/v2/storage/tokens')).status, 200)
  for (let i = 0; i < 5; i++) assert.equal((await request('GET', '/v2/storage/tokens', { token: `1-1-${i}` })).status, 401)
  for (const token of ['1-1-x', other.masterToken]) {
    const locked = await request('GET', '/v2/storage/tokens', { token })
    assert.equal(locked.status, 429)
    assert.match(locked.headers.get('retry-after') ?? '', /^(60|5\d)$/)
  }
  assert.equal((await request('GET', '/v2/storage/tokens')).status, 200)
})
