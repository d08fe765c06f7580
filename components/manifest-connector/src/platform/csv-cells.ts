// Values as cells of CSV, written as bytes: no text of a row, and of most objects none either, is ever made. A text has quotes only where it
// needs them; nothing between two commas is null, `""` is the empty text.

import { isSmallInteger, isSurrogate, putInteger, putWide } from '../../../http-extractor/src/tables/bytes.ts'
import { jsonText } from '../python/json.ts'
import { isDict, PyFloat } from '../python/values.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LINE_FEED = 0x0a
const START_BYTES = 1 << 16
/** Longer texts are copied by the native encoder. */
const SHORT = 96
/** A short text or a number, with what stands around it; a character is three bytes at most. */
const SHORT_BYTES = 3 * SHORT + 8

/** Where a character stays as it is: in a cell without quotes, and inside a JSON text that is a cell. */
const plainIn = (others: readonly number[]) =>
  Uint8Array.from({ length: 128 }, (_, code) => (code >= 0x20 && !others.includes(code) ? 1 : 0))
const PLAIN_IN_CELL = plainIn([QUOTE, COMMA])
const PLAIN_IN_QUOTES = new Uint8Array(128).fill(1)
const PLAIN_IN_JSON = plainIn([QUOTE, BACKSLASH])

export class CsvCells {
  /** Valid up to `length`; replaced when it grows. */
  bytes: Buffer = Buffer.allocUnsafeSlow(START_BYTES)
  length = 0

  cell(value: unknown): void {
    if (value === null || value === undefined) this.reserve(SHORT_BYTES)
    else if (typeof value === 'string') this.text(value)
    else if (typeof value !== 'object') this.scalar(value)
    else if (value instanceof PyFloat) this.scalar(value.value)
    else {
      this.reserve(SHORT_BYTES)
      this.bytes[this.length++] = QUOTE
      this.json(value)
      this.bytes[this.length++] = QUOTE
    }
    this.bytes[this.length++] = COMMA
  }

  /** The comma after the last cell becomes the end of the line. */
  endRow(): void {
    this.bytes[this.length - 1] = LINE_FEED
  }

  private text(text: string): void {
    this.reserve(SHORT_BYTES)
    const isShort = text.length <= SHORT
    if (isShort && text !== '' && this.copyIfPlain(text, PLAIN_IN_CELL)) return
    this.bytes[this.length++] = QUOTE
    if (!isShort || !this.copyIfPlain(text, PLAIN_IN_QUOTES)) this.doubled(text)
    this.bytes[this.length++] = QUOTE
  }

  /** The same as `jsonText`, with its quotes doubled. */
  private json(value: unknown): void {
    if (typeof value === 'string') this.jsonString(value)
    else if (Array.isArray(value)) this.jsonList(value)
    else if (isDict(value)) this.jsonObject(value)
    else if (typeof value === 'object' && value !== null) this.doubled(jsonText(value))
    else this.scalar(typeof value === 'number' && !Number.isFinite(value) ? null : (value ?? null))
  }

  private jsonList(list: readonly unknown[]): void {
    this.reserve(SHORT_BYTES)
    this.bytes[this.length++] = OPEN_BRACKET
    for (const [i, item] of list.entries()) {
      if (i > 0) this.bytes[this.length++] = COMMA
      this.json(item)
    }
    this.reserve(SHORT_BYTES)
    this.bytes[this.length++] = CLOSE_BRACKET
  }

  private jsonObject(object: Readonly<Record<string, unknown>>): void {
    this.reserve(SHORT_BYTES)
    this.bytes[this.length++] = OPEN_BRACE
    let isFirst = true
    for (const key in object) {
      const member = object[key]
      if (member === undefined) continue
      if (!isFirst) this.bytes[this.length++] = COMMA
      isFirst = false
      this.jsonString(key)
      this.bytes[this.length++] = COLON
      this.json(member)
    }
    this.reserve(SHORT_BYTES)
    this.bytes[this.length++] = CLOSE_BRACE
  }

  private jsonString(text: string): void {
    this.reserve(SHORT_BYTES)
    const start = this.length
    this.bytes[this.length++] = QUOTE
    this.bytes[this.length++] = QUOTE
    if (text.length <= SHORT && this.copyIfPlain(text, PLAIN_IN_JSON)) {
      this.bytes[this.length++] = QUOTE
      this.bytes[this.length++] = QUOTE
      return
    }
    this.length = start
    this.doubled(JSON.stringify(text))
  }

  /** Any text inside quotes. */
  private doubled(text: string): void {
    const escaped = text.replaceAll('"', '""')
    this.reserve(Buffer.byteLength(escaped))
    this.length += this.bytes.write(escaped, this.length, 'utf8')
    this.reserve(SHORT_BYTES)
  }

  private scalar(value: unknown): void {
    this.reserve(SHORT_BYTES)
    if (typeof value === 'number' && isSmallInteger(value)) this.length = putInteger(this.bytes, this.length, value)
    else this.number(String(value))
  }

  private number(text: string): void {
    if (text.length > SHORT || !this.copyIfPlain(text, PLAIN_IN_CELL)) this.doubled(text) // a bigint may be long
  }

  /** A short text; a quote inside quotes is doubled. False, and nothing is written, when a character does not stay as it is. */
  private copyIfPlain(text: string, isPlain: Uint8Array): boolean {
    const { bytes } = this
    let at = this.length
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) {
        if (isSurrogate(code)) return false
        at = putWide(bytes, at, code)
        continue
      }
      if (isPlain[code] === 0) return false
      if (code === QUOTE) bytes[at++] = QUOTE
      bytes[at++] = code
    }
    this.length = at
    return true
  }

  /** Room for this many bytes, and for a short value that follows. */
  private reserve(count: number): void {
    if (this.length + count + SHORT_BYTES > this.bytes.length) this.grow(this.length + count + SHORT_BYTES)
  }

  private grow(size: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, size))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }
}
