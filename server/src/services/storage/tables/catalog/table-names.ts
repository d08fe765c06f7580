// Names of tables and columns (spec storage 2.5.3): what is allowed, and how the header of a file becomes names of columns.

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import { tableNameProblem } from '../../../../../../contract/table-name.ts'
import { LOAD_TIME_COLUMN } from '../../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../../kit/errors.ts'

const MAX_COLUMN_NAME = 64

/** With the text that clients expect for each of the two. */
const PLACES = { name: 'Invalid table name', displayName: 'Invalid data - displayName' } as const

export function checkTableName(name: string, place: keyof typeof PLACES = 'name'): void {
  const problem = tableNameProblem(name)
  if (problem !== undefined) throw new PlatformError('storage.tables.validation', { reason: `${PLACES[place]}: ${problem}` })
}

/** The names of a header, made fit for a table and checked as a whole. `keep` goes through as it is. */
export function columnNamesFrom(header: readonly string[], keep?: string): string[] {
  const names = header.map((text) => (text === keep ? text : columnNameFrom(text)))
  const seen = new Map<string, number>()
  for (const [i, name] of names.entries()) {
    if (name !== keep) checkColumnName(name, `column ${i + 1} ("${(header[i] ?? '').slice(0, 60)}")`)
    const first = seen.get(name.toLowerCase())
    if (first !== undefined)
      throw invalid(
        `columns ${first + 1} and ${i + 1} are both called "${name}" (upper and lower case are the same). Rename one of them.`,
      )
    seen.set(name.toLowerCase(), i)
  }
  return names
}

/** One name, as it will be in the table. */
export function checkColumnName(name: string, what: string): void {
  if (name === '') throw invalid(`${what} has no name. Use letters, digits and underscores.`)
  if (name.length > MAX_COLUMN_NAME)
    throw invalid(`the name of ${what} has ${name.length} characters; at most ${MAX_COLUMN_NAME} are allowed.`)
  if (name.toLowerCase() === LOAD_TIME_COLUMN) throw invalid(`the name "${name}" of ${what} is reserved. Choose another one.`)
}

const invalid = (reason: string) => new PlatformError('storage.tables.validation.invalidColumnName', { reason })

const SHOWN = 20
const shown = (names: readonly string[], separator: string): string =>
  names.slice(0, SHOWN).join(separator) + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '')

export const quoted = (names: readonly string[]): string =>
  shown(
    names.map((name) => `"${name}"`),
    ', ',
  )

/** As clients expect it in errors of loads. */
export const plain = (names: readonly string[]): string => shown(names, ',')
