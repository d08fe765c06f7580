import { Field, type FieldProps } from './field.tsx'
import { Suggestions } from './suggestions.tsx'

interface TextFieldProps extends FieldProps {
  readonly value: string
  readonly placeholder?: string
  /** Offered besides what may be typed. */
  readonly options?: readonly string[]
  readonly onChange: (next: string) => void
}

export const TextField = ({ value, placeholder, options = [], onChange, ...field }: TextFieldProps) => (
  <Field {...field}>
    {(id) => (
      <>
        <input
          className="input mono"
          id={id}
          value={value}
          placeholder={placeholder}
          list={options.length > 0 ? `${id}-options` : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
        {options.length > 0 ? <Suggestions id={`${id}-options`} values={options} /> : null}
      </>
    )}
  </Field>
)
