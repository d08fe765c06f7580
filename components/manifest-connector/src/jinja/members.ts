// Attributes, items, slices, and the methods of texts, lists, dictionaries and dates. The table is fixed: nothing else can be reached.

import { ConnectorError, ValueError } from '../errors.ts'
import {
  asNumber,
  compare,
  type Dict,
  equals,
  getKey,
  isDict,
  isFloat,
  isInt,
  isNumber,
  PyFloat,
  pyRepr,
  pyStr,
  setKey,
  Tuple,
  truthy,
} from '../python/values.ts'
import { Duration, PyDate, PyDatetime, Timedelta, timestampValue } from '../time/datetime.ts'
import { isoWeek, strftime, weekday } from '../time/strftime.ts'
import { formatted, padded } from './operators.ts'
import { type Call, hasMembers, iterate, PyFunction, PyTypeError, type Run, Undefined } from './runtime.ts'

type Methods<T> = Readonly<Record<string, (self: T, args: readonly unknown[], named: Dict, run: Run) => unknown>>

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new PyTypeError(`must be str, not ${pyRepr(value).slice(0, 40)}`)
  return value
}
const integer = (value: unknown, otherwise: number): number =>
  value === undefined || value === null ? otherwise : asNumber(value)

function split(self: string, separator: unknown, max: number): string[] {
  if (separator === undefined || separator === null) {
    const words = self.trim().split(/\s+/).filter(Boolean)
    return max < 0 || words.length <= max + 1 ? words : [...words.slice(0, max), self.trim().split(/\s+/).slice(max).join(' ')]
  }
  const by = text(separator)
  if (by === '') throw new ValueError('empty separator')
  const parts = self.split(by)
  return max < 0 || parts.length <= max + 1 ? parts : [...parts.slice(0, max), parts.slice(max).join(by)]
}

function rsplit(self: string, separator: unknown, max: number): string[] {
  if (max < 0) return split(self, separator, -1)
  const parts = split(self, separator, -1)
  const by = separator === undefined || separator === null ? ' ' : text(separator)
  return parts.length <= max + 1 ? parts : [parts.slice(0, parts.length - max).join(by), ...(max > 0 ? parts.slice(-max) : [])]
}

function stripped(self: string, chars: unknown, start: boolean, end: boolean): string {
  const all = chars === undefined || chars === null ? undefined : new Set(text(chars))
  const strips = (char: string) => (all ? all.has(char) : /\s/.test(char))
  let from = 0
  let to = self.length
  while (start && from < to && strips(self[from]!)) from++
  while (end && to > from && strips(self[to - 1]!)) to--
  return self.slice(from, to)
}

export const capitalized = (self: string) => self.slice(0, 1).toUpperCase() + self.slice(1).toLowerCase()
const anyOf = (value: unknown, matches: (part: string) => boolean) =>
  Array.isArray(value) ? value.some((part) => matches(text(part))) : matches(text(value))

function replaced(self: string, args: readonly unknown[], run: Run): string {
  const [from, to, max = -1] = [text(args[0]), text(args[1]), args[2] === undefined ? -1 : asNumber(args[2])]
  const parts = self.split(from)
  run.grow(self.length + parts.length * to.length)
  if (max < 0) return parts.join(to)
  return parts.length <= max + 1 ? parts.join(to) : parts.slice(0, max + 1).join(to) + from + parts.slice(max + 1).join(from)
}

/** str.format without access to attributes of objects: names, numbers, and the simple part of the format language. */
function braceFormat(self: string, args: readonly unknown[], named: Dict, run: Run): string {
  let next = 0
  const out = self.replace(
    /\{\{|\}\}|\{(\w*)(?:!([rs]))?(?::([^{}]*))?\}/g,
    (all, name: string | undefined, how, spec: string | undefined) => {
      if (all === '{{') return '{'
      if (all === '}}') return '}'
      const value =
        name === '' || name === undefined ? args[next++] : /^\d+$/.test(name) ? args[Number(name)] : getKey(named, name)
      if (value === undefined) throw new ConnectorError('IndexError: Replacement index out of range')
      if (how === 'r') return pyRepr(value)
      const parts = /^([<>^])?([+0]*)(\d*)(?:\.(\d+))?([sdfxX]?)$/.exec(spec ?? '')
      if (!parts || !spec) return pyStr(value)
      const [, align, flags = '', width = '', precision, kind] = parts
      const type = kind || (isNumber(value) ? (precision === undefined ? 's' : 'f') : 's')
      const body = formatted(type, value, precision === undefined ? undefined : Number(precision), flags)
      return padded(body, align === '<' || (!align && !isNumber(value)) ? '-' : flags, Number(width || 0))
    },
  )
  run.grow(out.length)
  return out
}

const MAX_WIDTH = 10_000

const position = (found: number): number => {
  if (found < 0) throw new ValueError('substring not found')
  return found
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: separators of Python
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/
const titled = (s: string): string => s.replace(/[A-Za-z\u00c0-\uffff]+/g, capitalized)

/** The part of a text that a search looks at. */
function between(s: string, from: unknown, to: unknown): { readonly start: number; readonly inside: string } {
  const place = (given: unknown, otherwise: number): number => {
    const at = integer(given ?? otherwise, otherwise)
    return Math.min(at < 0 ? Math.max(0, s.length + at) : at, s.length)
  }
  const start = place(from, 0)
  return { start, inside: s.slice(start, place(to, s.length)) }
}

function found(s: string, [part, from, to]: readonly unknown[], find: (part: string, inside: string) => number): number {
  const { start, inside } = between(s, from, to)
  const at = find(text(part), inside)
  return at < 0 ? -1 : start + at
}

function expanded(s: string, size: number, run: Run): string {
  if (size > MAX_WIDTH) throw new ConnectorError(`The tab size ${size} is too large.`)
  run.grow(s.length + (s.split('\t').length - 1) * Math.max(size, 0))
  let column = 0
  let out = ''
  for (const character of s) {
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

/** `before`: how many of the missing characters go before the text. */
function filled(s: string, width: unknown, fill: unknown, before: (missing: number, whole: number) => number): string {
  const whole = integer(width, 0)
  const missing = whole - [...s].length
  const character = text(fill ?? ' ')
  if ([...character].length !== 1) throw new PyTypeError('The fill character must be exactly one character long')
  if (whole > MAX_WIDTH) throw new ConnectorError(`The field width ${whole} is too large.`)
  if (missing <= 0) return s
  const left = before(missing, whole)
  return character.repeat(left) + s + character.repeat(missing - left)
}

const STRING: Methods<string> = {
  split: (s, [by, max], named) => split(s, by ?? named.sep, integer(max ?? named.maxsplit, -1)),
  rsplit: (s, [by, max], named) => rsplit(s, by ?? named.sep, integer(max ?? named.maxsplit, -1)),
  splitlines: (s) => {
    const lines = s.split(LINE_END)
    if (lines.at(-1) === '') lines.pop()
    return lines
  },
  partition: (s, [by]) =>
    s.includes(text(by))
      ? Tuple.of(s.slice(0, s.indexOf(text(by))), by, s.slice(s.indexOf(text(by)) + text(by).length))
      : Tuple.of(s, '', ''),
  rpartition: (s, [by]) =>
    s.includes(text(by))
      ? Tuple.of(s.slice(0, s.lastIndexOf(text(by))), by, s.slice(s.lastIndexOf(text(by)) + text(by).length))
      : Tuple.of('', '', s),
  strip: (s, [chars]) => stripped(s, chars, true, true),
  lstrip: (s, [chars]) => stripped(s, chars, true, false),
  rstrip: (s, [chars]) => stripped(s, chars, false, true),
  lower: (s) => s.toLowerCase(),
  casefold: (s) => s.toLowerCase(),
  upper: (s) => s.toUpperCase(),
  capitalize: (s) => capitalized(s),
  title: (s) => titled(s),
  swapcase: (s) => [...s].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join(''),
  replace: (s, args, _named, run) => replaced(s, args, run),
  startswith: (s, [start, from]) => anyOf(start, (part) => s.startsWith(part, integer(from, 0))),
  endswith: (s, [end]) => anyOf(end, (part) => s.endsWith(part)),
  removeprefix: (s, [start]) => (s.startsWith(text(start)) ? s.slice(text(start).length) : s),
  removesuffix: (s, [end]) => (text(end) !== '' && s.endsWith(text(end)) ? s.slice(0, -text(end).length) : s),
  find: (s, args) => found(s, args, (part, inside) => inside.indexOf(part)),
  rfind: (s, args) => found(s, args, (part, inside) => inside.lastIndexOf(part)),
  index: (s, args) => position(found(s, args, (part, inside) => inside.indexOf(part))),
  rindex: (s, args) => position(found(s, args, (part, inside) => inside.lastIndexOf(part))),
  count: (s, [part, from, to]) => between(s, from, to).inside.split(text(part)).length - 1,
  expandtabs: (s, [size], _named, run) => expanded(s, integer(size, 8), run),
  join: (s, [items], _named, run) => {
    const parts = [...iterate(items)].map(text)
    const out = parts.join(s)
    run.grow(out.length)
    return out
  },
  format: (s, args, named, run) => braceFormat(s, args, named, run),
  zfill: (s, [width]) => padded(s, '0', integer(width, 0)),
  ljust: (s, [width, fill]) => filled(s, width, fill, () => 0),
  rjust: (s, [width, fill]) => filled(s, width, fill, (missing) => missing),
  center: (s, [width, fill]) => filled(s, width, fill, (missing, whole) => (missing >> 1) + (missing & whole & 1)),
  isdigit: (s) => /^\d+$/.test(s),
  isnumeric: (s) => /^\d+$/.test(s),
  isdecimal: (s) => /^\d+$/.test(s),
  isalpha: (s) => /^\p{L}+$/u.test(s),
  isalnum: (s) => /^[\p{L}\p{N}]+$/u.test(s),
  isspace: (s) => /^\s+$/.test(s),
  isascii: (s) => /^[\0-\x7f]*$/.test(s),
  istitle: (s) => /\p{L}/u.test(s) && s === titled(s),
  islower: (s) => s !== s.toUpperCase() && s === s.toLowerCase(),
  isupper: (s) => s !== s.toLowerCase() && s === s.toUpperCase(),
  encode: (s) => `b${pyRepr(s)}`,
  decode: (s) => s,
}

const DICT: Methods<Dict> = {
  get: (d, [key, otherwise = null]) => getKey(d, pyStr(key)) ?? (Object.hasOwn(d, pyStr(key)) ? null : otherwise),
  keys: (d) => Object.keys(d),
  values: (d) => Object.values(d),
  items: (d) => Object.entries(d).map(([key, value]) => Tuple.of<unknown>(key, value)),
  copy: (d) => ({ ...d }),
  clear: (d) => {
    for (const key of Object.keys(d)) delete d[key]
    return null
  },
  popitem: (d) => {
    const last = Object.entries(d).at(-1)
    if (!last) throw new ConnectorError("KeyError: 'popitem(): dictionary is empty'")
    delete d[last[0]]
    return Tuple.of<unknown>(...last)
  },
  update: (d, [other], named) => {
    for (const [key, value] of Object.entries({ ...(isDict(other) ? other : {}), ...named })) setKey(d, key, value)
    return null
  },
  pop: (d, [key, otherwise]) => {
    const value = getKey(d, pyStr(key))
    delete d[pyStr(key)]
    if (value === undefined && otherwise === undefined) throw new ConnectorError(`KeyError: ${pyRepr(key)}`)
    return value ?? otherwise
  },
  setdefault: (d, [key, value = null]) => {
    if (!Object.hasOwn(d, pyStr(key))) setKey(d, pyStr(key), value)
    return getKey(d, pyStr(key))
  },
}

const LIST: Methods<unknown[]> = {
  append: (l, [item], _named, run) => {
    run.step()
    l.push(item)
    return null
  },
  extend: (l, [items], _named, run) => {
    for (const item of [...iterate(items)]) {
      run.step()
      l.push(item)
    }
    return null
  },
  insert: (l, [at, item]) => {
    l.splice(integer(at, 0), 0, item)
    return null
  },
  index: (l, [item]) => position(l.findIndex((each) => equals(each, item))),
  count: (l, [item]) => l.filter((each) => equals(each, item)).length,
  pop: (l, [at]) => l.splice(integer(at, -1), 1)[0] ?? null,
  copy: (l) => [...l],
  clear: (l) => {
    l.length = 0
    return null
  },
  remove: (l, [item]) => {
    l.splice(position(l.findIndex((each) => equals(each, item))), 1)
    return null
  },
  reverse: (l) => {
    l.reverse()
    return null
  },
  sort: (l, _args, named) => {
    l.sort((a, b) => (compare(a, b) ?? 0) * (truthy(named.reverse) ? -1 : 1))
    return null
  },
}

/** Days from the year 1 to 1970. */
const UNIX_ORDINAL = 719_163

const DATETIME: Methods<PyDatetime> = {
  strftime: (d, [format]) => strftime(d, text(format)),
  isoformat: (d, [separator], named) => d.isoformat(text(separator ?? named.sep ?? 'T')),
  timestamp: (d) => timestampValue(d),
  date: (d) => d.date(),
  weekday: (d) => weekday(d.parts.days),
  isoweekday: (d) => weekday(d.parts.days) + 1,
  ctime: (d) => strftime(d, '%c'),
  toordinal: (d) => d.parts.days + UNIX_ORDINAL,
  astimezone: (d) => d.inUtc(),
  isocalendar: (d) => Tuple.of(isoWeek(d.parts.days).year, isoWeek(d.parts.days).week, weekday(d.parts.days) + 1),
  replace: (d, [y, m, dd], named) => replacedDate(d, { year: y, month: m, day: dd, ...named }),
}
const DATE: Methods<PyDate> = {
  strftime: (d, [format]) => strftime(d.midnight(), text(format)),
  isoformat: (d) => d.pyStr(),
  weekday: (d) => weekday(d.days),
  isoweekday: (d) => weekday(d.days) + 1,
  replace: (d, [y, m, dd], named) => replacedDate(d.midnight(), { year: y, month: m, day: dd, ...named }).date(),
}
const TIMEDELTA: Methods<Timedelta> = {
  total_seconds: (t) => (Number.isInteger(t.totalSeconds()) ? new PyFloat(t.totalSeconds()) : t.totalSeconds()),
}

function replacedDate(date: PyDatetime, fields: Dict): PyDatetime {
  const now = date.parts
  const field = (name: string, old: number) => integer(fields[name], old)
  const midnight = new PyDate(field('year', now.year), field('month', now.month), field('day', now.day)).midnight()
  const clock = field('hour', now.hour) * 3600 + field('minute', now.minute) * 60 + field('second', now.second)
  const naive = new PyDatetime(midnight.epoch + clock, field('microsecond', date.microsecond), null)
  return naive.withZone(fields.tzinfo === null ? null : date.offset)
}

const PARTS = new Set(['year', 'month', 'day', 'hour', 'minute', 'second'])

function methodOf<T>(methods: Methods<T>, self: T, name: string): PyFunction | undefined {
  if (!Object.hasOwn(methods, name)) return undefined
  const call: Call = (args, named, run) => methods[name]!(self, args, named, run)
  return new PyFunction(name, call)
}

/** What Python finds as an attribute; undefined when there is none. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value === 'string') return methodOf(STRING, value, name)
  if (Array.isArray(value)) return methodOf(LIST, value, name)
  if (value instanceof PyDatetime) {
    if (PARTS.has(name)) return value.parts[name as 'year']
    return name === 'microsecond' ? value.microsecond : methodOf(DATETIME, value, name)
  }
  if (value instanceof PyDate) return PARTS.has(name) ? value[name as 'year'] : methodOf(DATE, value, name)
  if (value instanceof Timedelta) {
    if (name === 'days' || name === 'seconds' || name === 'microseconds') return value[name]
    return methodOf(TIMEDELTA, value, name)
  }
  if (value instanceof Duration)
    return name === 'months' ? value.months % 12 : name === 'years' ? Math.trunc(value.months / 12) : undefined
  if (hasMembers(value)) return value.pyMember(name)
  if (isDict(value)) return methodOf(DICT, value, name)
  if (isFloat(value) && name === 'is_integer') return new PyFunction(name, () => value instanceof PyFloat)
  return undefined
}

function elementOf(value: unknown, key: unknown): unknown {
  if (Array.isArray(value) || typeof value === 'string') {
    if (typeof key === 'boolean' || isInt(key)) {
      const index = asNumber(key)
      const chars = typeof value === 'string' ? [...value] : value
      return index < 0 ? chars[chars.length + index] : chars[index]
    }
    return undefined
  }
  if (hasMembers(value)) {
    const get = value.pyMember('get')
    const absent = new Undefined('')
    const found = get instanceof PyFunction ? get.call([key, absent], {}, undefined as never) : undefined
    return found === absent ? undefined : found
  }
  return isDict(value) && (typeof key === 'string' || isNumber(key)) ? getKey(value, pyStr(key)) : undefined
}

const missing = (value: unknown, name: string) =>
  new Undefined(value === null ? `'None' has no attribute ${pyRepr(name)}` : `the object has no attribute ${pyRepr(name)}`)

export function attribute(value: unknown, name: string): unknown {
  if (value instanceof Undefined) return value.fail()
  const member = name.startsWith('__') ? undefined : memberOf(value, name)
  if (member !== undefined) return member
  const element = elementOf(value, name)
  return element === undefined ? missing(value, name) : element
}

export function item(value: unknown, key: unknown): unknown {
  if (value instanceof Undefined) return value.fail()
  const element = elementOf(value, key)
  if (element !== undefined) return element
  if (typeof key !== 'string') return missing(value, pyStr(key))
  return (key.startsWith('__') ? undefined : memberOf(value, key)) ?? missing(value, key)
}

export function slice(value: unknown, parts: readonly unknown[]): unknown {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'string' && !Array.isArray(value)) return missing(value, 'slice')
  const list = typeof value === 'string' ? [...value] : value
  const step = integer(parts[2], 1)
  if (step === 0) throw new ValueError('slice step cannot be zero')
  const length = list.length
  const bound = (part: unknown, otherwise: number, low: number, high: number) => {
    if (part === undefined || part === null) return otherwise
    const index = asNumber(part) < 0 ? asNumber(part) + length : asNumber(part)
    return Math.min(Math.max(index, low), high)
  }
  const from = step > 0 ? bound(parts[0], 0, 0, length) : bound(parts[0], length - 1, -1, length - 1)
  const to = step > 0 ? bound(parts[1], length, 0, length) : bound(parts[1], -1, -1, length - 1)
  const out: unknown[] = []
  for (let i = from; step > 0 ? i < to : i > to; i += step) out.push(list[i])
  return typeof value === 'string' ? out.join('') : value instanceof Tuple ? Tuple.of(...out) : out
}
