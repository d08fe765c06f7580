// Time as the engine sees it. `CONNECTOR_NOW` freezes it, and `CONNECTOR_WAITS=virtual` writes waits down instead of waiting.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PyDatetime } from './time/datetime.ts'
import { parseIso } from './time/formats.ts'

export interface Clock {
  now(): PyDatetime
  /** Seconds since some start, for limits of time. Stands still when the clock is frozen. */
  elapsed(): number
  wait(seconds: number, kind: 'backoff' | 'poll' | 'budget'): Promise<void>
}

export function createClock(env: {
  readonly now?: string | undefined
  readonly virtual?: boolean
  readonly folder?: string
}): Clock {
  const frozen = env.now === undefined || env.now === '' ? undefined : parseIso(env.now).inUtc()
  return {
    now: () => frozen ?? PyDatetime.ofMillis(performance.timeOrigin + performance.now()),
    elapsed: () => (frozen ? 0 : performance.now() / 1000),
    async wait(seconds, kind) {
      if (!env.virtual) await sleep(Math.max(0, seconds) * 1000)
      else if (env.folder !== undefined)
        appendFileSync(
          join(env.folder, 'waits.jsonl'),
          `${JSON.stringify(kind === 'backoff' ? { seconds } : { seconds, kind })}\n`,
        )
    },
  }
}
