// Attributes, items and slices. The tables are fixed: nothing else can be reached.

import { ConnectorError, ValueError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import { asNumber, type Dict, getKey, isDict, isInt, isNumber, pyRepr, pyStr, Tuple } from '../python/values.ts'
import { Duration, PyDate, PyDatetime, Timedelta } from '../time/datetime.ts'
import { dictMethod, listMethod, tupleMethod } from './collection-methods.ts'
import { dateMember, datetimeMember, Named, spanMember } from './date-methods.ts'
import { braceFormat } from './formats.ts'
import { escapedArguments, escapedValue, Markup, marked, plain } from './markup.ts'
import { numberMember } from './number-methods.ts'
import { hasMembers, PyFunction, PyTypeError, typeName, Undefined } from './runtime.ts'
import { bytesMethod, textMethod } from './text-methods.ts'

function formatMethod(format: string, name: string): PyFunction | undefined {
  const lookup = { attribute, item }
  if (name === 'format') return new PyFunction(name, (args, named, run) => braceFormat(format, args, named, run, lookup))
  if (name !== 'format_map') return undefined
  return new PyFunction(name, (args, named, run) => {
    if (args.length !== 1 || Object.keys(named).length > 0) throw new PyTypeError('format_map() takes exactly one argument')
    const [mapping] = args
    if (!isDict(mapping)) throw new ConnectorError('format_map() takes a dictionary here.')
    return braceFormat(format, [], mapping, run, lookup)
  })
}

/** Methods whose texts are not marked. */
const UNMARKED = new Set(['encode', 'maketrans'])

function markedMethod({ text }: Markup, name: string): PyFunction | undefined {
  const method = formatMethod(text, name) ?? textMethod(text, name)
  if (!method || UNMARKED.has(name)) return method
  return new PyFunction(name, (args, named, run) =>
    marked(method.call(escapedArguments(name, args), name === 'format' ? (escapedValue(named) as Dict) : named, run)),
  )
}

/** What Python finds as an attribute; undefined when there is none. */
export function memberOf(value: unknown, name: string): unknown {
  if (value instanceof Markup) return markedMethod(value, name)
  if (typeof value === 'string') return formatMethod(value, name) ?? textMethod(value, name)
  if (typeof value === 'boolean' || isNumber(value)) return numberMember(value, name)
  if (value instanceof Tuple) {
    const at = value instanceof Named ? value.names.indexOf(name) : -1
    return at >= 0 ? value[at] : tupleMethod(value, name)
  }
  if (Array.isArray(value)) return listMethod(value, name)
  if (value instanceof PyDatetime) return datetimeMember(value, name)
  if (value instanceof PyDate) return dateMember(value, name)
  if (value instanceof Timedelta || value instanceof Duration) return spanMember(value, name)
  if (value instanceof Bytes) return bytesMethod(value, name)
  if (hasMembers(value)) return value.pyMember(name)
  return isDict(value) ? dictMethod(value, name) : undefined
}

function elementOf(value: unknown, given: unknown): unknown {
  const key = plain(given)
  if (value instanceof Markup) return marked(elementOf(value.text, key))
  if (Array.isArray(value) || typeof value === 'string' || value instanceof Bytes) {
    if (typeof key !== 'boolean' && !isInt(key)) return undefined
    const index = asNumber(key)
    const chars = typeof value === 'string' ? [...value] : value instanceof Bytes ? value.bytes : value
    return index < 0 ? chars[chars.length + index] : chars[index]
  }
  if (hasMembers(value)) {
    const get = value.pyMember('get')
    const absent = new Undefined('')
    const found = get instanceof PyFunction ? get.call([key, absent], {}, undefined as never) : undefined
    return found === absent ? undefined : found
  }
  return isDict(value) &&
    (typeof key === 'string' || isNumber(key) || typeof key === 'boolean' || key === null || key instanceof Tuple)
    ? getKey(value, pyStr(key))
    : undefined
}

const missing = (value: unknown, name: string) =>
  new Undefined(value === null ? `'None' has no attribute ${pyRepr(name)}` : `the object has no attribute ${pyRepr(name)}`)

export function attribute(value: unknown, name: string): unknown {
  if (value instanceof Undefined) return value.fail()
  const member = name.startsWith('_') && !hasMembers(value) ? undefined : memberOf(value, name)
  if (member !== undefined) return member
  const element = elementOf(value, name)
  return element === undefined ? missing(value, name) : element
}

export function item(value: unknown, key: unknown): unknown {
  if (value instanceof Undefined) return value.fail()
  const element = elementOf(value, key)
  if (element !== undefined) return element
  if (typeof key !== 'string') return missing(value, key instanceof Undefined ? '' : typeName(key))
  return (key.startsWith('__') ? undefined : memberOf(value, key)) ?? missing(value, key)
}

const MAX_INDEX = Number.MAX_SAFE_INTEGER

/** Positions of a slice: whole numbers, or nothing. */
function bound(part: unknown): number | undefined {
  if (part === undefined || part === null) return undefined
  if (typeof part !== 'boolean' && !isInt(part))
    throw new PyTypeError('slice indices must be integers or None or have an __index__ method')
  return Math.min(Math.max(asNumber(part), -MAX_INDEX), MAX_INDEX)
}

export function slice(value: unknown, parts: readonly unknown[]): unknown {
  if (value instanceof Markup) return marked(slice(value.text, parts))
  if (value instanceof Undefined) return value.fail()
  const list = typeof value === 'string' ? [...value] : value instanceof Bytes ? [...value.bytes] : value
  if (!Array.isArray(list)) throw new PyTypeError(`'${typeName(value)}' object is not subscriptable`)
  const { length } = list
  const step = bound(parts[2]) ?? 1
  if (step === 0) throw new ValueError('slice step cannot be zero')
  const [from, to] = [bound(parts[0]), bound(parts[1])]
  const place = (at: number | undefined, otherwise: number, low: number, high: number) =>
    at === undefined ? otherwise : Math.min(Math.max(at < 0 ? at + length : at, low), high)
  const start = step > 0 ? place(from, 0, 0, length) : place(from, length - 1, -1, length - 1)
  const end = step > 0 ? place(to, length, 0, length) : place(to, -1, -1, length - 1)
  const out: unknown[] = []
  for (let i = start; step > 0 ? i < end : i > end; i += step) out.push(list[i])
  if (typeof value === 'string') return out.join('')
  if (value instanceof Bytes) return new Bytes(Uint8Array.from(out as number[]))
  return value instanceof Tuple ? Tuple.of(...out) : out
}

/** `a.b.0` as Jinja's attribute arguments read it. */
export function pathOf(path: unknown): (value: unknown, otherwise?: unknown) => unknown {
  const parts =
    path === null || path === undefined
      ? []
      : typeof path === 'string'
        ? path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
        : [path]
  return (value, otherwise) => {
    let found = value
    for (const part of parts) {
      found = item(found, part)
      if (found instanceof Undefined && otherwise !== undefined && otherwise !== null) found = otherwise
    }
    return found
  }
}
