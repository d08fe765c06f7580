// Keeps the memory of a long run where it is after the first pages.
//
// Every page is garbage soon after it was parsed, and V8 answers much garbage with a larger young generation: up to 64 MiB, which is
// no faster here than 16 (measured: 1.6 s against 1.7 s of CPU for 600 pages) and makes a long run look like a leak. The limit is
// a start-up flag of node, but users start this program in many ways, so growth is switched off once the size is reached.

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

const YOUNG_GENERATION_BYTES = 16 * 1024 * 1024

export interface HeapKeeper {
  /** To be called now and then, with each page. */
  check(): void
}

export function createHeapKeeper(): HeapKeeper {
  let done = false
  return {
    check: () => {
      if (done) return
      const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
      if (young === undefined || young.space_size < YOUNG_GENERATION_BYTES) return
      setFlagsFromString('--semi-space-growth-factor=1')
      done = true
    },
  }
}
