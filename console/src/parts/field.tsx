// A label, its control and its hint: every form is made of these.

import { type ReactNode, useId } from 'react'
import { Label } from './guide.tsx'

export interface FieldProps {
  readonly label: string
  /** How configurations name the field; marked in the guide. */
  readonly name?: string
  /** What the present value will do. */
  readonly hint?: string | undefined
  /** Why the present value cannot stay. */
  readonly bad?: string | undefined
}

/** `children` gets the id that ties the label to the control. */
export function Field({ label, name, hint, bad, children }: FieldProps & { readonly children: (id: string) => ReactNode }) {
  const id = useId()
  return (
    <div className="field">
      <Label htmlFor={id} {...(name === undefined ? {} : { name })}>
        {label}
      </Label>
      {children(id)}
      {bad ? <span className="field-problem">{bad}</span> : hint ? <span className="hint">{hint}</span> : null}
    </div>
  )
}
