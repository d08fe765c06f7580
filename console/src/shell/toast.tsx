// "Done. Undo." for eight seconds, also read out politely. Never for an error.

import { useSyncExternalStore } from 'react'

interface Message {
  readonly text: string
  readonly undo?: (() => Promise<unknown>) | undefined
}

const SHOWN_MS = 8000
let current: Message | undefined
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

function show(message: Message | undefined): void {
  clearTimeout(timer)
  current = message
  if (message) timer = setTimeout(() => show(undefined), SHOWN_MS)
  for (const listener of listeners) listener()
}

export const toast = (text: string, undo?: () => Promise<unknown>): void => show({ text, undo })

export function Toast() {
  const message = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
  const undo = message?.undo
  return (
    <div role="status" aria-live="polite">
      {message ? (
        <div className="toast">
          <span>{message.text}</span>
          {undo ? (
            <button type="button" onClick={() => void undo().then(() => show({ text: 'Undone.' }))}>
              Undo
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}
