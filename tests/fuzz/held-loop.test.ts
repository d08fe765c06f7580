// Bodies made to take long: each is answered, none with a 5xx, and none holds the event loop.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type Hold, longestHold } from '../support/event-loop.ts'
import { type RequestOptions, startTestStack } from '../support/test-stack.ts'

const MB = 2 ** 20

/** Whatever holds the loop too long does so every time; another program of the machine does not. */
async function leastHold(work: () => Promise<void>): Promise<Hold> {
  let least = await longestHold(work)
  for (let again = 0; again < 3 && least.heldMs > least.boundMs; again++) {
    const next = await longestHold(work)
    if (next.heldMs / next.boundMs < least.heldMs / least.boundMs) least = next
  }
  return least
}
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
  let max = 0
  for (const [path, token] of ADDRESSES) {
    for (const [name, options] of Object.entries(BODIES)) {
      let status = 0
      const { heldMs, boundMs } = await leastHold(async () => {
        const answer = await stack.request('POST', path, { ...options, ...(token === null && { token }) })
        status = answer.status
      })
      assert.ok(status >= 200 && status < 500, `${name} to ${path}: ${status}`)
      max = Math.max(max, heldMs / boundMs)
      if (heldMs > boundMs) slow.push(`${name} to ${path} (${status}): ${Math.round(heldMs)} ms, bound ${Math.round(boundMs)} ms`)
    }
  }
  t.diagnostic(`the longest hold was ${Math.round(max * 100)} % of the bound`)
  assert.deepEqual(slow, [])
})

const csv = (body: string): RequestOptions => ({ body, headers: { 'content-type': 'text/csv' } })
const multipart = (fields: number): RequestOptions => ({
  body: `${'--B\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n1\r\n'.repeat(fields)}--B--\r\n`,
  headers: { 'content-type': 'multipart/form-data; boundary=B' },
})

const REQUESTS: readonly (readonly [name: string, path: string, options: RequestOptions, status: number])[] = [
  ['a guess of 30 MB of short lines', '/v2/storage/files/sniff', csv('a\n'.repeat(15 * MB)), 200],
  ['a guess of one long line', '/v2/storage/files/sniff', csv('a,'.repeat(MB)), 200],
  [
    'a guess of a wide header above short rows',
    '/v2/storage/files/sniff',
    csv(`${'a,'.repeat(50_000)}\n${'a\n'.repeat(80_000)}`),
    200,
  ],
  ['a guess of quotes', '/v2/storage/files/sniff', csv(`'a",`.repeat(MB)), 200],
  ['a form of 50,000 fields', '/v2/storage/events', multipart(50_000), 400],
  ['a form of 19,000 fields', '/v2/storage/events', multipart(19_000), 400],
  [
    'names of dashes',
    '/v2/storage/webalize/column-names',
    json(JSON.stringify({ columnNames: Array.from({ length: 100 }, () => `a${'_'.repeat(9_990)}b`) })),
    200,
  ],
  [
    'a primary key of many names',
    '/v2/storage/buckets/in.c-wide/tables-async',
    json(JSON.stringify({ name: 'x', dataFileId: 1, primaryKey: Array.from({ length: 200_000 }, (_, i) => `c${i}`) })),
    400,
  ],
  ['too many names', '/v2/storage/webalize/column-names', json(`{"columnNames":["${'a","'.repeat(MB)}"]}`), 413],
  [
    'a configuration of 30 MB',
    '/v2/storage/components/ex-generic-v2/configs',
    json(`{"name":"x","configuration":{"a":"${'é'.repeat(15 * MB)}"}}`),
    413,
  ],
]

test('requests that people can make large are answered, and hold the event loop for no more than 200 ms', async (t) => {
  const stack = await startTestStack(t, { bodyLimitBytes: 64 * MB })
  await stack.request('GET', '/v2/storage/tokens')
  await stack.request('POST', '/v2/storage/files/sniff', csv('a,b\n1,2\n'.repeat(1000)))
  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'wide', stage: 'in' } })
  const slow: string[] = []
  const measure = async (name: string, work: () => Promise<void>) => {
    const { heldMs, boundMs } = await leastHold(work)
    t.diagnostic(`${name}: ${Math.round((heldMs / boundMs) * 100)} % of the bound`)
    if (heldMs > boundMs) slow.push(`${name}: ${Math.round(heldMs)} ms, bound ${Math.round(boundMs)} ms`)
  }
  for (const [name, path, options, status] of REQUESTS)
    await measure(name, async () => assert.equal((await stack.request('POST', path, options)).status, status, name))
  await measure('30 metrics at once', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => stack.request('GET', '/metrics', { token: null })))
    assert.ok(answers.every(({ status }) => status === 200))
  })
  const upload = new FormData()
  upload.set('name', 'wide')
  upload.set('data', new Blob([`${Array.from({ length: 150_000 }, (_, i) => `c${i}`).join()}\n1\n`]), 'wide.csv')
  await measure('a table of 150,000 columns', async () => {
    const answer = await stack.request('POST', '/v2/storage/buckets/in.c-wide/tables', { body: upload })
    assert.match(answer.text, /150000/)
  })
  assert.deepEqual(slow, [])
})
