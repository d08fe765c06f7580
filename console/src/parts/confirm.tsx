// A change that cannot be undone: what it does is shown first, and only then the button that does it.

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { createPortal } from 'react-dom'
import type { OperationName } from '../../../client/src/client.ts'
import { ActButton } from './act-button.tsx'
import { Dialog } from './drawer.tsx'
import { Form } from './form.tsx'
import { Label } from './guide.tsx'
import { Problem } from './problem.tsx'

interface ConfirmProps {
  /** What it does, as on the button that opens the dialog and on the one that acts. */
  readonly label: string
  /** What it is done to, such as "the stream Orders". */
  readonly name: string
  /** What is different afterwards, and who notices. */
  readonly effect: ReactNode
  /** To be typed first; for what is lost for good. */
  readonly typed?: string
  readonly className?: string
  /** Where several buttons of a list have the same label. */
  readonly ariaLabel?: string
  readonly disabled?: boolean
  /** The operation that it calls. */
  readonly needs: OperationName
  readonly act: () => Promise<unknown>
}

export function ConfirmButton({ className = 'button small ghost', ariaLabel, needs, disabled = false, ...asked }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActButton needs={needs} className={className} aria-label={ariaLabel} disabled={disabled} onClick={() => setOpen(true)}>
        {asked.label}
      </ActButton>
      {/* Beside the page: in a form it would be a form in a form, and Enter would submit both. */}
      {isOpen ? createPortal(<ConfirmDialog {...asked} onClose={() => setOpen(false)} />, document.body) : null}
    </>
  )
}

type DialogProps = Pick<ConfirmProps, 'label' | 'name' | 'effect' | 'typed' | 'act'> & { readonly onClose: () => void }

function ConfirmDialog({ label, name, effect, typed, act, onClose }: DialogProps) {
  const id = useId()
  const [text, setText] = useState('')
  const run = useMutation({ mutationFn: act, onSuccess: onClose })
  return (
    <Dialog title={`${label}: ${name}`} onClose={onClose}>
      <Form onSubmit={() => run.mutate()}>
        <div className="body-text stack-2">{effect}</div>
        {typed === undefined ? null : (
          <div className="field">
            <Label htmlFor={id}>{`Type ${typed} to confirm`}</Label>
            <input
              className="input mono"
              id={id}
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        )}
        {run.error ? <Problem error={run.error} /> : null}
        <div className="flex-row">
          <button type="button" className="button push" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button danger" disabled={run.isPending || (typed !== undefined && text !== typed)}>
            {label}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
