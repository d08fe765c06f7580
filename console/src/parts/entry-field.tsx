// A required field, marked for browsers and password managers.

interface FieldProps {
  readonly id: string
  readonly label: string
  readonly type?: string
  readonly value: string
  readonly autoComplete?: string
  readonly hint?: string
  readonly isMono?: boolean
  readonly onChange: (value: string) => void
}

export const Field = ({ id, label, type = 'text', value, autoComplete, hint, isMono = false, onChange }: FieldProps) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    <input
      className={isMono ? 'input mono' : 'input'}
      id={id}
      type={type}
      required
      autoComplete={autoComplete}
      aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
    {hint === undefined ? null : (
      <span className="hint" id={`${id}-hint`}>
        {hint}
      </span>
    )}
  </div>
)
