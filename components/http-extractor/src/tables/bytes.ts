/**
 * Text as UTF-8 into one growing buffer, for rows and for what link ids are hashed from.
 *
 * Joining strings and encoding them afterwards costs about three times as much: most cells are short ASCII, and for those a loop
 * that copies, checks and escapes in one go is the fastest there is. Everything else goes to the native encoder.
 */

import { JsonNumber, type JsonValue } from '../json/json.ts'
import { phpSerialize } from '../json/text.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const SEMICOLON = 0x3b
const LETTER_I = 0x69
const LETTER_S = 0x73
const LINE_FEED = 0x0a
const CLOSING_BRACE = 0x7d
const START_BYTES = 1 << 12
const NO_BYTES = new Uint8Array()
/** Longer texts are copied by the native encoder. */
const SHORT = 96
const MAX_INT32_DIGITS = 10

const objectStart = (keys: number) => `O:8:"stdClass":${keys}:{`
const OBJECT_STARTS = Array.from({ length: 64 }, (_, keys) => Buffer.from(objectStart(keys)))

/** Not negative, without a fraction, and cheap to take apart. */
export function isSmallInteger(value: number): boolean {
  return value > 0 ? (value | 0) === value : Object.is(value, 0)
}

/** Returns where the digits end; at most ten of them. */
export function putInteger(bytes: Uint8Array, start: number, value: number): number {
  let end = start + 1
  for (let limit = 10; limit <= value; limit *= 10) end++
  let rest = value
  for (let at = end - 1; at >= start; at--) {
    const tenth = Math.trunc(rest / 10)
    bytes[at] = 0x30 + rest - tenth * 10
    rest = tenth
  }
  return end
}

export function isSurrogate(code: number): boolean {
  return (code & 0xf800) === 0xd800
}

/** A character above ASCII that is one unit of UTF-16. */
export function putWide(bytes: Uint8Array, start: number, code: number): number {
  let at = start
  if (code < 0x800) {
    bytes[at++] = 0xc0 | (code >> 6)
  } else {
    bytes[at++] = 0xe0 | (code >> 12)
    bytes[at++] = 0x80 | ((code >> 6) & 0x3f)
  }
  bytes[at++] = 0x80 | (code & 0x3f)
  return at
}

/** A key that is serialised already, then the start of a text of at most 99 bytes: `s:12:"`. */
function putMemberStart(bytes: Uint8Array, start: number, key: Uint8Array, length: number): number {
  let at = start
  for (let i = 0; i < key.length; i++) bytes[at++] = key[i]!
  bytes[at++] = LETTER_S
  bytes[at++] = COLON
  if (length > 9) bytes[at++] = 0x30 + Math.trunc(length / 10)
  bytes[at++] = 0x30 + (length % 10)
  bytes[at++] = COLON
  bytes[at++] = QUOTE
  return at
}

/** A text as a cell of `row` and as a member of `object`: `row.cell(text)` and `object.phpMember(key, text)` with one look at each character. */
export function cellAndMember(row: ByteWriter, object: ByteWriter, key: Uint8Array, text: string): void {
  const { length } = text
  if (length > SHORT) {
    row.cell(text)
    object.phpMember(key, text)
    return
  }
  const cells = row.reserve(length * 2 + 3)
  const bytes = object.reserve(key.length + length + 16)
  let at = putMemberStart(bytes, object.length, key, length)
  let cellAt = row.length
  cells[cellAt++] = QUOTE
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) {
      row.cell(text)
      object.phpMember(key, text)
      return
    }
    if (code === QUOTE) cells[cellAt++] = QUOTE
    cells[cellAt++] = code
    bytes[at++] = code
  }
  cells[cellAt++] = QUOTE
  cells[cellAt++] = COMMA
  row.length = cellAt
  bytes[at++] = QUOTE
  bytes[at++] = SEMICOLON
  object.length = at
}

export class ByteWriter {
  /** Valid up to `length`; replaced when it grows. */
  bytes: Buffer = Buffer.allocUnsafeSlow(START_BYTES)
  length = 0

  /** ASCII only. */
  ascii(text: string): void {
    const { length } = text
    const bytes = this.reserve(length)
    let at = this.length
    for (let i = 0; i < length; i++) bytes[at++] = text.charCodeAt(i)
    this.length = at
  }

  copy(source: Uint8Array, length = source.length): void {
    const bytes = this.reserve(length)
    let at = this.length
    for (let i = 0; i < length; i++) bytes[at++] = source[i]!
    this.length = at
  }

  utf8(text: string): void {
    const bytes = this.reserve(Buffer.byteLength(text))
    this.length += bytes.write(text, this.length, 'utf8')
  }

  /** Gives back a buffer larger than this; only when nothing is in it. */
  shrink(limit: number): void {
    if (this.bytes.length > limit) this.bytes = Buffer.allocUnsafeSlow(START_BYTES)
  }

  // ---- CSV: every cell is written with its quotes and a comma; the end of a row turns the last comma into a line end ----

  cell(text: string): void {
    const { length } = text
    if (length > SHORT) {
      this.longCell(text)
      return
    }
    const bytes = this.reserve(length * 3 + 3)
    let at = this.length
    bytes[at++] = QUOTE
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) {
        if (isSurrogate(code)) {
          this.longCell(text)
          return
        }
        at = putWide(bytes, at, code)
        continue
      }
      if (code === QUOTE) bytes[at++] = QUOTE
      bytes[at++] = code
    }
    bytes[at++] = QUOTE
    bytes[at++] = COMMA
    this.length = at
  }

  /** A number that is no float in PHP's eyes and has at most ten digits. */
  integerCell(value: number): void {
    const bytes = this.reserve(MAX_INT32_DIGITS + 3)
    let at = this.length
    bytes[at++] = QUOTE
    at = putInteger(bytes, at, value)
    bytes[at++] = QUOTE
    bytes[at++] = COMMA
    this.length = at
  }

  private longCell(text: string): void {
    this.reserve(1)[this.length++] = QUOTE
    this.utf8(text.includes('"') ? text.replaceAll('"', '""') : text)
    this.ascii('",')
  }

  emptyCells(count: number): void {
    const bytes = this.reserve(count * 3)
    let at = this.length
    for (let i = 0; i < count; i++) {
      bytes[at++] = QUOTE
      bytes[at++] = QUOTE
      bytes[at++] = COMMA
    }
    this.length = at
  }

  endRow(): void {
    this.bytes[this.length - 1] = LINE_FEED
  }

  // ---- PHP's serialisation ----

  phpString(text: string): void {
    this.phpMember(NO_BYTES, text)
  }

  /** A key that is serialised already, and a text as its value: by far the most frequent member. */
  phpMember(key: Uint8Array, text: string): void {
    const { length } = text
    if (length > SHORT) {
      this.phpLongMember(key, text)
      return
    }
    const bytes = this.reserve(key.length + length + 16)
    let at = putMemberStart(bytes, this.length, key, length)
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) {
        this.phpWideMember(key, text)
        return
      }
      bytes[at++] = code
    }
    bytes[at++] = QUOTE
    bytes[at++] = SEMICOLON
    this.length = at
  }

  /** A short text outside ASCII: its size comes before it, so it is counted first. */
  private phpWideMember(key: Uint8Array, text: string): void {
    const { length } = text
    let size = length
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) size += code > 0x7ff ? 2 : 1
      if (isSurrogate(code)) {
        this.phpLongMember(key, text)
        return
      }
    }
    this.copy(key)
    const bytes = this.reserve(size + 16)
    let at = this.length
    bytes[at++] = LETTER_S
    bytes[at++] = COLON
    at = putInteger(bytes, at, size)
    bytes[at++] = COLON
    bytes[at++] = QUOTE
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) at = putWide(bytes, at, code)
      else bytes[at++] = code
    }
    bytes[at++] = QUOTE
    bytes[at++] = SEMICOLON
    this.length = at
  }

  private phpLongMember(key: Uint8Array, text: string): void {
    this.copy(key)
    this.ascii(`s:${Buffer.byteLength(text)}:"`)
    this.utf8(text)
    this.ascii('";')
  }

  /** Of at most ten digits. */
  phpInteger(value: number): void {
    const bytes = this.reserve(MAX_INT32_DIGITS + 3)
    let at = this.length
    bytes[at++] = LETTER_I
    bytes[at++] = COLON
    at = putInteger(bytes, at, value)
    bytes[at++] = SEMICOLON
    this.length = at
  }

  /** The same as `phpSerialize`. */
  php(value: JsonValue): void {
    if (typeof value === 'string') this.phpString(value)
    else if (typeof value === 'number' && isSmallInteger(value)) this.phpInteger(value)
    else if (typeof value !== 'object' || value === null || value instanceof JsonNumber) this.ascii(phpSerialize(value))
    else if (Array.isArray(value)) this.phpList(value)
    else if (value instanceof Map) this.utf8(phpSerialize(value))
    else this.phpObject(value)
  }

  /** Start of an object; its members follow, each a string and a value, then `phpEnd`. */
  phpObjectStart(keys: number): void {
    if (keys >= OBJECT_STARTS.length) this.ascii(objectStart(keys))
    else this.copy(OBJECT_STARTS[keys]!)
  }

  /** Corrects the start at `at`, which was written before the keys were counted. */
  phpObjectRestart(at: number, assumed: number, keys: number): void {
    const start = objectStart(keys)
    const from = at + objectStart(assumed).length
    const to = at + start.length
    const bytes = this.reserve(start.length)
    bytes.copyWithin(to, from, this.length)
    bytes.write(start, at, 'latin1')
    this.length += to - from
  }

  phpEnd(): void {
    this.reserve(1)[this.length++] = CLOSING_BRACE
  }

  private phpList(list: readonly JsonValue[]): void {
    this.ascii(`a:${list.length}:{`)
    for (let i = 0; i < list.length; i++) {
      this.phpInteger(i)
      this.php(list[i]!)
    }
    this.phpEnd()
  }

  private phpObject(object: { readonly [key: string]: JsonValue }): void {
    let keys = 0
    for (const _ in object) keys++
    this.phpObjectStart(keys)
    for (const key in object) {
      this.phpString(key)
      this.php(object[key]!)
    }
    this.phpEnd()
  }

  /** Makes sure `count` more bytes fit. */
  reserve(count: number): Buffer {
    if (this.length + count > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + count))
      this.bytes.copy(grown, 0, 0, this.length)
      this.bytes = grown
    }
    return this.bytes
  }
}
