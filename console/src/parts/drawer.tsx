// A layer at the right, for help, commands, a long cell. Escape closes it and the focus goes back where it was.

import { type ReactNode, useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'
import { ProblemPlace } from './problem-place.ts'
import './parts.css'

/** What a person comes for: the first field, else what the dialog is about to do. Labels have a button for help before their field. */
const FIELD = 'form :is(input:not([type=hidden]), select, textarea)'
const BUTTON = 'form button'

/** Opens the native dialog element: the browser keeps the focus inside. When the dialog goes, the focus goes back where it was. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    if (dialog && !dialog.open) {
      dialog.showModal()
      const first = dialog.querySelector<HTMLElement>(FIELD) ?? dialog.querySelector<HTMLElement>(BUTTON)
      first?.focus() // the browser would choose the button that closes it
    }
    return () => {
      const isLost = document.activeElement === null || document.activeElement === document.body
      if (isLost && before instanceof HTMLElement) before.focus()
    }
  }, [])
  const ifOfDialog = (event: React.SyntheticEvent) => {
    if (event.target !== ref.current) return // a field of a file reports its cancellation, too
    event.preventDefault()
    onClose()
  }
  // Escape: by itself, the browser hides the dialog first and reports it later, and what is opened in between would be closed again.
  return { ref, onClose, onCancel: ifOfDialog, onClick: ifOfDialog }
}

interface LayerProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

function Layer({ className, title, onClose, children }: LayerProps & { readonly className: string }) {
  const modal = useModal(onClose)
  return (
    <dialog {...modal} className={className} aria-label={title}>
      <div className="layer-head flex-row">
        <h2 className="heading grow">{title}</h2>
        <button type="button" className="button icon ghost small" aria-label="Close" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      <ProblemPlace value={undefined}>{children}</ProblemPlace>
    </dialog>
  )
}

export const Drawer = ({ children, ...layer }: LayerProps) => (
  <Layer {...layer} className="drawer">
    <div className="inset stack-4">{children}</div>
  </Layer>
)

/** One short decision with several fields. */
export const Dialog = (layer: LayerProps) => <Layer {...layer} className="dialog" />
