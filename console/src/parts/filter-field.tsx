// A filter that follows the typing; its text goes into the URL. `/` leads to it.

import { useRef } from 'react'
import { useKey } from '../use-key.ts'

export function FilterField({ value, label, onChange }: { value: string; label: string; onChange: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  useKey('/', label, () => field.current?.focus())
  return (
    <input
      ref={field}
      className="input"
      type="search"
      placeholder={label}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
