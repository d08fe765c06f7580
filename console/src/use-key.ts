// Single keys do what buttons do. The keyboard (shell/keyboard.tsx) listens; components say what a key does while they are there.

import { useLayoutEffect, useRef } from 'react'

export interface Binding {
  readonly keys: string
  readonly does: string
  readonly run: () => void
}

export const bindings = new Set<Binding>()

/** A field keeps the focus for a moment after its dialog was closed: what is not shown gets no typing. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  target.checkVisibility()

/** While the component is there, the key does this: as soon as it is seen, hence the layout effect. */
export function useKey(keys: string, does: string, run: () => void): void {
  const latest = useRef(run)
  latest.current = run
  useLayoutEffect(() => {
    const binding: Binding = { keys, does, run: () => latest.current() }
    bindings.add(binding)
    return () => void bindings.delete(binding)
  }, [keys, does])
}

export const findBinding = (keys: string): Binding | undefined => [...bindings].findLast((binding) => binding.keys === keys)
