/**
 * Parses a body without changing what was sent.
 *
 * `JSON.parse` is several times faster than any parser in JavaScript, and for most bodies it changes nothing. So one pass over the
 * bytes looks for what it would change (spec extractor 24): an integer-like key, a number beyond 2^53, a decimal with an integral value,
 * an unpaired surrogate. It may cry wolf but never misses one; only bodies it finds go through the exact scanner below. Repeated
 * keys need neither: both ways keep the first place and the last value.
 */
import { isUtf8 } from 'node:buffer'
import { isIntegerLike, JsonNumber, type JsonObject, type JsonValue, type PlainObject } from './json.ts'

/** Nesting of arrays and objects that a response may have. */
export const MAX_DEPTH = 512

/** The text is not JSON. `message` names the kind as PHP does, then what and where. */
export class JsonSyntaxError extends Error {}

/** An escaped digit (it may make a key integer-like) or half of a surrogate pair. Looked for only when there are such escapes at all. */
const CHANGED_ESCAPE = /\\u003\d|\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/

export function parseJson(body: Uint8Array | string): JsonValue {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body
  const text = typeof body === 'string' ? body : decodeUtf8(body)
  const survey = isUtf8(bytes) ? surveyOf(bytes) : 'changes' // what is dropped may bring digits together
  if (survey === 'changes' || (survey === 'has escapes' && CHANGED_ESCAPE.test(text))) return scan(text)
  try {
    return JSON.parse(text) as JsonValue // what JSON.parse gives is a JsonValue by definition
  } catch {
    return scan(text) // throws with the place and the reason
  }
}

/**
 * What `JSON.parse` would do to a document, from its bytes. Distinguishes strings from numbers and keys from values, and counts the depth, but
 * does not check the grammar: what is not JSON fails in either parser.
 */
function surveyOf(bytes: Uint8Array): 'same' | 'has escapes' | 'changes' {
  const { length } = bytes
  let hasEscapes = false
  let depth = 0
  for (let at = 0; at < length; ) {
    const byte = bytes[at++]!
    if (byte === QUOTE) {
      const start = at
      while (at < length && bytes[at] !== QUOTE) {
        if (bytes[at] === BACKSLASH && bytes[++at] === LETTER_U) hasEscapes = true
        at++
      }
      if (isDigit(bytes[start]!) && isIntegerKey(bytes, start, at)) return 'changes'
      at++
    } else if (isDigit(byte)) {
      const end = endOfNumber(bytes, at)
      if (isChangedNumber(bytes, at - 1, end)) return 'changes'
      at = end
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return 'changes' // the scanner refuses it
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--
    }
  }
  return hasEscapes ? 'has escapes' : 'same'
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** Digits up to the closing quote, and a colon behind it. */
function isIntegerKey(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isDigit(bytes[at]!)) return false
  let next = end + 1
  while (next < bytes.length && bytes[next]! <= 0x20) next++
  return bytes[next] === COLON
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]!
    if (!isDigit(byte) && byte !== POINT && byte !== LETTER_E && byte !== CAPITAL_E && byte !== PLUS && byte !== MINUS) break
    at++
  }
  return at
}

/** Whether a double, or a number without a point, would differ from the token. Sure of it only up to 15 digits. */
function isChangedNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let point = end
  let lastFigure = -1
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte === LETTER_E || byte === CAPITAL_E) return true
    if (byte === POINT) point = at
    else if (byte !== 0x30) lastFigure = at
  }
  if (point === end) return end - start > 15 && !(end - start === 16 && bytes[start]! < 0x39)
  if (lastFigure < point) return true // nothing but zeros behind the point
  const digits = end - start - 1 - (bytes[start] === 0x30 ? 1 : 0)
  if (digits <= 15) return false
  const isNearInteger = point - start >= 12 || (bytes[point + 1] === bytes[point + 2] && bytes[point + 2] === bytes[point + 3])
  return digits > 17 || isNearInteger
}

/** The exact way, without the shortcut. */
export function scan(text: string): JsonValue {
  return new Scanner(text).document()
}

function tooDeep(): JsonSyntaxError {
  return new JsonSyntaxError(`Maximum stack depth exceeded: arrays and objects are nested more than ${MAX_DEPTH} levels deep`)
}

const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const COLON = 0x3a
const CAPITAL_E = 0x45
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LETTER_E = 0x65
const LETTER_U = 0x75
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WHITE = /[ \t\n\r]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
const CONTROL = /[\u0000-\u001f]/
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A recursive-descent parser; a class because it holds a position. */
class Scanner {
  private readonly text: string
  private at = 0
  private depth = 0

  constructor(text: string) {
    this.text = text
  }

  document(): JsonValue {
    const value = this.value()
    this.white()
    if (this.at < this.text.length) throw this.unexpected('after the end of the document')
    return value
  }

  private value(): JsonValue {
    this.white()
    const code = this.text.charCodeAt(this.at)
    if (code === QUOTE) return this.string()
    if (code === OPEN_BRACE) return this.nested(() => this.object())
    if (code === OPEN_BRACKET) return this.nested(() => this.array())
    if (this.word('true')) return true
    if (this.word('false')) return false
    if (this.word('null')) return null
    return this.number()
  }

  private nested<T>(read: () => T): T {
    if (++this.depth > MAX_DEPTH) throw tooDeep()
    this.at++
    const value = read()
    this.depth--
    return value
  }

  private object(): JsonObject {
    const object: PlainObject = {}
    let ordered: Map<string, JsonValue> | undefined
    this.white()
    if (this.take('}')) return object
    for (;;) {
      this.white()
      if (this.text.charCodeAt(this.at) !== QUOTE) throw this.unexpected('where a key in double quotes was expected')
      const key = this.string()
      this.white()
      if (!this.take(':')) throw this.unexpected("where ':' was expected")
      const value = this.value()
      if (ordered === undefined && isIntegerLike(key)) ordered = new Map(Object.entries(object))
      if (ordered !== undefined) ordered.set(key, value)
      else if (key === '__proto__')
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
      else object[key] = value
      this.white()
      if (this.take('}')) return ordered ?? object
      if (!this.take(',')) throw this.unexpected("where ',' or '}' was expected")
    }
  }

  private array(): JsonValue[] {
    const array: JsonValue[] = []
    this.white()
    if (this.take(']')) return array
    for (;;) {
      array.push(this.value())
      this.white()
      if (this.take(']')) return array
      if (!this.take(',')) throw this.unexpected("where ',' or ']' was expected")
    }
  }

  private string(): string {
    const start = this.at
    let end = this.text.indexOf('"', start + 1)
    while (end !== -1 && this.isEscaped(end, start)) end = this.text.indexOf('"', end + 1)
    if (end === -1) {
      this.at = this.text.length
      throw this.unexpected('inside a string')
    }
    this.at = end + 1
    const raw = this.text.slice(start + 1, end)
    const control = CONTROL.exec(raw)
    if (control !== null) {
      this.at = start + 1 + control.index
      throw new JsonSyntaxError(`Control character error, possibly incorrectly encoded: ${this.place()}`)
    }
    const string = raw.includes('\\') ? this.unescape(raw, start) : raw
    return string.isWellFormed() ? string : string.replace(LONE_SURROGATE, '')
  }

  /** Whether an odd number of backslashes stands before the quote. */
  private isEscaped(quote: number, start: number): boolean {
    let slashes = 0
    while (quote - 1 - slashes > start && this.text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++
    return slashes % 2 === 1
  }

  private unescape(raw: string, start: number): string {
    try {
      return JSON.parse(`"${raw}"`) as string // a string token, so a string
    } catch {
      this.at = start + 1 + raw.search(/\\(?:[^"\\/bfnrtu]|u(?![\da-fA-F]{4}))/)
      throw this.unexpected('as an escape in a string')
    }
  }

  private number(): number | JsonNumber {
    NUMBER.lastIndex = this.at
    const token = NUMBER.exec(this.text)?.[0]
    if (token === undefined) throw this.unexpected('where a value was expected')
    this.at += token.length
    return numberOf(token)
  }

  private word(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false
    this.at += word.length
    return true
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  private white(): void {
    if (this.text.charCodeAt(this.at) > 0x20) return
    WHITE.lastIndex = this.at
    WHITE.test(this.text)
    this.at = WHITE.lastIndex
  }

  private unexpected(where: string): JsonSyntaxError {
    const found =
      this.at >= this.text.length ? 'the text ends' : `unexpected '${String.fromCodePoint(this.text.codePointAt(this.at)!)}'`
    return new JsonSyntaxError(
      `Syntax error: ${this.text.length === 0 ? 'the text is empty' : `${found} ${where}, ${this.place()}`}`,
    )
  }

  private place(): string {
    const before = this.text.slice(0, this.at)
    return `line ${before.split('\n').length}, column ${this.at - before.lastIndexOf('\n')}`
  }
}

/** A number token as a value: a JsonNumber exactly when a plain number would lose its size, its digits or its point. */
export function numberOf(token: string): number | JsonNumber {
  const double = Number(token)
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(double) ? double : new JsonNumber(token)
  if (Number.isInteger(double) || !Number.isFinite(double)) return new JsonNumber(token)
  const digits = token
    .replace(/[eE].*$/, '')
    .replace('.', '')
    .replace(/^-?0*/, '')
  return digits.length > 17 ? new JsonNumber(token) : double
}

/** Text of a body; bytes that are not UTF-8 are dropped (spec extractor 10.5). */
function decodeUtf8(body: Uint8Array): string {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    throw new JsonSyntaxError('Syntax error: the text starts with a byte order mark, which JSON does not allow')
  }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return (isUtf8(bytes) ? bytes : withoutInvalidBytes(bytes)).toString('utf8')
}

function withoutInvalidBytes(bytes: Buffer): Buffer {
  const kept = Buffer.alloc(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    const size = sequenceSize(bytes[at]!)
    if (size > 0 && at + size <= bytes.length && isUtf8(bytes.subarray(at, at + size))) {
      length += bytes.copy(kept, length, at, at + size)
      at += size
    } else {
      at++
    }
  }
  return kept.subarray(0, length)
}

function sequenceSize(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xc2) return 0
  if (lead < 0xe0) return 2
  if (lead < 0xf0) return 3
  return lead < 0xf5 ? 4 : 0
}
