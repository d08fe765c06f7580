import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PlatformError } from './errors.ts'
import { retry } from './retry.ts'

const transient = () => new PlatformError('unavailable', { what: 'The store' })

function start(failures: readonly Error[]) {
  const pauses: number[] = []
  let calls = 0
  const run = (attempts: number) =>
    retry(
      async () => {
        const failure = failures[calls++]
        if (failure) throw failure
        return 'done'
      },
      { attempts, firstPauseMs: 100, longestPauseMs: 300, pause: async (ms) => void pauses.push(ms) },
    )
  return { run, pauses, calls: () => calls }
}

test('a transient failure is tried again until it works', async () => {
  const { run, calls } = start([transient(), transient()])
  assert.equal(await run(5), 'done')
  assert.equal(calls(), 3)
})

test('other failures are not tried again', async () => {
  const { run, calls } = start([new PlatformError('accessDenied'), transient()])
  await assert.rejects(run(5), { code: 'accessDenied' })
  assert.equal(calls(), 1)
})

test('after the last attempt the failure is reported', async () => {
  const { run, calls } = start(Array.from({ length: 9 }, transient))
  await assert.rejects(run(3), { code: 'unavailable' })
  assert.equal(calls(), 3)
})

test('pauses grow, are scattered, and stay below the longest', async () => {
  const { run, pauses } = start(Array.from({ length: 5 }, transient))
  await run(6)
  const bounds = [100, 200, 300, 300, 300]
  pauses.forEach((ms, index) => {
    assert.ok(ms >= bounds[index]! / 2 && ms <= bounds[index]!, `${ms}`)
  })
})
