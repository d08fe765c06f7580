// Judges CSV by RFC 4180 while DuckDB loads the same bytes. One pass, constant memory, a few hundred MB/s: it looks at every byte once
// and keeps offsets, never text. What the message needs (line number, the offending text) is read again afterwards, once, in
// csv-problem.ts, because files are good almost always.
//
// It also reports where DuckDB's reader is known to read other rows than RFC 4180 defines, so that the file must be normalised first:
// records ended by both LF and CRLF, blank lines that are rows (one column), a header that spans lines.

import type { DialectBytes } from './csv-dialect.ts'
import { createUtf8Check } from './utf8-check.ts'

export type CsvProblemKind =
  | 'nul'
  | 'utf8'
  | 'ragged'
  | 'blankLine'
  | 'strayQuote'
  | 'textAfterQuote'
  | 'strayCarriageReturn'
  | 'unterminatedQuote'
  | 'danglingEscape'
  | 'rowTooLarge'

export interface CsvProblem {
  readonly kind: CsvProblemKind
  /** Bytes from the start of the unpacked slice to the offending byte, and to the start of its value and its record. */
  readonly offset: number
  readonly fieldOffset: number
  readonly recordOffset: number
  /** Zero-based. */
  readonly field: number
  /** Values in the record, for ragged rows. */
  readonly fields: number
}

export interface CsvScan {
  readonly rows: number
  readonly bytes: number
  readonly longestRowBytes: number
  /** DuckDB would read this file differently: load a normalised copy. */
  readonly normalise: boolean
  readonly lineEnd: '\n' | '\r\n'
}

export interface CsvScanner {
  /** Returns the first problem, after which the scanner must not be used any more. */
  write(chunk: Uint8Array): CsvProblem | null
  end(): CsvProblem | null
  result(): CsvScan
}

export interface ScanRules {
  readonly dialect: DialectBytes
  readonly columns: number
  readonly skipLines: number
  readonly maxRowBytes: number
}

const LF = 10
const CR = 13
const RECORD_START = 0
const FIELD_START = 1
const UNQUOTED = 2
const QUOTED = 3
const QUOTE_SEEN = 4
const CR_SEEN = 5
const ESCAPED = 6

const LF_END = 1
const CRLF_END = 2

export function createCsvScanner({ dialect, columns, skipLines, maxRowBytes }: ScanRules): CsvScanner {
  const { delimiter, enclosure, escaper } = dialect
  const special = new Uint8Array(256)
  for (const byte of [delimiter, enclosure, escaper, LF, CR]) if (byte !== -1) special[byte] = 1

  const utf8 = createUtf8Check()
  let state = RECORD_START
  let base = 0 // offset of the current chunk
  let recordOffset = 0
  let fieldOffset = 0
  let quoteOffset = 0
  let fields = 0 // finished values of the current record
  let rows = 0
  let longest = 0
  let lineEnds = 0
  let blankOffset = -1
  // One skipped line is a header: one record, even if it spans lines. Several skipped lines are counted as lines, whatever they contain.
  let skipRecords = skipLines === 1 ? 1 : 0
  let skipRaw = skipLines > 1 ? skipLines : 0
  let normalise = escaper !== -1

  const problem = (kind: CsvProblemKind, offset: number): CsvProblem => ({
    kind,
    offset,
    fieldOffset,
    recordOffset,
    field: fields,
    fields: fields + 1,
  })

  /** The record ends at `end`, the next one starts at `next`. */
  function endRecord(end: number, next: number): CsvProblem | null {
    const blank = end === recordOffset
    if (skipRecords > 0) {
      skipRecords--
    } else if (blank && columns !== 1) {
      // Blank lines at the end of a file are harmless and common; anywhere else they are rows with too few values.
      if (blankOffset === -1) blankOffset = end
    } else {
      if (blankOffset !== -1) {
        fieldOffset = recordOffset = blankOffset
        return problem('blankLine', blankOffset)
      }
      if (blank) normalise = true
      if (fields + 1 !== columns) return problem('ragged', end)
      rows++
      if (end - recordOffset > longest) longest = end - recordOffset
    }
    state = RECORD_START
    recordOffset = fieldOffset = next
    fields = 0
    return null
  }

  /** Returns where the records begin, or -1 if the chunk ends before. */
  function skipRawLines(buf: Uint8Array, n: number): number {
    let i = 0
    while (skipRaw > 0) {
      const lf = buf.indexOf(LF, i)
      if (lf === -1 || lf >= n) return -1
      lineEnds |= buf[lf - 1] === CR ? CRLF_END : LF_END
      // DuckDB may count skipped lines with quotes differently.
      if (enclosure !== -1 && buf.subarray(i, lf).includes(enclosure)) normalise = true
      skipRaw--
      i = lf + 1
      recordOffset = fieldOffset = base + i
    }
    return i
  }

  /** From inside an enclosed value to behind its closing quote, or to the end of the chunk. */
  function passQuoted(buf: Uint8Array, n: number, from: number): number {
    let i = from
    while (i < n && buf[i] !== enclosure) i++
    // DuckDB may read a header that spans lines differently.
    if (skipRecords > 0 && buf.subarray(from, i).includes(LF)) normalise = true
    if (i >= n) return i
    state = QUOTE_SEEN
    i++
    // Most enclosed values are followed by another one: its delimiter and its quote need no step of their own.
    if (i + 1 < n && buf[i] === delimiter && buf[i + 1] === enclosure) {
      fields++
      fieldOffset = quoteOffset = base + i + 1
      state = QUOTED
      i += 2
    }
    return i
  }

  /** A value ends with a delimiter or with its line; another byte there is a problem of the given kind. */
  function endValue(byte: number, at: number, otherwise: CsvProblemKind): CsvProblem | null {
    if (byte === delimiter) {
      fields++
      fieldOffset = at + 1
      state = FIELD_START
    } else if (byte === LF) {
      lineEnds |= LF_END
      return endRecord(at, at + 1)
    } else if (byte === CR) state = CR_SEEN
    else return problem(otherwise, at)
    return null
  }

  function scan(buf: Uint8Array, n: number): CsvProblem | null {
    let i = skipRaw > 0 ? skipRawLines(buf, n) : 0
    if (i === -1) return null
    let wrong: CsvProblem | null = null
    while (i < n) {
      switch (state) {
        case QUOTED:
          i = passQuoted(buf, n, i)
          break
        case QUOTE_SEEN:
          if (buf[i] === enclosure) state = QUOTED
          else wrong = endValue(buf[i]!, base + i, 'textAfterQuote')
          i++
          break
        case CR_SEEN:
          if (buf[i] !== LF) return problem('strayCarriageReturn', base + i - 1)
          lineEnds |= CRLF_END
          wrong = endRecord(base + i - 1, base + i + 1)
          i++
          break
        case ESCAPED:
          state = UNQUOTED
          i++
          break
        default: {
          let byte = buf[i]!
          if (byte === enclosure && state !== UNQUOTED) {
            quoteOffset = base + i
            state = QUOTED
            i++
            break
          }
          while (special[byte] === 0 && ++i < n) byte = buf[i]!
          if (i >= n) {
            state = UNQUOTED
            break
          }
          if (byte === escaper) state = ESCAPED
          else wrong = endValue(byte, base + i, 'strayQuote')
          i++
        }
      }
      if (wrong !== null) return wrong
    }
    if (base + n - recordOffset > maxRowBytes) return problem('rowTooLarge', recordOffset)
    return null
  }

  function write(chunk: Uint8Array): CsvProblem | null {
    const start = base === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0
    if (start) base = recordOffset = fieldOffset = 3
    const bytes = start ? chunk.subarray(3) : chunk
    const nul = bytes.indexOf(0)
    const bad = utf8.firstBad(bytes)
    // An earlier problem is the better message: judge up to the bad byte first.
    const stop = nul === -1 ? bad : bad === -1 ? nul : Math.min(nul, bad)
    const wrong = scan(bytes, stop === -1 ? bytes.length : Math.max(0, stop))
    if (wrong) return wrong
    if (stop !== -1) return problem(stop === nul ? 'nul' : 'utf8', base + stop)
    base += bytes.length
    return null
  }

  function end(): CsvProblem | null {
    if (utf8.isOpen()) return problem('utf8', base)
    if (state === QUOTED) {
      fieldOffset = quoteOffset
      return problem('unterminatedQuote', quoteOffset)
    }
    if (state === CR_SEEN) return problem('strayCarriageReturn', base - 1)
    if (state === ESCAPED) return problem('danglingEscape', base - 1)
    if (base > recordOffset && skipRaw === 0) {
      const wrong = endRecord(base, base)
      if (wrong) return wrong
    }
    if (lineEnds === (LF_END | CRLF_END)) normalise = true
    return null
  }

  const result = (): CsvScan => ({
    rows,
    bytes: base,
    longestRowBytes: longest,
    normalise: normalise || lineEnds === (LF_END | CRLF_END),
    lineEnd: lineEnds & CRLF_END ? '\r\n' : '\n',
  })
  return { write, end, result }
}
