// Python's operators.

import { ConnectorError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import { flooredModulo, flooredQuotient, power, quotient, smallest } from '../python/numbers.ts'
import { asNumber, compare, equals, isDict, isInt, isNumber, Tuple, toFloat } from '../python/values.ts'
import { Duration, PyDate, PyDatetime, Timedelta } from '../time/datetime.ts'
import { hashable } from './collection-methods.ts'
import { percentFormat } from './formats.ts'
import { escapedValue, joined, Markup, marked, plain } from './markup.ts'
import { hasMembers, iterate, PyTypeError, type Run, typeName, Undefined, View } from './runtime.ts'

/** Python writes no integer of more than 4,300 digits; larger ones only take time. */
const MAX_BITS = 65_536
const LARGEST = 1n << BigInt(MAX_BITS)

function bounded(value: bigint): number | bigint {
  if (value > LARGEST || value < -LARGEST) throw new ConnectorError('The integer is too large.')
  return smallest(value)
}

const asInt = (value: unknown): unknown => (typeof value === 'boolean' ? (value ? 1 : 0) : value)

/** Larger integers are no floats. */
function finite(value: unknown): number {
  const number = asNumber(value)
  if (typeof value === 'bigint' && !Number.isFinite(number))
    throw new ConnectorError('OverflowError: int too large to convert to float')
  return number
}

function arithmetic(operator: string, left: unknown, right: unknown): unknown {
  const a = asInt(left)
  const b = asInt(right)
  if (!isNumber(a) || !isNumber(b)) return undefined
  if (isInt(a) && isInt(b) && operator !== '/') return integers(operator, a, b)
  if (operator === '/' && isInt(a) && isInt(b) && (typeof a === 'bigint' || typeof b === 'bigint') && b !== 0)
    return toFloat(quotient(BigInt(a), BigInt(b)))
  const [x, y] = [finite(a), finite(b)]
  if (y === 0 && (operator === '/' || operator === '//' || operator === '%'))
    throw new ConnectorError('ZeroDivisionError: division by zero')
  switch (operator) {
    case '+':
      return toFloat(x + y)
    case '-':
      return toFloat(x - y)
    case '*':
      return toFloat(x * y)
    case '/':
      return toFloat(x / y)
    case '//':
      return toFloat(flooredQuotient(x, y))
    case '%':
      return toFloat(flooredModulo(x, y))
    default:
      return power(x, y)
  }
}

function fast(operator: string, a: number, b: number): number | undefined {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '//':
      return Math.floor(a / b)
    case '%':
      return a - b * Math.floor(a / b)
    default:
      return b >= 0 ? a ** b : undefined
  }
}

function integers(operator: string, a: number | bigint, b: number | bigint): unknown {
  if ((operator === '//' || operator === '%') && (b === 0 || b === 0n))
    throw new ConnectorError('ZeroDivisionError: integer division or modulo by zero')
  if (typeof a === 'number' && typeof b === 'number') {
    const result = fast(operator, a, b)
    if (result !== undefined && Number.isSafeInteger(result)) return result + 0
  }
  const [x, y] = [BigInt(a), BigInt(b)]
  const floor = () => x / y - (x % y !== 0n && x < 0n !== y < 0n ? 1n : 0n)
  switch (operator) {
    case '+':
      return bounded(x + y)
    case '-':
      return bounded(x - y)
    case '*':
      return bounded(x * y)
    case '//':
      return smallest(floor())
    case '%':
      return smallest(x - y * floor())
    default:
      if (y < 0n) return power(Number(x), Number(y))
      if (y > MAX_BITS / Math.max(1, x.toString(16).length * 4 - 4) && x !== 0n && x !== 1n && x !== -1n)
        throw new ConnectorError(`The power ${y} is too large.`)
      return smallest(x ** y)
  }
}

const unsupported = (operator: string, left: unknown, right: unknown) =>
  new PyTypeError(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`)

export function binary(operator: string, left: unknown, right: unknown, run: Run): unknown {
  if (left instanceof Markup || right instanceof Markup) return withMarkup(operator, left, right, run)
  if (left instanceof Undefined) left.fail()
  if (operator === '%' && typeof left === 'string') return percentFormat(left, right, run)
  if (right instanceof Undefined && !(operator === '-' && isSetView(left))) right.fail()
  const number = arithmetic(operator, left, right)
  if (number !== undefined) return number
  if (operator === '+') return plus(left, right, run)
  if (operator === '-') return minus(left, right)
  if (operator === '*') return times(left, right, run)
  const span = left instanceof Timedelta ? divided(operator, left, right) : undefined
  if (span === undefined) throw unsupported(operator, left, right)
  return span
}

function withMarkup(operator: string, left: unknown, right: unknown, run: Run): unknown {
  if (operator === '+') {
    const sum = joined(left, right)
    if (sum) run.grow(sum.text.length)
    return sum ?? binary('+', plain(left), plain(right), run)
  }
  if (operator === '%' && left instanceof Markup) return marked(percentFormat(left.text, escapedValue(right), run))
  const result = binary(operator, plain(left), plain(right), run)
  return operator === '*' ? marked(result) : result
}

export function negated(value: unknown, run: Run): unknown {
  if (value instanceof Timedelta || value instanceof Duration) return value.negated()
  if (value instanceof Undefined) return value.fail()
  const number = asInt(value)
  if (!isNumber(number)) throw new PyTypeError(`bad operand type for unary -: '${typeName(value)}'`)
  return isInt(number) ? binary('-', 0, number, run) : toFloat(-asNumber(number))
}

export function positive(value: unknown): unknown {
  if (value instanceof Undefined) return value.fail()
  const number = asInt(value)
  if (!isNumber(number) && !(value instanceof Timedelta))
    throw new PyTypeError(`bad operand type for unary +: '${typeName(value)}'`)
  return number
}

function divided(operator: string, left: Timedelta, right: unknown): unknown {
  if (right instanceof Timedelta) {
    const [a, b] = [left.inMicroseconds, right.inMicroseconds]
    if (b === 0n) throw new ConnectorError('ZeroDivisionError: integer division or modulo by zero')
    if (operator === '/') return toFloat(Number(a) / Number(b))
    const floor = a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n)
    return operator === '//' ? smallest(floor) : operator === '%' ? Timedelta.ofMicroseconds(a - floor * b) : undefined
  }
  const by = asInt(right)
  if (!isNumber(by) || operator === '%' || operator === '**' || (operator === '//' && !isInt(by))) return undefined
  if (asNumber(by) === 0) throw new ConnectorError('ZeroDivisionError: integer division or modulo by zero')
  if (operator === '/') return left.times(1 / asNumber(by))
  const [a, b] = [left.inMicroseconds, BigInt(asNumber(by))]
  return Timedelta.ofMicroseconds(a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n))
}

const isSpan = (value: unknown): value is Timedelta | Duration => value instanceof Timedelta || value instanceof Duration

function plus(left: unknown, right: unknown, run: Run): unknown {
  if (typeof left === 'string' && typeof right === 'string') {
    run.grow(left.length + right.length)
    return left + right
  }
  if (Array.isArray(left) && Array.isArray(right) && left instanceof Tuple === right instanceof Tuple) {
    run.step(left.length + right.length)
    return left instanceof Tuple ? Tuple.of(...left, ...right) : [...left, ...right]
  }
  if (left instanceof PyDatetime && isSpan(right)) return left.plus(right)
  if (right instanceof PyDatetime && isSpan(left)) return right.plus(left)
  if (left instanceof PyDate && isSpan(right)) return left.midnight().plus(daysOnly(right)).date()
  if (right instanceof PyDate && isSpan(left)) return right.midnight().plus(daysOnly(left)).date()
  if (left instanceof Timedelta && right instanceof Timedelta) return left.plus(right)
  if (isSpan(left) && isSpan(right)) return asDuration(left).plus(asDuration(right))
  throw unsupported('+', left, right)
}

const asDuration = (span: Timedelta | Duration) => (span instanceof Duration ? span : new Duration(0, 0, span))
/** A date counts whole days of a span. */
const daysOnly = (span: Timedelta | Duration) => (span instanceof Timedelta ? new Timedelta(span.days * 86_400) : span)

/** Keys and items are sets. */
const isSetView = (value: unknown) => value instanceof View && value.kind !== 'values'

function minus(left: unknown, right: unknown): unknown {
  if (left instanceof PyDatetime && right instanceof PyDatetime) {
    if (left.isNaive !== right.isNaive) throw new PyTypeError("can't subtract offset-naive and offset-aware datetimes")
    return left.since(right)
  }
  if (left instanceof PyDatetime && isSpan(right)) return left.minus(right)
  if (left instanceof PyDate && isSpan(right)) {
    const { rest, years, months } = asDuration(right)
    return left
      .midnight()
      .plus(new Duration(-years, -months, new Timedelta(-rest.days * 86_400)))
      .date()
  }
  if (left instanceof PyDate && right instanceof PyDate) return new Timedelta((left.days - right.days) * 86_400)
  if (left instanceof Timedelta && right instanceof Timedelta) return left.plus(right.negated())
  if (isSpan(left) && isSpan(right)) return asDuration(left).plus(asDuration(right).negated())
  if (isSetView(left) || isSetView(right)) {
    const without = [...iterate(right)]
    return new Set([...iterate(left)].filter((each) => !without.some((other) => equals(each, other))))
  }
  throw unsupported('-', left, right)
}

function times(left: unknown, right: unknown, run: Run): unknown {
  const [thing, count] = isNumber(asInt(left)) ? [right, asInt(left)] : [left, asInt(right)]
  if (thing instanceof Timedelta && isNumber(count)) return thing.times(asNumber(count))
  if (thing instanceof Duration && isInt(count)) return thing.times(Number(count))
  if (!isInt(count)) throw new PyTypeError(`can't multiply sequence by non-int of type '${typeName(right)}'`)
  const n = Math.max(0, Number(count))
  if (typeof thing === 'string') {
    run.grow(thing.length * n)
    return thing.repeat(n)
  }
  if (thing instanceof Bytes) {
    run.grow(thing.bytes.length * n)
    return new Bytes(Buffer.concat(Array.from({ length: n }, () => thing.bytes)))
  }
  if (!Array.isArray(thing)) throw unsupported('*', left, right)
  run.step(thing.length * n)
  const out: unknown[] = thing instanceof Tuple ? new Tuple() : []
  for (let i = 0; i < n; i++) for (const each of thing) out.push(each)
  return out
}

export function contains(given: unknown, wanted: unknown): boolean {
  const [container, value] = [plain(given), plain(wanted)]
  if (typeof container === 'string') {
    if (typeof value !== 'string') throw new PyTypeError(`'in <string>' requires string as left operand, not ${typeName(value)}`)
    return container.includes(value)
  }
  if (isDict(container)) return typeof hashable(value) === 'string' && Object.hasOwn(container, value as string)
  if (container instanceof View && container.kind === 'keys') hashable(value)
  if (hasMembers(container)) return [...iterate(container)].some((key) => equals(key, value))
  for (const item of iterate(container)) if (equals(item, value)) return true
  return false
}

export function comparison(operator: string, left: unknown, right: unknown): boolean {
  if (operator === '==') return equals(left, right)
  if (operator === '!=') return !equals(left, right)
  if (operator === 'in') return contains(right, left)
  if (operator === 'not in') return !contains(right, left)
  if (left instanceof Undefined) left.fail()
  if (right instanceof Undefined) right.fail()
  if (left instanceof View && isSetView(left)) return subset(operator, left, right)
  if (Array.isArray(left) && Array.isArray(right)) return compareLists(operator, left, right)
  if (Number.isNaN(left) || Number.isNaN(right)) return false
  const order = compare(plain(left), plain(right))
  if (order === undefined)
    throw new PyTypeError(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
  return accepts(operator, order)
}

function accepts(operator: string, order: number): boolean {
  if (operator === '<') return order < 0
  if (operator === '>') return order > 0
  return operator === '<=' ? order <= 0 : order >= 0
}

function compareLists(operator: string, left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left instanceof Tuple !== right instanceof Tuple)
    throw new PyTypeError(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
  for (let i = 0; i < left.length && i < right.length; i++)
    if (!equals(left[i], right[i])) return comparison(operator, left[i], right[i])
  return accepts(operator, left.length - right.length)
}

function subset(operator: string, left: View, right: unknown): boolean {
  if (!(right instanceof Set) && !(right instanceof View && right.kind !== 'values'))
    throw new PyTypeError(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
  const [a, b] = [left.list, [...iterate(right)]]
  const [small, large] = operator.startsWith('<') ? [a, b] : [b, a]
  const isInside = small.every((each) => large.some((other) => equals(each, other)))
  return isInside && (operator.endsWith('=') || small.length < large.length)
}
