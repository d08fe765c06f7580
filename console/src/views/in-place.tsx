// A text that is changed where it stands: a pencil opens the field, Enter saves, Escape leaves it as it was. Saving can be undone.

import { useMutation } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import type { OperationName } from '../../../client/src/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRefusal } from '../rights.ts'
import { toast } from '../shell/toast.tsx'
import './views.css'

interface InPlaceProps {
  /** What the text is, such as "Description of id". */
  readonly label: string
  readonly value: string
  /** What is shown instead of the value; null where it stands beside already. */
  readonly shown?: ReactNode
  readonly isRequired?: boolean
  readonly needs: OperationName
  readonly save: (next: string) => Promise<unknown>
}

export function InPlace({ label, value, shown, isRequired = false, needs, save }: InPlaceProps) {
  const refusal = useRefusal(needs)
  const [typed, setTyped] = useState<string>()
  const pencil = useRef<HTMLButtonElement>(null)
  const change = useMutation({
    mutationFn: async (next: string) => {
      await save(next)
      return value
    },
    onSuccess: (before) => {
      close()
      toast(`${label}: saved.`, () => save(before))
    },
  })
  const close = () => {
    setTyped(undefined)
    requestAnimationFrame(() => pencil.current?.focus())
  }
  if (typed === undefined)
    return (
      <span className="in-place">
        {shown === undefined ? value : shown}
        <button
          type="button"
          ref={pencil}
          className="button icon ghost small"
          aria-label={`Edit: ${label}`}
          title={refusal ?? `Edit: ${label}`}
          disabled={refusal !== undefined}
          onClick={() => setTyped(value)}
        >
          <Icon name="edit" size="small" />
        </button>
      </span>
    )
  const submit = () => {
    const next = typed.trim()
    if (next === value || (isRequired && next === '')) close()
    else change.mutate(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') submit()
    else if (event.key === 'Escape') {
      event.stopPropagation()
      close()
    } else return
    event.preventDefault()
  }
  return (
    <span className="in-place">
      <input
        className="input small"
        aria-label={label}
        // biome-ignore lint/a11y/noAutofocus: the person has just opened the field
        autoFocus
        disabled={change.isPending}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" className="button small" disabled={change.isPending} onClick={submit}>
        Save
      </button>
      <button type="button" className="button small ghost" disabled={change.isPending} onClick={close}>
        Cancel
      </button>
      {change.error ? <Problem error={change.error} /> : null}
    </span>
  )
}
