// Events of reading: gathered and written together, off the path of the request. A read is nothing that is acknowledged, so the last
// moments of a node that dies may be missing; a caller that lists events on the same node sees those of its own reads.

import type { EventSource, NewEvent, Origin } from '../../../model/event.ts'

export interface ReadEvent {
  readonly source: EventSource
  readonly event: NewEvent
  readonly origin: Origin
}

const GATHER_MS = 250
const AT_ONCE = 200
/** While the database is away; what comes on top is not recorded. */
const MAX_WAITING = 10_000

export function createLaterEvents(write: (batch: readonly ReadEvent[]) => Promise<void>, onError: (error: unknown) => void) {
  let waiting: ReadEvent[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function add(event: ReadEvent): void {
    if (waiting.length >= MAX_WAITING) return
    waiting.push(event)
    timer ??= setTimeout(() => void flush(), GATHER_MS)
  }

  /** Resolves when everything that was added before is written, or has failed. */
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length > 0) writing = writing.then(writeAll).catch(onError)
    return writing
  }

  async function writeAll(): Promise<void> {
    const all = waiting
    waiting = []
    for (let at = 0; at < all.length; at += AT_ONCE) await write(all.slice(at, at + AT_ONCE))
  }

  return { add, flush }
}
