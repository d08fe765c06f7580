// Python's ast.literal_eval: the literals of the language, nothing else.

import { Bytes } from './bytes.ts'
import { type Dict, isDict, PyFloat, pyStr, setKey, Tuple, toFloat } from './values.ts'

/** Texts that cannot be a literal are recognised by their first character, which most results are. */
const MAY_BE_LITERAL = /^[\s]*[-+0-9.'"[({TFNbBrRuU#\\s]/
const MAX_DEPTH = 100
const MAX_LENGTH = 1_000_000

export const NO_LITERAL = Symbol('no literal')

export function literal(text: string): unknown {
  if (!MAY_BE_LITERAL.test(text) || text.length > MAX_LENGTH) return NO_LITERAL
  if (/^[A-Za-z]/.test(text) && !/^(?:True|False|None)(?!\w)|^set\(|^[bBrRuU]{1,2}['"]/.test(text)) return NO_LITERAL
  try {
    return new Reader(text).whole()
  } catch (error) {
    if (error instanceof NotLiteral) return NO_LITERAL
    throw error
  }
}

class NotLiteral extends Error {}

const LEAD = /[ \t]*(?:[ \t\f]*(?:#[^\n\r]*)?(?:\r\n|[\n\r]))*/y
const EMPTY_SET = /set[ \t]*\([ \t]*\)/y
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
    // literal_eval strips leading blanks. Empty lines and comments may follow; other leading white space is an indentation error.
    LEAD.lastIndex = 0
    LEAD.exec(this.text)
    this.at = LEAD.lastIndex
    if (/[\n\r]/.test(this.text.slice(0, this.at)) && /[ \t]/.test(this.text[this.at] ?? '')) throw new NotLiteral()
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
      if (char === '\\' && /[\n\r]/.test(this.text[this.at + 1] ?? ''))
        this.at += this.text.startsWith('\r\n', this.at + 1) ? 3 : 2
      else if (char === ' ' || char === '\t' || char === '\f' || (all && (char === '\n' || char === '\r'))) this.at++
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
    EMPTY_SET.lastIndex = this.at
    if (EMPTY_SET.test(this.text)) {
      this.at = EMPTY_SET.lastIndex
      return new Set()
    }
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
      } else {
        if ((Array.isArray(key) && !(key instanceof Tuple)) || key instanceof Set || isDict(key)) throw new NotLiteral()
        set.add(key)
      }
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
    const value = this.signless()
    if (sign === '+') return value
    return value instanceof PyFloat ? new PyFloat(-value.value) : -(value as number)
  }

  /** A number after its sign, of which there is one only; it may stand in brackets. */
  signless(): unknown {
    if (this.text[this.at] !== '(') return this.number()
    this.enter()
    const value = this.signless()
    this.blanks()
    if (this.text[this.at] !== ')') throw new NotLiteral()
    this.at++
    this.depth--
    return value
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
    if (!/^\.?\d/.test(found)) throw new NotLiteral()
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

  /** Neighbouring texts are one, and neighbouring bytes; not a text and bytes. */
  strings(): unknown {
    let out = ''
    let isBytes: boolean | undefined
    for (;;) {
      const part = this.string()
      if (isBytes !== undefined && isBytes !== part.isBytes) throw new NotLiteral()
      isBytes = part.isBytes
      out += part.text
      const from = this.at
      this.blanks()
      if (!/['"bBrRuU]/.test(this.text[this.at] ?? '')) {
        this.at = from
        return isBytes ? new Bytes(Buffer.from(out, 'latin1')) : out
      }
    }
  }

  string(): { readonly text: string; readonly isBytes: boolean } {
    const prefix = /[bBrRuU]{0,2}(?=['"])/y
    prefix.lastIndex = this.at
    const letters = prefix.exec(this.text)?.[0].toLowerCase()
    if (letters === undefined || !['', 'b', 'r', 'u', 'br', 'rb'].includes(letters)) throw new NotLiteral()
    const from = this.at
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
    const isBytes = letters.includes('b')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes are written in ASCII
    if (isBytes && /[^\x00-\x7f]/.test(this.text.slice(from, this.at))) throw new NotLiteral()
    return { text: out, isBytes }
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
    if (char === 'N') throw new NotLiteral() // names of characters are not known here
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
