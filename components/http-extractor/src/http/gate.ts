// How many requests leave, and when: so many at once, so many per second and host, and none to a host that has sent a wait time for
// a while, whichever request it answered.

import type { HttpRequest, Send } from './exchange.ts'

export interface Gate {
  readonly around: (send: Send) => Send
  /** The host of this request accepts no further one for some time. */
  pause(request: HttpRequest, seconds: number): void
}

export interface GateOptions {
  readonly concurrency: number
  /** Per host; undefined: as many as there are. */
  readonly perSecond: number | undefined
  /** Milliseconds. */
  readonly now: () => number
  readonly sleep: (seconds: number) => Promise<void>
}

export function createGate({ concurrency, perSecond, now, sleep }: GateOptions): Gate {
  /** When the next request to a host may leave. */
  const nextAt = new Map<string, number>()
  const pausedUntil = new Map<string, number>()
  const waiting: (() => void)[] = []
  let inside = 0

  async function enter(): Promise<void> {
    if (inside >= concurrency) await new Promise<void>((admitted) => waiting.push(admitted))
    else inside++
  }

  /** The place is passed on, so that a newcomer cannot take it first. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else inside--
  }

  async function pace(host: string): Promise<void> {
    if (perSecond !== undefined) {
      const at = Math.max(nextAt.get(host) ?? 0, now())
      nextAt.set(host, at + 1000 / perSecond)
      if (at > now()) await sleep((at - now()) / 1000)
    }
    const pause = (pausedUntil.get(host) ?? 0) - now()
    if (pause > 0) await sleep(pause / 1000)
  }

  return {
    around: (send) => async (request) => {
      await enter()
      try {
        await pace(request.address.hostname)
        return await send(request)
      } finally {
        leave()
      }
    },
    pause(request, seconds) {
      if (concurrency === 1) return // the only request waits by itself
      const { hostname } = request.address
      const until = now() + seconds * 1000
      for (const times of [pausedUntil, nextAt]) times.set(hostname, Math.max(times.get(hostname) ?? 0, until))
    },
  }
}
