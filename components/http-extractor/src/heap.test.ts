import assert from 'node:assert/strict'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createHeapKeeper } from './heap.ts'

const MIB = 1024 * 1024

/** The collections that were asked for while `work` ran, and V8's own. */
async function collectionsOf(work: () => void): Promise<{ readonly all: number; readonly asked: number }> {
  const found: unknown[] = []
  const observer = new PerformanceObserver((list) => found.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  work()
  for (let turn = 0; turn < 10; turn++) await setImmediate() // entries reach the observer some turns of the event loop later
  observer.disconnect()
  const isAsked = (entry: unknown) =>
    ((entry as { detail: { flags: number } }).detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0 // of entries of this type
  return { all: found.length, asked: found.filter(isAsked).length }
}

test('the garbage of pages that are done is collected, however many they are', async () => {
  const heap = createHeapKeeper()
  const { asked } = await collectionsOf(() => {
    for (let page = 0; page < 600; page++) {
      const body = Buffer.alloc(MIB)
      heap.check()
      assert.equal(body.length, MIB)
    }
  })
  // With every 16 MiB; V8 gives buffers back beside the program, so on a busy machine some are still there at the next look.
  assert.ok(asked >= 3, `${asked} collections`)
})

test('what is in use is not collected again and again', async () => {
  const heap = createHeapKeeper()
  const kept = Array.from({ length: 100 }, () => Buffer.alloc(MIB))
  heap.check()
  const { all } = await collectionsOf(() => {
    for (let page = 0; page < 1000; page++) heap.check()
  })
  assert.ok(all < 10, `${all} collections`)
  assert.equal(kept.length, 100)
})
