// What a row runs with, for people: root and row merged as the runner merges them, each value with where it came from, secrets hidden.

import { effectiveConfiguration } from '../../../../../contract/effective-configuration.ts'
import { type Edit, replaceSpans, visitScalars } from '../../../kit/text/json-text.ts'

export const MASK = '*****'

export function effectiveText(root: string, row: string): string {
  const { text, origins } = effectiveConfiguration(root, row)
  return `{"configuration":${masked(text)},"origins":${JSON.stringify(origins)}}`
}

/** Also ciphers are hidden: this is a view to read, not one to save again. */
function masked(text: string): string {
  const edits: Edit[] = []
  const hide = (start: number, end: number) => edits.push({ start, end, text: `"${MASK}"` })
  visitScalars(
    text,
    ({ start, end, name }) => name?.startsWith('#') && hide(start, end),
    ({ start, end, name }) => {
      if (!name?.startsWith('#')) return undefined
      hide(start, end())
      return end()
    },
  )
  return replaceSpans(text, edits)
}
