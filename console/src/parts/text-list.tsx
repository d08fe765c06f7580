// Several texts in one field: each is taken out with its button, the next is typed or chosen.

import { useState } from 'react'
import { Icon } from './icon.tsx'
import { Suggestions } from './suggestions.tsx'
import './parts.css'

export function TextList({
  id,
  values,
  options = [],
  onType,
  onChange,
}: {
  id: string
  values: readonly string[]
  /** What can be chosen; other texts can be typed. */
  options?: readonly string[]
  /** For options that follow what is typed. */
  onType?: (text: string) => void
  onChange: (next: readonly string[]) => void
}) {
  const [typed, setTyped] = useState('')
  const open = options.filter((one) => !values.includes(one))
  const type = (text: string) => {
    setTyped(text)
    onType?.(text)
  }
  const add = (text: string) => {
    type('')
    if (text !== '' && !values.includes(text)) onChange([...values, text])
  }
  return (
    <div className="text-list">
      {values.map((value) => (
        <span key={value} className="chip">
          {value}
          <button
            type="button"
            className="button icon ghost small"
            onClick={() => onChange(values.filter((one) => one !== value))}
          >
            <Icon name="x" size="small" />
            <span className="visually-hidden">Remove {value}</span>
          </button>
        </span>
      ))}
      <input
        className="input mono"
        id={id}
        list={open.length > 0 ? `${id}-list` : undefined}
        placeholder="add"
        value={typed}
        onChange={({ target, nativeEvent }) => {
          const isChosen = !(nativeEvent instanceof InputEvent) || nativeEvent.inputType === 'insertReplacementText'
          if (isChosen && open.includes(target.value)) add(target.value)
          else type(target.value)
        }}
        onBlur={() => add(typed.trim())}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ',') return
          event.preventDefault()
          add(typed.trim())
        }}
      />
      {open.length > 0 ? <Suggestions id={`${id}-list`} values={open} /> : null}
    </div>
  )
}
