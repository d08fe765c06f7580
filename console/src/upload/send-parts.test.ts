import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PARALLEL, sendParts } from './send-parts.ts'

const MB = 1 << 20

test('of 5 GB never more than three parts are on their way, and every byte is sent once', async () => {
  const size = 5_000_000_001
  let [open, most, read] = [0, 0, 0]
  const ranges: [number, number][] = []
  const file = {
    size,
    slice: (from: number, to: number) => {
      open++
      most = Math.max(most, open)
      return [from, to] as [number, number]
    },
  }
  const reported: number[] = []
  const send = async (number: number, part: [number, number]) => {
    await new Promise(setImmediate)
    open--
    ranges.push(part)
    read += part[1] - part[0]
    return `etag-${number}`
  }
  const done = new Map<number, string>()
  await sendParts(file, { partBytes: 8 * MB, done }, send, (bytes) => reported.push(bytes))
  assert.equal(most, PARALLEL)
  assert.ok(ranges.every(([from, to]) => to - from <= 8 * MB))
  assert.equal(read, size)
  assert.deepEqual([done.size, done.get(1)], [Math.ceil(size / (8 * MB)), 'etag-1'])
  const inOrder = ranges.toSorted(([a], [b]) => a - b)
  assert.ok(inOrder.every(([from], index) => from === index * 8 * MB))
  assert.deepEqual([reported[0], reported.at(-1)], [0, size])
})

test('parts that are there are not sent again, and count as sent', async () => {
  const numbers: number[] = []
  const reported: number[] = []
  const send = (number: number) => {
    numbers.push(number)
    return Promise.resolve('new')
  }
  const done = new Map([[1, 'old']])
  await sendParts({ size: 25, slice: () => '' }, { partBytes: 10, done }, send, (bytes) => reported.push(bytes))
  assert.deepEqual(
    [numbers, reported],
    [
      [2, 3],
      [10, 20, 25],
    ],
  )
  assert.deepEqual(
    [...done.entries()],
    [
      [1, 'old'],
      [2, 'new'],
      [3, 'new'],
    ],
  )
})

test('a part that fails ends the upload with its error', async () => {
  const send = (number: number) => (number === 2 ? Promise.reject(new Error('lost')) : Promise.resolve(''))
  await assert.rejects(
    sendParts({ size: 30, slice: () => '' }, { partBytes: 10, done: new Map() }, send, () => {}),
    /lost/,
  )
})
