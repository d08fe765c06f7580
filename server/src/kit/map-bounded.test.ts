import assert from 'node:assert/strict'
import test from 'node:test'
import { mapBounded } from './map-bounded.ts'

test('results are in order, and never more at once than asked', async () => {
  let running = 0
  let max = 0
  const results = await mapBounded([5, 1, 4, 2, 3], 2, async (n) => {
    max = Math.max(max, ++running)
    for (let i = 0; i < n; i++) await Promise.resolve()
    running--
    return n * 10
  })
  assert.deepEqual(results, [50, 10, 40, 20, 30])
  assert.equal(max, 2)
  assert.deepEqual(await mapBounded([], 2, async () => 1), [])
})

test('after a failure nothing new begins, and it is thrown when what ran has ended', async () => {
  const begun: number[] = []
  let ended = 0
  const work = mapBounded([0, 1, 2, 3], 2, async (n) => {
    begun.push(n)
    if (n === 0) throw new Error('first')
    await new Promise((resolve) => setImmediate(resolve))
    ended++
  })
  await assert.rejects(work, { message: 'first' })
  assert.deepEqual([begun, ended], [[0, 1], 1])
})
