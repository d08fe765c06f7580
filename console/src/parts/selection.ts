import { useState } from 'react'

export interface Selection {
  /** Those that are selected and still there, in the order of the list. */
  readonly keys: readonly string[]
  readonly has: (key: string) => boolean
  readonly toggle: (key: string) => void
  readonly clear: () => void
}

/** What is ticked in a list. */
export function useSelection(all: readonly string[]): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  return {
    keys: all.filter((key) => selected.has(key)),
    has: (key) => selected.has(key),
    toggle: (key) =>
      setSelected((before) => {
        const next = new Set(before)
        if (!next.delete(key)) next.add(key)
        return next
      }),
    clear: () => setSelected(new Set()),
  }
}
