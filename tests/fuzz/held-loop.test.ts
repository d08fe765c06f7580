// Bodies made to take long: each is answered, none with a 5xx, and none holds the event loop.

import assert from 'node:assert/strict'
import test from 'node:test'
import { longestHold } from '../support/event-loop.ts'
import { type RequestOptions, startTestStack } from '../support/test-stack.ts'

const MB = 2 ** 20
const json = (body: string): RequestOptions => ({ body, headers: { 'content-type': 'application/json' } })
const form = (body: string): RequestOptions => ({ body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
const secrets = (count: number) => `{${Array.from({ length: count }, (_, i) => `"#${i}":"${i}"`).join(',')}}`

const BODIES: Readonly<Record<string, RequestOptions>> = {
  'half a million secrets': json(secrets(500_000)),
  'as many secrets as fit': json(secrets(50_000)),
  'a list of numbers': json(`[${'1,'.repeat(3 * MB)}1]`),
  'nested lists': json(`[${'[[[[]]]],'.repeat(MB / 2)}1]`),
  'empty objects': json(`{"configuration":[${'{},'.repeat(2 * MB)}{}]}`),
  members: json(`{"configuration":{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(',')}}}`),
  'as many members as fit': json(
    `{"name":"x","configuration":{${Array.from({ length: 45_000 }, (_, i) => `"#k${i}":1`).join(',')}}}`,
  ),
  'open brackets': json('['.repeat(6 * MB)),
  'one long text': json(`{"name":"x","description":"${'\\u0041'.repeat(MB)}"}`),
  separators: form('&'.repeat(6 * MB)),
  'brackets in names': form(`${'a[0]'.repeat(MB)}=1`),
  fields: form('a[]=1&'.repeat(MB)),
  'JSON in a field': form(`name=x&configuration=${encodeURIComponent(`[${'1,'.repeat(MB)}1]`)}`),
  'percent signs': form('%'.repeat(6 * MB)),
}

const ADDRESSES = [
  ['/encryption/encrypt?projectId=1&componentId=x', null],
  ['/v2/storage/components/ex-generic-v2/configs', undefined],
  ['/v2/storage/events', undefined],
  ['/v2/storage/buckets', undefined],
  ['/queue/jobs', undefined],
] as const

test('no body holds the event loop for more than 200 ms', async (t) => {
  const stack = await startTestStack(t)
  await stack.request('GET', '/v2/storage/tokens')
  const slow: string[] = []
  let most = 0
  for (const [path, token] of ADDRESSES) {
    for (const [name, options] of Object.entries(BODIES)) {
      let status = 0
      const { heldMs, boundMs } = await longestHold(async () => {
        const answer = await stack.request('POST', path, { ...options, ...(token === null && { token }) })
        status = answer.status
      })
      assert.ok(status >= 200 && status < 500, `${name} to ${path}: ${status}`)
      most = Math.max(most, heldMs / boundMs)
      if (heldMs > boundMs) slow.push(`${name} to ${path} (${status}): ${Math.round(heldMs)} ms, bound ${Math.round(boundMs)} ms`)
    }
  }
  t.diagnostic(`the longest hold was ${Math.round(most * 100)} % of the bound`)
  assert.deepEqual(slow, [])
})
