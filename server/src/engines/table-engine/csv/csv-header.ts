// The first record of a file, read without touching the rest. Only its shape is judged here; which names a table may have is the
// caller's rule.

import { PlatformError } from '../../../kit/errors.ts'
import { type InflateLimits, type LocalSlice, readSlice } from './csv-bytes.ts'
import type { DialectBytes } from './csv-dialect.ts'
import { createRecordReader, NORMALISED } from './csv-normalise.ts'
import { describeProblem } from './csv-problem.ts'
import { createCsvScanner } from './csv-scanner.ts'

const LF = 10
const QUOTE = 34
const MAX_HEADER_BYTES = 1 << 20

export interface HeaderRules {
  readonly dialect: DialectBytes
  readonly limits: InflateLimits
  readonly maxColumns: number
}

/** An empty file has an empty header: the caller names that error. */
export async function readHeaderRow(slice: LocalSlice, { dialect, limits, maxColumns }: HeaderRules): Promise<readonly string[]> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of readSlice(slice, limits)) {
    pieces.push(Buffer.from(chunk))
    bytes += chunk.length
    const end = endOfRecord(Buffer.concat(pieces), dialect)
    if (end !== -1) return await parse(slice, Buffer.concat(pieces).subarray(0, end), { dialect, limits, maxColumns })
    if (bytes > MAX_HEADER_BYTES)
      throw new PlatformError('invalidCsv', {
        file: slice.name,
        reason: `Load error: The first row of ${slice.name} does not end within ${MAX_HEADER_BYTES} bytes. It must be the header: the names of the columns, ended by a line break. Look for a quote that is not closed.`,
      })
  }
  return parse(slice, Buffer.concat(pieces), { dialect, limits, maxColumns })
}

/** The offset behind the first record's line break, or -1. */
function endOfRecord(bytes: Buffer, { enclosure, escaper }: DialectBytes): number {
  let quoted = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === escaper) i++
    else if (byte === enclosure) quoted = !quoted
    else if (byte === LF && !quoted) return i + 1
  }
  return -1
}

function countValues(record: Buffer, { delimiter, enclosure, escaper }: DialectBytes): number {
  let quoted = false
  let count = 1
  for (let i = 0; i < record.length; i++) {
    const byte = record[i]
    if (byte === escaper) i++
    else if (byte === enclosure) quoted = !quoted
    else if (byte === delimiter && !quoted) count++
  }
  return count
}

async function parse(
  slice: LocalSlice,
  record: Buffer,
  { dialect, limits, maxColumns }: HeaderRules,
): Promise<readonly string[]> {
  const columns = countValues(record, dialect) // before the values are made, which takes a hundred times as long
  if (columns > maxColumns)
    throw new PlatformError('storage.maxNumberOfColumnsExceed', { limit: maxColumns, file: slice.name, columns })
  const values = splitRecord(record, dialect)
  if (values.length === 0) return []
  const scanner = createCsvScanner({ dialect, columns: values.length, skipLines: 0, maxRowBytes: 2 * MAX_HEADER_BYTES })
  const problem = scanner.write(record) ?? scanner.end()
  if (problem) throw await describeProblem(problem, { slice, limits, columnNames: [], maxRowBytes: MAX_HEADER_BYTES })
  return values
}

/** The values of one record: normalised first, so that only one way of writing needs to be understood. */
function splitRecord(record: Buffer, dialect: DialectBytes): string[] {
  const pieces: Buffer[] = []
  const reader = createRecordReader(dialect, 0, 2, (bytes) => pieces.push(bytes) > 0)
  reader.write(record)
  reader.end()
  const normal = Buffer.concat(pieces).toString('utf8')
  const values: string[] = []
  for (let i = 0; i < normal.length && normal.charCodeAt(i) === QUOTE; ) {
    let end = i + 1
    let value = ''
    for (;;) {
      const quote = normal.indexOf('"', end)
      if (quote === -1) return values
      value += normal.slice(end, quote)
      if (normal.charCodeAt(quote + 1) !== QUOTE) {
        values.push(value)
        if (normal.charCodeAt(quote + 1) !== NORMALISED.delimiter) return values
        i = quote + 2
        break
      }
      value += '"'
      end = quote + 2
    }
  }
  return values
}
