// JSON text laid out for people: two spaces, one member a line. Numbers, key order and escapes stay as they are.

import { format } from 'jsonc-parser'

export const JSON_LAYOUT = { tabSize: 2, insertSpaces: true, eol: '\n' }

/**
 * jsonc-parser keeps the line breaks for up to 199 spaces and then looks for that of 200 among them: at the hundredth level its edit
 * has no content, and `applyEdits` writes the word `undefined`.
 */
const HUNDREDTH_LEVEL = `\n${' '.repeat(200)}`

/** All edits in one pass: `applyEdits` copies the whole text for each, which takes minutes for a megabyte. */
export function layOutJson(text: string): string {
  const edits = format(text, undefined, JSON_LAYOUT)
  const parts: string[] = []
  let done = 0
  for (const { offset, length, content } of edits.toSorted((one, other) => one.offset - other.offset)) {
    parts.push(text.slice(done, offset), (content as string | undefined) ?? HUNDREDTH_LEVEL) // its type is too narrow
    done = offset + length
  }
  return parts.join('') + text.slice(done)
}
