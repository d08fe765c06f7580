// SQL text as tokens, the way DuckDB's own lexer cuts it. Enough to find statements, the tables they name and the functions they
// call; DuckDB decides what a statement means. Where the two might read a text differently, this one refuses it.
// The text may be hostile and is read in the main process: each character is looked at once, a token is the number of its first
// character instead of an object, and after some thousands of characters everything else in the process has its turn.

import { PlatformError } from '../../kit/errors.ts'
import { inTurns } from '../../kit/in-turns.ts'

export type TokenKind = 'word' | 'quoted' | 'string' | 'symbol'

/** The tokens of a text, or a part of them. Numbers of tokens beyond the ends are no tokens: no kind, and the text ''. */
export class Tokens {
  readonly length: number
  readonly #sql: string
  readonly #starts: Uint32Array

  constructor(sql: string, starts: Uint32Array) {
    this.#sql = sql
    this.#starts = starts
    this.length = starts.length
  }

  kind(i: number): TokenKind | undefined {
    const start = this.#starts[i]
    return start === undefined ? undefined : kindAt(this.#sql, start)
  }

  isName(i: number): boolean {
    const kind = this.kind(i)
    return kind === 'word' || kind === 'quoted'
  }

  isQuoted(i: number): boolean {
    return this.#code(i) === DOUBLE_QUOTE
  }

  isSymbol(i: number, character: string): boolean {
    return this.#code(i) === character.charCodeAt(0)
  }

  /** A word of characters beyond ASCII alone. */
  isForeign(i: number): boolean {
    if (this.#code(i) < ASCII_END) return false
    let at = this.start(i) + 1
    while (this.#sql.charCodeAt(at) >= ASCII_END && isLetter(this.#sql.charCodeAt(at))) at++
    return at === this.end(i)
  }

  /** Where it begins and ends in the whole text, in UTF-16 units. */
  start(i: number): number {
    return this.#starts[i] ?? this.#sql.length
  }

  end(i: number): number {
    const start = this.#starts[i]
    return start === undefined ? this.#sql.length : endOfToken(this.#sql, start)
  }

  /** Words as written, quoted identifiers without their quotes, `0` for numbers, '' for strings, any other character itself. */
  text(i: number): string {
    const kind = this.kind(i)
    if (kind === undefined || kind === 'string') return ''
    const start = this.start(i)
    if (kind === 'symbol') return isDigit(this.#code(i)) ? '0' : (this.#sql[start] ?? '')
    if (kind === 'word') return this.#sql.slice(start, this.end(i))
    const inside = this.#sql.slice(start + 1, this.end(i) - 1)
    return inside.includes('"') ? inside.replaceAll('""', '"') : inside
  }

  /** As it is written. */
  raw(i: number): string {
    return this.#sql.slice(this.start(i), this.end(i))
  }

  lower(i: number): string {
    return this.text(i).toLowerCase()
  }

  slice(from: number, to: number): Tokens {
    return new Tokens(this.#sql, this.#starts.subarray(from, to))
  }

  /** Of its first character; -1 for none. */
  #code(i: number): number {
    const start = this.#starts[i]
    return start === undefined ? -1 : this.#sql.charCodeAt(start)
  }
}

/** The tokens of a text and, for each of its statements, the first one and the one behind the last. */
export async function tokensOf(sql: string): Promise<{ readonly tokens: Tokens; readonly ranges: readonly number[] }> {
  const starts = new Uint32Array(sql.length) // no token is shorter than a character
  const ranges: number[] = []
  let at = 0
  let count = 0
  let first = 0
  await inTurns(() => {
    for (const end = at + CHARACTERS_PER_STEP; at < end && at < sql.length; ) {
      const code = sql.charCodeAt(at)
      if (isSpace(code)) at++
      else if (code === MINUS && sql.charCodeAt(at + 1) === MINUS) at = endOfLine(sql, at)
      else if (code === SLASH && sql.charCodeAt(at + 1) === STAR) at = endOfComment(sql, at)
      else {
        if (code === SEMICOLON) {
          if (count > first) ranges.push(first, count)
          first = count + 1
        }
        starts[count++] = at
        at = endOfToken(sql, at)
      }
    }
    return at >= sql.length
  })
  if (count > first) ranges.push(first, count)
  return { tokens: new Tokens(sql, starts.slice(0, count)), ranges } // a copy: statements may be kept for long
}

const CHARACTERS_PER_STEP = 4096

/** A token begins here; where it ends. */
function endOfToken(sql: string, at: number): number {
  const code = sql.charCodeAt(at)
  if (isLetter(code)) return isEscaped(sql, at, code) ? endOfEscaped(sql, at + 1) : endOfWord(sql, at)
  if (isDigit(code)) return endOfNumber(sql, at)
  if (code === QUOTE) return endOfQuoted(sql, at, QUOTE)
  if (code === DOUBLE_QUOTE) return endOfQuoted(sql, at, DOUBLE_QUOTE)
  if (code !== DOLLAR) return at + 1
  const tagEnd = endOfTag(sql, at)
  return tagEnd === undefined ? at + 1 : endOfDollarString(sql, sql.slice(at, tagEnd), tagEnd)
}

function kindAt(sql: string, at: number): TokenKind {
  const code = sql.charCodeAt(at)
  if (isLetter(code)) return isEscaped(sql, at, code) ? 'string' : 'word'
  if (code === QUOTE) return 'string'
  if (code === DOUBLE_QUOTE) return 'quoted'
  return code === DOLLAR && endOfTag(sql, at) !== undefined ? 'string' : 'symbol'
}

// ----------------------------------------------------------------------------------------------------------------- characters

const [QUOTE, DOUBLE_QUOTE, DOLLAR, UNDERSCORE, MINUS, SLASH, STAR, BACKSLASH, POINT, SEMICOLON] = [
  39, 34, 36, 95, 45, 47, 42, 92, 46, 59,
] as const
const [SMALL_E, CAPITAL_E, PLUS, LINE_FEED, RETURN, ASCII_END] = [101, 69, 43, 10, 13, 128] as const

const isDigit = (code: number): boolean => code >= 48 && code <= 57
/** Every character beyond ASCII is one to DuckDB, but for spaces. */
const isLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === UNDERSCORE || (code >= ASCII_END && !isForeignSpace(code))

/** Those of DuckDB; statements.test.ts compares them. */
const isForeignSpace = (code: number): boolean =>
  code === 0xa0 ||
  (code >= 0x2000 && code <= 0x200b) ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x2060 ||
  code === 0x3000 ||
  code === 0xfeff

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || (code >= ASCII_END && isForeignSpace(code))

/** 1 for each character that may continue a word: a name may be as long as a text. */
const IN_WORDS = Uint8Array.from({ length: 0x10000 }, (_, code) => Number(isLetter(code) || isDigit(code) || code === DOLLAR))

/** `E'it\'s'` */
const isEscaped = (sql: string, at: number, code: number): boolean =>
  (code === SMALL_E || code === CAPITAL_E) && sql.charCodeAt(at + 1) === QUOTE

// ----------------------------------------------------------------------------------------------------------------------- ends

function endOfLine(sql: string, from: number): number {
  let at = from
  while (at < sql.length && sql.charCodeAt(at) !== LINE_FEED && sql.charCodeAt(at) !== RETURN) at++
  return at
}

/** DuckDB nests comments; few need to, and a text that two readers cut differently is refused instead. */
function endOfComment(sql: string, start: number): number {
  for (let at = start + 2; at < sql.length; at++) {
    const code = sql.charCodeAt(at)
    if (code === STAR && sql.charCodeAt(at + 1) === SLASH) return at + 2
    if (code === SLASH && sql.charCodeAt(at + 1) === STAR) throw syntax('a comment is nested inside a comment', at)
  }
  throw syntax('a comment is opened and not closed', start)
}

function endOfWord(sql: string, from: number): number {
  let at = from
  while (at < sql.length && IN_WORDS[sql.charCodeAt(at)] === 1) at++
  return at
}

/** `1_000.5e-3` */
function endOfNumber(sql: string, from: number): number {
  let at = endOfDigits(sql, from)
  if (sql.charCodeAt(at) === POINT && isDigit(sql.charCodeAt(at + 1))) at = endOfDigits(sql, at + 1)
  const code = sql.charCodeAt(at)
  if (code !== SMALL_E && code !== CAPITAL_E) return at
  const sign = sql.charCodeAt(at + 1)
  let exponent = at + (sign === PLUS || sign === MINUS ? 2 : 1)
  if (!isDigit(sql.charCodeAt(exponent))) return at
  while (isDigit(sql.charCodeAt(exponent))) exponent++
  return exponent
}

function endOfDigits(sql: string, from: number): number {
  let at = from
  while (isDigit(sql.charCodeAt(at)) || sql.charCodeAt(at) === UNDERSCORE) at++
  return at
}

/** A quote inside is written twice. */
function endOfQuoted(sql: string, start: number, quote: number): number {
  for (let at = start + 1; at < sql.length; at++) {
    if (sql.charCodeAt(at) !== quote) continue
    if (sql.charCodeAt(at + 1) !== quote) return at + 1
    at++
  }
  throw syntax('a quote is opened and not closed', start)
}

/** `start` is the place of the quote. */
function endOfEscaped(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at++) {
    const code = sql.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) {
      if (sql.charCodeAt(at + 1) !== QUOTE) return at + 1
      at++
    }
  }
  throw syntax('a quote is opened and not closed', start)
}

/** Behind `$$` or `$tag$`, which do not follow a name: it may hold `$`. Undefined when it is neither. */
function endOfTag(sql: string, start: number): number | undefined {
  let at = start + 1
  if (isDigit(sql.charCodeAt(at))) return undefined
  while (isLetter(sql.charCodeAt(at)) || isDigit(sql.charCodeAt(at))) at++
  return sql.charCodeAt(at) === DOLLAR ? at + 1 : undefined
}

function endOfDollarString(sql: string, tag: string, from: number): number {
  const end = sql.indexOf(tag, from)
  if (end === -1) throw syntax(`a string is opened with ${tag.slice(0, 40)} and not closed`, from - tag.length)
  return end + tag.length
}

const syntax = (reason: string, position: number) => new PlatformError('sql.invalid', { reason, position: position + 1 })
