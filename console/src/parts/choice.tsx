import './parts.css'

interface ChoiceProps {
  readonly label: string
  readonly value: string | undefined
  /** Each as its value and its name; "any" stands before them. */
  readonly options: readonly (readonly [value: string, name: string, ...unknown[]])[]
  readonly onChange: (value: string) => void
}

/** One filter of a list. */
export const Choice = ({ label, value = '', options, onChange }: ChoiceProps) => (
  <label className="flex-row">
    <span className="mute choice-name">{label}</span>
    <select className="input small" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">any</option>
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  </label>
)
