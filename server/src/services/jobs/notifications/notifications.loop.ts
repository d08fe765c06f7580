// Claims deliveries that are due and makes their attempts, several at once; one slow receiver holds up only its own messages.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { type Deliver, LEASE_MS } from './delivery.ts'
import type { Delivery, NotificationsStore } from './notifications.store.ts'

export interface NotificationsLoopDeps {
  readonly store: NotificationsStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly deliver: Deliver
  /** Looks for what no call causes. */
  readonly look: () => Promise<void>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 1000
const LOOK_MS = 10_000
const MAX_AT_ONCE = 32
const MAX_PER_ADDRESS = 4
const SWEEP_MS = 3_600_000
const KEPT_MS = 30 * 86_400_000

export type NotificationsLoop = ReturnType<typeof createNotificationsLoop>

export function createNotificationsLoop({ store, inTransaction, clock, deliver, look, onError }: NotificationsLoopDeps) {
  const underWay = new Map<Promise<void>, string>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let lookAgain = false
  let stopped = true
  let sweptAt = 0
  let lookedAt = 0
  let watching: Promise<void> | undefined

  /** Starts every attempt that is due and for which there is capacity; answers how many. */
  async function tick(): Promise<number> {
    const now = clock.now().getTime()
    if (now - sweptAt >= SWEEP_MS) {
      sweptAt = now
      await inTransaction((trx) => store.sweep(trx, now - KEPT_MS, now))
    }
    if (!watching && Math.abs(now - lookedAt) >= LOOK_MS) {
      lookedAt = now
      watching = look()
        .catch(onError)
        .finally(() => {
          watching = undefined
          nudge()
        })
    }
    const free = MAX_AT_ONCE - underWay.size
    if (free <= 0 || !(await store.hasDue(now))) return 0
    const claimed = await inTransaction((trx) =>
      store.claimDue(trx, now, now + LEASE_MS, busyAddresses(), Math.min(free, MAX_PER_ADDRESS)),
    )
    for (const delivery of claimed) begin(delivery)
    return claimed.length
  }

  function begin(delivery: Delivery): void {
    const attempt = deliver(delivery)
      .catch(onError)
      .finally(() => {
        underWay.delete(attempt)
        nudge()
      })
    underWay.set(attempt, delivery.recipient.address)
  }

  function busyAddresses(): string[] {
    const counts = new Map<string, number>()
    for (const address of underWay.values()) counts.set(address, (counts.get(address) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= MAX_PER_ADDRESS).map(([address]) => address)
  }

  function nudge(): void {
    lookAgain = true
    if (stopped || looking) return
    looking = lookUntilQuiet().finally(() => {
      looking = undefined
      if (lookAgain) nudge()
    })
  }

  async function lookUntilQuiet(): Promise<void> {
    while (lookAgain && !stopped) {
      lookAgain = false
      const begun = await tick().catch((error: unknown) => void onError(error))
      if (begun) lookAgain = true
    }
  }

  return {
    tick,
    /** Something may be due. */
    nudge,
    start(): void {
      stopped = false
      timer = setInterval(nudge, EVERY_MS).unref()
    },
    /** Waits for attempts that are under way: each has a time limit. */
    async stop(): Promise<void> {
      stopped = true
      clearInterval(timer)
      await looking
      await watching
      await Promise.all(underWay.keys())
    },
  }
}
