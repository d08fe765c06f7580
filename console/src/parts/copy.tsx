import { useState } from 'react'
import { Icon } from './icon.tsx'

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 2000)
  }
  return (
    <button type="button" className="button small ghost" onClick={() => void copy()}>
      <Icon name={isDone ? 'check' : 'copy'} size="small" />
      <span aria-live="polite">{isDone ? 'Copied' : label}</span>
    </button>
  )
}
