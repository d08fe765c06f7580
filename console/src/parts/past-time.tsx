import { fieldTime, zone } from '../format.ts'
import { Field } from './field.tsx'

interface PastTimeProps {
  readonly label: string
  /** After the zone that the time is in. */
  readonly hint: string
  /** As the field of a browser writes it; empty when none is chosen. */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A time whose state of a table may still be kept. */
export const PastTime = ({ label, hint, value, onChange }: PastTimeProps) => (
  <Field label={label} hint={`In ${zone}. ${hint}`}>
    {(id) => (
      <input
        className="input"
        id={id}
        type="datetime-local"
        step="1"
        max={fieldTime(new Date())}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)
