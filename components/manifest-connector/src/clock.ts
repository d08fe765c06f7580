// Time as the engine sees it. `CONNECTOR_NOW` freezes it, and `CONNECTOR_WAITS=virtual` writes waits down instead of waiting.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PyDatetime } from './time/datetime.ts'
import { parseIso } from './time/formats.ts'

export interface Clock {
  /** The time of a run, as expressions and windows see it. Stands still while requests are recorded, so that they can be answered later. */
  now(): PyDatetime
  /** The time that passes: what expires, and what waits until an instant. */
  instant(): PyDatetime
  /** Seconds since some start, for limits of time. Stands still when the clock is frozen. */
  elapsed(): number
  wait(seconds: number, kind: 'backoff' | 'poll' | 'budget'): Promise<void>
}

export function createClock(env: {
  readonly now?: string | undefined
  readonly virtual?: boolean
  readonly folder?: string
  /** When the run began, in milliseconds: `now` stays there. */
  readonly began?: number
}): Clock {
  const frozen = env.now === undefined || env.now === '' ? undefined : parseIso(env.now).inUtc()
  const instant = () => frozen ?? PyDatetime.ofMillis(performance.timeOrigin + performance.now())
  const began = env.began === undefined ? undefined : PyDatetime.ofMillis(env.began)
  return {
    now: () => frozen ?? began ?? instant(),
    instant: () => (env.virtual && began ? began : instant()),
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
