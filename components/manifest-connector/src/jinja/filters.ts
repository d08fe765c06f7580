// Jinja's filters and those that the format adds.

import { createHash, createHmac, getHashes } from 'node:crypto'
import { ConnectorError, ValueError } from '../errors.ts'
import { pythonJson } from '../python/json.ts'
import { asNumber, compare, type Dict, isDict, isNumber, pyRepr, pyStr, Tuple, toFloat, truthy } from '../python/values.ts'
import { attribute, capitalized, item } from './members.ts'
import { binary, percentFormat } from './operators.ts'
import { pythonRegExp } from './python-regexp.ts'
import { hasMembers, iterate, PyTypeError, type Run, Undefined } from './runtime.ts'
import { testOf } from './tests.ts'

export type Filter = (value: unknown, args: readonly unknown[], named: Dict, run: Run) => unknown

const list = (value: unknown, run: Run): unknown[] => {
  const items = [...iterate(value)]
  run.step(items.length)
  return items
}
const arg = (args: readonly unknown[], named: Dict, at: number, name: string): unknown => args[at] ?? named[name]

/** `a.b.0` as Jinja's attribute arguments read it. */
export function byPath(value: unknown, path: unknown): unknown {
  if (isNumber(path)) return item(value, path)
  return pyStr(path)
    .split('.')
    .reduce<unknown>((found, part) => item(found, /^\d+$/.test(part) ? Number(part) : part), value)
}

const hashOf = (name: unknown): string => {
  const hash = pyStr(name)
  if (!getHashes().includes(hash.toLowerCase().replace('sha3_', 'sha3-')))
    throw new ConnectorError(`No hashing function named ${hash}`)
  return hash.toLowerCase().replace('sha3_', 'sha3-')
}

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

function urlencode(value: unknown): string {
  if (typeof value === 'string' || !isDict(value)) {
    if (!Array.isArray(value)) return quote(pyStr(value), UNRESERVED_AND_SLASH)
    return value.map((pair) => `${quotePlus(pyStr(item(pair, 0)))}=${quotePlus(pyStr(item(pair, 1)))}`).join('&')
  }
  return Object.entries(value)
    .map(([key, member]) => `${quotePlus(key)}=${quotePlus(pyStr(member))}`)
    .join('&')
}

function toInt(value: unknown, otherwise: unknown, base: number): unknown {
  if (typeof value === 'string') {
    const digits = value.trim().replaceAll('_', '')
    if (base !== 10) {
      const parsed = Number.parseInt(digits.replace(/^0[xob]/i, ''), base)
      return Number.isNaN(parsed) ? otherwise : parsed
    }
    if (/^[+-]?\d+$/.test(digits)) return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits)
    const number = digits === '' ? Number.NaN : Number(digits)
    return Number.isFinite(number) ? Math.trunc(number) : otherwise
  }
  if (typeof value === 'bigint') return value
  if (typeof value === 'boolean' || isNumber(value))
    return Number.isFinite(asNumber(value)) ? Math.trunc(asNumber(value)) : otherwise
  return otherwise
}

function toFloatValue(value: unknown, otherwise: unknown): unknown {
  if (typeof value === 'string') {
    const number = value.trim() === '' ? Number.NaN : Number(value.trim().replaceAll('_', ''))
    return Number.isNaN(number) ? otherwise : toFloat(number)
  }
  return typeof value === 'boolean' || isNumber(value) ? toFloat(asNumber(value)) : otherwise
}

/** Half to even, as Python rounds. */
function round(value: number, precision: number, method: string): number {
  const factor = 10 ** precision
  if (method === 'ceil') return Math.ceil(value * factor) / factor
  if (method === 'floor') return Math.floor(value * factor) / factor
  if (precision > 0) return Number(value.toFixed(Math.min(precision, 100)))
  const scaled = value * factor
  const low = Math.floor(scaled)
  const rest = scaled - low
  return (rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low) / factor
}

const fold = (value: unknown, caseSensitive: boolean) =>
  typeof value === 'string' && !caseSensitive ? value.toLowerCase() : value

function sorted(items: unknown[], reverse: boolean, key: (item: unknown) => unknown): unknown[] {
  const keyed = items.map((each) => [key(each), each] as const)
  keyed.sort(([a], [b]) => {
    const order = compare(a, b)
    if (order === undefined) throw new PyTypeError('the items cannot be compared')
    return reverse ? -order : order
  })
  return keyed.map(([, each]) => each)
}

function extreme(sign: number): Filter {
  return (value, args, named, run) => {
    const by = named.attribute === undefined ? (each: unknown) => each : (each: unknown) => byPath(each, named.attribute)
    const all = sorted(list(value, run), sign < 0, (each) => fold(by(each), truthy(arg(args, named, 0, 'case_sensitive'))))
    return all.length === 0 ? new Undefined('No aggregated item, sequence was empty.') : all[0]
  }
}

/** select, reject, selectattr, rejectattr. */
function choosing(keeps: boolean, byAttribute: boolean): Filter {
  return (value, args, _named, run) => {
    const rest = byAttribute ? args.slice(1) : args
    const [name, ...values] = rest
    const test = name === undefined ? (each: unknown) => truthy(each) : (each: unknown) => testOf(pyStr(name))(each, values)
    return list(value, run).filter((each) => test(byAttribute ? byPath(each, args[0]) : each) === keeps)
  }
}

const map: Filter = (value, args, named, run) => {
  const items = list(value, run)
  if (named.attribute !== undefined)
    return items.map((each) => {
      const found = byPath(each, named.attribute)
      return found instanceof Undefined && named.default !== undefined ? named.default : found
    })
  const filter = filterOf(pyStr(args[0]))
  return items.map((each) => filter(each, args.slice(1), named, run))
}

const length: Filter = (value, _args, _named, run) => {
  if (typeof value === 'string') return [...value].length
  if (isNumber(value) || value === null || typeof value === 'boolean') throw new PyTypeError('object has no len()')
  return list(value, run).length
}

const chunks = (items: unknown[], size: number): unknown[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

function fileSize(bytes: number, binary: boolean): string {
  const base = binary ? 1024 : 1000
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`
  const units = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']
  const at = Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(base)) - 1)
  return `${(bytes / base ** (at + 1)).toFixed(1)} ${binary ? `${units[at]!.toUpperCase()}i` : units[at]}B`
}

const FILTERS: Readonly<Record<string, Filter>> = {
  abs: (v) => (isNumber(v) ? (compare(v, 0)! < 0 ? binary('*', v, -1, undefined as never) : v) : new Undefined('').fail()),
  // Members of objects are items, which this filter does not look at.
  attr: (v, [name]) => (isDict(v) ? new Undefined(`'dict object' has no attribute '${pyStr(name)}'`) : attribute(v, pyStr(name))),
  batch: (v, [size], _n, run) => chunks(list(v, run), Math.max(1, asNumber(size))),
  capitalize: (v, _a, _n, run) => capitalized(run.text(v)),
  center: (v, args, named, run) => {
    const text = run.text(v)
    const width = Math.min(100_000, asNumber(args[0] ?? named.width ?? 80))
    const room = Math.max(0, width - [...text].length)
    const left = Math.floor(room / 2) + (room & width & 1)
    return ' '.repeat(left) + text + ' '.repeat(room - left)
  },
  count: length,
  length,
  d: (v, args, named) => FILTERS.default!(v, args, named, undefined as never),
  default: (v, args, named) =>
    v instanceof Undefined || (truthy(args[1] ?? named.boolean) && !truthy(v))
      ? args.length > 0
        ? args[0]
        : (named.default_value ?? '')
      : v,
  dictsort: (v, _a, named, run) =>
    sorted(
      Object.entries(v as Dict).map(([key, member]) => Tuple.of<unknown>(key, member)),
      truthy(named.reverse),
      (pair) => fold(item(pair, 0), false),
    ).map((pair) => {
      run.step()
      return pair
    }),
  e: (v, _a, _n, run) => escaped(run.text(v)),
  escape: (v, _a, _n, run) => escaped(run.text(v)),
  filesizeformat: (v, args, named) => fileSize(asNumber(toFloatValue(v, 0)), truthy(arg(args, named, 0, 'binary'))),
  first: (v, _a, _n, run) => {
    const items = list(v, run)
    return items.length === 0 ? new Undefined('No first item, sequence was empty.') : items[0]
  },
  last: (v, _a, _n, run) => {
    const items = list(v, run)
    return items.length === 0 ? new Undefined('No last item, sequence was empty.') : items.at(-1)
  },
  float: (v, args, named) => toFloatValue(v, arg(args, named, 0, 'default') ?? toFloat(0)),
  format: (v, args, named, run) => percentFormat(pyStr(v), args.length > 0 ? Tuple.of(...args) : named, run),
  groupby: (v, args, named, run) => {
    const by = args[0] ?? named.attribute
    const groups = new Map<string, [unknown, unknown[]]>()
    for (const each of sorted(list(v, run), false, (x) => byPath(x, by))) {
      const key = byPath(each, by)
      const group = groups.get(pyRepr(key)) ?? [key, []]
      group[1].push(each)
      groups.set(pyRepr(key), group)
    }
    return [...groups.values()].map(([key, members]) => Tuple.of<unknown>(key, members))
  },
  indent: (v, args, named, run) => {
    const blanks = ' '.repeat(Math.min(1000, asNumber(args[0] ?? named.width ?? 4)))
    return run.text(v).replace(/\n(?!$)/g, `\n${blanks}`)
  },
  int: (v, args, named) => toInt(v, arg(args, named, 0, 'default') ?? 0, asNumber(arg(args, named, 1, 'base') ?? 10)),
  items: (v) => (v instanceof Undefined ? [] : Object.entries(v as Dict).map(([key, member]) => Tuple.of<unknown>(key, member))),
  join: (v, args, named, run) => {
    const by = arg(args, named, 1, 'attribute')
    const out = list(v, run)
      .map((each) => pyStr(by === undefined ? each : byPath(each, by)))
      .join(pyStr(arg(args, named, 0, 'd') ?? ''))
    run.grow(out.length)
    return out
  },
  list: (v, _a, _n, run) => list(v, run),
  lower: (v, _a, _n, run) => run.text(v).toLowerCase(),
  upper: (v, _a, _n, run) => run.text(v).toUpperCase(),
  map,
  max: extreme(-1),
  min: extreme(1),
  pprint: (v) => pyRepr(v),
  random: (v, _a, _n, run) => {
    const items = list(v, run)
    return items.length === 0
      ? new Undefined('No random item, sequence was empty.')
      : items[Math.floor(Math.random() * items.length)]
  },
  reject: choosing(false, false),
  rejectattr: choosing(false, true),
  select: choosing(true, false),
  selectattr: choosing(true, true),
  replace: (v, [from, to, count], _n, run) => {
    const parts = run.text(v).split(pyStr(from))
    run.grow(parts.length * pyStr(to).length)
    const max = count === undefined || count === null ? parts.length : asNumber(count)
    return (
      parts.slice(0, max + 1).join(pyStr(to)) +
      (parts.length > max + 1 ? pyStr(from) + parts.slice(max + 1).join(pyStr(from)) : '')
    )
  },
  reverse: (v, _a, _n, run) => (typeof v === 'string' ? [...v].reverse().join('') : list(v, run).reverse()),
  round: (v, args, named) =>
    toFloat(
      round(asNumber(v), asNumber(arg(args, named, 0, 'precision') ?? 0), pyStr(arg(args, named, 1, 'method') ?? 'common')),
    ),
  safe: (v) => v,
  slice: (v, [count], _n, run) => {
    const items = list(v, run)
    const n = Math.max(1, asNumber(count))
    const [size, longer] = [Math.floor(items.length / n), items.length % n]
    const startOf = (i: number) => i * size + Math.min(i, longer) // the first ones take what is left over
    return Array.from({ length: Math.min(n, 10_000) }, (_, i) => items.slice(startOf(i), startOf(i + 1)))
  },
  sort: (v, args, named, run) => {
    const by = arg(args, named, 2, 'attribute')
    const caseSensitive = truthy(arg(args, named, 1, 'case_sensitive'))
    return sorted(list(v, run), truthy(arg(args, named, 0, 'reverse')), (each) =>
      fold(by === undefined ? each : byPath(each, by), caseSensitive),
    )
  },
  striptags: (v, _a, _n, run) =>
    run
      .text(v)
      .replace(/<!--[\s\S]*?-->|<[^>]*>/g, '')
      .split(/\s+/)
      .filter(Boolean)
      .join(' '),
  sum: (v, args, named, run) =>
    list(v, run).reduce(
      (total, each) =>
        binary(
          '+',
          total,
          named.attribute === undefined && args[0] === undefined ? each : byPath(each, arg(args, named, 0, 'attribute')),
          run,
        ),
      arg(args, named, 1, 'start') ?? 0,
    ),
  title: (v, _a, _n, run) => run.text(v).replace(/[^\s\-([{<]+/g, capitalized),
  tojson: (v, _a, _n, run) => {
    const text = pythonJson(withSortedKeys(v)).replace(/[<>&']/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    run.grow(text.length)
    return text
  },
  trim: (v, [chars], _n, run) => {
    const text = run.text(v)
    if (chars === undefined || chars === null) return text.trim()
    const set = new Set(pyStr(chars))
    let from = 0
    let to = text.length
    while (from < to && set.has(text[from]!)) from++
    while (to > from && set.has(text[to - 1]!)) to--
    return text.slice(from, to)
  },
  truncate: (v, args, named, run) => {
    const text = run.text(v)
    const size = asNumber(arg(args, named, 0, 'length') ?? 255)
    const end = pyStr(arg(args, named, 2, 'end') ?? '...')
    if (text.length <= size + asNumber(arg(args, named, 3, 'leeway') ?? 5)) return text
    const cut = text.slice(0, Math.max(0, size - end.length))
    return (truthy(arg(args, named, 1, 'killwords')) ? cut : cut.replace(/\s+\S*$/, '')) + end
  },
  unique: (v, args, named, run) => {
    const by = arg(args, named, 1, 'attribute')
    const seen = new Set<string>()
    return list(v, run).filter((each) => {
      const key = pyRepr(fold(by === undefined ? each : byPath(each, by), truthy(arg(args, named, 0, 'case_sensitive'))))
      return seen.has(key) ? false : seen.add(key)
    })
  },
  urlencode,
  wordcount: (v, _a, _n, run) => run.text(v).match(/\w+/g)?.length ?? 0,

  // The format's own.
  hash: (v, args, named) => {
    const hash = createHash(hashOf(arg(args, named, 0, 'hash_type') ?? 'md5')).update(pyStr(v))
    const salt = arg(args, named, 1, 'salt')
    return (truthy(salt) ? hash.update(pyStr(salt)) : hash).digest('hex')
  },
  hmac: (v, args, named) => {
    const hash = pyStr(arg(args, named, 1, 'hash_type') ?? 'sha256')
    if (hash !== 'sha256') throw new ValueError(`Hash type '${hash}' is not allowed. Allowed types: sha256`)
    return createHmac(hash, pyStr(arg(args, named, 0, 'key')))
      .update(pyStr(v))
      .digest('hex')
  },
  base64encode: (v) => Buffer.from(textOnly(v)).toString('base64'),
  base64decode: (v) => decodedBase64(textOnly(v)),
  // The reference encodes here, despite its name.
  base64binascii_decode: (v) => {
    const text = textOnly(v)
    if (Buffer.byteLength(text) !== text.length) throw new ValueError('base64binascii_decode: the text is not ASCII.')
    return Buffer.from(text).toString('base64')
  },
  // In quotes of Python, so that the conversion of the result leaves a text.
  string: (v) => {
    if (typeof v === 'string') return v
    if (v instanceof Undefined) throw new PyTypeError('an undefined value has no JSON')
    return `"""${pythonJson(plain(v))}"""`
  },
  regex_search: (v, args, named) => {
    const match = pythonRegExp(pyStr(arg(args, named, 0, 'regex'))).exec(textOnly(v))
    return match && match.length > 1 ? (match[1] ?? null) : ''
  },
  regex_replace: (v, args, named, run) => {
    const replacement = pyStr(arg(args, named, 1, 'replacement'))
    const text = pythonRegExp(pyStr(arg(args, named, 0, 'regex'))).replace(textOnly(v), (match) => replaced(replacement, match))
    run.grow(text.length)
    return text
  },
}

/** Python's replacement text: \\1, \\g<1> and \\g<name> stand for groups. */
function replaced(replacement: string, match: RegExpExecArray): string {
  return replacement.replace(
    /\\(?:g<(\w+)>|(\d{1,2})|(.))/gs,
    (_, name: string | undefined, digits: string | undefined, other: string) => {
      if (name === undefined && digits === undefined) return ESCAPES[other] ?? `\\${other}`
      const group = name ?? digits!
      return (/^\d+$/.test(group) ? match[Number(group)] : match.groups?.[group]) ?? ''
    },
  )
}
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\' }

/** As Python decodes: other characters are passed over, the padding must be whole, the result is UTF-8. */
function decodedBase64(text: string): string {
  const digits = text.replace(/[^A-Za-z0-9+/=]/g, '')
  if (digits.length % 4 !== 0) throw new ValueError('base64decode: incorrect padding.')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(digits, 'base64'))
  } catch (cause) {
    throw new ConnectorError('base64decode: the result is not UTF-8.', cause)
  }
}

const plain = (value: unknown): unknown =>
  hasMembers(value) ? Object.fromEntries([...iterate(value)].map((key) => [key, item(value, key)])) : value

function textOnly(value: unknown): string {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'string') throw new PyTypeError('a text is expected')
  return value
}

const escaped = (text: string) =>
  text.replace(/[&<>'"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' })[c]!)

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (!isDict(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, withSortedKeys(value[key])]),
  )
}

export function filterOf(name: string): Filter {
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
  if (!filter) throw new ConnectorError(`No filter named '${name}'.`)
  return filter
}
