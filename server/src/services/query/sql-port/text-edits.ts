// Changes to the text of a statement, collected first and applied once: the work is linear in the text, however many there are, and a
// place in the new text leads back to the one the client wrote.

import { eachInTurns } from '../../../kit/in-turns.ts'

export interface TextEdit {
  /** In the text of the statement, in UTF-16 units. */
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface EditedText {
  readonly text: string
  readonly originalPosition: (at: number) => number
}

/** Edits must not overlap; of two at the same place the first wins. */
export async function applyEdits(text: string, edits: readonly TextEdit[]): Promise<EditedText> {
  if (edits.length === 0) return { text, originalPosition: (at) => at }
  const applied: TextEdit[] = []
  const pieces: string[] = []
  let from = 0
  const sorted = edits.toSorted((a, b) => a.start - b.start)
  await eachInTurns(sorted.length, (i) => {
    const edit = sorted[i]
    if (!edit || edit.start < from) return
    pieces.push(text.slice(from, edit.start), edit.text)
    from = edit.end
    applied.push(edit)
  })
  pieces.push(text.slice(from))
  return { text: pieces.join(''), originalPosition: (at) => originalPosition(applied, at) }
}

function originalPosition(edits: readonly TextEdit[], at: number): number {
  let shift = 0
  for (const { start, end, text } of edits) {
    if (at < start + shift) break
    if (at < start + shift + text.length) return start
    shift += text.length - (end - start)
  }
  return at - shift
}
