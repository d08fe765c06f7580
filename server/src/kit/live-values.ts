// Settings that can change while the stack runs. Code that uses one reads it each time from an object of `withLive`, and never copies it.

export type LiveValues = ReturnType<typeof createLiveValues>

export function createLiveValues() {
  let values: ReadonlyMap<string, unknown> = new Map()
  return {
    get: (name: string): unknown => values.get(name),
    replace(next: ReadonlyMap<string, unknown>): void {
      values = next
    },
  }
}

/** Where a member comes from: the name of its setting, or the name and what is made of its value. */
type Origin<T> = string | readonly [name: string, read: (value: number) => T]

/** The same object, in which these members have the value of their setting wherever it has been changed. */
export function withLive<T extends object>(base: T, live: LiveValues, origins: { readonly [K in keyof T]?: Origin<T[K]> }): T {
  const members = Object.entries(origins).map(([member, origin]) => {
    const [name, read] =
      typeof origin === 'string' ? [origin, (value: number): unknown => value] : (origin as [string, (value: number) => unknown])
    const get = () => {
      const changed = live.get(name)
      return changed === undefined ? base[member as keyof T] : read(changed as number) // parsed by the variable of that name
    }
    return [member, { get, enumerable: true }] as const
  })
  return Object.defineProperties({ ...base }, Object.fromEntries(members))
}
