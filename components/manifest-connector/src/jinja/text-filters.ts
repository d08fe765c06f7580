// Jinja's filters of texts.

import { ConnectorError } from '../errors.ts'
import { pythonJson } from '../python/json.ts'
import { capitalized, isSpace, lines, trimmed, words } from '../python/text.ts'
import { compare, isDict, isPyObject, PyFloat, pyRepr, pyStr, Tuple, truthy } from '../python/values.ts'
import { textOf, whole } from './arguments.ts'
import { type Filters, listOf } from './filter.ts'
import { percentFormat } from './formats.ts'
import { escaped, plain } from './markup.ts'
import { attribute } from './members.ts'
import { hasMembers, isIterable, iterate, lengthOf, PyTypeError, type Run, typeName, Undefined } from './runtime.ts'
import { centered, replacedText } from './text-methods.ts'
import { wrapped } from './wrap.ts'

const quote = (text: string, safe: RegExp): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      safe.test(String.fromCharCode(byte)) && byte < 128
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')
const UNRESERVED = /[A-Za-z0-9_.~-]/
const UNRESERVED_AND_SLASH = /[A-Za-z0-9_.~/-]/
export const quotePlus = (text: string): string => quote(text, UNRESERVED).replaceAll('%20', '+')

function urlencoded(value: unknown, run: Run): string {
  if (typeof value === 'string' || !isIterable(value)) return quote(run.text(value), UNRESERVED_AND_SLASH)
  const pairs = isDict(value) ? Object.entries(value) : listOf(value, run).map(pairOf)
  return pairs.map(([key, member]) => `${quotePlus(run.text(key))}=${quotePlus(run.text(member))}`).join('&')
}

function pairOf(value: unknown): readonly [unknown, unknown] {
  const items = [...iterate(value)]
  if (items.length !== 2) throw new ConnectorError('ValueError: each item must be a pair')
  return [items[0], items[1]]
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  copy: '©',
  euro: '€',
  gt: '>',
  hellip: '…',
  ldquo: '“',
  lsquo: '‘',
  lt: '<',
  mdash: '—',
  nbsp: '\u00a0',
  ndash: '–',
  quot: '"',
  rdquo: '”',
  reg: '®',
  rsquo: '’',
}

/** Without the parts from each `open` to the next `close`. */
function without(text: string, open: string, close: string): string {
  let out = ''
  let from = 0
  for (;;) {
    const start = text.indexOf(open, from)
    const end = start < 0 ? -1 : text.indexOf(close, start)
    if (end < 0) return out + text.slice(from)
    out += text.slice(from, start)
    from = end + close.length
  }
}

const withoutTags = (text: string) =>
  words(without(without(text, '<!--', '-->'), '<', '>'), -1)
    .join(' ')
    .replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z]\w*));/g, (all, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) {
        const known = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined
        if (known === undefined) throw new ConnectorError(`striptags: the entity '${all}' is not supported.`)
        return known
      }
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
      if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return '\ufffd'
      return String.fromCodePoint(code)
    })

function indented(value: unknown, width: unknown, first: unknown, blank: unknown, run: Run): string {
  const indent = typeof width === 'string' ? width : ' '.repeat(Math.min(Math.max(0, whole(width)), 1000))
  if (value instanceof Undefined) value.fail()
  if (Array.isArray(value) && !(value instanceof Tuple))
    throw new ConnectorError("AttributeError: 'list' object has no attribute 'splitlines'")
  const all = lines(`${textOf(value)}\n`)
  run.grow(textOf(value).length + all.length * indent.length)
  const start = truthy(first) ? indent : ''
  if (truthy(blank)) return start + all.join(`\n${indent}`)
  const [head = '', ...rest] = all
  return start + [head, ...rest.map((line) => (line === '' ? line : indent + line))].join('\n')
}

function truncated(value: unknown, length: unknown, kills: unknown, end: unknown, leeway: unknown): unknown {
  const endLength = lengthOf(end)
  const slack = leeway === null ? 5 : leeway
  const order = compare(length, endLength)
  if (order === undefined) throw new PyTypeError(`'>=' not supported between instances of '${typeName(length)}' and 'int'`)
  if (order < 0) throw new ConnectorError(`AssertionError: expected length >= ${endLength}, got ${pyStr(length)}`)
  const enough = compare(slack, 0)
  if (enough === undefined) throw new PyTypeError(`'>=' not supported between instances of '${typeName(slack)}' and 'int'`)
  if (enough < 0) throw new ConnectorError(`AssertionError: expected leeway >= 0, got ${pyStr(slack)}`)
  const size = lengthOf(value)
  if (size <= Number(pyStr(length)) + Number(pyStr(slack))) return value
  if (Array.isArray(value) && !truthy(kills))
    throw new ConnectorError(`AttributeError: '${typeName(value)}' object has no attribute 'rsplit'`)
  const cut = [...textOf(value)].slice(0, whole(length) - endLength).join('')
  const at = truthy(kills) ? -1 : cut.lastIndexOf(' ')
  return (at < 0 ? cut : cut.slice(0, at)) + textOf(end)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: white space of Python
const TITLE_BREAK = /([-\s\x1c-\x1f\x85({[<]+)/

const titledWords = (text: string) =>
  text
    .split(TITLE_BREAK)
    .map((part) => {
      const [first = ''] = part
      return first.toUpperCase() + part.slice(first.length).toLowerCase()
    })
    .join('')

/** Refuses what has no JSON. */
function jsonReady(given: unknown): unknown {
  const value = plain(given)
  if (Array.isArray(value)) return value.map(jsonReady)
  if (value instanceof PyFloat) return value
  if (hasMembers(value) && isIterable(value))
    return Object.fromEntries([...iterate(value)].map((key) => [key, attribute(value, pyStr(key))]))
  if (isPyObject(value) || value instanceof Set)
    throw new PyTypeError(`Object of type ${typeName(value)} is not JSON serializable`)
  if (!isDict(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, jsonReady(member)]))
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (!isDict(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort((a, b) => compare(a, b)!)
      .map((key) => [key, withSortedKeys(value[key])]),
  )
}

function htmlJson(value: unknown, indent: unknown, run: Run): string {
  const step =
    indent === null ? undefined : typeof indent === 'string' ? indent : ' '.repeat(Math.min(Math.max(0, whole(indent)), 100))
  const text = pythonJson(withSortedKeys(jsonReady(value)), step).replace(
    /[<>&']/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  run.grow(text.length)
  return text
}

/** In quotes of Python, so that the conversion of the result leaves a text. */
const asString = (value: unknown): string => (typeof value === 'string' ? value : `"""${pythonJson(jsonReady(value))}"""`)

const MAX_PRINT = 80

function prettyPrinted(value: unknown): string {
  const text = pyRepr(withSortedKeys(value))
  if (text.length > MAX_PRINT && (typeof value === 'string' ? value.length > 1 : typeof value === 'object'))
    throw new ConnectorError(`pprint of a value of more than ${MAX_PRINT} characters is not supported.`)
  return text
}

function xmlAttributes(value: unknown, space: unknown): string {
  if (value instanceof Undefined) value.fail()
  if (!isDict(value)) throw new ConnectorError(`AttributeError: '${typeName(value)}' object has no attribute 'items'`)
  const all = Object.entries(value)
    .filter(([, member]) => member !== null && !(member instanceof Undefined))
    .map(([key, member]) => {
      if (/[\s/>=]/.test(key)) throw new ConnectorError(`ValueError: Invalid character in attribute name: ${pyRepr(key)}`)
      return `${escaped(key)}="${escaped(pyStr(member))}"`
    })
    .join(' ')
  return truthy(space) && all !== '' ? ` ${all}` : all
}

function trimmedOf(text: string, chars: unknown): string {
  if (chars === null) return trimmed(text, isSpace)
  if (typeof chars !== 'string') throw new PyTypeError('strip arg must be None or str')
  const set = new Set(chars)
  return trimmed(text, (char) => set.has(char))
}

const escaping: Filters[string] = ['', (v, _args, run) => escaped(run.text(v))]

export const TEXT_FILTERS: Filters = {
  capitalize: ['', (v, _args, run) => capitalized(run.text(v))],
  center: ['width?', (v, [width = 80], run) => centered(run.text(v), whole(width))],
  e: escaping,
  escape: escaping,
  forceescape: escaping,
  format: [
    '*',
    (v, args, run, named) => {
      const hasNames = Object.keys(named).length > 0
      if (args.length > 0 && hasNames)
        throw new ConnectorError("FilterArgumentError: can't handle positional and keyword arguments at the same time")
      return percentFormat(run.text(v), hasNames ? named : Tuple.of(...args), run)
    },
  ],
  indent: ['width? first? blank?', (v, [width = 4, first = false, blank = false], run) => indented(v, width, first, blank, run)],
  lower: ['', (v, _args, run) => run.text(v).toLowerCase()],
  pprint: ['', prettyPrinted],
  replace: [
    'old new count?',
    (v, [from, to, count = null], run) =>
      replacedText(run.text(v), pyStr(from), pyStr(to), count === null ? -1 : whole(count), run),
  ],
  safe: ['', (v, _args, run) => run.text(v)],
  string: ['', asString],
  striptags: ['', (v, _args, run) => withoutTags(run.text(v))],
  title: ['', (v, _args, run) => titledWords(run.text(v))],
  tojson: ['indent?', (v, [indent = null], run) => htmlJson(v, indent, run)],
  trim: ['chars?', (v, [chars = null], run) => trimmedOf(run.text(v), chars)],
  truncate: [
    'length? killwords? end? leeway?',
    (v, [length = 255, kills = false, end = '...', leeway = null]) => truncated(v, length, kills, end, leeway),
  ],
  upper: ['', (v, _args, run) => run.text(v).toUpperCase()],
  urlencode: ['', (v, _args, run) => urlencoded(v, run)],
  wordcount: ['', (v, _args, run) => run.text(v).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0],
  wordwrap: [
    'width? break_long_words? wrapstring? break_on_hyphens?',
    (v, [width = 79, breaksWords = true, sign = null, breaksHyphens = true], run) => {
      if (v instanceof Undefined) v.fail()
      if (typeof v !== 'string') throw new ConnectorError(`AttributeError: '${typeName(v)}' object has no attribute 'splitlines'`)
      const end = sign === null ? '\n' : textOf(sign)
      const parts = lines(v).map((line) => wrapped(line, whole(width), truthy(breaksWords), truthy(breaksHyphens)).join(end))
      run.grow(v.length + parts.length * end.length)
      return parts.join(end)
    },
  ],
  xmlattr: ['autospace?', (v, [space = true]) => xmlAttributes(v, space)],
}
