// "Done. Undo." for eight seconds, also read out politely. Never for an error.

import { observable } from '../observable.ts'
import './shell.css'

interface Message {
  readonly text: string
  readonly undo?: (() => Promise<unknown>) | undefined
}

const SHOWN_MS = 8000
const current = observable<Message | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined

function show(message: Message | undefined): void {
  clearTimeout(timer)
  current.set(message)
  if (message) timer = setTimeout(() => show(undefined), SHOWN_MS)
}

export const toast = (text: string, undo?: () => Promise<unknown>): void => show({ text, undo })

export function Toast() {
  const message = current.use()
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
