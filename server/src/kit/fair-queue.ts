// Work with a limit of parallel runs and many callers. Waiting callers take turns by origin, so that one caller
// with a hundred requests does not delay the others; known callers go before unknown ones.

export interface FairQueue {
  /** Undefined: there is no room to wait, and nothing was done. */
  run<T>(work: () => Promise<T>, from: { readonly place: string; readonly isKnown: boolean }): Promise<T | undefined>
}

type Turn = (isGiven: boolean) => void

export function createFairQueue({ atOnce, maxWaiting }: { readonly atOnce: number; readonly maxWaiting: number }): FairQueue {
  const known: Turn[] = []
  /** By place, the one whose turn is next first. */
  const others = new Map<string, Turn[]>()
  let running = 0
  let waiting = 0

  function next(): Turn | undefined {
    const first = known.shift()
    if (first) return first
    const [entry] = others
    if (!entry) return undefined
    const [place, turns] = entry
    others.delete(place)
    const turn = turns.shift()
    if (turns.length > 0) others.set(place, turns)
    return turn
  }

  /** Room for a newcomer: the last one of the place that has the most waiting goes without. */
  function makeRoom(place: string): boolean {
    const own = others.get(place)?.length ?? 0
    const [longest] = [...others.values()].toSorted((a, b) => b.length - a.length)
    if (!longest || longest.length <= own + 1) return false
    waiting -= 1
    longest.pop()!(false) // it has at least two
    return true
  }

  async function turn(place: string, isKnown: boolean): Promise<boolean> {
    if (running < atOnce) {
      running += 1
      return true
    }
    if (waiting >= maxWaiting && !isKnown && !makeRoom(place)) return false
    waiting += 1
    return new Promise<boolean>((resolve) => {
      if (isKnown) known.push(resolve)
      else if (!others.get(place)?.push(resolve)) others.set(place, [resolve])
    })
  }

  return {
    async run(work, { place, isKnown }) {
      if (!(await turn(place, isKnown))) return undefined
      try {
        return await work()
      } finally {
        const given = next()
        if (given) {
          waiting -= 1
          given(true)
        } else running -= 1
      }
    },
  }
}
