// Loads what has been sealed, each source for itself: a table that cannot be loaded holds up its own source only, with growing pauses.

import type { RecordLog } from '../../../engines/record-log/record-log.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Batches } from './batches.ts'
import type { Receiving } from './receiving.ts'

export interface StreamsLoopDeps {
  readonly receiving: Receiving
  readonly batches: Batches
  readonly clock: Clock
  readonly onError: (error: unknown, sourceKey: number) => void
}

const EVERY_MS = 500
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
const MAX_AT_ONCE = 4

export function createStreamsLoop({ receiving, batches, clock, onError }: StreamsLoopDeps) {
  const underWay = new Map<number, Promise<void>>()
  const failed = new Map<number, { readonly times: number; readonly nextAt: number }>()
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined

  /** Looks at every log that holds something. */
  function tick(): void {
    for (const [sourceKey, log] of receiving.logs()) {
      const isPausing = (failed.get(sourceKey)?.nextAt ?? 0) > clock.now().getTime()
      if (log.sizeBytes() === 0 || isPausing || underWay.has(sourceKey) || underWay.size >= MAX_AT_ONCE) continue
      begin(sourceKey, log)
    }
  }

  function begin(sourceKey: number, log: RecordLog): void {
    const load = batches
      .loadSealed(sourceKey, log, stopping.signal)
      .then(
        () => void failed.delete(sourceKey),
        (error: unknown) => {
          const times = (failed.get(sourceKey)?.times ?? 0) + 1
          const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1))
          failed.set(sourceKey, { times, nextAt: clock.now().getTime() + pause })
          onError(error, sourceKey)
        },
      )
      .finally(() => underWay.delete(sourceKey))
    underWay.set(sourceKey, load)
  }

  return {
    tick,
    async start(): Promise<void> {
      await receiving.openAll()
      timer = setInterval(tick, EVERY_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await Promise.all(underWay.values())
      await receiving.close()
    },
  }
}
