// A component's output, turned into lines that can be stored: valid text, without control characters, masked, and bounded
// whatever the component prints. A secret can only be hidden in a whole line, so lines are cut after masking, never before.

import { StringDecoder } from 'node:string_decoder'
import type { Mask } from './mask.ts'

/** Longest line that is kept; the rest of a longer one is dropped (spec platform 1.15). */
const LINE_CHARS = 60_000
/** How much of one line is held to find secrets in it. What lies beyond is dropped unseen. */
const HELD_CHARS = 4 * LINE_CHARS
const TRIMMED = ' [trimmed]'

export interface LineBudget {
  readonly lines: number
  readonly chars: number
}

export interface LineReader {
  push(chunk: Buffer): void
  /** Ends the last line; afterwards the reader is spent. */
  end(): void
  /** Lines that were left out because the budget was used up. */
  dropped(): number
  /** Gives the whole budget again, for programs that run for days. */
  refill(): void
  /** The first and the last lines, as one text of at most `chars` characters: the component's words for an error message. */
  words(chars: number): string
}

/** `onLine` gets every line until the budget is used up; the words at the end are kept in any case. */
export function createLineReader(mask: Mask, budget: LineBudget, onLine: (line: string) => void): LineReader {
  const decoder = new StringDecoder('utf8')
  const words = createWords()
  let held = ''
  let cut = false
  let lines = 0
  let chars = 0
  let dropped = 0

  const lineOf = (raw: string, isCut: boolean): string => {
    const line = clean(mask(raw))
    return isCut || line.length > LINE_CHARS ? line.slice(0, LINE_CHARS) + TRIMMED : line
  }

  function finishLine(): void {
    const raw = held
    const isCut = cut
    held = ''
    cut = false
    // The line will not be shown, except perhaps at the very end: a flood costs no more than finding its lines.
    if (isSpent()) {
      if (raw !== '') words.add(() => lineOf(raw, isCut))
      dropped += raw === '' ? 0 : 1
      return
    }
    const text = lineOf(raw, isCut)
    if (text === '') return
    words.add(text)
    if (chars + text.length > budget.chars) {
      chars = budget.chars
      dropped += 1
      return
    }
    lines += 1
    chars += text.length
    onLine(text)
  }

  const isSpent = (): boolean => lines >= budget.lines || chars >= budget.chars

  function take(text: string): void {
    let from = isSpent() ? passOver(text) : 0
    for (let to = text.indexOf('\n', from); to !== -1; to = text.indexOf('\n', from)) {
      hold(text.slice(from, to))
      finishLine()
      from = to + 1
    }
    hold(text.slice(from))
  }

  /** Counts all but the last lines of a piece of a flood; answers where those begin. */
  function passOver(text: string): number {
    let start = text.length
    for (let kept = 0; kept <= KEPT_LINES; kept++) {
      start = start <= 0 ? -1 : text.lastIndexOf('\n', start - 1)
      if (start === -1) return 0
    }
    for (let at = text.indexOf('\n'); at !== -1 && at <= start; at = text.indexOf('\n', at + 1)) dropped += 1
    held = ''
    cut = false
    return start + 1
  }

  function hold(piece: string): void {
    const left = HELD_CHARS - held.length
    if (piece.length > left) cut = true
    if (left > 0) held += piece.length > left ? piece.slice(0, left) : piece
  }

  return {
    push: (chunk) => take(decoder.write(chunk)),
    end() {
      take(decoder.end())
      finishLine()
    },
    dropped: () => dropped,
    refill() {
      lines = 0
      chars = 0
    },
    words: (limit) => words.text(limit),
  }
}

const KEPT_LINES = 50

/** A line, or a function that creates it on demand. */
type Word = string | (() => string)

/** Keeps the beginning and the end of a text. */
function createWords() {
  const head: Word[] = []
  const tail: Word[] = []
  let skipped = 0
  return {
    add(line: Word): void {
      if (head.length < KEPT_LINES) head.push(line)
      else if (tail.push(line) > KEPT_LINES) {
        tail.shift()
        skipped += 1
      }
    },
    text: (limit: number): string =>
      shorten(
        [...head, ...(skipped > 0 ? ['...'] : []), ...tail]
          .map((line) => (typeof line === 'string' ? line : line()))
          .filter((line) => line !== '')
          .join('\n'),
        limit,
      ),
  }
}

/** Keeps the head and the tail of a text that is too long. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor((limit - 5) / 2)
  return `${text.slice(0, half).toWellFormed()}\n...\n${text.slice(-half).toWellFormed()}`
}

// Everything below a space except the tabulator, and what follows it in an ANSI colour: a log is read, not played.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
const CONTROLS = /\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g

/** A line as stored: no control characters, no lone surrogates, no trailing blanks. */
export const clean = (line: string): string => line.replace(CONTROLS, '').toWellFormed().trimEnd()
