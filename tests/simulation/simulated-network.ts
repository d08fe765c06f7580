// The way between nodes and their database, by a simulated time: calls take time, fail or get lost, before or after they took effect.

import type { SimulatedTime } from './simulated-time.ts'

export interface SimulatedNode {
  isDead: boolean
  silentUntil: number
}

const never = <T>(): Promise<T> => new Promise<T>(() => {})
const away = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })

/** `afterwards` is called after every call that took effect. */
export function createSimulatedNetwork(time: SimulatedTime, afterwards: () => Promise<void>) {
  const { random, between } = time
  let isCalm = false
  let lostCalls = 0

  /** A message between a node and the database; it waits while the node stands still and never arrives at a dead one. */
  async function travel(node: SimulatedNode): Promise<void> {
    await time.sleep(random() < 0.05 ? between(50, 2_000) : between(0, 5))
    while (!node.isDead && node.silentUntil > time.now()) await time.sleep(node.silentUntil - time.now())
    if (node.isDead) await never()
  }

  async function call<T>(node: SimulatedNode, work: () => Promise<T>): Promise<T> {
    await travel(node)
    const fate = isCalm ? 1 : random()
    if (fate < 0.01) {
      lostCalls++
      throw away()
    }
    const result = await time.outside(work)
    await time.outside(afterwards)
    await travel(node)
    if (fate > 0.99 && !isCalm) {
      lostCalls++
      throw away()
    }
    return result
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

  return {
    travel,
    call,
    storeOf,
    lostCalls: () => lostCalls,
    isCalm: () => isCalm,
    /** From now on nothing is lost. */
    calm: (): void => {
      isCalm = true
    },
  }
}
