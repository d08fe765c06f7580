// A value of the whole page that components follow.

import { useSyncExternalStore } from 'react'

export interface Observable<T> {
  get(): T
  set(value: T): void
  /** The value, and another render whenever it changes. */
  use(): T
}

export function observable<T>(initial: T): Observable<T> {
  let current = initial
  const listeners = new Set<() => void>()
  const get = () => current
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    get,
    set(value) {
      if (value === current) return
      current = value
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(subscribe, get),
  }
}
