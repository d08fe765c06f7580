import { type ReactNode, useState } from 'react'
import { useKey } from '../use-key.ts'
import { Icon } from './icon.tsx'

/** The button that makes a new one of what the screen lists, and its key; `children` is the dialog. */
export function CreateButton({ label, children }: { label: string; children: (close: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  useKey('n', label, () => setOpen(true))
  return (
    <>
      <button type="button" className="button primary" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        <span>{label}</span>
        <kbd>N</kbd>
      </button>
      {isOpen ? children(() => setOpen(false)) : null}
    </>
  )
}
