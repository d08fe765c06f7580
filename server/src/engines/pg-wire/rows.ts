// Rows from the text format of COPY, as frames of rows or of copied data. Bytes in, bytes out: a value becomes a string of JavaScript
// only where a client requests binary.

import { formatOf, int16, int32 } from './messages.ts'
import { ARRAY_OF, type ENCODERS, encoderOf } from './values.ts'
import type { Format, WireColumn } from './wire-session.ts'

const [TAB, LINE, BACKSLASH, CAPITAL_N] = [9, 10, 92, 78]
const CODES: Readonly<Record<number, number>> = { 116: 9, 110: 10, 114: 13, 98: 8, 102: 12, 118: 11 }
const OUT_BYTES = 128 * 1024

/** Writes a line, without its end, to `out`; answers where it ended there. `out` has space for it. */
type WriteLine = (line: Buffer, from: number, to: number, out: Buffer, at: number) => number

/**
 * Lines of any chunks as frames, each buffer valid until the next is requested: with new ones for every chunk, more time goes into
 * collecting them than into the rows. Chunks may be valid as long, too. `space` returns the maximum size of a line of some length.
 */
async function* framesOf(
  chunks: AsyncIterable<Buffer>,
  writeLine: WriteLine,
  space: (bytes: number) => number,
): AsyncGenerator<Buffer, void> {
  let out = Buffer.allocUnsafe(OUT_BYTES)
  let open: Buffer[] = []
  for await (const chunk of chunks) {
    let filled = 0
    let from = 0
    for (let end = chunk.indexOf(LINE); end !== -1; end = chunk.indexOf(LINE, from)) {
      const line = open.length > 0 ? Buffer.concat([...open, chunk.subarray(0, end)]) : undefined
      const needed = space(line?.length ?? end - from)
      if (filled + needed > out.length) {
        if (filled > 0) yield out.subarray(0, filled)
        filled = 0
        if (needed > out.length) out = Buffer.allocUnsafe(needed)
      }
      filled = line ? writeLine(line, 0, line.length, out, filled) : writeLine(chunk, from, end, out, filled)
      open = []
      from = end + 1
    }
    if (from < chunk.length) open.push(Buffer.from(chunk.subarray(from)))
    if (filled > 0) yield out.subarray(0, filled)
  }
}

/** A value of a line with its escapes undone, written to `out`; answers where it ended. */
function writePlain(line: Buffer, from: number, to: number, out: Buffer, at: number): number {
  let end = at
  for (let i = from; i < to; i++) {
    let byte = line[i] as number // i < to <= line.length
    if (byte === BACKSLASH) {
      byte = line[++i] as number // a backslash is never the last byte of a value
      byte = CODES[byte] ?? byte
    }
    out[end++] = byte
  }
  return end
}

const isNull = (line: Buffer, from: number, to: number): boolean =>
  to - from === 2 && line[from] === BACKSLASH && line[from + 1] === CAPITAL_N

function endOfValue(line: Buffer, from: number, to: number): number {
  let end = from
  while (end < to && line[end] !== TAB) end++
  return end
}

type Encode = (typeof ENCODERS)[number]

/** Fields with their lengths, as rows and binary copies have them. Every byte of a long result comes by here: one look at each. */
function fieldsWriter(columns: readonly WireColumn[], formats: readonly Format[]): WriteLine {
  const encoders = columns.map(({ oid }, i) => (formatOf(formats, i) === 1 ? encoderOf(oid) : undefined))
  return (line, from, to, out, at) => {
    let field = 0
    let start = at + 4
    let end = start
    for (let i = from; i < to; i++) {
      const byte = line[i] as number // i < to <= line.length
      if (byte === TAB) {
        end = endField(encoders[field++], out, start, end)
        start = end + 4
        end = start
      } else if (byte === BACKSLASH) {
        const code = line[++i] as number // a backslash is never the last byte of a value
        if (code === CAPITAL_N) end = NULL
        else out[end++] = CODES[code] ?? code
      } else out[end++] = byte
    }
    return endField(encoders[field], out, start, end)
  }
}

/** Marks the end of a value that is null. */
const NULL = -1

/** Writes the length of a field before it; answers where the field ended. */
function endField(encode: Encode | undefined, out: Buffer, start: number, end: number): number {
  if (end !== NULL && encode) end = start + encode(out.toString('utf8', start, end)).copy(out, start)
  const length = end === NULL ? NULL : end - start
  out[start - 4] = length >>> 24
  out[start - 3] = length >>> 16
  out[start - 2] = length >>> 8
  out[start - 1] = length
  return end === NULL ? start : end
}

/** No binary value is longer than this or than its text. */
const LONGEST_BINARY = 32
/** An element of an array has at least two characters. */
const LONGEST_OF_ARRAY = (4 + LONGEST_BINARY) / 2

function fieldsSpace(columns: readonly WireColumn[], formats: readonly Format[]): (bytes: number) => number {
  const isArray = columns.some(({ oid }, i) => formatOf(formats, i) === 1 && ARRAY_OF[oid] !== undefined)
  const fixed = columns.length * (4 + LONGEST_BINARY) + 16
  return isArray ? (bytes) => bytes * LONGEST_OF_ARRAY + fixed : (bytes) => bytes + fixed
}

export function rowFrames(chunks: AsyncIterable<Buffer>, columns: readonly WireColumn[], formats: readonly Format[]) {
  const writeFields = fieldsWriter(columns, formats)
  const writeRow: WriteLine = (line, from, to, out, at) => {
    const end = writeFields(line, from, to, out, at + 7)
    out[at] = 0x44 // D
    out.writeInt32BE(end - at - 1, at + 1)
    out.writeUInt16BE(columns.length, at + 5)
    return end
  }
  return framesOf(chunks, writeRow, fieldsSpace(columns, formats))
}

/** As many rows as `most` from a buffer of whole frames: where they end, and how many they are. */
export function cutRows(frames: Buffer, max: number): { readonly end: number; readonly rows: number } {
  let end = 0
  let rows = 0
  while (end < frames.length && rows < max) {
    end += 1 + frames.readInt32BE(end + 1)
    rows++
  }
  return { end, rows }
}

// ----------------------------------------------------------------------------------------------------------------------- copies

export interface CopyOptions {
  readonly format: 'text' | 'csv' | 'binary'
  readonly header: boolean
  readonly delimiter: string
  readonly nullText: string
  readonly quote: string
  readonly escape: string
}

export function copyFrames(chunks: AsyncIterable<Buffer>, columns: readonly WireColumn[], options: CopyOptions) {
  if (options.format === 'binary') return binaryCopy(chunks, columns)
  if (options.format === 'text' && options.delimiter === '\t' && options.nullText === '\\N' && !options.header)
    return linesAsTheyCame(chunks)
  const names = columns.map(({ name }) => Buffer.from(name))
  const join = options.format === 'csv' ? csvLine(options) : textLine(options)
  const writeLine: WriteLine = (line, from, to, out, at) => {
    const text = Buffer.from(join(valuesOf(line, from, to, columns.length)))
    const end = at + 5 + text.copy(out, at + 5)
    out[end] = LINE
    return copyHead(out, at, end + 1)
  }
  // A quote for every byte and a pair around each value is the worst that can come of a line.
  const space = (bytes: number) => bytes * 2 + columns.length * (Buffer.byteLength(options.nullText) + 8) + 16
  return options.header ? withHeader(names, join, framesOf(chunks, writeLine, space)) : framesOf(chunks, writeLine, space)
}

/** Lines that are in the text format already, each as a frame. Chunks are framed whole: most of the time of a copy is spent here. */
async function* linesAsTheyCame(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let out = Buffer.allocUnsafe(OUT_BYTES)
  let open: Buffer[] = []
  let lineBytes = 0
  for await (const chunk of chunks) {
    const from = open.length > 0 ? chunk.indexOf(LINE) + 1 : 0
    if (open.length > 0 && from === 0) {
      open.push(Buffer.from(chunk))
      continue
    }
    const first = Buffer.concat([...open, chunk.subarray(0, from)])
    const needed = first.length + HEAD_BYTES + (1 + HEAD_BYTES) * (chunk.length - from) // every line may be empty
    if (needed > out.length) out = Buffer.allocUnsafe(needed)
    const filled = first.length > 0 ? lineFrame(first, 0, first.length, out, 0) : 0
    const frame = lineBytes > LONG_LINE_BYTES ? frameLongLines : frameShortLines
    const framed = frame(chunk, from, out, filled)
    lineBytes = framed.lines === 0 ? chunk.length : (framed.from - from) / framed.lines
    open = framed.from < chunk.length ? [Buffer.from(chunk.subarray(framed.from))] : []
    if (framed.filled > 0) yield out.subarray(0, framed.filled)
  }
}

const HEAD_BYTES = 5
/** Below it, copying byte by byte is faster than a call for each line. */
const LONG_LINE_BYTES = 96

interface Framed {
  /** Where the last line begins that has no end yet. */
  readonly from: number
  readonly filled: number
  readonly lines: number
}

function frameShortLines(chunk: Buffer, from: number, out: Buffer, filled: number): Framed {
  let head = filled
  let at = filled + HEAD_BYTES
  let start = from
  let lines = 0
  for (let i = from; i < chunk.length; i++) {
    const byte = chunk[i] as number // i < its length
    out[at++] = byte
    if (byte !== LINE) continue
    copyHead(out, head, at)
    lines++
    head = at
    at += HEAD_BYTES
    start = i + 1
  }
  return { from: start, filled: head, lines }
}

function frameLongLines(chunk: Buffer, from: number, out: Buffer, filled: number): Framed {
  let at = filled
  let start = from
  let lines = 0
  for (let end = chunk.indexOf(LINE, start) + 1; end > 0; end = chunk.indexOf(LINE, start) + 1) {
    at = lineFrame(chunk, start, end, out, at)
    lines++
    start = end
  }
  return { from: start, filled: at, lines }
}

/** A line with its end. */
const lineFrame: WriteLine = (line, from, to, out, at) =>
  copyHead(out, at, at + HEAD_BYTES + line.copy(out, at + HEAD_BYTES, from, to))

function copyHead(out: Buffer, at: number, end: number): number {
  const length = end - at - 1
  out[at] = 0x64 // d
  out[at + 1] = length >>> 24
  out[at + 2] = length >>> 16
  out[at + 3] = length >>> 8
  out[at + 4] = length
  return end
}

async function* withHeader(
  names: readonly Buffer[],
  join: JoinValues,
  rows: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const line = `${join(names.map(String))}\n`
  const head = Buffer.alloc(5 + Buffer.byteLength(line))
  head.write(line, 5)
  copyHead(head, 0, head.length)
  yield head
  yield* rows
}

type JoinValues = (values: readonly (string | null)[]) => string

function valuesOf(line: Buffer, from: number, to: number, count: number): (string | null)[] {
  const plain = Buffer.allocUnsafe(to - from)
  let start = from
  return Array.from({ length: count }, () => {
    const end = endOfValue(line, start, to)
    const value = isNull(line, start, end) ? null : plain.toString('utf8', 0, writePlain(line, start, end, plain, 0))
    start = end + 1
    return value
  })
}

const csvLine = ({ delimiter, nullText, quote, escape: sign }: CopyOptions): JoinValues => {
  const special = (text: string) =>
    text === nullText || [delimiter, quote, '\n', '\r'].some((character) => text.includes(character)) || text === '\\.'
  const quoted = (text: string) =>
    quote + (sign === quote ? text : text.replaceAll(sign, sign + sign)).replaceAll(quote, sign + quote) + quote
  return (values) => values.map((value) => (value === null ? nullText : special(value) ? quoted(value) : value)).join(delimiter)
}

const textLine = ({ delimiter, nullText }: CopyOptions): JoinValues => {
  const codes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  const escaped = (text: string) =>
    Array.from(text, (character) => codes[character] ?? (character === delimiter ? `\\${character}` : character)).join('')
  return (values) => values.map((value) => (value === null ? nullText : escaped(value))).join(delimiter)
}

const SIGNATURE = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), int32(0), int32(0)])

/** The signature comes with the first row, as PostgreSQL sends it: some clients read one message for it and a row. */
async function* binaryCopy(chunks: AsyncIterable<Buffer>, columns: readonly WireColumn[]): AsyncGenerator<Buffer, void> {
  const writeFields = fieldsWriter(columns, [1])
  let head = SIGNATURE
  const writeRow: WriteLine = (line, from, to, out, at) => {
    const start = at + 5 + head.copy(out, at + 5)
    head = NOTHING
    out.writeUInt16BE(columns.length, start)
    return copyHead(out, at, writeFields(line, from, to, out, start + 2))
  }
  const space = fieldsSpace(columns, [1])
  yield* framesOf(chunks, writeRow, (bytes) => space(bytes) + SIGNATURE.length)
  yield data(Buffer.concat([head, int16(0xffff)]))
}

const NOTHING = Buffer.alloc(0)

function data(content: Buffer): Buffer {
  const frame = Buffer.concat([Buffer.alloc(5), content])
  copyHead(frame, 0, frame.length)
  return frame
}
