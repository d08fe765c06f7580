// Keeps the memory of a long run where it is after the first pages.
//
// Every page is garbage soon after it was stored, and V8 is in no hurry to collect it: it answers much garbage with a larger young
// generation, and lets what has left that one lie (bodies above all, which stand outside of the heap) until it is several times what
// is in use. Neither makes a run faster, and both make a long one look like a leak. So
//  (1) the young generation stops growing at 16 MiB (1.6 s against 1.7 s of CPU for 600 pages with 64 MiB), and
//  (2) the rest, buffers of bodies above all, is collected whenever it has grown by 32 MiB (by half, when pages are large): some
//      thirty times in a million items, twenty milliseconds each.
// Both could be flags of node, but users start this program in many ways.

import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MIB = 1024 * 1024
const YOUNG_GENERATION_BYTES = 16 * MIB
const GARBAGE_BYTES = 32 * MIB

export interface HeapKeeper {
  /** To be called with each page. */
  check(): void
}

export function createHeapKeeper(): HeapKeeper {
  let isGrowing = true
  let collect: (() => void) | undefined
  let inUse = 0

  function limitYoungGeneration(): void {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    if (young === undefined || young.space_size < YOUNG_GENERATION_BYTES) return
    setFlagsFromString('--semi-space-growth-factor=1')
    isGrowing = false
  }

  return {
    check: () => {
      if (isGrowing) limitYoungGeneration()
      const size = sizeOf()
      if (inUse === 0 || size < inUse) inUse = size
      if (size < inUse + Math.max(GARBAGE_BYTES, inUse / 2)) return
      collect ??= collector()
      collect()
      inUse = sizeOf()
    },
  }
}

/** Without the young generation, which is collected often enough by itself. */
function sizeOf(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'))
  return old.reduce((sum, space) => sum + space.space_used_size, getHeapStatistics().external_memory)
}

/** What `--expose-gc` gives to a program; a context made after the flag was set has it. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void // V8's own
}
