// "Done. Undo." for eight seconds, or longer while it is pointed at; also read out politely. Of errors only that of Undo itself.

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
  current.set(message)
  hideLater()
}

function hideLater(): void {
  clearTimeout(timer)
  if (current.get()) timer = setTimeout(() => show(undefined), SHOWN_MS)
}

const keep = (): void => clearTimeout(timer)

export const toast = (text: string, undo?: () => Promise<unknown>): void => show({ text, undo })

/** The button goes at once: a second click would undo twice. */
function take(undo: () => Promise<unknown>): void {
  show({ text: 'Undoing.' })
  keep()
  undo().then(
    () => show({ text: 'Undone.' }),
    (error: unknown) => show({ text: `It could not be undone. ${error instanceof Error ? error.message : String(error)}` }),
  )
}

export function Toast() {
  const message = current.use()
  const undo = message?.undo
  return (
    <div role="status" aria-live="polite">
      {message ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: the message only stays for longer
        <div className="toast" onPointerEnter={keep} onPointerLeave={hideLater} onFocus={keep} onBlur={hideLater}>
          <span>{message.text}</span>
          {undo ? (
            <button type="button" onClick={() => take(undo)}>
              Undo
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}
