// A layer at the right, for help, commands, a long cell. Escape closes it and the focus goes back where it was.

import { type ReactNode, useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'

/** Opens the native dialog element: the browser keeps the focus inside. It gives it back on Escape only, so all other ways do it here. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    if (dialog && !dialog.open) dialog.showModal()
    return () => {
      const isLost = document.activeElement === null || document.activeElement === document.body
      if (isLost && before instanceof HTMLElement) before.focus()
    }
  }, [])
  return { ref, onClose, onClick: (event: React.MouseEvent) => (event.target === ref.current ? onClose() : undefined) }
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
      <div className="hd row">
        <h2 className="h grow">{title}</h2>
        <button type="button" className="btn icon ghost sm" aria-label="Close" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      {children}
    </dialog>
  )
}

export const Drawer = ({ children, ...layer }: LayerProps) => (
  <Layer {...layer} className="drawer">
    <div className="in stack4">{children}</div>
  </Layer>
)

/** One short decision with several fields. */
export const Dialog = (layer: LayerProps) => <Layer {...layer} className="dialog" />
