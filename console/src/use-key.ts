// Single keys do what buttons do. The keyboard (shell/keyboard.tsx) listens; components register what a key does while they are mounted.

import { useLayoutEffect, useRef } from 'react'
import { observable } from './observable.ts'

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

/** Single keys as the person chose them: others than ours, or none. */
export interface KeyChoice {
  readonly isOff: boolean
  /** What to press instead, by our key. */
  readonly changed: Readonly<Record<string, string>>
}

const CHOICE = 'millrace.keys'
const OURS: KeyChoice = { isOff: false, changed: {} }

function readChoice(): KeyChoice {
  try {
    return {
      ...OURS,
      ...(JSON.parse((typeof document === 'undefined' ? null : localStorage.getItem(CHOICE)) ?? '{}') as Partial<KeyChoice>),
    } // written below
  } catch {
    return OURS
  }
}

const choice = observable<KeyChoice>(readChoice())

export const useKeyChoice = choice.use

export function chooseKeys(next: KeyChoice): void {
  localStorage.setItem(CHOICE, JSON.stringify(next))
  choice.set(next)
}

const isSingle = (name: string): boolean => name.length === 1

/** Our key for the one that was pressed; undefined where it does nothing. */
export const meantKey = (pressed: string, { isOff, changed }: KeyChoice = choice.get()): string | undefined => {
  if (!isSingle(pressed)) return pressed
  if (isOff) return undefined
  const ours = Object.entries(changed).find(([, other]) => other === pressed)?.[0]
  return ours ?? (pressed in changed ? undefined : pressed)
}

/** What a person has to press for one of our keys; undefined when single keys are off. */
export const shownKey = (name: string, { isOff, changed }: KeyChoice): string | undefined =>
  isSingle(name) ? (isOff ? undefined : (changed[name] ?? name)) : name
