// The way between nodes and their database, by a simulated time: calls take time, fail or get lost, before or after they took effect; the
// database is away for a while, or its disk is full.

import { Kysely, type QueryExecutor } from 'kysely'
import type { Db, NoTables } from '../../server/src/engines/metadata-db/dialects.ts'
import type { SimulatedTime } from './simulated-time.ts'

export interface SimulatedNode {
  isDead: boolean
  silentUntil: number
}

const never = <T>(): Promise<T> => new Promise<T>(() => {})
const away = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
const full = () => Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' })
/** Of the calls, each way. */
const LOST_SHARE = 0.01

/** `afterwards` is called after every call that took effect. */
export function createSimulatedNetwork(time: SimulatedTime, afterwards: () => Promise<void>) {
  const { random, between } = time
  let lostShare = LOST_SHARE
  let lostCalls = 0
  let awayUntil = 0
  let fullUntil = 0
  const open = new Map<SimulatedNode, number>()
  const countOpen = (node: SimulatedNode, change: number) => open.set(node, (open.get(node) ?? 0) + change)

  /** A message between a node and the database; it waits while the node stands still and never arrives at a dead one. */
  async function travel(node: SimulatedNode): Promise<void> {
    const isSlow = random() < (lostShare > 0 ? 0.05 : 0.002)
    await time.sleep(isSlow ? between(50, 2_000) : between(0, 5))
    while (!node.isDead && node.silentUntil > time.now()) await time.sleep(node.silentUntil - time.now())
    if (node.isDead) await never()
  }

  function lose(): never {
    lostCalls++
    throw away()
  }

  async function call<T>(node: SimulatedNode, work: () => Promise<T>, isWrite = true): Promise<T> {
    countOpen(node, 1)
    try {
      await travel(node)
      const fate = random()
      if (fate < lostShare || awayUntil > time.now()) lose()
      if (isWrite && fullUntil > time.now()) throw full()
      const result = await time.outside(work)
      await time.outside(afterwards)
      await travel(node)
      if (fate > 1 - lostShare) lose()
      return result
    } finally {
      countOpen(node, -1)
    }
  }

  /** A store as a node has it: what is not part of a transaction is a call of its own. */
  const storeOf = <S extends object>(store: S, node: () => SimulatedNode): S =>
    new Proxy(store, {
      get(target, name) {
        const method = target[name as keyof S] as (...args: unknown[]) => unknown // a store consists of functions
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          const isInTransaction = (args[0] as { readonly isTransaction?: boolean } | undefined)?.isTransaction === true
          return isInTransaction ? method(...args) : call(node(), async () => method(...args))
        }
      },
    })

  /** The database as a node has it: every query outside of a transaction is a call of its own. */
  function databaseOf(db: Db, node: () => SimulatedNode): Db {
    const executor = new Proxy(db.getExecutor(), {
      get(target, name: keyof QueryExecutor) {
        if (name === 'executeQuery')
          return (...args: Parameters<QueryExecutor['executeQuery']>) =>
            call(node(), () => target.executeQuery(...args), !/^\s*select/i.test(args[0].sql))
        const member: unknown = target[name]
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const unused = {} as never // by queries
    return new Kysely<NoTables>({ config: { dialect: unused }, dialect: unused, driver: unused, executor })
  }

  return {
    travel,
    call,
    storeOf,
    databaseOf,
    lostCalls: () => lostCalls,
    isCalm: () => lostShare === 0,
    /** Whether a node that can do something waits for an answer. */
    isBusy: (): boolean => [...open].some(([node, calls]) => calls > 0 && !node.isDead),
    /** From now on nothing is lost. */
    calm: (): void => {
      lostShare = 0
      awayUntil = 0
      fullUntil = 0
    },
    loseCalls: (share: number): void => {
      lostShare = share
    },
    beAway: (untilMs: number): void => {
      awayUntil = untilMs
    },
    beFull: (untilMs: number): void => {
      fullUntil = untilMs
    },
    forget: (node: SimulatedNode): void => void open.delete(node),
  }
}
