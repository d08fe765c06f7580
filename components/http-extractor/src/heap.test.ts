import assert from 'node:assert/strict'
import { PerformanceObserver } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { createHeapKeeper } from './heap.ts'

const MIB = 1024 * 1024
const PAGES = 600

test('pages that are done leave nothing behind, however many they are', () => {
  const heap = createHeapKeeper()
  const before = getHeapStatistics().external_memory
  let most = 0
  for (let page = 0; page < PAGES; page++) {
    const body = Buffer.alloc(MIB)
    heap.check()
    most = Math.max(most, getHeapStatistics().external_memory - before)
    assert.equal(body.length, MIB)
  }
  // V8 gives buffers back beside the program, so on a busy machine some wait for their turn.
  assert.ok(most < (PAGES / 2) * MIB, `${Math.round(most / MIB)} MiB`)
})

test('what is in use is not collected again and again', async () => {
  const heap = createHeapKeeper()
  const kept = Array.from({ length: 100 }, () => Buffer.alloc(MIB))
  heap.check()
  const collections: unknown[] = []
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  for (let page = 0; page < 1000; page++) heap.check()
  await setImmediate() // the observer is called from the event loop
  observer.disconnect()
  assert.ok(collections.length < 10, `${collections.length} collections`)
  assert.equal(kept.length, 100)
})
