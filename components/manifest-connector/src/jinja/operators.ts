// Python's operators.

import { ConnectorError } from '../errors.ts'
import {
  asNumber,
  compare,
  equals,
  floatText,
  isDict,
  isFloat,
  isInt,
  isNumber,
  pyRepr,
  pyStr,
  Tuple,
  toFloat,
} from '../python/values.ts'
import { Duration, PyDate, PyDatetime, Timedelta } from '../time/datetime.ts'
import { hasMembers, iterate, PyTypeError, type Run, typeName, Undefined } from './runtime.ts'

const MAX_SHIFT = 4096

const whole = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
const asInt = (value: unknown): unknown => (typeof value === 'boolean' ? (value ? 1 : 0) : value)

function arithmetic(operator: string, left: unknown, right: unknown): unknown {
  const a = asInt(left)
  const b = asInt(right)
  if (!isNumber(a) || !isNumber(b)) return undefined
  if (isInt(a) && isInt(b) && operator !== '/') return integers(operator, a, b)
  const [x, y] = [asNumber(a), asNumber(b)]
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
      return toFloat(Math.floor(x / y))
    case '%':
      return toFloat(x - y * Math.floor(x / y))
    default:
      return toFloat(x ** y)
  }
}

function integers(operator: string, a: number | bigint, b: number | bigint): unknown {
  if ((operator === '//' || operator === '%') && (b === 0 || b === 0n))
    throw new ConnectorError('ZeroDivisionError: integer division or modulo by zero')
  if (typeof a === 'number' && typeof b === 'number') {
    const fast =
      operator === '+'
        ? a + b
        : operator === '-'
          ? a - b
          : operator === '*'
            ? a * b
            : operator === '//'
              ? Math.floor(a / b)
              : operator === '%'
                ? a - b * Math.floor(a / b)
                : b >= 0
                  ? a ** b
                  : undefined
    if (fast !== undefined && Number.isSafeInteger(fast)) return fast + 0
  }
  const [x, y] = [BigInt(a), BigInt(b)]
  const floor = () => x / y - (x % y !== 0n && x < 0n !== y < 0n ? 1n : 0n)
  switch (operator) {
    case '+':
      return whole(x + y)
    case '-':
      return whole(x - y)
    case '*':
      return whole(x * y)
    case '//':
      return whole(floor())
    case '%':
      return whole(x - y * floor())
    default:
      if (y < 0n) return toFloat(Number(x) ** Number(y))
      if (y > MAX_SHIFT) throw new ConnectorError(`The power ${y} is too large.`)
      return whole(x ** y)
  }
}

export function binary(operator: string, left: unknown, right: unknown, run: Run): unknown {
  if (left instanceof Undefined) left.fail()
  if (right instanceof Undefined) right.fail()
  const number = arithmetic(operator, left, right)
  if (number !== undefined) return number
  if (operator === '+') return plus(left, right, run)
  if (operator === '-') return minus(left, right)
  if (operator === '*') return times(left, right, run)
  if (operator === '%' && typeof left === 'string') return percentFormat(left, right, run)
  if (operator === '/' && left instanceof Timedelta && isNumber(right)) return left.times(1 / asNumber(right))
  if (operator === '/' && left instanceof Timedelta && right instanceof Timedelta)
    return toFloat(left.totalSeconds() / right.totalSeconds())
  throw new PyTypeError(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`)
}

function plus(left: unknown, right: unknown, run: Run): unknown {
  if (typeof left === 'string' && typeof right === 'string') {
    run.grow(left.length + right.length)
    return left + right
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    run.step(left.length + right.length)
    return left instanceof Tuple ? Tuple.of(...left, ...right) : [...left, ...right]
  }
  if (left instanceof PyDatetime && (right instanceof Timedelta || right instanceof Duration)) return left.plus(right)
  if (right instanceof PyDatetime && (left instanceof Timedelta || left instanceof Duration)) return right.plus(left)
  if (left instanceof PyDate && (right instanceof Timedelta || right instanceof Duration))
    return dateOf(left.midnight().plus(daysOnly(right)))
  if (left instanceof Timedelta && right instanceof Timedelta) return left.plus(right)
  throw new PyTypeError(`unsupported operand type(s) for +: '${typeName(left)}' and '${typeName(right)}'`)
}

const dateOf = (date: PyDatetime): PyDate => date.date()
/** A date counts whole days of a span. */
const daysOnly = (span: Timedelta | Duration) => (span instanceof Timedelta ? new Timedelta(span.days * 86_400) : span)

function minus(left: unknown, right: unknown): unknown {
  if (left instanceof PyDatetime && right instanceof PyDatetime) {
    if (left.isNaive !== right.isNaive) throw new PyTypeError("can't subtract offset-naive and offset-aware datetimes")
    return left.since(right)
  }
  if (left instanceof PyDatetime && (right instanceof Timedelta || right instanceof Duration)) return left.minus(right)
  if (left instanceof PyDate && (right instanceof Timedelta || right instanceof Duration))
    return dateOf(left.midnight().plus(daysOnly(right.negated())))
  if (left instanceof PyDate && right instanceof PyDate) return new Timedelta((left.days - right.days) * 86_400)
  if (left instanceof Timedelta && right instanceof Timedelta) return left.plus(right.negated())
  throw new PyTypeError(`unsupported operand type(s) for -: '${typeName(left)}' and '${typeName(right)}'`)
}

function times(left: unknown, right: unknown, run: Run): unknown {
  const [thing, count] = isInt(asInt(left)) ? [right, asInt(left)] : [left, asInt(right)]
  if (thing instanceof Timedelta && isNumber(count)) return thing.times(asNumber(count))
  if (!isInt(count)) throw new PyTypeError(`can't multiply '${typeName(left)}' by '${typeName(right)}'`)
  const n = Math.max(0, Number(count))
  if (typeof thing === 'string') {
    run.grow(thing.length * n)
    return thing.repeat(n)
  }
  if (Array.isArray(thing)) {
    run.step(thing.length * n)
    return Array.from({ length: n }, () => thing).flat()
  }
  throw new PyTypeError(`can't multiply '${typeName(left)}' by '${typeName(right)}'`)
}

export function contains(container: unknown, value: unknown): boolean {
  if (typeof container === 'string') {
    if (typeof value !== 'string') throw new PyTypeError(`'in <string>' requires string as left operand, not ${typeName(value)}`)
    return container.includes(value)
  }
  if (isDict(container)) return Object.hasOwn(container, pyStr(value)) && typeof value === 'string'
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
  const order = compare(left, right)
  if (order === undefined)
    throw new PyTypeError(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
  return operator === '<' ? order < 0 : operator === '>' ? order > 0 : operator === '<=' ? order <= 0 : order >= 0
}

/** The old formatting: '%05d' % 7, '%s-%s' % (a, b), '%(name)s' % dict. */
export function percentFormat(format: string, values: unknown, run: Run): string {
  const list = values instanceof Tuple ? [...values] : [values]
  let at = 0
  const out = format.replace(
    /%(?:\((\w+)\))?([-+ 0#]*)(\d*)(?:\.(\d+))?([sdifrxXoeEgGc%])/g,
    (...[, name, flags = '', width, precision, kind = 's']: (string | undefined)[]) => {
      if (kind === '%') return '%'
      if (name === undefined && at >= list.length) throw new PyTypeError('not enough arguments for format string')
      const value = name === undefined ? list[at++] : (values as Record<string, unknown>)[name]
      return padded(
        formatted(kind, value, precision === undefined ? undefined : Number(precision), flags),
        flags,
        Number(width || 0),
      )
    },
  )
  if (at < list.length && !isDict(values)) throw new PyTypeError('not all arguments converted during string formatting')
  run.grow(out.length)
  return out
}

export function formatted(kind: string, value: unknown, precision: number | undefined, flags: string): string {
  if (kind === 's') return precision === undefined ? pyStr(value) : pyStr(value).slice(0, precision)
  if (kind === 'r') return pyRepr(value)
  const plain = asInt(value)
  if (!isNumber(plain)) throw new PyTypeError(`%${kind} format: a number is required, not ${typeName(value)}`)
  const sign = flags.includes('+') && asNumber(plain) >= 0 ? '+' : ''
  if ('di'.includes(kind)) return sign + (isFloat(plain) ? String(Math.trunc(asNumber(plain))) : String(plain))
  if (kind === 'x') return BigInt(Math.trunc(asNumber(plain))).toString(16)
  if (kind === 'X')
    return BigInt(Math.trunc(asNumber(plain)))
      .toString(16)
      .toUpperCase()
  if (kind === 'o') return BigInt(Math.trunc(asNumber(plain))).toString(8)
  if (kind === 'f') return sign + asNumber(plain).toFixed(precision ?? 6)
  return floatText(asNumber(plain)).replace(/\.0$/, '')
}

export function padded(text: string, flags: string, width: number): string {
  if (width > 10_000) throw new ConnectorError(`The field width ${width} is too large.`)
  if (flags.includes('-')) return text.padEnd(width)
  if (!flags.includes('0')) return text.padStart(width)
  const sign = /^[+-]/.exec(text)?.[0] ?? ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}
