// The methods of texts and bytes.

import { ConnectorError, ValueError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import {
  capitalized,
  folded,
  isLower,
  isSpace,
  isTitle,
  isUpper,
  KINDS,
  lastWords,
  lines,
  swapped,
  titled,
  trimmed,
  words,
} from '../python/text.ts'
import { type Dict, isDict, isInt, pyStr, Tuple, truthy } from '../python/values.ts'
import { textOf, whole } from './arguments.ts'
import { type Methods, methodsOf } from './methods.ts'
import { iterate, PyTypeError, type Run, typeName } from './runtime.ts'

const MAX_WIDTH = 10_000

const isWide = (text: string) => /[\ud800-\udfff]/.test(text)
/** Of characters in UTF-16 as code points. */
const points = (text: string, at: number) => (isWide(text) ? [...text.slice(0, at)].length : at)

/** The part of a text between two positions, and where it starts. */
function between(text: string, from: unknown, to: unknown): { readonly start: number; readonly inside: string } {
  const chars = isWide(text) ? [...text] : text
  const place = (given: unknown, otherwise: number): number => {
    if (given === undefined || given === null) return otherwise
    if (typeof given !== 'boolean' && !isInt(given))
      throw new PyTypeError('slice indices must be integers or None or have an __index__ method')
    const at = whole(given)
    return at < 0 ? Math.max(0, chars.length + at) : at
  }
  const start = place(from, 0)
  const end = place(to, chars.length)
  const part = chars.slice(start, Math.max(start, end))
  return { start, inside: typeof part === 'string' ? part : part.join('') }
}

function found(text: string, [part, from, to]: readonly unknown[], find: (part: string, inside: string) => number): number {
  const wanted = textOf(part)
  const { start, inside } = between(text, from, to)
  if (start > points(text, text.length)) return -1
  const at = find(wanted, inside)
  return at < 0 ? -1 : start + points(inside, at)
}

const position = (at: number): number => {
  if (at < 0) throw new ValueError('substring not found')
  return at
}

function anyOf(parts: unknown, name: string, matches: (part: string) => boolean): boolean {
  if (parts instanceof Tuple) return parts.some((part) => matches(textOf(part)))
  if (typeof parts !== 'string') throw new PyTypeError(`${name} first arg must be str or a tuple of str, not ${typeName(parts)}`)
  return matches(parts)
}

/** An empty text stands before every character and at the end. */
export function replacedText(text: string, from: string, to: string, max: number, run: Run): string {
  const parts = from === '' ? ['', ...text, ''] : text.split(from)
  const count = max < 0 ? parts.length - 1 : Math.min(max, parts.length - 1)
  run.grow(text.length + count * to.length)
  if (from === '' && max > 0 && max < parts.length - 1)
    return to + parts.slice(1, max).join(to) + (max > 1 ? to : '') + parts.slice(max).join('')
  if (count === parts.length - 1) return parts.join(to)
  return count === 0 ? text : parts.slice(0, count + 1).join(to) + from + parts.slice(count + 1).join(from)
}

function separator(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined
  if (textOf(given) === '') throw new ValueError('empty separator')
  return given as string
}

function split(text: string, by: unknown, max: number): string[] {
  const sign = separator(by)
  if (sign === undefined) return words(text, max)
  const parts = text.split(sign)
  return max < 0 || parts.length <= max + 1 ? parts : [...parts.slice(0, max), parts.slice(max).join(sign)]
}

function splitFromEnd(text: string, by: unknown, max: number): string[] {
  const sign = separator(by)
  if (sign === undefined) return max < 0 ? words(text, -1) : lastWords(text, max)
  const parts = splitBackwards(text, sign)
  if (max < 0 || parts.length <= max + 1) return parts
  return [parts.slice(0, parts.length - max).join(sign), ...(max > 0 ? parts.slice(-max) : [])]
}

/** Differs for texts such as `aaa` split by `aa`. */
function splitBackwards(text: string, sign: string): string[] {
  const turned = (each: string) => [...each].reverse().join('')
  return turned(text).split(turned(sign)).map(turned).reverse()
}

function strips(chars: unknown): (char: string) => boolean {
  if (chars === undefined || chars === null) return isSpace
  if (typeof chars !== 'string') throw new PyTypeError('strip arg must be None or str')
  const set = new Set(chars)
  return (char) => set.has(char)
}

/** `before`: how many of the missing characters go before the text. */
function filled(text: string, width: number, fill: unknown, before: (missing: number, whole: number) => number): string {
  const character = fill === undefined ? ' ' : textOf(fill)
  if ([...character].length !== 1) throw new PyTypeError('The fill character must be exactly one character long')
  const missing = width - [...text].length
  if (missing <= 0) return text
  if (width > MAX_WIDTH) throw new ConnectorError(`The field width ${width} is too large.`)
  const left = before(missing, width)
  return character.repeat(left) + text + character.repeat(missing - left)
}

export const centered = (text: string, width: number, fill?: unknown): string =>
  filled(text, width, fill, (missing, all) => Math.floor(missing / 2) + (missing & all & 1))

function zeroFilled(text: string, width: number): string {
  const sign = /^[+-]/.exec(text)?.[0] ?? ''
  return sign + filled(text.slice(sign.length), width - sign.length, '0', (missing) => missing)
}

function expanded(text: string, size: number, run: Run): string {
  if (size > MAX_WIDTH) throw new ConnectorError(`The tab size ${size} is too large.`)
  run.grow(text.length + (text.split('\t').length - 1) * Math.max(size, 0))
  let column = 0
  let out = ''
  for (const character of text) {
    if (character === '\t') {
      const width = size > 0 ? size - (column % size) : 0
      out += ' '.repeat(width)
      column += width
    } else {
      out += character
      column = /[\n\r]/.test(character) ? 0 : column + 1
    }
  }
  return out
}

function partition(text: string, by: unknown, at: (sign: string) => number, isLast: boolean): Tuple {
  const sign = separator(textOf(by))!
  const from = at(sign)
  if (from >= 0) return Tuple.of(text.slice(0, from), sign, text.slice(from + sign.length))
  return isLast ? Tuple.of('', '', text) : Tuple.of(text, '', '')
}

/** Characters by their code points, as str.translate reads them. */
function translated(text: string, table: unknown): string {
  if (!isDict(table)) throw new ConnectorError('str.translate takes a dictionary here.')
  return [...text]
    .map((char) => {
      const key = String(char.codePointAt(0))
      if (!Object.hasOwn(table, key)) return char
      const to = table[key]
      if (to === null) return ''
      return isInt(to) ? String.fromCodePoint(Number(to)) : textOf(to)
    })
    .join('')
}

function translation([from, to, without]: readonly unknown[]): Dict {
  const table: Dict = {}
  const code = (char: string) => String(char.codePointAt(0))
  if (to === undefined) {
    if (!isDict(from)) throw new PyTypeError('if you give only one argument to maketrans it must be a dict')
    for (const [key, value] of Object.entries(from)) {
      if ([...key].length !== 1) throw new ValueError('string keys in translate table must be of length 1')
      table[code(key)] = value
    }
    return table
  }
  const [keys, values] = [[...textOf(from)], [...textOf(to)]]
  if (keys.length !== values.length) throw new ValueError('the first two maketrans arguments must have equal length')
  for (const [i, key] of keys.entries()) table[code(key)] = values[i]!.codePointAt(0)
  for (const char of without === undefined ? '' : textOf(without)) table[code(char)] = null
  return table
}

const ENCODINGS: Readonly<Record<string, BufferEncoding>> = {
  utf8: 'utf8',
  u8: 'utf8',
  ascii: 'ascii',
  usascii: 'ascii',
  latin1: 'latin1',
  iso88591: 'latin1',
}

function encodingOf(name: unknown): BufferEncoding {
  const encoding = ENCODINGS[(name === undefined ? 'utf8' : textOf(name)).toLowerCase().replace(/[-_ ]/g, '')]
  if (!encoding) throw new ConnectorError(`The encoding '${pyStr(name)}' is not supported. Use utf-8, ascii or latin-1.`)
  return encoding
}

function encoded(text: string, name: unknown): Bytes {
  const encoding = encodingOf(name)
  const limit = encoding === 'ascii' ? 0x7f : encoding === 'latin1' ? 0xff : 0x10ffff
  for (const char of text)
    if (char.codePointAt(0)! > limit) throw new ValueError(`'${encoding}' codec can't encode the character '${char}'`)
  return new Bytes(Buffer.from(text, encoding))
}

function decoded({ bytes }: Bytes, name: unknown): string {
  const encoding = encodingOf(name)
  try {
    if (encoding === 'utf8') return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ValueError("'utf-8' codec can't decode the bytes")
  }
  if (encoding === 'ascii' && bytes.some((byte) => byte > 127)) throw new ValueError("'ascii' codec can't decode the bytes")
  return Buffer.from(bytes).toString('latin1')
}

const METHODS: Methods<string> = {
  split: ['sep? maxsplit?', (s, [by, max = -1]) => split(s, by, whole(max))],
  rsplit: ['sep? maxsplit?', (s, [by, max = -1]) => splitFromEnd(s, by, whole(max))],
  splitlines: ['keepends?', (s, [keeps = false]) => lines(s, truthy(keeps))],
  partition: ['/ sep', (s, [by]) => partition(s, by, (sign) => s.indexOf(sign), false)],
  rpartition: ['/ sep', (s, [by]) => partition(s, by, (sign) => s.lastIndexOf(sign), true)],
  strip: ['/ chars?', (s, [chars]) => trimmed(s, strips(chars))],
  lstrip: ['/ chars?', (s, [chars]) => trimmed(s, strips(chars), true, false)],
  rstrip: ['/ chars?', (s, [chars]) => trimmed(s, strips(chars), false, true)],
  lower: ['', (s) => s.toLowerCase()],
  casefold: ['', (s) => folded(s)],
  upper: ['', (s) => s.toUpperCase()],
  capitalize: ['', (s) => capitalized(s)],
  title: ['', (s) => titled(s)],
  swapcase: ['', (s) => swapped(s)],
  replace: ['/ old new count?', (s, [from, to, max = -1], run) => replacedText(s, textOf(from), textOf(to), whole(max), run)],
  startswith: [
    '/ prefix start? end?',
    (s, [start, from, to]) => {
      const { inside } = between(s, from, to)
      return anyOf(start, 'startswith', (part) => inside.startsWith(part))
    },
  ],
  endswith: [
    '/ suffix start? end?',
    (s, [end, from, to]) => {
      const { inside } = between(s, from, to)
      return anyOf(end, 'endswith', (part) => inside.endsWith(part))
    },
  ],
  removeprefix: ['/ prefix', (s, [start]) => (s.startsWith(textOf(start)) ? s.slice(start.length) : s)],
  removesuffix: ['/ suffix', (s, [end]) => (textOf(end) !== '' && s.endsWith(end) ? s.slice(0, -end.length) : s)],
  find: ['/ sub start? end?', (s, args) => found(s, args, (part, inside) => inside.indexOf(part))],
  rfind: ['/ sub start? end?', (s, args) => found(s, args, (part, inside) => inside.lastIndexOf(part))],
  index: ['/ sub start? end?', (s, args) => position(found(s, args, (part, inside) => inside.indexOf(part)))],
  rindex: ['/ sub start? end?', (s, args) => position(found(s, args, (part, inside) => inside.lastIndexOf(part)))],
  count: [
    '/ sub start? end?',
    (s, [part, from, to]) => {
      const { start, inside } = between(s, from, to)
      if (start > points(s, s.length)) return 0
      return textOf(part) === '' ? [...inside].length + 1 : inside.split(part).length - 1
    },
  ],
  expandtabs: ['tabsize?', (s, [size = 8], run) => expanded(s, whole(size), run)],
  join: [
    '/ iterable',
    (s, [items], run) => {
      const out = [...iterate(items)].map(textOf).join(s)
      run.grow(out.length)
      return out
    },
  ],
  zfill: ['/ width', (s, [width]) => zeroFilled(s, whole(width))],
  ljust: ['/ width fill?', (s, [width, fill]) => filled(s, whole(width), fill, () => 0)],
  rjust: ['/ width fill?', (s, [width, fill]) => filled(s, whole(width), fill, (missing) => missing)],
  center: ['/ width fill?', (s, [width, fill]) => centered(s, whole(width), fill)],
  translate: ['/ table', (s, [table]) => translated(s, table)],
  maketrans: ['/ x y? z?', (_s, args) => translation(args)],
  encode: ['encoding? errors?', (s, [encoding]) => encoded(s, encoding)],
  islower: ['', (s) => isLower(s)],
  isupper: ['', (s) => isUpper(s)],
  istitle: ['', (s) => isTitle(s)],
  ...Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, ['', (s: string) => kind.test(s)] as const])),
}

export const textMethod = methodsOf(METHODS)

export const bytesMethod = methodsOf<Bytes>({
  decode: ['encoding? errors?', (b, [encoding]) => decoded(b, encoding)],
  hex: ['', ({ bytes }) => Buffer.from(bytes).toString('hex')],
})
