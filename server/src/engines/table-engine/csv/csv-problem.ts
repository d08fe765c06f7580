// Turns an offset in a file into a sentence: the line, the column, the text there, and what to change.

import { PlatformError } from '../../../kit/errors.ts'
import { type InflateLimits, type LocalSlice, readSlice } from './csv-bytes.ts'
import type { CsvProblem, CsvProblemKind } from './csv-scanner.ts'

const LF = 10
const SHOWN_BYTES = 80

const SENTENCES: Record<
  Exclude<CsvProblemKind, 'rowTooLarge'>,
  (p: CsvProblem, columns: number) => [what: string, advice: string]
> = {
  nul: () => [
    'a NUL byte, which text cannot hold',
    'Remove it, or save the file as UTF-8 text (UTF-16 files are full of NUL bytes).',
  ],
  utf8: () => ['text that is not valid UTF-8', 'Save the file with the encoding UTF-8.'],
  ragged: (p, columns) => [
    `${p.fields} ${p.fields === 1 ? 'value' : 'values'} instead of ${columns}`,
    'Give every row one value per column; put values that contain the delimiter, quotes or line breaks in quotes; check the delimiter.',
  ],
  blankLine: (_, columns) => [`a blank line instead of ${columns} values`, 'Remove the line.'],
  strayQuote: () => [
    'a quote inside a value that does not start with one',
    'Put the whole value in quotes and double every quote inside it.',
  ],
  textAfterQuote: () => [
    'text behind the closing quote of a value',
    'Double the quotes inside the value, and let only the delimiter or the end of the line follow the closing quote.',
  ],
  strayCarriageReturn: () => [
    'a carriage return that ends no line',
    'End lines with LF or CRLF, and put values that contain line breaks in quotes.',
  ],
  unterminatedQuote: () => [
    'a value whose opening quote is never closed',
    'Close the quote, or double it if it belongs to the value.',
  ],
  danglingEscape: () => ['an escape character with nothing behind it', 'Remove it, or escape the escape character itself.'],
}

export interface ProblemContext {
  readonly slice: LocalSlice
  readonly limits: InflateLimits
  readonly columnNames: readonly string[]
  readonly maxRowBytes: number
}

export async function describeProblem(problem: CsvProblem, context: ProblemContext): Promise<PlatformError> {
  const { slice, columnNames, maxRowBytes } = context
  const wholeRow = problem.kind === 'ragged' || problem.kind === 'blankLine'
  const shownFrom = wholeRow ? problem.recordOffset : Math.max(problem.fieldOffset, problem.offset - SHOWN_BYTES / 2)
  const lineOf = problem.kind === 'ragged' || problem.kind === 'rowTooLarge' ? problem.recordOffset : problem.offset
  const { line, text } = await lookUp(context, lineOf, shownFrom)
  if (problem.kind === 'rowTooLarge') return new PlatformError('rowTooLarge', { file: slice.name, line, limit: maxRowBytes })

  const field = wholeRow ? firstOdd(problem, columnNames.length) : problem.field
  const column = columnNames[field] ?? `number ${field + 1}`
  const [what, advice] = SENTENCES[problem.kind](problem, columnNames.length)
  const found = text === '' ? '' : ` Found: ${text}.`
  const details = { file: slice.name, line, column, found: text }
  return new PlatformError(
    'invalidCsv',
    { ...details, reason: `Load error: ${slice.name}, line ${line}, column "${column}": ${what}.${found} ${advice}` },
    { params: details },
  )
}

/** What is wrong and what to do, without the place. */
export function sentenceOf(problem: CsvProblem, columns: number): string {
  if (problem.kind === 'rowTooLarge') return 'The row is too large. Look for a quote that is not closed.'
  const [what, advice] = SENTENCES[problem.kind](problem, columns)
  return `${what[0]?.toUpperCase()}${what.slice(1)}. ${advice}`
}

/** The column a row of the wrong length goes wrong at: the first one it lacks, or the first value that has none. */
const firstOdd = ({ kind, fields }: CsvProblem, columns: number): number => (kind === 'blankLine' ? 0 : Math.min(fields, columns))

/** Reads the slice again up to the place: the number of its line, and the text from `shownFrom` on, shortened to one line. */
async function lookUp(
  { slice, limits }: ProblemContext,
  lineOffset: number,
  shownFrom: number,
): Promise<{ line: number; text: string }> {
  let line = 1
  let base = 0
  const shown: Buffer[] = []
  const shownTo = shownFrom + SHOWN_BYTES
  const last = Math.max(lineOffset, shownTo)
  try {
    for await (const chunk of readSlice(slice, limits)) {
      const lineEnd = Math.min(chunk.length, Math.max(0, lineOffset - base))
      for (let i = chunk.indexOf(LF); i !== -1 && i < lineEnd; i = chunk.indexOf(LF, i + 1)) line++
      if (base + chunk.length > shownFrom && base < shownTo)
        shown.push(Buffer.from(chunk.subarray(Math.max(0, shownFrom - base), Math.max(0, shownTo - base))))
      base += chunk.length
      if (base >= last) break
    }
  } catch {
    // The problem at hand is the one to report; if the gzip data is damaged further on, what was counted so far is right.
  }
  const cut = base > shownTo ? '…' : ''
  return {
    line,
    text:
      oneLine(
        Buffer.concat(shown)
          .toString('utf8')
          .replace(/\uFFFD+$/, ''),
      ) + cut,
  }
}

/** Control characters would break the message, the log and the terminal it is read in. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const oneLine = (text: string): string => text.replace(/\r\n|\r|\n/g, '⏎').replace(/[\u0000-\u001f\u007f]/g, '�')
