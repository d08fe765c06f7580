import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairMutex } from './fair-mutex.ts'

test('turns are handed on in the order they were asked for, one at a time', async () => {
  const mutex = createFairMutex({ patienceMs: 1000, explain: () => '' })
  const order: number[] = []
  let inside = 0
  await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const end = await mutex.acquire()
      assert.equal(++inside, 1)
      await new Promise(setImmediate)
      order.push(n)
      inside--
      end()
    }),
  )
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
})

test('a turn ended twice is handed on once', async () => {
  const mutex = createFairMutex({ patienceMs: 1000, explain: () => '' })
  const end = await mutex.acquire()
  const second = mutex.acquire()
  end()
  end()
  await second
  const third = await Promise.race([
    mutex.acquire().then(() => 'entered'),
    new Promise((resolve) => setTimeout(resolve, 20, 'waits')),
  ])
  assert.equal(third, 'waits')
})

test('waiting too long fails with the explanation, and the next in line still gets a turn', async () => {
  const mutex = createFairMutex({ patienceMs: 20, explain: () => 'somebody forgot to end' })
  const end = await mutex.acquire()
  await assert.rejects(mutex.acquire(), /somebody forgot/)
  const next = mutex.acquire()
  end()
  await next
})

test('a row of writers without end does not keep timers waiting', async () => {
  const mutex = createFairMutex({ patienceMs: 1000, explain: () => '' })
  let stop = false
  const stopper = new Promise<void>((resolve) =>
    setImmediate(() => {
      stop = true
      resolve()
    }),
  )
  let turns = 0
  while (!stop && turns < 100_000) {
    const end = await mutex.acquire()
    turns++
    end()
  }
  await stopper
  assert.ok(turns < 100, `${turns} turns before the event loop moved on`)
})
