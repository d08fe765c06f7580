// Texts with dates, the number of rows, and values of the first row: `Revenue of {{date}}: {{revenue}}`.

import type { Cells } from '../../connector-kit/src/input-table.ts'
import { withDates } from '../../files-writer/src/names.ts'

interface Values {
  readonly now: Date
  readonly runId: string
  readonly rows: number
  readonly names: readonly string[]
  readonly first: Cells | undefined
}

export function withValues(text: string, { now, runId, rows, names, first }: Values): string {
  const parts = text.split(/(\{\{[^{}]*\}\})/)
  return parts
    .map((part) => {
      const [, name] = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(part) ?? []
      if (name === undefined) return part
      if (name === 'rows') return String(rows)
      const at = names.indexOf(name)
      return at === -1 ? withDates(part, now, runId) : (first?.[at] ?? '')
    })
    .join('')
}
