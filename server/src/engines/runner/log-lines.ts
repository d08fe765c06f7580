// A component's output, turned into lines that can be stored: valid text, without control characters, masked, and bounded
// whatever the component prints. A secret can only be hidden in a whole line, so lines are cut after masking, never before.

import { StringDecoder } from 'node:string_decoder'
import type { Mask } from './mask.ts'

/** Longest line that is kept; the rest of a longer one is dropped (platform contract 1.15). */
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

  function finishLine(): void {
    const line = clean(mask(held))
    const text = cut || line.length > LINE_CHARS ? line.slice(0, LINE_CHARS) + TRIMMED : line
    held = ''
    cut = false
    if (text === '') return
    words.add(text)
    if (lines >= budget.lines || chars + text.length > budget.chars) {
      dropped += 1
      return
    }
    lines += 1
    chars += text.length
    onLine(text)
  }

  function take(text: string): void {
    let from = 0
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      hold(text.slice(from, to))
      finishLine()
      from = to + 1
    }
    hold(text.slice(from))
  }

  function hold(piece: string): void {
    const room = HELD_CHARS - held.length
    if (piece.length > room) cut = true
    if (room > 0) held += piece.length > room ? piece.slice(0, room) : piece
  }

  return {
    push: (chunk) => take(decoder.write(chunk)),
    end() {
      take(decoder.end())
      finishLine()
    },
    dropped: () => dropped,
    words: (limit) => words.text(limit),
  }
}

const KEPT_LINES = 50

/** Remembers how a text began and how it ended. */
function createWords() {
  const head: string[] = []
  const tail: string[] = []
  let skipped = 0
  return {
    add(line: string): void {
      if (head.length < KEPT_LINES) head.push(line)
      else if (tail.push(line) > KEPT_LINES) {
        tail.shift()
        skipped += 1
      }
    },
    text: (limit: number): string => shorten([...head, ...(skipped > 0 ? ['...'] : []), ...tail].join('\n'), limit),
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
