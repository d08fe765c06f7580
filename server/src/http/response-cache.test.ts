import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { createResponseCache, type Place } from './response-cache.ts'

const asked = (change: { tokenId?: number; branchId?: number; url?: string; headers?: Record<string, string> } = {}) =>
  ({
    actor: { tokenId: change.tokenId ?? 1 },
    branch: { id: change.branchId ?? 1 },
    url: change.url ?? '/a',
    headers: change.headers ?? { host: 'a' },
  }) as unknown as FastifyRequest // what the key is made of

test('an answer is found again until the database changes, and only by the same question', () => {
  let version: number | undefined = 1
  const kept = createResponseCache(() => version)
  kept.keep(kept.find(asked()) as Place, 'answer')
  assert.equal(kept.find(asked()), 'answer')
  for (const other of [
    { tokenId: 2 },
    { branchId: 2 },
    { url: '/b' },
    { headers: { host: 'b' } },
    { headers: { host: 'a', 'x-forwarded-proto': 'https' } },
  ])
    assert.notEqual(kept.find(asked(other)), 'answer', JSON.stringify(other))
  version = 2
  assert.notEqual(kept.find(asked()), 'answer')
})

test('an answer that a change overtook is not kept', () => {
  let version = 1
  const kept = createResponseCache(() => version)
  const place = kept.find(asked()) as Place
  version = 2
  kept.find(asked({ url: '/other' }))
  kept.keep(place, 'old')
  assert.notEqual(kept.find(asked()), 'old')
})

test('nothing is kept where the database cannot tell its version', () => {
  assert.equal(createResponseCache(() => undefined).find(asked()), undefined)
})

test('what is kept has a bound', () => {
  const kept = createResponseCache(() => 1)
  const answer = 'x'.repeat(1 << 20)
  for (let n = 0; n < 100; n++) kept.keep(kept.find(asked({ url: `/${n}` })) as Place, answer)
  const found = Array.from({ length: 100 }, (_, n) => kept.find(asked({ url: `/${n}` }))).filter((one) => one === answer)
  assert.ok(found.length > 0 && found.length <= 32, `${found.length} answers of 1 MiB`)
  kept.keep(kept.find(asked({ url: '/huge' })) as Place, `${answer}x`)
  assert.equal(typeof kept.find(asked({ url: '/huge' })), 'object')
})
