import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatches } from './batches.ts'

test('what is requested at the same moment is loaded together, as many as the limit allows', async () => {
  const requests: (readonly number[])[] = []
  const load = createBatches<number, string>(2, async (keys) => {
    requests.push(keys)
    return keys.map((key) => `value ${key}`)
  })
  assert.deepEqual(await Promise.all([load(1), load(2), load(3)]), ['value 1', 'value 2', 'value 3'])
  assert.deepEqual(requests, [[1, 2], [3]])
  assert.equal(await load(4), 'value 4')
  assert.deepEqual(requests[2], [4])
})

test('a request that fails, fails for those in it alone', async () => {
  const load = createBatches<number, number>(1, async ([key = 0]) => {
    if (key === 1) throw new Error('refused')
    return [key]
  })
  const [first, second] = await Promise.allSettled([load(1), load(2)])
  assert.equal(first.status, 'rejected')
  assert.deepEqual(second, { status: 'fulfilled', value: 2 })
})
