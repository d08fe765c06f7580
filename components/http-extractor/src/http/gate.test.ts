import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from './address.ts'
import type { HttpRequest, HttpResponse } from './exchange.ts'
import { createGate } from './gate.ts'

const request = (url: string): HttpRequest => ({ method: 'GET', address: parseAddress(url)!, headers: new Map() })
const answer: HttpResponse = { status: 200, statusText: '', headers: {}, body: Buffer.from('[]') }

/** Time that passes only when somebody waits for it. */
function clock() {
  let now = 1_000_000
  const waits: { at: number; go: () => void }[] = []
  const sleep = (seconds: number) => new Promise<void>((go) => waits.push({ at: now + seconds * 1000, go }))
  async function pass(): Promise<void> {
    for (let idle = 0; idle < 3; idle++) {
      await new Promise(setImmediate)
      const next = waits.sort((a, b) => a.at - b.at).shift()
      if (next === undefined) continue
      idle = -1
      now = Math.max(now, next.at)
      next.go()
    }
  }
  return { now: () => now, sleep, pass }
}

test('no more requests are on their way than allowed', async () => {
  let inside = 0
  let max = 0
  const gate = createGate({ concurrency: 3, perSecond: undefined, ...clock() })
  const send = gate.around(async () => {
    max = Math.max(max, ++inside)
    await new Promise(setImmediate)
    inside--
    return answer
  })
  await Promise.all(Array.from({ length: 20 }, () => send(request('http://a/'))))
  assert.deepEqual([max, inside], [3, 0])
})

test('requests to one host keep their distance, whatever goes to another', async () => {
  const { now, sleep, pass } = clock()
  const gate = createGate({ concurrency: 10, perSecond: 4, now, sleep })
  const left: [string, number][] = []
  const began = now()
  const send = gate.around(async ({ address }) => {
    left.push([address.hostname, now() - began])
    return answer
  })
  const sent = ['http://a/', 'http://a/', 'http://b/', 'http://a/', 'http://b/'].map((url) => send(request(url)))
  await pass()
  await Promise.all(sent)
  const timesOf = (host: string) => left.filter(([name]) => name === host).map(([, at]) => at)
  assert.deepEqual(timesOf('a'), [0, 250, 500])
  assert.deepEqual(timesOf('b'), [0, 250])
})

test('a host that asked to be left alone is left alone by everybody', async () => {
  const { now, sleep, pass } = clock()
  const gate = createGate({ concurrency: 10, perSecond: undefined, now, sleep })
  const left: [string, number][] = []
  const began = now()
  const send = gate.around(async ({ address }) => {
    left.push([address.hostname, now() - began])
    return answer
  })
  gate.pause(request('http://a/'), 30)
  const sent = ['http://a/x', 'http://b/', 'http://a/y'].map((url) => send(request(url)))
  await pass()
  await Promise.all(sent)
  assert.deepEqual(left, [['b', 0], ['a', 30_000], ['a', 30_000]]) // biome-ignore format: pairs
})

test('a request that fails gives its place back', async () => {
  const gate = createGate({ concurrency: 1, perSecond: undefined, ...clock() })
  let calls = 0
  const send = gate.around(async () => {
    if (++calls === 1) throw new Error('first')
    return answer
  })
  await assert.rejects(send(request('http://a/')))
  assert.equal((await send(request('http://a/'))).status, 200)
})
