import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allOrFirstFailure } from './all-or-first-failure.ts'

const untilStopped = (signal: AbortSignal, onStopped: () => void) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => {
      onStopped()
      reject(new Error('stopped'))
    }),
  )

test('the results come in the order of the works', async () => {
  const later = new Promise<string>((resolve) => setImmediate(() => resolve('slow')))
  assert.deepEqual(await allOrFirstFailure(undefined, [() => later, async () => 2]), ['slow', 2])
  assert.deepEqual(await allOrFirstFailure(undefined, []), [])
})

test('the first failure stops the others, is the one thrown, and nothing runs any more', async () => {
  let stopped = 0
  const works = [
    (signal: AbortSignal) => untilStopped(signal, () => stopped++),
    async () => Promise.reject(new Error('first')),
    (signal: AbortSignal) => allOrFirstFailure(signal, [(inner) => untilStopped(inner, () => stopped++)]),
  ] as const
  await assert.rejects(allOrFirstFailure(undefined, works), { message: 'first' })
  assert.equal(stopped, 2)
})

test('whoever asked can stop all of it', async () => {
  const outer = new AbortController()
  const work = allOrFirstFailure(outer.signal, [(signal) => untilStopped(signal, () => {})])
  outer.abort()
  await assert.rejects(work, { message: 'stopped' })
})
