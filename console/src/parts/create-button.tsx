import { type ReactNode, useState } from 'react'
import type { OperationName } from '../../../client/src/client.ts'
import { useRefusal } from '../rights.ts'
import { useKey } from '../use-key.ts'
import { ActButton } from './act-button.tsx'
import { Icon } from './icon.tsx'
import { Key } from './key.tsx'

/** The button that makes a new one of what the screen lists, and its key; `children` is the dialog. */
export function CreateButton({
  label,
  needs,
  isSecond = false,
  children,
}: {
  label: string
  needs: OperationName
  /** Another button is what the screen is for. */
  isSecond?: boolean
  children: (close: () => void) => ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  const isRefused = useRefusal(needs) !== undefined
  useKey('n', label, () => (isRefused ? undefined : setOpen(true)))
  return (
    <>
      <ActButton needs={needs} className={isSecond ? 'button' : 'button primary'} onClick={() => setOpen(true)}>
        <Icon name="plus" />
        <span>{label}</span>
        <Key name="n" />
      </ActButton>
      {isOpen ? children(() => setOpen(false)) : null}
    </>
  )
}
