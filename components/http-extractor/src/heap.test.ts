import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** The collections that a program requests, in a process of its own: in this one other tests have left their garbage. */
async function collectionsAskedBy(program: string): Promise<number> {
  const script = `
    import { constants, PerformanceObserver } from 'node:perf_hooks'
    import { setImmediate } from 'node:timers/promises'
    import { createHeapKeeper } from '${new URL('./heap.ts', import.meta.url)}'
    const heap = createHeapKeeper()
    const MIB = 1024 * 1024
    const found = []
    const observer = new PerformanceObserver((list) => found.push(...list.getEntries()))
    observer.observe({ entryTypes: ['gc'] })
    ${program}
    for (let turn = 0; turn < 10; turn++) await setImmediate() // entries reach the observer some turns of the event loop later
    console.log(found.filter(({ detail }) => detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED).length)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  return Number(stdout)
}

test('the garbage of pages that are done is collected, however many they are', async () => {
  const asked = await collectionsAskedBy(`
    for (let page = 0; page < 600; page++) {
      Buffer.alloc(MIB)
      heap.check()
    }`)
  // With every 16 MiB; V8 gives buffers back beside the program, so on a busy machine some are still there at the next look.
  assert.ok(asked >= 3, `${asked} collections`)
})

test('what is in use is not collected again and again', async () => {
  const asked = await collectionsAskedBy(`
    globalThis.kept = Array.from({ length: 100 }, () => Buffer.alloc(MIB))
    for (let page = 0; page < 1000; page++) heap.check()`)
  assert.ok(asked < 10, `${asked} collections`)
})
