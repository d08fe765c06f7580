// Python's ast.literal_eval: the literals of the language, nothing else.

import { type Dict, PyFloat, pyStr, setKey, Tuple, toFloat } from './values.ts'

/** Texts that cannot be a literal are recognised by their first character, which most results are. */
const MAY_BE_LITERAL = /^[\s]*[-+0-9.'"[({TFNbBrRuU]/
const MAX_DEPTH = 100
const MAX_LENGTH = 1_000_000

export const NO_LITERAL = Symbol('no literal')

export function literal(text: string): unknown {
  if (!MAY_BE_LITERAL.test(text) || text.length > MAX_LENGTH) return NO_LITERAL
  if (/^[A-Za-z]/.test(text) && !/^(?:True|False|None)\s*$|^[bBrRuU]{1,2}['"]/.test(text)) return NO_LITERAL
  try {
    return new Reader(text).whole()
  } catch (error) {
    if (error instanceof NotLiteral) return NO_LITERAL
    throw error
  }
}

class NotLiteral extends Error {}

class Bytes {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  pyStr() {
    return `b'${this.text}'`
  }
  pyRepr() {
    return this.pyStr()
  }
}

const DECIMAL = /(?:\d(?:_?\d)*)?\.?(?:\d(?:_?\d)*)?(?:[eE][-+]?\d(?:_?\d)*)?/y
const BASED = /0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y
const WORD = /(?:True|False|None)(?![\w])/y

class Reader {
  readonly text: string
  at = 0
  depth = 0
  constructor(text: string) {
    this.text = text
  }

  whole(): unknown {
    // literal_eval strips leading blanks; other leading white space is an indentation error.
    this.text.slice(0).replace(/^[ \t]+/, (blanks) => {
      this.at = blanks.length
      return blanks
    })
    const value = this.items(undefined)
    this.blanks(true)
    if (this.at < this.text.length) throw new NotLiteral()
    return value
  }

  /** `1, 2` without brackets is a tuple. */
  items(end: string | undefined): unknown {
    const first = this.value()
    this.blanks()
    if (this.text[this.at] !== ',') return first
    const tuple = Tuple.of(first)
    while (this.text[this.at] === ',') {
      this.at++
      this.blanks()
      if (this.at >= this.text.length || this.text[this.at] === end) break
      tuple.push(this.value())
      this.blanks()
    }
    return tuple
  }

  blanks(all = this.depth > 0): void {
    for (;;) {
      const char = this.text[this.at]
      if (char === ' ' || char === '\t' || char === '\f' || (all && (char === '\n' || char === '\r'))) this.at++
      else if (char === '#' && all) while (this.at < this.text.length && this.text[this.at] !== '\n') this.at++
      else return
    }
  }

  value(): unknown {
    this.blanks()
    const char = this.text[this.at] ?? ''
    if (char === '[') return this.list(']')
    if (char === '(') return this.tuple()
    if (char === '{') return this.braces()
    if (char === '-' || char === '+') return this.signed(char)
    if (char === "'" || char === '"' || /[bBrRuU]/.test(char)) return this.strings()
    if (/[0-9.]/.test(char)) return this.number()
    WORD.lastIndex = this.at
    const word = WORD.exec(this.text)?.[0]
    if (word === undefined) throw new NotLiteral()
    this.at += word.length
    return word === 'None' ? null : word === 'True'
  }

  enter(): void {
    this.at++
    if (++this.depth > MAX_DEPTH) throw new NotLiteral()
    this.blanks()
  }

  list(end: string): unknown[] {
    this.enter()
    const items: unknown[] = []
    while (this.text[this.at] !== end) {
      items.push(this.value())
      this.blanks()
      if (this.text[this.at] === ',') {
        this.at++
        this.blanks()
      } else if (this.text[this.at] !== end) throw new NotLiteral()
    }
    this.at++
    this.depth--
    return items
  }

  tuple(): unknown {
    this.enter()
    if (this.text[this.at] === ')') {
      this.at++
      this.depth--
      return Tuple.of()
    }
    const value = this.items(')')
    this.blanks()
    if (this.text[this.at] !== ')') throw new NotLiteral()
    this.at++
    this.depth--
    return value
  }

  braces(): unknown {
    this.enter()
    const dict: Dict = {}
    const set = new Set<unknown>()
    while (this.text[this.at] !== '}') {
      const key = this.value()
      this.blanks()
      if (this.text[this.at] === ':') {
        if (Array.isArray(key) && !(key instanceof Tuple)) throw new NotLiteral()
        this.at++
        setKey(dict, pyStr(key), this.value())
        this.blanks()
      } else set.add(key)
      if (this.text[this.at] === ',') {
        this.at++
        this.blanks()
      } else if (this.text[this.at] !== '}') throw new NotLiteral()
    }
    this.at++
    this.depth--
    if (set.size === 0) return dict
    if (Object.keys(dict).length > 0) throw new NotLiteral()
    return set
  }

  signed(sign: string): unknown {
    this.at++
    this.blanks()
    const value = this.number() // one sign only
    if (sign === '+') return value
    return value instanceof PyFloat ? new PyFloat(-value.value) : -(value as number)
  }

  number(): unknown {
    BASED.lastIndex = this.at
    const based = BASED.exec(this.text)?.[0]
    if (based !== undefined) {
      this.at += based.length
      this.afterNumber()
      return smallest(BigInt(based.replaceAll('_', '').toLowerCase()))
    }
    DECIMAL.lastIndex = this.at
    const found = DECIMAL.exec(this.text)?.[0] ?? ''
    if (!/\d/.test(found) || /^[eE]/.test(found)) throw new NotLiteral()
    this.at += found.length
    this.afterNumber()
    const plain = found.replaceAll('_', '')
    if (/[.eE]/.test(plain)) return toFloat(Number(plain))
    if (/^0\d*[1-9]/.test(plain)) throw new NotLiteral() // 007 is no Python number, 000 is
    return smallest(BigInt(plain))
  }

  afterNumber(): void {
    if (/[\w.]/.test(this.text[this.at] ?? '')) throw new NotLiteral() // 1j, 5abc, 1.2.3
  }

  /** Neighbouring texts are one. */
  strings(): unknown {
    let out = ''
    let bytes = false
    for (;;) {
      const part = this.string()
      bytes ||= part instanceof Bytes
      out += part instanceof Bytes ? part.text : part
      const from = this.at
      this.blanks()
      if (!/['"bBrRuU]/.test(this.text[this.at] ?? '')) {
        this.at = from
        return bytes ? new Bytes(out) : out
      }
    }
  }

  string(): string | Bytes {
    const prefix = /[bBrRuU]{0,2}(?=['"])/y
    prefix.lastIndex = this.at
    const letters = prefix.exec(this.text)?.[0].toLowerCase()
    if (letters === undefined || !['', 'b', 'r', 'u', 'br', 'rb'].includes(letters)) throw new NotLiteral()
    this.at += letters.length
    const quote = this.text[this.at]!
    const long = this.text.startsWith(quote.repeat(3), this.at)
    const end = long ? quote.repeat(3) : quote
    this.at += end.length
    let out = ''
    while (!this.text.startsWith(end, this.at)) {
      const char = this.text[this.at]
      if (char === undefined || (!long && char === '\n')) throw new NotLiteral()
      if (char === '\\' && !letters.includes('r')) out += this.escape()
      else {
        out += char
        this.at++
        if (char === '\\') out += this.text[this.at++] ?? ''
      }
    }
    this.at += end.length
    return letters.includes('b') ? new Bytes(out) : out
  }

  escape(): string {
    const char = this.text[this.at + 1] ?? ''
    this.at += 2
    const simple = SIMPLE[char]
    if (simple !== undefined) return simple
    if (/[0-7]/.test(char)) {
      const octal = /^[0-7]{1,3}/.exec(this.text.slice(this.at - 1, this.at + 2))![0]
      this.at += octal.length - 1
      return String.fromCodePoint(Number.parseInt(octal, 8))
    }
    const digits = HEX_DIGITS[char]
    if (digits === undefined) return `\\${char}`
    const hex = this.text.slice(this.at, this.at + digits)
    if (hex.length !== digits || !/^[0-9a-fA-F]+$/.test(hex)) throw new NotLiteral()
    this.at += digits
    const code = Number.parseInt(hex, 16)
    if (code > 0x10ffff) throw new NotLiteral()
    return String.fromCodePoint(code)
  }
}

const SIMPLE: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

const smallest = (value: bigint): number | bigint =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= -BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
