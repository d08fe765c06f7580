// What templates are evaluated with: undefined values, functions, limits, and Python's errors.

import { ConnectorError } from '../errors.ts'
import { type Dict, isPyObject, type PyObject, pyStr } from '../python/values.ts'
import type { PyDatetime } from '../time/datetime.ts'

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
    return `<function ${this.name}>`
  }
  pyRepr(): string {
    return this.pyStr()
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
  if (typeof value === 'number' || typeof value === 'bigint') return Number.isInteger(Number(value)) ? 'int' : 'float'
  if (Array.isArray(value)) return 'list'
  return isPyObject(value) ? (value as object).constructor.name : 'dict'
}

/** What a loop goes over. */
export function iterate(value: unknown): Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return value
  if (typeof value === 'string') return value
  if (value instanceof Undefined) return []
  if (hasMembers(value)) {
    const keys = value.pyMember('keys')
    if (keys instanceof PyFunction) return keys.call([], {}, undefined as never) as Iterable<unknown>
  }
  if (typeof value === 'object' && value !== null && !isPyObject(value)) return Object.keys(value)
  throw new PyTypeError(`'${typeName(value)}' object is not iterable`)
}
