// How a CSV file is written: three characters, checked once, then only bytes.

import { PlatformError } from '../../../kit/errors.ts'
import type { CsvDialect } from '../table-engine.ts'

/** The dialect as bytes; -1 where there is none. */
export interface DialectBytes {
  readonly delimiter: number
  readonly enclosure: number
  readonly escaper: number
}

const BYTES = { LF: 10, CR: 13 } as const

/** Throws `csvImport.invalidCsvParams` for combinations that could not be read back. */
export function checkDialect(dialect: CsvDialect = {}): DialectBytes {
  const delimiter = oneByte('delimiter', dialect.delimiter === '\\t' ? '\t' : (dialect.delimiter ?? ','))
  const escaper = dialect.escapedBy ? oneByte('escapedBy', dialect.escapedBy) : -1
  // A client that sets escapedBy without an enclosure sends files without enclosures.
  const enclosureText = dialect.enclosure ?? (escaper === -1 ? '"' : '')
  const enclosure = enclosureText === '' ? -1 : oneByte('enclosure', enclosureText)
  if (enclosure !== -1 && escaper !== -1)
    refuse('Parameters "enclosure" and "escapedBy" exclude each other. Send an empty string for the one the file does not use.')
  if (delimiter === enclosure || delimiter === escaper)
    refuse(
      `The delimiter "${dialect.delimiter ?? ','}" is also the ${delimiter === enclosure ? 'enclosure' : 'escape'} character. Choose two different characters.`,
    )
  return { delimiter, enclosure, escaper }
}

function oneByte(parameter: string, text: string): number {
  const byte = text.length === 1 ? text.charCodeAt(0) : -1
  if (byte < 1 || byte > 127)
    refuse(
      `The ${parameter} "${text.slice(0, 20)}" is not allowed: it must be exactly one ASCII character (a tab is written \\t).`,
    )
  if (byte === BYTES.LF || byte === BYTES.CR) refuse(`The ${parameter} cannot be a line break.`)
  return byte
}

function refuse(reason: string): never {
  throw new PlatformError('csvImport.invalidCsvParams', { reason })
}
