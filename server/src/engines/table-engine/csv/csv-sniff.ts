// How the beginning of a file seems to be written: encoding, delimiter, enclosure, header, types, and the lines that a load would
// refuse. A guess for people to confirm; a load uses the settings of its request. Works on a part of the file, so memory is bounded by the caller.

import { isUtf8 } from 'node:buffer'
import { defined } from '../../../kit/defined.ts'
import type { BaseType } from '../snapshot.ts'
import { checkDialect } from './csv-dialect.ts'
import { sentenceOf } from './csv-problem.ts'
import { type CsvRecord, splitRecords } from './csv-records.ts'
import { type CsvProblem, type CsvProblemKind, createCsvScanner } from './csv-scanner.ts'
import { guessType } from './guess-type.ts'

/** Settings that the caller has already; all others are guessed. */
export interface SniffHints {
  readonly delimiter?: string | undefined
  readonly enclosure?: string | undefined
  readonly hasHeader?: boolean | undefined
  /** The bytes are the whole file, not its beginning. */
  readonly isWhole: boolean
}

export interface SniffedCsv {
  readonly encoding: string
  readonly hasByteOrderMark: boolean
  readonly delimiter: string
  readonly enclosure: string
  readonly lineEnd: 'lf' | 'crlf' | 'mixed'
  readonly hasHeader: boolean
  readonly columns: readonly SniffedColumn[]
  /** Rows of data in the part that was read. */
  readonly rows: number
  /** The first of them, as texts. */
  readonly preview: readonly (readonly string[])[]
  readonly problems: readonly SniffedProblem[]
  /** A load with this dialect would take what was read. */
  readonly isLoadable: boolean
}

export interface SniffedColumn {
  readonly name: string
  readonly type: BaseType
  /** Some values are empty. */
  readonly nullable: boolean
}

export interface SniffedProblem {
  readonly kind: CsvProblemKind | 'encoding' | 'json'
  /** From 1 on. */
  readonly line: number
  readonly column: number
  /** Bytes from the start of the unpacked file. */
  readonly offset: number
  readonly message: string
  /** The beginning of the line. */
  readonly text: string
}

const DELIMITERS = [',', ';', '\t', '|'] as const
const ENCLOSURES = ['"', "'"] as const
/** Enough to distinguish dialects. */
const JUDGED_RECORDS = 200
const JUDGED_CHARS = 1 << 16
/** More columns than a table may have are not worth a guess each. */
const MAX_COLUMNS = 4096
const PREVIEW_ROWS = 20
const MAX_PROBLEMS = 20
const SHOWN_CHARS = 120
const LF = 10
const MAX_ROW_BYTES = 32 << 20
/** A quote that is still open this far before the end of the part that was read is most likely never closed. */
const OPEN_QUOTE_BYTES = 64 << 10

export function sniffCsv(bytes: Buffer, hints: SniffHints): SniffedCsv {
  const { encoding, markBytes, text } = decoded(bytes, hints.isWhole)
  const { delimiter, enclosure } = dialectOf(text.slice(0, JUDGED_CHARS), hints)
  const records = [...splitRecords(text, { delimiter, enclosure })]
  if (!hints.isWhole && records.length > 1) records.pop() // most likely cut in the middle
  const filled = records.filter(({ values }) => values.length > 1 || values[0] !== '')
  const hasHeader = hints.hasHeader ?? looksLikeHeader(filled)
  const data = hasHeader ? filled.slice(1) : filled
  const width = (hasHeader ? filled[0]?.values.length : usualNumber(filled.map(({ values }) => values.length))) ?? 0
  const found = encoding === 'utf-8' ? badLines(bytes, { delimiter, enclosure }, width, hints.isWhole) : [wrongEncoding(encoding)]
  return {
    encoding,
    hasByteOrderMark: markBytes > 0,
    delimiter,
    enclosure,
    lineEnd: lineEndOf(text),
    hasHeader,
    columns: columnsOf(Math.min(width, MAX_COLUMNS), hasHeader ? filled[0] : undefined, data),
    rows: data.length,
    preview: data.slice(0, PREVIEW_ROWS).map(({ values }) => values),
    problems: found,
    isLoadable: found.length === 0 && width > 0,
  }
}

// ------------------------------------------------------------------------------------------------------------------- encoding

const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

function decoded(bytes: Buffer, isWhole: boolean) {
  const mark = MARKS.find(([, start]) => start.every((byte, i) => bytes[i] === byte))
  const encoding = mark?.[0] ?? encodingOf(bytes, isWhole)
  const markBytes = mark?.[1].length ?? 0
  return { encoding, markBytes, text: new TextDecoder(encoding).decode(bytes.subarray(markBytes)) }
}

/** Without a mark: every other byte of UTF-16 with Latin text is NUL; what is not UTF-8 is most often a code page of Windows. */
function encodingOf(bytes: Buffer, isWhole: boolean): string {
  const start = bytes.subarray(0, 4096)
  const nuls = (odd: number) => start.filter((byte, i) => i % 2 === odd && byte === 0).length
  if (start.length > 3 && nuls(1) > start.length / 4) return 'utf-16le'
  if (start.length > 3 && nuls(0) > start.length / 4) return 'utf-16be'
  const complete = isWhole ? bytes : withoutOpenCharacter(bytes)
  return isUtf8(complete) || isNearlyUtf8(complete) ? 'utf-8' : 'windows-1252'
}

/** A few bad bytes among many good characters are bad lines of a UTF-8 file. */
function isNearlyUtf8(bytes: Buffer): boolean {
  const text = bytes.toString('utf8')
  const bad = text.match(/\uFFFD/g)?.length ?? 0
  const good = (text.match(/[\u0080-\uFFFC]/g)?.length ?? 0) - bad
  return bad * 10 <= good
}

/** A character of several bytes may be cut at the end of the part that was read. */
function withoutOpenCharacter(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && bytes.length - end < 4 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  return end > 0 && bytes[end - 1]! >= 0xc0 ? bytes.subarray(0, end - 1) : bytes
}

const wrongEncoding = (encoding: string): SniffedProblem => ({
  kind: 'encoding',
  line: 1,
  column: 1,
  offset: 0,
  message: `The file seems to be written in ${encoding}. Save it with the encoding UTF-8; nothing else can be loaded.`,
  text: '',
})

// -------------------------------------------------------------------------------------------------------------------- dialect

interface Dialect {
  readonly delimiter: string
  readonly enclosure: string
}

/** The dialect in which the most records have the same number of values, and more than one; a comma by default. */
function dialectOf(text: string, hints: SniffHints): Dialect {
  checkDialect(defined({ delimiter: hints.delimiter, enclosure: hints.enclosure }))
  const { enclosure } = hints
  const delimiter = hints.delimiter === '\\t' ? '\t' : hints.delimiter
  // An enclosure that does not occur reads a file with an unclosed quote without an error.
  const used = ENCLOSURES.filter((one) => one === '"' || text.includes(one))
  const enclosures = enclosure === undefined ? used : [enclosure]
  const candidates = (delimiter === undefined ? DELIMITERS : [delimiter]).flatMap((d) =>
    enclosures.map((e) => ({ delimiter: d, enclosure: e })),
  )
  const judged = candidates.map((dialect) => ({ dialect, score: scoreOf(text, dialect) }))
  return judged.reduce((best, one) => (one.score > best.score ? one : best)).dialect
}

function scoreOf(text: string, dialect: Dialect): number {
  const records: CsvRecord[] = []
  for (const record of splitRecords(text, dialect)) if (records.push(record) === JUDGED_RECORDS) break
  const widths = records.map(({ values }) => values.length)
  const usual = usualNumber(widths) ?? 0
  if (usual < 2) return 0
  const alike = widths.filter((width) => width === usual).length / widths.length
  const enclosed = records.reduce((n, record) => n + record.enclosed, 0)
  const clumsy = records.reduce((n, record) => n + record.clumsy, 0)
  // Values that begin and end with the enclosure count for it, quotes in the middle of values against it.
  return alike * 10 + Math.log2(usual) + Math.min(1, enclosed / records.length) - Math.min(3, clumsy / records.length)
}

function usualNumber(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || b - a)[0]?.[0]
}

function lineEndOf(text: string): SniffedCsv['lineEnd'] {
  const crlf = countOf(text, '\r\n')
  const lf = countOf(text, '\n') - crlf
  return crlf === 0 ? 'lf' : lf === 0 ? 'crlf' : 'mixed'
}

function countOf(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++
  return count
}

// ------------------------------------------------------------------------------------------------------------ header and types

/** Names are there, differ, and none of them is a number, a time or a truth value. */
function looksLikeHeader([first, ...rest]: readonly CsvRecord[]): boolean {
  if (!first) return false
  const names = first.values.map((value) => value.trim())
  const areNames = names.every((name) => name !== '' && name.length <= 128 && guessType([name]) === 'STRING')
  const areDifferent = new Set(names.map((name) => name.toLowerCase())).size === names.length
  const isFirst = ({ values }: CsvRecord) =>
    values.length === first.values.length && values.every((value, i) => value === first.values[i])
  return areNames && areDifferent && !rest.some(isFirst)
}

/** Walks over the values that there are: a wide header above many short rows has many more places than values. */
function columnsOf(width: number, header: CsvRecord | undefined, data: readonly CsvRecord[]): SniffedColumn[] {
  const filled = Array.from({ length: width }, (): string[] => [])
  for (const { values } of data)
    for (let i = 0; i < values.length && i < width; i++) if (values[i] !== '') filled[i]!.push(values[i]!)
  return filled.map((values, i) => ({
    name: header?.values[i]?.trim() || `column_${i + 1}`,
    type: guessType(values),
    nullable: values.length < data.length,
  }))
}

// ------------------------------------------------------------------------------------------------------------------- bad lines

/** The lines that a load would stop at, each as if those before it were fixed: the scanner starts again on the next line. */
function badLines(bytes: Buffer, dialect: Dialect, columns: number, isWhole: boolean): readonly SniffedProblem[] {
  if (columns === 0) return []
  const problems: SniffedProblem[] = []
  const rules = { dialect: checkDialect(dialect), columns, skipLines: 0, maxRowBytes: MAX_ROW_BYTES }
  // The text after the last line break may be half a row.
  const end = isWhole ? bytes.length : bytes.lastIndexOf(LF) + 1
  for (let from = 0; from < end && problems.length < MAX_PROBLEMS; ) {
    const part = bytes.subarray(from, end)
    const scanner = createCsvScanner(rules)
    const problem = scanner.write(part) ?? openQuote(scanner.end(), part.length, isWhole)
    if (!problem) break
    problems.push(described(bytes, from, problem, columns))
    const next = bytes.indexOf(LF, from + problem.offset)
    from = next === -1 ? end : next + 1
  }
  return problems
}

function openQuote(problem: CsvProblem | null, partBytes: number, isWhole: boolean): CsvProblem | null {
  const isCut = !isWhole && problem?.kind === 'unterminatedQuote' && partBytes - problem.offset < OPEN_QUOTE_BYTES
  return isCut ? null : problem
}

function described(bytes: Buffer, from: number, problem: CsvProblem, columns: number): SniffedProblem {
  const offset = from + (problem.kind === 'ragged' ? problem.recordOffset : problem.offset)
  const lineStart = bytes.lastIndexOf(LF, offset - 1) + 1
  const lineEnd = bytes.indexOf(LF, lineStart)
  const line = bytes.subarray(lineStart, lineEnd === -1 ? bytes.length : lineEnd).toString('utf8')
  return {
    kind: problem.kind,
    line: 1 + countLineEnds(bytes.subarray(0, offset)),
    column: 1 + bytes.subarray(lineStart, offset).toString('utf8').length,
    offset,
    message: sentenceOf(problem, columns),
    text: line.replace(/\r$/, '').slice(0, SHOWN_CHARS),
  }
}

function countLineEnds(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++
  return count
}
