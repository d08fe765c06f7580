// What texts are found by, whatever the case: in small letters, so that every database finds the same without rules of its own about letters.

import { visitScalars } from './json-text.ts'

/** PostgreSQL holds neither NUL nor half a surrogate pair in a text. */
export const searchable = (text: string): string => text.toWellFormed().replaceAll('\0', '').toLowerCase()

/** A name or a value that begins with #, written out or as JSON may escape it. */
const SECRET_NAME = /"(#|\\u0023)/

/** The names and values of a JSON text, each on a line of its own and once, without what is below a name with #. */
export function searchableLines(json: string): string {
  const lines = new Set<string>()
  const mayHoldSecrets = SECRET_NAME.test(json)
  visitScalars(json, (scalar) => {
    if (mayHoldSecrets && scalar.path().some((part) => typeof part === 'string' && part.startsWith('#'))) return
    if (scalar.name !== undefined) lines.add(oneLine(scalar.name))
    lines.add(searchable(json.slice(scalar.start, scalar.end)))
  })
  return [...lines].join('\n')
}

const oneLine = (name: string): string => searchable(name).replaceAll('\n', ' ')
