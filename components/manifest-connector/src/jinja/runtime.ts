// What templates are evaluated with: undefined values, functions, limits, and Python's errors.

import { ConnectorError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import { type Dict, equals, isDict, isFloat, isPyObject, type PyObject, pyRepr, pyStr, Tuple } from '../python/values.ts'
import type { PyDatetime } from '../time/datetime.ts'
import { Markup, plain } from './markup.ts'

/** A member of an undefined value was read. The caller uses its default. */
export class UndefinedError extends ConnectorError {
  constructor(message: string) {
    super(message)
    this.name = 'UndefinedError'
  }
}

/** Python's TypeError: the reference then takes the text of the template as it is. */
export class PyTypeError extends ConnectorError {
  constructor(message: string) {
    super(message)
    this.name = 'TypeError'
  }
}

class LimitError extends ConnectorError {
  constructor(message: string) {
    super(message)
    this.name = 'LimitError'
  }
}

export class Undefined implements PyObject {
  readonly hint: string
  constructor(hint: string) {
    this.hint = hint
  }
  fail(): never {
    throw new UndefinedError(this.hint)
  }
  pyStr(): string {
    return ''
  }
  pyRepr(): string {
    return 'Undefined'
  }
  pyTruth(): boolean {
    return false
  }
  pyEquals(other: unknown): boolean {
    return other instanceof Undefined
  }
}

export type Call = (args: readonly unknown[], named: Dict, run: Run) => unknown

export class PyFunction implements PyObject {
  readonly name: string
  readonly call: Call
  constructor(name: string, call: Call) {
    this.name = name
    this.call = call
  }
  pyStr(): string {
    throw new ConnectorError(`'${this.name}' is a function, which has no text. Add '()' to call it.`)
  }
  pyRepr(): string {
    return this.pyStr()
  }
}

/** What filters such as map and select give: values that are computed when they are taken, once. */
export class Lazy implements PyObject {
  readonly #filter: string
  readonly #values: Iterator<unknown>
  constructor(filter: string, values: Iterable<unknown>) {
    this.#filter = filter
    this.#values = values[Symbol.iterator]()
  }
  *[Symbol.iterator](): Generator<unknown, void> {
    for (let next = this.#values.next(); !next.done; next = this.#values.next()) yield next.value
  }
  pyStr(): string {
    throw new ConnectorError(`The filter '${this.#filter}' gives a generator, which has no text. Add '| list' or '| join'.`)
  }
  pyRepr(): string {
    return this.pyStr()
  }
}

/** The keys, values or items of a dictionary, as they are at the time. */
export class View implements PyObject {
  readonly kind: 'keys' | 'values' | 'items'
  readonly #of: Dict
  constructor(kind: View['kind'], of: Dict) {
    this.kind = kind
    this.#of = of
  }
  get length(): number {
    return Object.keys(this.#of).length
  }
  get list(): unknown[] {
    if (this.kind === 'keys') return Object.keys(this.#of)
    if (this.kind === 'values') return Object.values(this.#of)
    return Object.entries(this.#of).map(([key, value]) => Tuple.of<unknown>(key, value))
  }
  [Symbol.iterator](): Iterator<unknown> {
    return this.list[Symbol.iterator]()
  }
  pyStr(): string {
    return `dict_${this.kind}(${pyRepr(this.list)})`
  }
  pyRepr(): string {
    return this.pyStr()
  }
  pyTruth(): boolean {
    return this.length > 0
  }
  /** Keys and items are sets. */
  pyEquals(other: unknown): boolean {
    if (this === other) return true
    const others = other instanceof View && other.kind !== 'values' ? other.list : other instanceof Set ? [...other] : undefined
    if (this.kind === 'values' || others?.length !== this.length) return false
    return this.list.every((each) => others.some((its) => equals(each, its)))
  }
}

/** Objects whose members templates may read. */
export interface WithMembers {
  pyMember(name: string): unknown
}
export const hasMembers = (value: unknown): value is WithMembers =>
  typeof value === 'object' && value !== null && typeof (value as { pyMember?: unknown }).pyMember === 'function'

const MAX_STEPS = 1_000_000
const MAX_CALLS = 200
const MAX_OUTPUT = 16 * 1024 * 1024

/** One rendering: counts its steps and the size of what it builds. */
export class Run {
  readonly now: () => PyDatetime
  #steps = 0
  #size = 0
  #depth = 0
  constructor(now: () => PyDatetime) {
    this.now = now
  }
  step(count = 1): void {
    this.#steps += count
    if (this.#steps > MAX_STEPS) throw new LimitError(`The expression took more than ${MAX_STEPS} steps and was stopped.`)
  }
  grow(characters: number): void {
    this.#size += characters
    if (this.#size > MAX_OUTPUT) throw new LimitError(`The expression built more than ${MAX_OUTPUT} characters and was stopped.`)
  }
  /** Macros and recursive loops that call themselves. */
  nested<T>(work: () => T): T {
    this.step()
    if (++this.#depth > MAX_CALLS) throw new LimitError(`Macros or loops are nested deeper than ${MAX_CALLS} levels.`)
    const value = work()
    this.#depth--
    return value
  }
  text(value: unknown): string {
    const text = pyStr(value)
    this.grow(text.length)
    return text
  }
}

export const typeName = (value: unknown): string => {
  if (value === null) return 'NoneType'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'boolean') return 'bool'
  if (isFloat(value)) return 'float'
  if (typeof value === 'number' || typeof value === 'bigint') return 'int'
  if (Array.isArray(value)) return value instanceof Tuple ? 'tuple' : 'list'
  if (value instanceof View) return `dict_${value.kind}`
  if (value instanceof Set) return 'set'
  return isPyObject(value) ? (NAMES[value.constructor.name] ?? value.constructor.name) : 'dict'
}
const NAMES: Readonly<Record<string, string>> = {
  PyDatetime: 'datetime.datetime',
  PyDate: 'datetime.date',
  Timedelta: 'datetime.timedelta',
  Lazy: 'generator',
  Bytes: 'bytes',
}

export function isIterable(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof Undefined || value instanceof Bytes || value instanceof Markup) return true
  if (Array.isArray(value) || value instanceof Set || value instanceof Lazy || value instanceof View || isDict(value)) return true
  return hasMembers(value) && value.pyMember('keys') !== undefined
}

/** What a loop goes over. */
export function iterate(given: unknown): Iterable<unknown> {
  const value = plain(given)
  if (Array.isArray(value) || typeof value === 'string' || value instanceof Set) return value
  if (value instanceof Lazy || value instanceof View) return value
  if (value instanceof Bytes) return value.bytes
  if (value instanceof Undefined) return []
  if (hasMembers(value)) {
    const keys = value.pyMember('keys')
    if (keys instanceof PyFunction) return keys.call([], {}, undefined as never) as Iterable<unknown>
  }
  if (isDict(value)) return Object.keys(value)
  throw new PyTypeError(`'${typeName(value)}' object is not iterable`)
}

/** len() */
export function lengthOf(given: unknown): number {
  const value = plain(given)
  if (typeof value === 'string') return /[\ud800-\udfff]/.test(value) ? [...value].length : value.length
  if (Array.isArray(value) || value instanceof View) return value.length
  if (value instanceof Set) return value.size
  if (value instanceof Lazy || (!isIterable(value) && !(value instanceof Undefined)))
    throw new PyTypeError(`object of type '${typeName(value)}' has no len()`)
  return [...iterate(value)].length
}

/** reversed() of what has an order. */
export function backwards(value: unknown): unknown[] {
  if (value instanceof Set || value instanceof Lazy) throw new PyTypeError(`'${typeName(value)}' object is not reversible`)
  return [...iterate(value)].reverse()
}
