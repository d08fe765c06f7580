// What a client sends behind COPY ... FROM STDIN, as rows of texts. The bytes may be cut anywhere; each is looked at once.

import { isUtf8 } from 'node:buffer'
import type { CopyOptions } from './rows.ts'
import { textOf } from './values.ts'
import { WireError } from './wire-session.ts'

export type CopiedRow = readonly (string | null)[]

export interface CopyDecoder {
  /** The rows that are whole now. */
  push(chunk: Buffer): Iterable<CopiedRow>
  /** The last row may lack the end of its line. */
  end(): Iterable<CopiedRow>
}

/** Of one row. */
const MAX_ROW_BYTES = 64 << 20
const [LINE, RETURN, BACKSLASH] = [10, 13, 92]

/** `types`: object ids of the columns, for the binary format. */
export const createCopyDecoder = (options: CopyOptions, types: readonly number[]): CopyDecoder =>
  options.format === 'binary' ? binaryDecoder(types) : linesDecoder(options, types.length)

const badFormat = (message: string) => new WireError('22P04', message)
const tooLong = () => new WireError('54000', `A row of COPY is longer than ${MAX_ROW_BYTES} bytes.`)

// ---------------------------------------------------------------------------------------------------------------- text and CSV

function linesDecoder(options: CopyOptions, columns: number): CopyDecoder {
  const isCsv = options.format === 'csv'
  const endOfLine = isCsv ? csvLineEnds(options) : textLineEnds()
  const valuesIn = isCsv ? csvValues(options) : textValues(options)
  let open: Buffer[] = []
  let openBytes = 0
  let number = 0
  let isOver = false

  function* rowOf(line: Buffer): Generator<CopiedRow, void> {
    const end = line.at(-1) === RETURN ? line.length - 1 : line.length
    number++
    if (isOver || (options.header && number === 1)) return
    if (!isUtf8(line)) throw new WireError('22021', `Line ${number} of COPY is not valid UTF-8.`)
    const text = line.toString('utf8', 0, end)
    isOver = text === '\\.'
    if (isOver) return
    const values = valuesIn(text)
    if (values.length !== columns)
      throw badFormat(`Line ${number} of COPY has ${values.length} values; the table has ${columns} columns here.`)
    yield values
  }

  return {
    *push(chunk) {
      let from = 0
      for (let end = endOfLine(chunk, from); end !== -1; end = endOfLine(chunk, from)) {
        const rest = chunk.subarray(from, end)
        yield* rowOf(open.length > 0 ? Buffer.concat([...open, rest]) : rest)
        open = []
        openBytes = 0
        from = end + 1
      }
      if (from < chunk.length) open.push(Buffer.from(chunk.subarray(from)))
      openBytes += chunk.length - from
      if (openBytes > MAX_ROW_BYTES) throw tooLong()
    },
    *end() {
      if (open.length > 0) yield* rowOf(Buffer.concat(open))
    },
  }
}

/** Where a line ends, from a place on; -1 when it does not. Called with each byte once, in order. */
type LineEnds = (chunk: Buffer, from: number) => number

/** A backslash keeps what follows. */
function textLineEnds(): LineEnds {
  let isKept = false
  return (chunk, from) => {
    for (let i = from; i < chunk.length; i++) {
      if (isKept) isKept = false
      else if (chunk[i] === BACKSLASH) isKept = true
      else if (chunk[i] === LINE) return i
    }
    return -1
  }
}

/** A line break in quotes is one of the value. */
function csvLineEnds({ quote, escape: sign }: CopyOptions): LineEnds {
  const [quoteCode, signCode] = [quote.charCodeAt(0), sign.charCodeAt(0)]
  let isQuoted = false
  let isKept = false
  return (chunk, from) => {
    for (let i = from; i < chunk.length; i++) {
      const code = chunk[i]
      if (isKept) isKept = false
      else if (isQuoted && code === signCode && signCode !== quoteCode) isKept = true
      else if (code === quoteCode) isQuoted = !isQuoted
      else if (code === LINE && !isQuoted) return i
    }
    return -1
  }
}

const CODES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

const textValues =
  ({ delimiter, nullText }: CopyOptions) =>
  (line: string): CopiedRow => {
    const raw = line.includes('\\') ? partsOf(line, delimiter) : line.split(delimiter)
    return raw.map((value) => (value === nullText ? null : value.includes('\\') ? unescaped(value) : value))
  }

/** Cut at delimiters that no backslash keeps. */
function partsOf(line: string, delimiter: string): string[] {
  const parts: string[] = []
  let from = 0
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '\\') i++
    else if (line[i] === delimiter) {
      parts.push(line.slice(from, i))
      from = i + 1
    }
  }
  parts.push(line.slice(from))
  return parts
}

const unescaped = (value: string): string =>
  value.replaceAll(/\\(x[0-9a-f]{1,2}|[0-7]{1,3}|[\s\S])/gi, (_, code: string) => {
    if (/^x./i.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8) & 0xff) : (CODES[code] ?? code)
  })

const csvValues =
  ({ delimiter, nullText, quote, escape: sign }: CopyOptions) =>
  (line: string): CopiedRow => {
    const values: (string | null)[] = []
    for (let at = 0; ; ) {
      const pieces: string[] = []
      let hasQuotes = false
      let from = at
      let isQuoted = false
      for (; at < line.length; at++) {
        const character = line[at]
        if (isQuoted && character === sign && (line[at + 1] === quote || (sign !== quote && line[at + 1] === sign))) {
          pieces.push(line.slice(from, at))
          from = ++at
        } else if (character === quote) {
          pieces.push(line.slice(from, at))
          from = at + 1
          isQuoted = !isQuoted
          hasQuotes = true
        } else if (character === delimiter && !isQuoted) break
      }
      const value = pieces.length > 0 ? pieces.join('') + line.slice(from, at) : line.slice(from, at)
      values.push(!hasQuotes && value === nullText ? null : value)
      if (at >= line.length) return values
      at++
    }
  }

// --------------------------------------------------------------------------------------------------------------------- binary

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const HEAD_BYTES = SIGNATURE.length + 8

function binaryDecoder(types: readonly number[]): CopyDecoder {
  let held = Buffer.alloc(0)
  /** Bytes that must be there before it is worth to look again: a long row comes in many pieces. */
  let needed = HEAD_BYTES
  let pieces: Buffer[] = []
  let piecesBytes = 0
  let isStarted = false
  let isOver = false

  /** Where the head ends; undefined while it is not whole. */
  function headEnd(): number | undefined {
    if (held.length < HEAD_BYTES) return undefined
    if (!held.subarray(0, SIGNATURE.length).equals(SIGNATURE))
      throw badFormat('The data of COPY does not begin with its signature.')
    const end = HEAD_BYTES + held.readInt32BE(SIGNATURE.length + 4)
    needed = end
    if (end > MAX_ROW_BYTES || end < HEAD_BYTES) throw tooLong()
    return held.length < end ? undefined : end
  }

  /** Where a row ends, with its values; undefined while it is not whole. */
  function rowAt(start: number): { readonly end: number; readonly values?: CopiedRow } | undefined {
    needed = held.length - start + 1
    if (held.length < start + 2) return undefined
    const count = held.readInt16BE(start)
    if (count === -1) return { end: start + 2 }
    if (count !== types.length) throw badFormat(`A row of COPY has ${count} values; the table has ${types.length} columns here.`)
    const values: (string | null)[] = []
    let at = start + 2
    for (const type of types) {
      if (held.length < at + 4) return undefined
      const length = held.readInt32BE(at)
      if (length < -1 || length > MAX_ROW_BYTES) throw badFormat(`A value of COPY has the length ${length}.`)
      at += 4 + Math.max(0, length)
      if (held.length < at) {
        needed = at - start
        return undefined
      }
      const bytes = held.subarray(at - Math.max(0, length), at)
      values.push(length === -1 ? null : textOf(type, bytes))
    }
    return { end: at, values }
  }

  return {
    *push(chunk) {
      pieces.push(Buffer.from(chunk))
      piecesBytes += chunk.length
      if (isOver || held.length + piecesBytes < needed) return
      held = Buffer.concat([held, ...pieces])
      pieces = []
      piecesBytes = 0
      let start = 0
      if (!isStarted) {
        const end = headEnd()
        if (end === undefined) return
        isStarted = true
        start = end
      }
      for (let row = rowAt(start); row; row = rowAt(start)) {
        start = row.end
        if (!row.values) {
          isOver = true
          break
        }
        yield row.values
      }
      held = held.subarray(start)
      if (held.length > MAX_ROW_BYTES) throw tooLong()
    },
    /** Some clients leave out the mark of the end. */
    end: () => {
      const left = isOver ? 0 : held.length + piecesBytes
      if (left > 0) throw badFormat('The data of COPY ends in the middle of a row.')
      return []
    },
  }
}
