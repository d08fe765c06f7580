// A time that passes only when something happens in it. Timers of the process belong to it while a simulation runs, so that hours take
// milliseconds, and the same seed gives the same order of everything.

import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import { createChance } from '../support/chance.ts'

interface Due {
  at: number
  readonly order: number
  readonly act: () => void
  /** Timers of a process that is dead do nothing. */
  readonly owner: Process | undefined
  /** Stays at its time when time is skipped. */
  readonly isPlanned: boolean
}

interface Process {
  readonly isDead: boolean
}

export type SimulatedTime = ReturnType<typeof createSimulatedTime>

export function createSimulatedTime(seed: number, startMs: number) {
  const random = createChance(seed)
  const due: Due[] = []
  let now = startMs
  let count = 0
  let inFlight = 0
  let steps = 0
  const owners = new AsyncLocalStorage<Process | undefined>()

  function at(time: number, act: () => void, isPlanned = false): Due {
    const entry = { at: Math.max(time, now), order: count++, act, owner: isPlanned ? undefined : owners.getStore(), isPlanned }
    // Sorted by time: most of what is added comes last.
    let place = due.length
    while (place > 0 && due[place - 1]!.at > entry.at) place--
    due.splice(place, 0, entry)
    return entry
  }

  function remove(entry: Due | undefined): void {
    const place = entry ? due.indexOf(entry) : -1
    if (place >= 0) due.splice(place, 1)
  }

  /** Work that leaves the process for a moment, such as a write to the disk: the time stands still meanwhile. */
  async function outside<T>(work: () => Promise<T>): Promise<T> {
    inFlight++
    try {
      return await work()
    } finally {
      inFlight--
    }
  }

  /** Everything that the last step has set off. */
  async function settle(): Promise<void> {
    do await turn()
    while (inFlight > 0)
    await turn()
  }

  /** Continues until the condition holds; false if `limitMs` pass before. */
  async function runUntil(isDone: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
    const end = now + limitMs
    for (;;) {
      if (await isDone()) return true
      const next = due[0]
      if (!next || next.at > end) {
        now = end
        return isDone()
      }
      due.shift()
      now = next.at
      if (next.owner?.isDead) continue
      steps++
      owners.run(next.owner, next.act)
      await settle()
    }
  }

  /** Every process stands still for so long: what is due later moves, what was planned for a time does not. Not beyond what was planned. */
  function skip(ms: number): void {
    now += ms
    for (const entry of due) if (!entry.isPlanned) entry.at += ms
    due.sort((a, b) => a.at - b.at || a.order - b.order)
  }

  const setTimer = (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    let entry: Due | undefined = at(now + ms, () => act(...args))
    return handleOf(() => {
      remove(entry)
      entry = undefined
    })
  }

  const setRepeated = (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    let entry: Due | undefined
    const next = (): void => {
      entry = at(now + Math.max(1, ms), () => {
        next()
        act(...args)
      })
    }
    next()
    return handleOf(() => {
      remove(entry)
      entry = undefined
    })
  }

  /** As `setTimeout` of node:timers/promises. */
  const sleepOrAbort = <T>(ms = 1, value?: T, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimer(() => resolve(value), ms)
      signal?.addEventListener('abort', () => {
        timer.cancel()
        reject(signal.reason)
      })
    })

  return {
    now: () => now,
    steps: () => steps,
    random,
    /** A whole number from `least` to `greatest`. */
    between: (least: number, greatest: number): number => least + Math.floor(random() * (greatest - least + 1)),
    after: (ms: number, act: () => void): void => void at(now + ms, act),
    sleep: (ms: number): Promise<void> => new Promise((resolve) => void at(now + ms, resolve)),
    /** At this time, also when time is skipped. */
    plan: (time: number, act: () => void): void => void at(time, act, true),
    nextPlanned: (): number => due.find(({ isPlanned }) => isPlanned)?.at ?? Number.POSITIVE_INFINITY,
    skip,
    /** Timers that `work` sets end with the process. */
    ownedBy: <T>(owner: Process, work: () => T): T => owners.run(owner, work),
    outside,
    runUntil,
    /** Nothing that is still due will happen. */
    clear: (): void => void due.splice(0),
    /** Timers and random numbers of the process are this time's until the end of `work`. */
    async withTimers<T>(work: () => Promise<T>): Promise<T> {
      const real = { setTimeout, setInterval, clearTimeout, clearInterval }
      const { random: realRandom } = Math
      const { setTimeout: realSleep } = timersPromises
      const clear = (handle: unknown) => (isHandle(handle) ? handle.cancel() : real.clearTimeout(handle as NodeJS.Timeout))
      Object.assign(globalThis, { setTimeout: setTimer, setInterval: setRepeated, clearTimeout: clear, clearInterval: clear })
      Object.assign(timersPromises, { setTimeout: sleepOrAbort })
      Math.random = random
      syncBuiltinESMExports()
      try {
        return await work()
      } finally {
        Object.assign(globalThis, real)
        Object.assign(timersPromises, { setTimeout: realSleep })
        Math.random = realRandom
        syncBuiltinESMExports()
      }
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

interface Handle {
  readonly cancel: () => void
}

function handleOf(cancel: () => void) {
  const handle = { cancel, ref: () => handle, unref: () => handle, [Symbol.toPrimitive]: () => 0 }
  return handle
}

const isHandle = (value: unknown): value is Handle => typeof value === 'object' && value !== null && 'cancel' in value
