// Where in a text DuckDB found a mistake, in the words of an editor.

import { PlatformError } from '../../kit/errors.ts'

const PLACE = / \(line \d+, character \d+\)$/

/** `position`: UTF-16 units from the start of the text. A place that the message had before is replaced. */
export function failedAt(error: PlatformError, text: string, position: number): PlatformError {
  const before = text.slice(0, position)
  const line = linesOf(before)
  const column = before.length - before.lastIndexOf('\n')
  const message = `${String(error.details.message).replace(PLACE, '')} (line ${line}, character ${column})`
  return new PlatformError('sql.failed', { message }, { cause: error.cause, params: { position, line, column } })
}

/** Undefined for errors without a place. */
export const positionOf = (error: unknown): number | undefined => {
  const at = error instanceof PlatformError && error.code === 'sql.failed' ? error.params?.position : undefined
  return typeof at === 'number' ? at : undefined
}

function linesOf(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
