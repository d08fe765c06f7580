// A CSV file of the browser read to its end, by the rules of a load: every line that no load would take, with what is wrong with it. The
// preview reads the beginning only. In parts, so that memory does not grow with the file.

export interface BadLine {
  /** From 1 on. */
  readonly line: number
  /** Bytes of the line, with its end. */
  readonly from: number
  readonly to: number
  readonly kind: 'ragged' | 'blank' | 'quote' | 'unclosed' | 'return' | 'nul' | 'encoding'
  readonly message: string
  readonly text: string
}

export interface WholeFile {
  readonly rows: number
  readonly bad: readonly BadLine[]
  /** More lines are bad than are listed; reading stopped there. */
  readonly isCut: boolean
}

export interface ScanDialect {
  readonly delimiter: string
  readonly enclosure: string
  readonly hasHeader: boolean
  readonly columns: number
}

const [LF, CR, NUL] = [10, 13, 0]
/** Read without a pause: the screen stays usable. */
const WINDOW = 1 << 19
/** A value that spans more lines than this has bytes is a quote that was never closed. */
const MAX_RECORD = 32 << 20
const MAX_BAD = 10_000
const SHOWN_CHARS = 120

type Found = Pick<BadLine, 'kind' | 'message'>

/** A record from `start` on: where the next one begins; undefined: the bytes end before it does. */
type Read =
  | { readonly next: number; readonly fields: number; readonly isBlank: boolean }
  | { readonly problem: Found }
  | undefined

interface Rules {
  readonly delimiter: number
  readonly enclosure: number
}

const WRONG = {
  after: { kind: 'quote', message: 'has text behind a closing quote. Double the quotes inside the value.' },
  inside: { kind: 'quote', message: 'has a quote inside a value that does not begin with one.' },
  open: { kind: 'unclosed', message: 'has a quote that is never closed.' },
  carriage: { kind: 'return', message: 'has a carriage return without a line feed.' },
  nul: { kind: 'nul', message: 'has a NUL character.' },
  blank: { kind: 'blank', message: 'is empty.' },
  encoding: { kind: 'encoding', message: 'is not UTF-8.' },
} as const satisfies Readonly<Record<string, Found>>

function readRecord(bytes: Uint8Array, start: number, isEnd: boolean, { delimiter, enclosure }: Rules): Read {
  let fields = 1
  let at = start
  const ended = (next: number) => ({ next, fields, isBlank: fields === 1 && (bytes[start] === LF || bytes[start] === CR) })
  for (;;) {
    if (enclosure !== -1 && bytes[at] === enclosure) {
      for (at++; ; at += 2) {
        at = bytes.indexOf(enclosure, at)
        if (at === -1) return isEnd ? { problem: WRONG.open } : undefined
        if (at + 1 === bytes.length && !isEnd) return undefined
        if (bytes[at + 1] !== enclosure) break
      }
      at++
      const byte = bytes[at]
      if (at < bytes.length && byte !== delimiter && byte !== LF && byte !== CR) return { problem: WRONG.after }
    } else
      while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== LF && bytes[at] !== CR) {
        if (bytes[at] === enclosure) return { problem: WRONG.inside }
        if (bytes[at] === NUL) return { problem: WRONG.nul }
        at++
      }
    if (at >= bytes.length) return isEnd ? ended(bytes.length) : undefined
    if (bytes[at] === CR) {
      if (at + 1 === bytes.length && !isEnd) return undefined
      return bytes[at + 1] === LF ? ended(at + 2) : { problem: WRONG.carriage }
    }
    if (bytes[at] === LF) return ended(at + 1)
    fields++
    at++
  }
}

function linesIn(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0
  for (let at = bytes.indexOf(LF, from); at !== -1 && at < to; at = bytes.indexOf(LF, at + 1)) lines++
  return lines
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** `onRead` gets the bytes that are read, and reading continues when it has returned. */
export async function readWhole(
  file: Blob,
  dialect: ScanDialect,
  signal: AbortSignal,
  onRead: (bytes: number) => void = () => {},
): Promise<WholeFile> {
  const rules: Rules = {
    delimiter: dialect.delimiter.charCodeAt(0),
    enclosure: dialect.enclosure === '' ? -1 : dialect.enclosure.charCodeAt(0),
  }
  const bad: BadLine[] = []
  /** Empty lines are harmless at the end of the file only. */
  let blank: BadLine[] = []
  let rows = 0
  let line = 1
  let isHeader = dialect.hasHeader
  let size = WINDOW
  let position = 0
  while (position < file.size && bad.length < MAX_BAD) {
    signal.throwIfAborted()
    const bytes = new Uint8Array(await file.slice(position, position + size).arrayBuffer())
    const isEnd = position + bytes.length >= file.size
    let at = position === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    const first = at
    const note = (from: number, found: Found): number => {
      const lineFeed = bytes.indexOf(LF, from)
      const to = lineFeed === -1 ? bytes.length : lineFeed + 1
      const text = new TextDecoder()
        .decode(bytes.subarray(from, Math.min(to, from + 4 * SHOWN_CHARS)))
        .trimEnd()
        .slice(0, SHOWN_CHARS)
      bad.push({ line, from: position + from, to: position + to, ...found, text })
      line++
      return to
    }
    while (at < bytes.length && bad.length < MAX_BAD) {
      const read = readRecord(bytes, at, isEnd, rules)
      if (!read) {
        if (bytes.length < MAX_RECORD || at > first) break
        at = note(at, WRONG.open)
        continue
      }
      if ('problem' in read) {
        if (read.problem.kind === 'unclosed' || bytes.indexOf(LF, at) !== -1 || isEnd) at = note(at, read.problem)
        else break
        continue
      }
      const { next, fields, isBlank } = read
      if (isBlank && dialect.columns !== 1) {
        blank.push({ line, from: position + at, to: position + next, ...WRONG.blank, text: '' })
        line++
        at = next
        continue
      }
      bad.push(...blank)
      blank = []
      const record = bytes.subarray(at, next)
      if (!isHeader && fields !== dialect.columns) at = note(at, raggedOf(fields, dialect.columns))
      else if (!isAscii(record) && !isUtf8(record)) at = note(at, WRONG.encoding)
      else {
        if (!isHeader) rows++
        isHeader = false
        line += linesIn(bytes, at, next)
        at = next
      }
    }
    if (at === first && !isEnd) size = Math.min(2 * size, MAX_RECORD)
    else size = WINDOW
    if (isEnd && at === first && at < bytes.length) break // nothing more can be read of it
    position += at
    onRead(position)
  }
  return { rows, bad, isCut: bad.length >= MAX_BAD }
}

const isAscii = (bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! > 127) return false
  return true
}

const raggedOf = (fields: number, columns: number): Found => ({
  kind: 'ragged',
  message: `has ${fields} ${fields === 1 ? 'value' : 'values'} instead of ${columns}.`,
})

/** The file without these lines, and the lines alone; no byte is copied. */
export function splitLines(
  file: File,
  bad: readonly Pick<BadLine, 'from' | 'to'>[],
): { readonly good: File; readonly bad: Blob } {
  const sorted = bad.toSorted((a, b) => a.from - b.from)
  const kept = sorted.map(({ from }, i) => file.slice(sorted[i - 1]?.to ?? 0, from))
  const { name, type, lastModified } = file
  return {
    good: new File([...kept, file.slice(sorted.at(-1)?.to ?? 0)], name, { type, lastModified }),
    bad: new Blob(
      sorted.map(({ from, to }) => file.slice(from, to)),
      { type: 'text/csv' },
    ),
  }
}
